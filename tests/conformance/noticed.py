"""Whether the scenarios notice what is not done: each option left out, each call only pretended."""
import collections
import copy
import time
from concurrent import futures

import casts
from coverage import (CALLS_OF_HOLDS, calls_in, calls_of, is_read_only, options_in, options_of, read)
from play import play, steps_of

# Only how fast something is; and whether the server is there, which other calls wait for, too: that a
# ping is made is seen where it says that there is none.
UNSEEN = {"busy_poll", "client.ping"}
PLAYS_AT_A_TIME = 16
# How long a call that a fault leaves hanging is waited for, at least.
PATIENCE_S = 5

# A scenario with something left out, and the number of the first step that this is true of.
Fault = collections.namedtuple("Fault", "scenario number")


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
    return Fault(changed, 0 if is_of_client else first_planted(changed)) if given else None


def without_call(scenario, call):
    """The scenario with an actor that only says that it made this call; None if it never does. A call
    that gives a hold is made: without it later steps would have nothing to be on."""
    changed = copy.deepcopy(scenario)
    steps = [step for step, kind, method in calls_in(changed)
             if f"{kind}.{method}" == call and "ok" in step.get("expect", "ok") and "gives" not in step]
    for step in steps:
        step["is_planted"] = step["is_pretended"] = True
    return Fault(changed, first_planted(changed)) if steps else None


def first_planted(scenario):
    return next((number for number, step in enumerate(steps_of(scenario), 1) if "is_planted" in step), 0)


def faults(header_path, scenarios):
    """{what is not done: faults}, of which a scenario has to notice one."""
    header = read(header_path)
    calls = {call for call in calls_of(header) | CALLS_OF_HOLDS
             if not is_read_only(call.split(".")[1]) and not call.endswith("_async")}
    found = {option: [without_option(scenario, option) for scenario in scenarios]
             for option in options_of(header) - UNSEEN}
    found.update({call: [without_call(scenario, call) for scenario in scenarios] for call in calls - UNSEEN})
    return {what: [fault for fault in some if fault] for what, some in found.items()}


def playable(planted, language):
    """Those faults that the language can play, unless it can play none of them: what it has no words
    for is said by the table's dashes."""
    found = {what: [fault for fault in some if casts.can_play(language, fault.scenario)]
             for what, some in planted.items()}
    return {what: some for what, some in found.items() if some or not planted[what]}


def play_time(scenario, command):
    """How many seconds the scenario takes as it is; None if it fails."""
    began = time.monotonic()
    problem = play(scenario, casts.alone(scenario, command))
    if problem:
        print(f"{scenario['name']}: FAILED {problem}", flush=True)
    return None if problem else time.monotonic() - began


def notices(fault, took_s, command):
    """Whether the scenario fails where the fault is or later; before, it is for another reason. It has
    twice the time that it takes without the fault."""
    problem = play(fault.scenario, casts.alone(fault.scenario, command), max(PATIENCE_S, 2 * took_s))
    return problem is not None and problem.number >= fault.number


def check(header_path, scenarios, language):
    """What is wrong with the scenarios in a language, which is (name, command): texts. A scenario that
    fails as it is notices nothing."""
    name, command = language
    played = [scenario for scenario in scenarios if casts.can_play(name, scenario)]
    planted = playable(faults(header_path, scenarios), name)
    with futures.ThreadPoolExecutor(max_workers=PLAYS_AT_A_TIME) as stages:
        times = dict(zip([scenario["name"] for scenario in played],
                         stages.map(lambda scenario: play_time(scenario, command), played)))

        def is_noticed(some):
            """By the quickest of them, if by any."""
            timed = [(times[fault.scenario["name"]], fault) for fault in some]
            return any(notices(fault, took_s, command)
                       for took_s, fault in sorted((one for one in timed if one[0] is not None),
                                                   key=lambda one: one[0]))

        seen = dict(zip(planted, stages.map(is_noticed, planted.values())))
    for what, is_so in sorted(seen.items()):
        print(f"{name} without {what}: {'noticed' if is_so else 'NOT NOTICED'}")
    return ([f"{name}: this scenario fails by itself: {scenario}"
             for scenario, took_s in times.items() if took_s is None] +
            [f"{name}: no scenario notices that this is not done: {what}"
             for what, is_so in seen.items() if not is_so])
