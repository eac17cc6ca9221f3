#!/usr/bin/env python3
"""The runner itself: which results are failures, which failures detect a mutation, and which drivers and
servers are reused. Most drivers here print given answers, in place of a binding.

    runner_test.py [--driver LANGUAGE=COMMAND]…

Each of those drivers has to hold nothing after a reset.
"""
import base64
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import unittest

import documented
import mutation_check
from deployment import Deployment, Infrastructure, name_in, rights_for, shard_of, together
from driver import Driver
from driver_pool import DriverPool
from scenario_run import run_scenario
from server import Server

# Answers each call as its argument has it for the method, and all others with "ok"; "silence" is no
# answer, and "end" ends the process.
PROGRAM = """
import json, os, sys
answers = json.loads(sys.argv[1])
for line in sys.stdin:
    words = line.split()
    method = words[3] if words[1] in ("call", "start") else words[1]
    answer = answers.get(method, "ok").replace("{pid}", str(os.getpid()))
    if answer == "silence":
        continue
    if answer == "end":
        sys.exit()
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


# {language: command} of the drivers of the bindings.
LANGUAGES = {}
# How long a run waits for what comes, also on a slow machine, and for what never comes.
PATIENCE_S = 20
BRIEF_S = 1


def fake(answers=""):
    return shlex.join([sys.executable, "-c", PROGRAM, answers or "{}"])


def failure(steps, answers="", patience_s=PATIENCE_S, **more):
    """What a run of these steps fails with; None if it does not."""
    return run_scenario({"name": "of the test", "steps": steps}, {"a": fake(answers)}, patience_s,
                        **more)


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
            for answer, expected in (("=1", True), ("=0", False)):
                step = {"at": "a", "do": "try", "on": "x", "expect": "unknown", key: expected}
                self.assertIsNone(failure([step], f'{{"try": "unknown {key}{answer}"}}'))
                self.assertIsNotNone(failure([{**step, key: not expected}],
                                             f'{{"try": "unknown {key}{answer}"}}'))
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
        cancel = {"at": "a", "tell": "cancel", "on": "x", "as": "it"}
        self.assertIsNone(failure([cancel, {"at": "a", "hear": "it"}]))
        self.assertIsNotNone(failure([cancel, {"at": "a", "hear": "it", "expect": "not_owner"}]))

    def test_what_comes_eventually(self):
        step = {"at": "a", "do": "is_held", "on": "x", "equals": 1, "eventually": True}
        self.assertIsNone(failure([step], '{"is_held": "ok value=1"}'))
        self.assertIsNotNone(failure([step], '{"is_held": "ok value=0"}', BRIEF_S))
        self.assertIsNone(failure([{"server": "PING", "says": "PONG", "eventually": True}]))
        self.assertIsNotNone(failure([{"server": "PING", "says": "else", "eventually": True}],
                                     patience_s=BRIEF_S))


class Logins(unittest.TestCase):
    def failure_of(self, answer, **login):
        """The failure of a run with a login in which a driver prints this."""
        steps = [{"at": "a", "new": "client", "as": "c", **login}, {"at": "a", "do": "ping", "on": "c"}]
        return str(failure(steps, json.dumps({"ping": answer})))

    def test_a_login_that_comes_out_is_a_failure(self):
        raw = "passw/rd-77"
        for login in ({"login": f"somebody:{raw}"}, {"user": "somebody", "password": raw},
                      {"url": "redis://somebody:passw%2Frd-77@host"}):
            for answer in (f"text={raw}", "text=passw%2Frd-77", "text=a%20somebody%20b", "printed=somebody",
                         "text=" + base64.b64encode(f"x:{raw}!".encode()).decode()):
                self.assertIn("tells", self.failure_of(f"refused retryable=0 ambiguous=0 {answer}", **login))
            self.assertNotIn("tells", self.failure_of("ok text=some%20body", **login))

    def test_a_login_that_is_left_at_the_server_is_a_failure(self):
        login = {"at": "a", "new": "client", "as": "c", "login": "somebody:password-77"}
        for key in ("SET name password-77", "SET somebody 1"):
            self.assertIn("tells", str(failure([login, {"server": key}])))
        self.assertIsNone(failure([login, {"server": "SET name 1"}]))

    def test_a_login_is_of_words_that_nothing_else_has(self):
        with self.assertRaises(ValueError):
            self.failure_of("ok", login="me:password-77")


class Deployments(unittest.TestCase):
    # Sends the server this command, as the user of the URL, for each line.
    ASKS = ('while read -r id rest; do redis-cli -s "${MORTISE_URL#*@}" --user locker-77u --pass password-77p '
            '%s >/dev/null 2>&1; echo "$id ok"; done')

    def failure_with(self, command):
        scenario = {"name": "of the test", "environment": {}, "steps": [{"at": "a", "do": "ping", "on": "client"}]}
        asks = shlex.join(["sh", "-c", self.ASKS % command])
        return run_scenario(scenario, {"a": asks}, PATIENCE_S, "rights")

    def test_what_a_right_is_missing_for_is_a_failure(self):
        self.assertIsNone(self.failure_with("ping"))
        self.assertIn("keys", str(self.failure_with("keys x")))
        self.assertIn("elsewhere", str(self.failure_with("get elsewhere")))

    def test_further_rights_are_given_where_another_format_is_used(self):
        plain = {"at": "a", "new": "lock", "as": "x"}
        for step, has in ((plain, False), ({**plain, "options": {"protocol": "hash"}}, True)):
            self.assertIs(has, "+hget" in rights_for({"name": "n", "steps": [step]}))

    def test_a_network_stands_before_the_first_server_until_it_is_redirected(self):
        deployment = Deployment({"name": "n", "steps": [{"network": "cut"},
                                                        {"server": "PING", "of": "second"}]})
        self.addCleanup(deployment.end)

        def requested():
            return subprocess.run(["redis-cli", "-u", deployment.url, "get", "name"], text=True,
                                  capture_output=True, check=True).stdout.strip()

        for name in ("first", "second"):
            self.assertEqual("OK", deployment.command({"server": f"SET name {name}", "of": name}))
        self.assertEqual("first", requested())
        deployment.command_network("redirect second")
        self.assertEqual("second", requested())
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


class Mutations(unittest.TestCase):
    MADE = {"at": "a", "new": "lock", "as": "x", "options": {"lease": "1s", "fair": "strict"}}
    TRY = {"at": "a", "do": "try", "on": "x", "remember": "t"}
    HELD = {"at": "a", "do": "is_held", "on": "x", "equals": 1}
    UNLOCK = {"at": "a", "do": "unlock", "on": "x"}

    def check(self, steps, answers):
        with tempfile.NamedTemporaryFile("w", suffix=".h") as header:
            header.write(HEADER)
            header.flush()
            scenarios = [{"name": "of the test", "steps": steps}]
            return "\n".join(mutation_check.check(header.name, scenarios, ("fake", fake(answers))))

    def test_what_no_step_checks_is_not_detected(self):
        missed = self.check([self.MADE, self.TRY, self.HELD, self.UNLOCK],
                            '{"try": "ok token=5", "is_held": "ok value=1"}')
        for what in ("lease", "fair", "lock.try", "lock.unlock"):
            self.assertIn(what, missed)

    def test_a_step_that_compares_detects(self):
        same = {"at": "a", "do": "token", "on": "x", "same_as": "t"}
        missed = self.check([self.MADE, self.TRY, same, self.UNLOCK],
                            '{"try": "ok token=5", "token": "ok value=5"}')
        self.assertNotIn("lock.try", missed)
        self.assertIn("lock.unlock", missed)

    def test_a_scenario_that_fails_by_itself_detects_nothing(self):
        missed = self.check([self.MADE, self.TRY, self.HELD, self.UNLOCK],
                            '{"try": "ok token=5", "is_held": "ok value=0"}')
        for what in ("by itself: of the test", "lease", "fair", "lock.try", "lock.unlock"):
            self.assertIn(what, missed)

    def test_a_failure_before_the_mutation_is_not_counted(self):
        mutation = mutation_check.without_call({"name": "n", "steps": [self.HELD, self.MADE, self.UNLOCK]},
                                     "lock.unlock")
        self.assertEqual(3, mutation.number)
        self.assertFalse(mutation_check.detects(mutation, 0, fake('{"is_held": "ok value=0"}')))


class Documented(unittest.TestCase):
    HEADER = """
/**
 * Tries.
 * @return
 * - MORTISE_OK: acquired.
 * - MORTISE_BUSY: another call is running.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_lock_try(mortise_lock *lock);
/**
 * Waits.
 * @return the statuses of `mortise_lock_try`, and:
 * - MORTISE_TIMED_OUT: the timeout passed first.
 */
MORTISE_API mortise_status mortise_lock_acquire(mortise_lock *lock);
"""

    def statuses(self, method, expected):
        steps = [{"at": "a", "new": "lock", "as": "x"},
                 {"at": "a", "do": method, "on": "x", "expect": expected}]
        return documented.undocumented(self.HEADER, [{"name": "one", "steps": steps}])

    def test_what_is_listed_or_referred_to_is_documented(self):
        for method, expected in (("try", "busy"), ("acquire", "busy"), ("acquire", "timed_out")):
            self.assertEqual(self.statuses(method, expected), [])

    def test_what_the_list_lacks_is_reported(self):
        self.assertEqual(self.statuses("try", ["ok", "timed_out"]), ["mortise_lock_try: timed_out"])


class Reuse(unittest.TestCase):
    """Of drivers. Each of these prints its process id as the value of `is_held`."""
    ASK = {"at": "a", "do": "is_held", "on": "x", "remember": "pid"}
    ANSWERS = {"is_held": "ok value={pid}"}

    def setUp(self):
        self.pool = DriverPool()
        self.addCleanup(self.pool.end)

    def idle_after(self, steps, answers=None, is_failed=False, **more):
        """How many drivers are idle after a run of these steps."""
        problem = failure([self.ASK, *steps], json.dumps({**self.ANSWERS, **(answers or {})}), pool=self.pool,
                          **more)
        self.assertEqual(is_failed, problem is not None, problem)
        return sum(len(drivers) for drivers in self.pool.idle.values())

    def test_a_driver_that_resets_is_reused(self):
        self.assertEqual(1, self.idle_after([]))
        first, = next(iter(self.pool.idle.values()))
        again = {"at": "a", "do": "is_held", "on": "x", "equals": first.process.pid}
        self.assertIsNone(failure([again], json.dumps(self.ANSWERS), pool=self.pool))

    def test_one_that_does_not_reset_is_ended(self):
        for answer in ("closed", "silence"):
            self.assertEqual(0, self.idle_after([], {"reset": answer}))

    def test_one_that_ends_at_its_reset_fails_the_run(self):
        self.assertIn("the end: a has ended", str(failure([self.ASK], '{"is_held": "ok value=1", "reset": "end"}',
                                                          pool=self.pool)))
        self.assertFalse(any(self.pool.idle.values()))

    def test_one_that_reveals_a_secret_at_its_end_fails_the_run(self):
        login = {"at": "a", "new": "client", "as": "c", "login": "somebody:password-77"}
        problem = failure([login], '{"reset": "ok text=password-77"}', pool=self.pool)
        self.assertIn("the end: a tells", str(problem))
        self.assertFalse(any(self.pool.idle.values()))

    def test_one_with_a_call_under_way_is_ended(self):
        start = {"at": "a", "start": "acquire", "on": "x", "as": "w"}
        tell = {"at": "a", "tell": "cancel", "on": "x", "as": "c"}
        self.assertEqual(0, self.idle_after([start]))
        self.assertEqual(0, self.idle_after([tell]))
        self.assertEqual(1, self.idle_after([start, {"at": "a", "await": "w"}, tell, {"at": "a", "hear": "c"}]))

    def test_one_that_failed_is_ended_unless_the_scenario_is_mutated(self):
        wrong = {"at": "a", "do": "try", "on": "x", "expect": "lost"}
        self.assertEqual(0, self.idle_after([wrong], is_failed=True))
        self.assertEqual(1, self.idle_after([wrong], is_failed=True, is_mutated=True))

    def test_one_whose_process_is_tested_is_ended(self):
        for step in ({"at": "a", "signal": "CONT"}, {"at": "a", "ends": True},
                     {"at": "a", "do": "fork", "on": "client"},
                     {"at": "a", "new": "client", "as": "c", "url": None}):
            self.assertEqual(0, self.idle_after([step]), step)
        scenario = {"name": "of the test", "environment": {"A": "b"}, "steps": [self.ASK]}
        self.assertIsNone(run_scenario(scenario, {"a": fake(json.dumps(self.ANSWERS))}, PATIENCE_S,
                                       pool=self.pool))
        self.assertFalse(any(self.pool.idle.values()))


class Servers(unittest.TestCase):
    def server_after(self, *steps, is_reusable=True):
        """The folder of the server of such a run, after the run's end."""
        deployment = Deployment({"name": "n", "steps": list(steps)})
        for step in steps:
            deployment.command(step) if "server" in step else None
        folder = deployment.server_folder({})
        deployment.end(is_reusable)
        return folder

    def test_one_that_was_only_used_is_cleaned_and_reused(self):
        folder = self.server_after({"server": "SET a b"}, {"server": "EVAL 'return 1' 0"})
        deployment = Deployment({"name": "n", "steps": []})
        self.addCleanup(deployment.end)
        self.assertEqual(folder, deployment.server_folder({}))
        self.assertEqual("0", deployment.command({"server": "DBSIZE"}))

    def test_one_that_may_have_changed_is_ended(self):
        for step in ({"server": "CONFIG SET maxclients 9"}, {"server": "ACL SETUSER x"}, {"control": "kill"},
                     {"write": "name", "text": "x"}, {"network": "cut"}, {"server": "PING", "of": "second"}):
            self.assertFalse(os.path.exists(self.server_after(step)), step)
        self.assertFalse(os.path.exists(self.server_after(is_reusable=False)))

    def test_clients_are_ended(self):
        deployment = Deployment({"name": "n", "steps": []})
        client = subprocess.Popen(["redis-cli", "-s", deployment.all_servers()[0].socket, "BLPOP", "x", "0"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        while "cmd=blpop" not in deployment.command({"server": "CLIENT LIST"}):
            time.sleep(0.01)
        deployment.end(is_reusable=True)
        client.communicate(timeout=20)
        self.assertTrue(any(Infrastructure.idle.values()))

    def test_a_reply_is_as_redis_cli_prints_it(self):
        server = Server()
        self.addCleanup(server.end)
        for command in ('SET "a\\x00\\n\\"b" "1 2"', 'SET gr\u00f6\u00df 1', 'SET "gr\u00f6\u00df" 1', "KEYS *", "GET nothing",
                        "NO SUCH", "EVAL \"return {1,{2,'x'},{}}\" 0", "EVAL 'return 7' 0", "DBSIZE", "INFO clients",
                        "SET x ''"):
            done = subprocess.run(["redis-cli", "-s", server.socket], input=command + "\n", text=True,
                                  capture_output=True, check=True)
            self.assertEqual(done.stdout.rstrip("\n"), server.command(command), command)


class Resets(unittest.TestCase):
    """Of the drivers of the bindings."""

    def setUp(self):
        if not LANGUAGES:
            self.skipTest("no --driver is given")
        self.server = Server()
        self.addCleanup(self.server.end)

    def opened(self, driver):
        """With a client, a watched lock, which is held, and a multi, whose member is."""
        for kind, name, given in (("client", "client", {"url": self.server.url}),
                                  ("client", "other", {"url": self.server.url}),
                                  ("lock", "x", {"client": "client", "name": "x"}),
                                  ("lock", "y", {"client": "other", "name": "y"}),
                                  ("multi", "m", {"client": "other", "members": "y"}),
                                  ("semaphore", "s", {"client": "client", "name": "s", "permits": 2})):
            self.assertEqual("ok", driver.new(kind, name, given).status, (driver.name, name))
        for name, method in (("x", "watch"), ("x", "try"), ("m", "try"), ("s", "try")):
            answer = driver.call(name, method, {"gives": "h"} if name == "x" and method == "try" else {})
            self.assertEqual("ok", answer.status, (driver.name, name, method, answer.text))

    def test_a_driver_that_was_reset_holds_nothing(self):
        for language, command in LANGUAGES.items():
            driver = Driver(language, command, {})
            self.addCleanup(driver.end)
            for _ in range(3):
                self.opened(driver)
                self.assertNotEqual("0", self.server.command('EXISTS "{mortise:x}"'))
                self.assertTrue(driver.is_reset(driver.begin_reset()), language)
                deadline = time.monotonic() + 5
                while " name=mortise" in self.server.command("CLIENT LIST") and time.monotonic() < deadline:
                    time.sleep(0.01)
                self.assertEqual(1, len(self.server.command("CLIENT LIST").splitlines()), language)
                # Both were given back. The semaphore's number of permits stays.
                self.assertEqual("0", self.server.command('EXISTS "{mortise:x}" "{mortise:y}"'), language)
                self.assertEqual([], driver.notices, language)

    def test_a_driver_whose_server_hangs_is_reset_in_time(self):
        for language, command in LANGUAGES.items():
            driver = Driver(language, command, {})
            self.addCleanup(driver.end)
            self.opened(driver)
            self.server.control("pause")
            self.assertTrue(driver.is_reset(driver.begin_reset()), language)
            self.server.control("resume")


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--driver", action="append", default=[], metavar="LANGUAGE=COMMAND")
    given, rest = options.parse_known_args()
    LANGUAGES.update(item.split("=", 1) for item in given.driver)
    unittest.main(argv=[sys.argv[0], *rest])
