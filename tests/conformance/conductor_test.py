#!/usr/bin/env python3
"""The conductor itself: what it takes for a failure, and which failures count as noticed. The actors
here say what they are told to, in place of a binding."""
import base64
import json
import shlex
import subprocess
import sys
import tempfile
import unittest

import noticed
from deployment import Deployment, name_in, rights_for, shard_of, together
from play import play

# Answers each call with what its argument has for the method, and everything else with "ok".
ACTOR = """
import json, sys
answers = json.loads(sys.argv[1])
for line in sys.stdin:
    words = line.split()
    method = words[3] if words[1] in ("call", "start") else words[1]
    answer = answers.get(method, "ok")
    if words[1] == "start":
        print(f"{words[0]} ok\\ndone {words[0]} {answer}", flush=True)
        continue
    if words[1] == "pump" and "notice" in answers:
        print("notice", answers["notice"])
        answer = "ok"
    print(words[0], answer, flush=True)
"""
HEADER = """
#define MORTISE_OPTION_LEASE "lease"
#define MORTISE_OPTION_FAIR "fair"
int mortise_lock_try(lock);
int mortise_lock_unlock(lock);
"""


def actor(answers=""):
    return shlex.join([sys.executable, "-c", ACTOR, answers or "{}"])


def failure(steps, answers=""):
    """What a play of these steps fails with; None if it does not."""
    return play({"name": "of the test", "steps": steps}, {"a": actor(answers)}, 1)


class Checks(unittest.TestCase):
    def test_a_missing_value_is_a_failure(self):
        token = {"at": "a", "do": "token", "on": "x", "remember": "t"}
        for check in ({"equals": 0}, {"at_least": 0}, {"at_most": 9}, {"remember": "it"},
                      {"same_as": "t"}, {"above": "t"}):
            step = {"at": "a", "do": "is_held", "on": "x", **check}
            problem = failure([token, step], '{"token": "ok value=0"}')
            self.assertIn("no value", str(problem), check)
            self.assertEqual(2, problem.number)

    def test_a_value_is_compared(self):
        step = {"at": "a", "do": "is_held", "on": "x"}
        answers = '{"is_held": "ok value=1"}'
        for right, wrong in (({"equals": 1}, {"equals": 0}), ({"at_least": 1}, {"at_least": 2}),
                             ({"at_most": 1}, {"at_most": 0})):
            self.assertIsNone(failure([{**step, **right}], answers))
            self.assertIsNotNone(failure([{**step, **wrong}], answers))

    def test_a_missing_reason_is_a_failure(self):
        step = {"at": "a", "notice": "lost", "on": "x", "reason": "expired"}
        self.assertIsNone(failure([step], '{"notice": "x lost reason=1"}'))
        self.assertIn("reason", str(failure([step], '{"notice": "x lost reason=2"}')))
        self.assertIn("reason", str(failure([step], '{"notice": "x lost"}')))

    def test_a_failure_says_both_of_what_may_be_done_about_it(self):
        for key in ("retryable", "ambiguous"):
            for said, wanted in (("=1", True), ("=0", False)):
                step = {"at": "a", "do": "try", "on": "x", "expect": "unknown", key: wanted}
                self.assertIsNone(failure([step], f'{{"try": "unknown {key}{said}"}}'))
                self.assertIsNotNone(failure([{**step, key: not wanted}],
                                             f'{{"try": "unknown {key}{said}"}}'))
                self.assertIsNotNone(failure([step], '{"try": "unknown"}'))

    def test_a_notice_that_must_not_come(self):
        step = {"at": "a", "no_notice": "at_risk", "on": "x"}
        self.assertIsNone(failure([step], '{"notice": "x lost reason=1"}'))
        self.assertIsNotNone(failure([step], '{"notice": "x at_risk"}'))

    def test_a_call_takes_time(self):
        step = {"at": "a", "do": "try", "on": "x"}
        self.assertIn("only", str(failure([{**step, "takes_at_least_ms": 10000}])))
        self.assertIn("took", str(failure([{**step, "takes_at_most_ms": 0}])))
        self.assertIsNone(failure([{**step, "takes_at_least_ms": 0, "takes_at_most_ms": 20000}]))

    def test_one_of_several_outcomes_and_what_follows_from_it(self):
        begin = {"at": "a", "start": "acquire", "on": "x", "as": "w"}
        end = {"at": "a", "await": "w", "expect": ["ok", "cancelled"]}
        after = {"at": "a", "do": "is_held", "on": "x", "equals": 1, "when": {"w": "ok"}}
        self.assertIsNone(failure([begin, end, after], '{"acquire": "cancelled"}'))
        self.assertIsNotNone(failure([begin, end, after], '{"is_held": "ok value=0"}'))
        self.assertIsNotNone(failure([begin, end], '{"acquire": "timed_out"}'))

    def test_a_call_whose_answer_is_heard_later(self):
        told = {"at": "a", "tell": "cancel", "on": "x", "as": "it"}
        self.assertIsNone(failure([told, {"at": "a", "hear": "it"}]))
        self.assertIsNotNone(failure([told, {"at": "a", "hear": "it", "expect": "not_owner"}]))

    def test_what_comes_eventually(self):
        step = {"at": "a", "do": "is_held", "on": "x", "equals": 1, "eventually": True}
        self.assertIsNone(failure([step], '{"is_held": "ok value=1"}'))
        self.assertIsNotNone(failure([step], '{"is_held": "ok value=0"}'))
        self.assertIsNone(failure([{"server": "PING", "says": "PONG", "eventually": True}]))
        self.assertIsNotNone(failure([{"server": "PING", "says": "else", "eventually": True}]))


class Secrets(unittest.TestCase):
    def told(self, said, **login):
        """What a play fails with in which somebody logs in, and an actor says this."""
        steps = [{"at": "a", "new": "client", "as": "c", **login}, {"at": "a", "do": "ping", "on": "c"}]
        return str(failure(steps, json.dumps({"ping": said})))

    def test_a_login_that_comes_out_is_a_failure(self):
        raw = "passw/rd-77"
        for login in ({"login": f"somebody:{raw}"}, {"user": "somebody", "password": raw},
                      {"url": "redis://somebody:passw%2Frd-77@host"}):
            for said in (f"text={raw}", "text=passw%2Frd-77", "text=a%20somebody%20b", "printed=somebody",
                         "text=" + base64.b64encode(f"x:{raw}!".encode()).decode()):
                self.assertIn("tells", self.told(f"refused retryable=0 ambiguous=0 {said}", **login))
            self.assertNotIn("tells", self.told("ok text=some%20body", **login))

    def test_a_login_that_is_left_at_the_server_is_a_failure(self):
        login = {"at": "a", "new": "client", "as": "c", "login": "somebody:password-77"}
        for key in ("SET name password-77", "SET somebody 1"):
            self.assertIn("tells", str(failure([login, {"server": key}])))
        self.assertIsNone(failure([login, {"server": "SET name 1"}]))

    def test_a_login_is_of_words_that_nothing_else_has(self):
        with self.assertRaises(ValueError):
            self.told("ok", login="me:password-77")


class Deployments(unittest.TestCase):
    # Has the server do this, as the user of the URL, whatever it is told.
    ASKS = ('while read -r id rest; do redis-cli -s "${MORTISE_URL#*@}" --user locker-77u --pass password-77p '
            '%s >/dev/null 2>&1; echo "$id ok"; done')

    def played(self, command):
        cast = {"a": shlex.join(["sh", "-c", self.ASKS % command])}
        return play({"name": "of the test", "steps": [{"at": "a", "do": "ping", "on": "client"}]},
                    cast, 5, "rights")

    def test_what_a_right_is_missing_for_is_a_failure(self):
        self.assertIsNone(self.played("ping"))
        self.assertIn("keys", str(self.played("keys x")))
        self.assertIn("elsewhere", str(self.played("get elsewhere")))

    def test_further_rights_are_given_where_another_format_is_used(self):
        plain = {"at": "a", "new": "lock", "as": "x"}
        for step, has in ((plain, False), ({**plain, "options": {"protocol": "hash"}}, True)):
            self.assertIs(has, "+hget" in rights_for({"name": "n", "steps": [step]}))

    def test_a_network_stands_before_the_first_server_until_it_is_redirected(self):
        deployment = Deployment({"name": "n", "steps": [{"network": "cut"},
                                                        {"server": "PING", "of": "second"}]})
        self.addCleanup(deployment.end)

        def asked():
            return subprocess.run(["redis-cli", "-u", deployment.url, "get", "name"], text=True,
                                  capture_output=True, check=True).stdout.strip()

        for name in ("first", "second"):
            self.assertEqual("OK", deployment.command({"server": f"SET name {name}", "of": name}))
        self.assertEqual("first", asked())
        deployment.tell_network("redirect second")
        self.assertEqual("second", asked())
        self.assertEqual("OK", deployment.command({"server": "REPLICAOF {second}"}))
        self.assertIn("slave", deployment.command({"server": "ROLE"}))


class Shards(unittest.TestCase):
    def test_a_command_names_a_lock_or_none(self):
        for command, name in (('LLEN "{mortise:the lock}:q"', b"the lock"), ("LLEN {mortise:y}:sq", b"y"),
                              ('EXISTS "{mortise:gr\\xc3\\xb6\\x00}"', b"gr\xc3\xb6\x00"),
                              ('SET "the lock:read" 1', b"the lock"), ("CLIENT LIST", None)):
            self.assertEqual(name, name_in(command), command)

    def test_answers_are_one(self):
        for answers, one in ((["OK", "OK"], "OK"), (["1", "0", "3"], "4"), (["1", "1"], "1"),
                             (["# Clients\na:1", "# Clients\na:2"], "# Clients\n# Clients\na:3"),
                             (["x", "y"], "x\ny")):
            self.assertEqual(one, together(answers))

    def test_a_command_goes_to_the_shard_of_its_lock_or_to_all(self):
        deployment = Deployment({"name": "n", "steps": []}, "shard")
        self.addCleanup(deployment.end)
        self.assertEqual("OK", deployment.command({"server": 'SET "the lock" theirs'}))
        sizes = [server.command("DBSIZE") for server in deployment.all_servers()]
        self.assertEqual(["0", "0", "1"], sorted(sizes))
        self.assertEqual(sizes.index("1"), shard_of(b"the lock"))
        self.assertEqual("1", deployment.command({"server": "DBSIZE"}))


class Noticed(unittest.TestCase):
    MADE = {"at": "a", "new": "lock", "as": "x", "options": {"lease": "1s", "fair": "strict"}}
    TRY = {"at": "a", "do": "try", "on": "x", "remember": "t"}
    HELD = {"at": "a", "do": "is_held", "on": "x", "equals": 1}
    UNLOCK = {"at": "a", "do": "unlock", "on": "x"}

    def check(self, steps, answers):
        with tempfile.NamedTemporaryFile("w", suffix=".h") as header:
            header.write(HEADER)
            header.flush()
            scenarios = [{"name": "of the test", "steps": steps}]
            return "\n".join(noticed.check(header.name, scenarios, ("fake", actor(answers))))

    def test_what_no_step_looks_at_is_not_noticed(self):
        missed = self.check([self.MADE, self.TRY, self.HELD, self.UNLOCK],
                            '{"try": "ok token=5", "is_held": "ok value=1"}')
        for what in ("lease", "fair", "lock.try", "lock.unlock"):
            self.assertIn(what, missed)

    def test_a_step_that_compares_notices(self):
        same = {"at": "a", "do": "token", "on": "x", "same_as": "t"}
        missed = self.check([self.MADE, self.TRY, same, self.UNLOCK],
                            '{"try": "ok token=5", "token": "ok value=5"}')
        self.assertNotIn("lock.try", missed)
        self.assertIn("lock.unlock", missed)

    def test_a_scenario_that_fails_by_itself_notices_nothing(self):
        missed = self.check([self.MADE, self.TRY, self.HELD, self.UNLOCK],
                            '{"try": "ok token=5", "is_held": "ok value=0"}')
        for what in ("by itself: of the test", "lease", "fair", "lock.try", "lock.unlock"):
            self.assertIn(what, missed)

    def test_a_failure_before_what_is_left_out_is_not_counted(self):
        fault = noticed.without_call({"name": "n", "steps": [self.HELD, self.MADE, self.UNLOCK]},
                                     "lock.unlock")
        self.assertEqual(3, fault.number)
        self.assertFalse(noticed.notices(fault, 0, actor('{"is_held": "ok value=0"}')))


if __name__ == "__main__":
    unittest.main()
