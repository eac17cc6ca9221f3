#!/usr/bin/env python3
"""Plays the scenarios of tests/conformance against a real server: alone in one language, or with
actors of several languages in one scenario.

    conductor.py --actor c=build/release/conformance_actor [--actor go=…] [--mix]
                 [--deployment NAME]… [--every-cast] [--table FILE]
                 [--check-coverage HEADER] [--check-noticed HEADER] [SCENARIO…]

Each actor is a process of its own that does what it is told line by line; README.md says how. A
scenario is a JSON file; README.md has its form, too.
"""
import argparse
import json
import os
import pathlib
import sys
from concurrent import futures

import coverage
import noticed
from casts import casts, in_turn
from deployment import KINDS, fits
from play import play

PLAYS_AT_A_TIME = 6
HERE = pathlib.Path(__file__).resolve().parent

def plays_of(scenario, languages, given):
    """(label, cast, deployment) of each: with every cast in the first deployment, and in others with
    one whose actors take turns in their languages; or, if told to, with every cast in those."""
    others = given.deployment
    for label, cast in casts(scenario, languages, given.mix):
        if not given.every_cast:
            yield label, cast, KINDS[0]
        for kind in others if given.every_cast else ():
            if fits(kind, scenario):
                yield f"{label}, {kind}", cast, kind
    for number, kind in enumerate(() if given.every_cast else others, 1):
        if fits(kind, scenario):
            yield kind, in_turn(scenario, languages, number), kind


def play_all(scenarios, languages, given):
    """{scenario: {label: problem or None}}. A play mostly waits, so several go on at a time."""
    results = {scenario["name"]: {} for scenario in scenarios}

    def play_one(scenario, label, cast, deployment):
        problem = play(scenario, cast, deployment=deployment)
        results[scenario["name"]][label] = problem
        print(f"{scenario['name']} [{label}]: {f'FAILED {problem}' if problem else 'ok'}", flush=True)

    with futures.ThreadPoolExecutor(max_workers=PLAYS_AT_A_TIME) as stages:
        plays = [stages.submit(play_one, scenario, *one) for scenario in scenarios
                 for one in plays_of(scenario, languages, given)]
        for one in plays:
            one.result()
    return results


def table_of(results, labels):
    lines = ["| scenario | " + " | ".join(labels) + " |", "|---" * (len(labels) + 1) + "|"]
    for name, by_label in results.items():
        cells = ["–" if label not in by_label else "yes" if by_label[label] is None else "NO"
                 for label in labels]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def columns(table, labels):
    """The rows of the table, of which these columns."""
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return [[cell for label, cell in zip(rows[0], row) if label in labels] for row in rows]


def compare(path, table, labels):
    """The committed table is what the run has shown, where it says something of these."""
    said = pathlib.Path(path).read_text("utf-8")
    if columns(said, ["scenario", *labels]) != columns(table, ["scenario", *labels]):
        sys.exit(f"{path} does not have the table of this run; it is:\n{table}")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--actor", action="append", default=[], metavar="LANGUAGE=COMMAND")
    options.add_argument("--mix", action="store_true")
    options.add_argument("--deployment", action="append", default=[], choices=KINDS[1:],
                         help="also in this one, with actors that take turns in their languages")
    options.add_argument("--every-cast", action="store_true",
                         help="in those deployments, and only there, with every cast")
    options.add_argument("--table", help="write the table scenario x language here")
    options.add_argument("--compare", metavar="FILE", help="fail unless the table is that of FILE")
    options.add_argument("--check-coverage", metavar="HEADER")
    options.add_argument("--check-noticed", metavar="HEADER",
                         help="fail unless a scenario fails without each option and each call")
    options.add_argument("scenarios", nargs="*")
    given = options.parse_args()
    # The server may be one of which there cannot be such a deployment.
    given.deployment = [kind for kind in given.deployment if kind != os.environ.get("MORTISE_TEST_WITHOUT")]
    files = given.scenarios or sorted(str(path) for path in (HERE / "scenarios").glob("*.json"))
    scenarios = [scenario for path in files for scenario in json.loads(open(path, encoding="utf-8").read())]
    if given.check_coverage:
        sys.exit(coverage.check(given.check_coverage, scenarios))
    languages = dict(item.split("=", 1) for item in given.actor)
    if not languages or not scenarios:
        sys.exit("nothing to play: give --actor and scenarios")
    if given.check_noticed:
        missed = [problem for language in languages.items()
                  for problem in noticed.check(given.check_noticed, scenarios, language)]
        sys.exit("\n".join(missed) if missed else 0)
    results = play_all(scenarios, languages, given)
    labels = list(languages) + (["mixed"] if given.mix and len(languages) > 1 else [])
    labels += given.deployment
    if given.table:
        with open(given.table, "w", encoding="utf-8") as out:
            out.write(table_of(results, labels))
    failed = [f"{scenario} [{label}]: {problem}" for scenario, by_label in results.items()
              for label, problem in by_label.items() if problem]
    print(f"{sum(len(r) for r in results.values())} plays, {len(failed)} failed")
    if failed:
        sys.exit("\n".join(failed))
    if given.compare:
        compare(given.compare, table_of(results, labels), labels)


if __name__ == "__main__":
    os.chdir(HERE.parent.parent)
    main()
