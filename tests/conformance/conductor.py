#!/usr/bin/env python3
"""Plays the scenarios of tests/conformance against a real server: alone in one language, or with
actors of several languages in one scenario.

    conductor.py --actor c=build/release/conformance_actor [--actor go=…] [--mix] [--table FILE]
                 [--check-coverage HEADER] [SCENARIO…]

Each actor is a process of its own that does what it is told line by line; README.md says how. A
scenario is a JSON file; README.md has its form, too.
"""
import argparse
import itertools
import json
import os
import pathlib
import sys
import tempfile
from concurrent import futures

import actors
import coverage
from server import Server

PLAYS_AT_A_TIME = 4
HERE = pathlib.Path(__file__).resolve().parent

# Why a hold was lost, by the numbers of the header.
REASONS = {"expired": 1, "replaced": 2, "server_lost": 3, "max_hold": 4}

# What a scenario may need, and a language has not. Its plays are left out, and are a dash in the table.
CANNOT = {
    "go": {"fork", "queue", "negative_timeout", "exit_handlers"},
    "java": {"fork", "queue", "negative_timeout", "text_of_not_acquired"},
}


class Failed(Exception):
    """A step did not go as the scenario says."""


class Play:
    """One run of one scenario with a given cast."""

    def __init__(self, scenario, cast, folder):
        self.scenario = scenario
        self.server = Server(folder)
        self.actors = {}
        self.cast = cast
        self.remembered = {}
        self.started = {}

    def run(self):
        try:
            for name, command in self.cast.items():
                environment = {"MORTISE_URL": self.server.url, **self.scenario.get("environment", {})}
                self.actors[name] = actors.Actor(name, command, environment)
                if self.scenario.get("opens_clients", True):
                    self.step({"at": name, "new": "client", "as": "client",
                               "options": self.scenario.get("client_options", {})})
            for number, step in enumerate(steps_of(self.scenario), 1):
                try:
                    self.step(step)
                except (Failed, actors.Gone) as problem:
                    raise Failed(f"step {number} {json.dumps(step)}: {problem}") from None
        finally:
            for actor in self.actors.values():
                actor.end()
            self.server.stop()

    def step(self, step):
        if "server" in step:
            return self.server_step(step)
        if "control" in step:
            return self.server.control(step["control"], step.get("in_ms", 0))
        if "sleep_ms" in step:
            return actors.sleep_ms(step["sleep_ms"])
        if "is_pretended" in step:
            self.remembered[step.get("remember")] = 0
            return None
        actor = self.actors[step["at"]]
        if "signal" in step:
            return actor.signal(step["signal"])
        if "ends" in step:
            return actor.end_by_itself()
        if "await" in step:
            return self.check(step, actor.await_call(self.started[step["await"]]))
        if "notice" in step:
            return self.check(step, actor.await_notice(step["on"], step["notice"]))
        if "start" in step:
            number, answer = actor.start(step["on"], step["start"], self.arguments(step))
            self.started[step.get("as", step["start"])] = number
            expected = step.get("expect", "ok")
            if answer.status != expected:
                raise Failed(f"accepted with {answer.status}, not {expected}: {answer.text}")
            return None
        if "new" in step:
            return self.check(step, actor.new(step["new"], step["as"], self.new_arguments(step)))
        return self.check(step, actor.call(step["on"], step["do"], self.arguments(step)))

    def new_arguments(self, step):
        given = dict(self.arguments(step))
        if step["new"] == "client":
            given.setdefault("url", self.server.url)
            if given["url"] is None:
                del given["url"]
        else:
            given.setdefault("client", "client")
        if step["new"] in ("lock", "rw", "semaphore"):
            given["name"] = step.get("name", "the lock")
        if "members" in step:
            given["members"] = step["members"]
        for key, value in step.get("options", {}).items():
            given["opt." + key] = value
        return given

    @staticmethod
    def arguments(step):
        known = ("is_on", "timeout_ms", "weight", "permits", "lease_ms", "url", "client", "of")
        return {key: step[key] for key in known if key in step}

    def server_step(self, step):
        """A plain command, repeated for as long as its reply may still become the expected one."""
        expected = step.get("equals")
        said = step.get("says", "")
        for _ in range(200 if step.get("eventually") else 1):
            reply = self.server.command(step["server"])
            if expected is None or reply == str(expected):
                break
            actors.sleep_ms(50)
        if "remember" in step:
            self.remembered[step["remember"]] = int(reply)
        if expected is not None and reply != str(expected):
            raise Failed(f"the server says {reply!r}, not {expected!r}")
        check_value(step, int(reply) if reply.lstrip("-").isdigit() else None)
        if said not in reply:
            raise Failed(f"the server says {reply!r}, without {said!r}")

    def check(self, step, answer):
        expected = step.get("expect", "ok")
        if answer.status != expected:
            raise Failed(f"{answer.status}, not {expected}: {answer.text}")
        if "says" in step and step["says"] not in answer.text:
            raise Failed(f"{answer.text!r} does not say {step['says']!r}")
        if "reason" in step and answer.reason != REASONS[step["reason"]]:
            raise Failed(f"the reason is {answer.reason}, not {step['reason']}")
        value = answer.value
        if "equals" in step and value != step["equals"]:
            raise Failed(f"{value} is not equals {step['equals']}")
        check_value(step, value)
        for key, holds in (("same_as", lambda other: value == other),
                           ("above", lambda other: value > other)):
            if key in step and not holds(self.remembered[step[key]]):
                raise Failed(f"{value} is not {key} {step[key]} ({self.remembered[step[key]]})")
        if "remember" in step:
            self.remembered[step["remember"]] = value


def check_value(step, value):
    for key, holds in (("at_least", lambda limit: value >= limit),
                       ("at_most", lambda limit: value <= limit)):
        if key in step and (value is None or not holds(step[key])):
            raise Failed(f"{value} is not {key} {step[key]}")


def steps_of(scenario):
    """Its steps; one with a `count` is as many, whose `as` and `name` end in 1, 2, …"""
    for step in scenario["steps"]:
        for number in range(1, step.get("count", 0) + 1):
            yield {**step, "as": f"{step['as']}{number}", "name": f"{step['name']}{number}"}
        if "count" not in step:
            yield step


def actors_of(scenario):
    names = []
    for step in scenario["steps"]:
        if "at" in step and step["at"] not in names:
            names.append(step["at"])
    return names


def casts(scenario, languages, is_mixed):
    """Who plays whom: (label, {actor: command})."""
    names = actors_of(scenario)
    needs = set(scenario.get("needs", []))
    languages = {language: command for language, command in languages.items()
                 if not needs & CANNOT.get(language, set())}
    for language, command in languages.items():
        yield language, {name: command for name in names}
    if is_mixed and len(languages) > 1 and len(names) > 1:
        circle = itertools.cycle(languages.items())
        shift = sum(scenario["name"].encode()) % len(languages)
        turns = list(itertools.islice(circle, shift, shift + len(names)))
        yield "mixed", {name: turn[1] for name, turn in zip(names, turns)}


def play(scenario, cast):
    """Runs it with a cast; None, or what went wrong."""
    with tempfile.TemporaryDirectory(prefix="mortise-conformance-") as folder:
        try:
            Play(scenario, cast, folder).run()
        except (Failed, actors.Gone) as problem:
            return str(problem)
    return None


def play_all(scenarios, languages, is_mixed):
    """{scenario: {label: problem or None}}. A play mostly waits, so several go on at a time."""
    results = {scenario["name"]: {} for scenario in scenarios}

    def play_one(scenario, label, cast):
        problem = play(scenario, cast)
        results[scenario["name"]][label] = problem
        print(f"{scenario['name']} [{label}]: {'FAILED ' + problem if problem else 'ok'}", flush=True)

    with futures.ThreadPoolExecutor(max_workers=PLAYS_AT_A_TIME) as stages:
        plays = [stages.submit(play_one, scenario, label, cast) for scenario in scenarios
                 for label, cast in casts(scenario, languages, is_mixed)]
        for one in plays:
            one.result()
    return results


def check_noticed(header, scenarios, command):
    """The names of what can be left undone in one language without any scenario that fails."""
    actors.PATIENCE_S = 5

    def is_noticed(variants):
        return any(play(scenario, {name: command for name in actors_of(scenario)})
                   for scenario in variants)

    broken = coverage.broken(header, scenarios)
    with futures.ThreadPoolExecutor(max_workers=PLAYS_AT_A_TIME) as stages:
        noticed = dict(zip(broken, stages.map(is_noticed, broken.values())))
    for what, is_so in sorted(noticed.items()):
        print(f"without {what}: {'noticed' if is_so else 'NOT NOTICED'}")
    return [what for what, is_so in noticed.items() if not is_so]


def table_of(results, labels):
    lines = ["| scenario | " + " | ".join(labels) + " |", "|---" * (len(labels) + 1) + "|"]
    for name, by_label in results.items():
        cells = ["–" if label not in by_label else "yes" if by_label[label] is None else "NO"
                 for label in labels]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def compare(path, table):
    """The committed table is what the run has shown."""
    with open(path, encoding="utf-8") as file:
        if table not in file.read():
            sys.exit(f"{path} does not have the table of this run; it is:\n{table}")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--actor", action="append", default=[], metavar="LANGUAGE=COMMAND")
    options.add_argument("--mix", action="store_true")
    options.add_argument("--table", help="write the table scenario x language here")
    options.add_argument("--compare", metavar="FILE", help="fail unless the table is that of FILE")
    options.add_argument("--check-coverage", metavar="HEADER")
    options.add_argument("--check-noticed", metavar="HEADER",
                         help="fail unless a scenario fails without each option and each call")
    options.add_argument("scenarios", nargs="*")
    given = options.parse_args()
    files = given.scenarios or sorted(str(path) for path in (HERE / "scenarios").glob("*.json"))
    scenarios = [scenario for path in files for scenario in json.loads(open(path, encoding="utf-8").read())]
    if given.check_coverage:
        sys.exit(coverage.check(given.check_coverage, scenarios))
    languages = dict(item.split("=", 1) for item in given.actor)
    if not languages or not scenarios:
        sys.exit("nothing to play: give --actor and scenarios")
    if given.check_noticed:
        missed = check_noticed(given.check_noticed, scenarios, next(iter(languages.values())))
        sys.exit("no scenario notices that these are not done: " + ", ".join(missed) if missed else 0)
    results = play_all(scenarios, languages, given.mix)
    labels = list(languages) + (["mixed"] if given.mix and len(languages) > 1 else [])
    if given.table:
        with open(given.table, "w", encoding="utf-8") as out:
            out.write(table_of(results, labels))
    if given.compare:
        compare(given.compare, table_of(results, labels))
    failed = sum(1 for by_label in results.values() for problem in by_label.values() if problem)
    print(f"{sum(len(r) for r in results.values())} plays, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    os.chdir(HERE.parent.parent)
    main()
