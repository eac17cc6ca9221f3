"""Whether the scenarios detect a missing effect: each option omitted, each call only pretended."""
import collections
import copy
import time
from concurrent import futures

import language_sets
from coverage import (CALLS_OF_HOLDS, calls_in, calls_of, is_read_only, options_in, options_of, read)
from scenario_run import run_scenario, steps_of

# Speed, and whether the server answers, for which other calls wait, too. That a ping is made shows
# where the ping reports a missing server.
UNSEEN = {"busy_poll", "client.ping"}
RUNS_AT_A_TIME = 16
# How long the runner waits at least for a call that never ends because of a mutation.
PATIENCE_S = 5

# A scenario in which something is omitted, and the number of the first step that lacks it.
Mutation = collections.namedtuple("Mutation", "scenario number")


def without_option(scenario, option):
    """The scenario with nothing made with this option; None if nothing was."""
    changed = copy.deepcopy(scenario)
    given = [options for options in options_in(changed) if option in options]
    is_of_client = option in changed.get("client_options", {})
    for step in changed["steps"]:
        if any(step.get("options") is options for options in given):
            step["is_planted"] = True
    for options in given:
        del options[option]
    return Mutation(changed, 0 if is_of_client else first_planted(changed)) if given else None


def without_call(scenario, call):
    """The scenario with a driver that only pretends to make this call; None if it never does. A call
    that gives a hold is made: later steps need the hold."""
    changed = copy.deepcopy(scenario)
    steps = [step for step, kind, method in calls_in(changed)
             if f"{kind}.{method}" == call and "ok" in step.get("expect", "ok") and "gives" not in step]
    for step in steps:
        step["is_planted"] = step["is_pretended"] = True
    return Mutation(changed, first_planted(changed)) if steps else None


def first_planted(scenario):
    return next((number for number, step in enumerate(steps_of(scenario), 1) if "is_planted" in step), 0)


def mutations_of(header_path, scenarios):
    """{omission: mutations}, of which a scenario has to detect one."""
    header = read(header_path)
    calls = {call for call in calls_of(header) | CALLS_OF_HOLDS
             if not is_read_only(call.split(".")[1]) and not call.endswith("_async")}
    found = {option: [without_option(scenario, option) for scenario in scenarios]
             for option in options_of(header) - UNSEEN}
    found.update({call: [without_call(scenario, call) for scenario in scenarios] for call in calls - UNSEEN})
    return {what: [mutation for mutation in some if mutation] for what, some in found.items()}


def runnable(planted, language):
    """Those mutations that the language can run, unless it can run none of them: the dashes of the table
    name what a language lacks."""
    found = {what: [mutation for mutation in some if language_sets.can_run(language, mutation.scenario)]
             for what, some in planted.items()}
    return {what: some for what, some in found.items() if some or not planted[what]}


def run_time(scenario, command):
    """How many seconds the scenario takes as it is; None if it fails."""
    began = time.monotonic()
    problem = run_scenario(scenario, language_sets.alone(scenario, command))
    if problem:
        print(f"{scenario['name']}: FAILED {problem}", flush=True)
    return None if problem else time.monotonic() - began


def detects(mutation, took_s, command):
    """Whether the scenario fails in the mutated step or later. An earlier failure has another reason. The
    run has twice the time that it takes without the mutation."""
    problem = run_scenario(mutation.scenario, language_sets.alone(mutation.scenario, command),
                           max(PATIENCE_S, 2 * took_s), is_mutated=True)
    return problem is not None and problem.number >= mutation.number


def check(header_path, scenarios, language):
    """The faults of the scenarios in a language, which is (name, command), as texts. A scenario
    that fails without a mutation detects nothing."""
    name, command = language
    able = [scenario for scenario in scenarios if language_sets.can_run(name, scenario)]
    planted = runnable(mutations_of(header_path, scenarios), name)
    with futures.ThreadPoolExecutor(max_workers=RUNS_AT_A_TIME) as threads:
        times = dict(zip([scenario["name"] for scenario in able],
                         threads.map(lambda scenario: run_time(scenario, command), able)))

        def is_detected(some):
            """By the quickest of them, if by any."""
            timed = [(times[mutation.scenario["name"]], mutation) for mutation in some]
            return any(detects(mutation, took_s, command)
                       for took_s, mutation in sorted((one for one in timed if one[0] is not None),
                                                      key=lambda one: one[0]))

        seen = dict(zip(planted, threads.map(is_detected, planted.values())))
    for what, is_so in sorted(seen.items()):
        print(f"{name} without {what}: {'detected' if is_so else 'NOT DETECTED'}")
    return ([f"{name}: this scenario fails by itself: {scenario}"
             for scenario, took_s in times.items() if took_s is None] +
            [f"{name}: no scenario detects that this is missing: {what}"
             for what, is_so in seen.items() if not is_so])
