#!/usr/bin/env python3
"""Runs the scenarios of tests/conformance against a real server: alone in one language, or with
drivers of several languages in one scenario.

    runner.py --driver c=build/release/conformance_driver [--driver go=…] [--only NAME] [--mix]
              [--deployment NAME]… [--every-language-set] [--table FILE]
              [--check-coverage HEADER] [--check-mutations HEADER] [SCENARIO…]

A driver is a process that executes commands line by line. A scenario is a part of a JSON file. README.md
has the form of the lines and of the files.
"""
import argparse
import json
import os
import pathlib
import sys
from concurrent import futures

import coverage
import documented
import mutation_check
from deployment import KINDS, fits
from language_sets import in_turn, language_sets
from scenario_run import run_scenario

# A run mostly waits.
RUNS_AT_A_TIME = 12
HERE = pathlib.Path(__file__).resolve().parent


def runs_of(scenario, languages, given):
    """(label, {driver: command}, deployment) of each run: with every language set in the first
    deployment, and in others with one whose drivers take turns in their languages. With
    --every-language-set it is every set in those others."""
    others = given.deployment
    for label, commands in language_sets(scenario, languages, given.mix):
        if not given.every_language_set:
            yield label, commands, KINDS[0]
        for kind in others if given.every_language_set else ():
            if fits(kind, scenario):
                yield f"{label}, {kind}", commands, kind
    for number, kind in enumerate(() if given.every_language_set else others, 1):
        if fits(kind, scenario):
            yield kind, in_turn(scenario, languages, number), kind


def run_all(scenarios, languages, given):
    """{scenario: {label: problem or None}}"""
    results = {scenario["name"]: {} for scenario in scenarios}

    def run_one(scenario, label, commands, deployment):
        problem = run_scenario(scenario, commands, deployment=deployment)
        results[scenario["name"]][label] = problem
        print(f"{scenario['name']} [{label}]: {f'FAILED {problem}' if problem else 'ok'}", flush=True)

    with futures.ThreadPoolExecutor(max_workers=RUNS_AT_A_TIME) as threads:
        runs = [threads.submit(run_one, scenario, *one) for scenario in scenarios
                for one in runs_of(scenario, languages, given)]
        for one in runs:
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
    """These columns of the rows of the table."""
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return [[cell for label, cell in zip(rows[0], row) if label in labels] for row in rows]


def compare(path, table, labels):
    """Fails unless the committed table has the results of this run in these columns."""
    committed = pathlib.Path(path).read_text("utf-8")
    if columns(committed, ["scenario", *labels]) != columns(table, ["scenario", *labels]):
        sys.exit(f"{path} does not have the table of this run, which is:\n{table}")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--driver", action="append", default=[], metavar="LANGUAGE=COMMAND")
    options.add_argument("--only", action="append", default=[], metavar="NAME",
                         help="only the scenario of this name")
    options.add_argument("--mix", action="store_true")
    options.add_argument("--deployment", action="append", default=[], choices=KINDS[1:],
                         help="also in this one, with drivers that take turns in their languages")
    options.add_argument("--every-language-set", action="store_true",
                         help="every language set in those deployments, and no run in the first")
    options.add_argument("--table", help="write the table scenario x language here")
    options.add_argument("--compare", metavar="FILE", help="fail unless the table is that of FILE")
    options.add_argument("--check-coverage", metavar="HEADER")
    options.add_argument("--check-mutations", metavar="HEADER",
                         help="fail unless a scenario fails without each option and each call")
    options.add_argument("scenarios", nargs="*")
    given = options.parse_args()
    # Not every server can have every deployment.
    given.deployment = [kind for kind in given.deployment if kind != os.environ.get("MORTISE_TEST_WITHOUT")]
    files = given.scenarios or sorted(str(path) for path in (HERE / "scenarios").glob("*.json"))
    scenarios = [scenario for path in files for scenario in json.loads(open(path, encoding="utf-8").read())
                 if not given.only or scenario["name"] in given.only]
    if given.check_coverage:
        sys.exit(coverage.check(given.check_coverage, scenarios)
                 or documented.check(given.check_coverage, scenarios))
    languages = dict(item.split("=", 1) for item in given.driver)
    if not languages or not scenarios:
        sys.exit("nothing to run: give --driver and scenarios")
    if given.check_mutations:
        missed = [problem for language in languages.items()
                  for problem in mutation_check.check(given.check_mutations, scenarios, language)]
        sys.exit("\n".join(missed) if missed else 0)
    results = run_all(scenarios, languages, given)
    labels = list(languages) + (["mixed"] if given.mix and len(languages) > 1 else [])
    labels += given.deployment
    if given.table:
        with open(given.table, "w", encoding="utf-8") as out:
            out.write(table_of(results, labels))
    failed = [f"{scenario} [{label}]: {problem}" for scenario, by_label in results.items()
              for label, problem in by_label.items() if problem]
    print(f"{sum(len(r) for r in results.values())} runs, {len(failed)} failed")
    if failed:
        sys.exit("\n".join(failed))
    if given.compare:
        compare(given.compare, table_of(results, labels), labels)


if __name__ == "__main__":
    os.chdir(HERE.parent.parent)
    main()
