"""Whether the scenarios show everything that the header promises."""
import re

# What no scenario can bring about: a defect of ours, and an exhausted memory.
BEYOND = {"internal", "no_memory"}
# What differs from run to run, or is of one entry; each binding's own tests check these, and drivers count
# the entries that are retained.
GETTERS_BEYOND = {"time_left_ms", "latest_token", "shown_holder_count", "entry_count", "entry_owner",
                  "entry_host", "entry_pid", "entry_permits", "entry_is_exclusive",
                  "entry_is_retained"}


# The facts of a hold, for which C has no object.
CALLS_OF_HOLDS = {"hold.unlock", "hold.extend", "hold.progress", "hold.export", "hold.upgrade",
                  "hold.downgrade", "hold.set_value", "hold.token", "hold.is_held", "hold.valid_ms"}
# The notices of an observed election.
LEADERS = {"leader", "no_leader"}
# The notices of the waits and the holds of a client.
OF_LOCKS = {"wait_began", "wait_failed", "hold_began", "hold_changed", "hold_ended"}
# The fields of a failure besides its status, of a call and of one in the background.
FLAGS = {f"{is_so}{flag} of {whose}" for is_so in ("", "not ") for flag in ("retryable", "ambiguous")
         for whose in ("a call", "an event")}


def statuses_of(header):
    body = re.search(r"enum mortise_status_code \{(.*?)\};", header, re.S).group(1)
    return {name.lower() for name in re.findall(r"^\s+MORTISE_(\w+) = ", body, re.M)}


def reasons_of(header):
    return {name.lower(): int(number)
            for name, number in re.findall(r"^\s+MORTISE_REASON_(\w+) = (\d+)", header, re.M)}


def options_of(header):
    return set(re.findall(r'^#define MORTISE_OPTION_\w+ "(\w+)"$', header, re.M))


def protocols_of(header):
    text = re.search(r'(/\*\*(?:(?!\*/).)*\*/)\s*MORTISE_API mortise_status mortise_options_set_protocol',
                     header, re.S).group(1)
    return set(re.findall(r'"([a-z_]+)"', text))


def calls_of(header):
    """The commands of a driver: the methods of the kinds, and the forms that do not wait."""
    found = re.findall(r"mortise_(client|lock|rw|semaphore|election|multi)_([a-z_]+)\(", header)
    return {f"{kind}.{method}" for kind, method in found
            if not method.startswith(("add_", "free", "new")) and not is_of_hold(method)}


def is_of_hold(method):
    """What a hold is made of: the calls of a hold show it. The C driver makes them by these."""
    return method == "hold_number" or method.endswith(("_hold", "_hold_async"))


def getters_of(header):
    return set(re.findall(r"mortise_info_([a-z_]+)\(const", header)) - GETTERS_BEYOND


def is_read_only(method):
    return method.startswith("is_") or method in (
        "token", "valid_ms", "deadline_ns", "name", "query", "member_count", "last_health", "stats",
        "list_locks", "scan_locks", "list_history")


def is_asserted(step):
    return any(key in step for key in ("equals", "at_least", "at_most", "above", "same_as", "says"))


def kinds_of(scenario):
    """What every handle and every hold of every driver is."""
    kinds = {(step["at"], step["as"] + ("1" if "count" in step else "")): step["new"]
             for step in scenario["steps"] if "new" in step}
    kinds.update({(step["at"], step["gives"]): "hold" for step in scenario["steps"] if "gives" in step})
    return kinds


def calls_in(scenario):
    """(step, kind, method) of every call."""
    kinds = kinds_of(scenario)
    for step in scenario["steps"]:
        method = step.get("do") or step.get("start")
        if method:
            kind = kinds.get((step["at"], step["on"]), "client")
            yield step, kind, method + ("_async" if "start" in step else "")


def options_in(scenario):
    """The options that something was made with, or that a refusal names."""
    yield scenario.get("client_options", {})
    for step in scenario["steps"]:
        given = step.get("options", {})
        if step.get("expect", "ok") == "ok" or set(given) & {step.get("says")}:
            yield given


def shown(scenarios):
    seen = {"statuses": set(), "options": set(), "protocols": {"queued"}, "calls": set(),
            "notices": set(), "getters": set(), "flags": set()}
    for scenario in scenarios:
        kinds = kinds_of(scenario)
        for step, kind, method in calls_in(scenario):
            # A value that no step checks shows nothing, and a watch is shown by a notice.
            if method not in ("watch", "observe") and (not is_read_only(method) or is_asserted(step)):
                seen["calls"].add(f"{kind}.{method}")
            if method == "query" and is_asserted(step):
                seen["getters"].add(re.sub(r"^(label|value)$", r"entry_\1", step.get("of", "waiter_count")))
        for step in scenario["steps"]:
            if "at" in step and not {"signal", "ends"} & set(step):
                seen["statuses"].add(str(step.get("expect", "ok")))
            for flag in {"retryable", "ambiguous"} & set(step):
                whose = "an event" if "await" in step else "a call"
                seen["flags"].add(f"{'' if step[flag] else 'not '}{flag} of {whose}")
            if "notice" in step:
                seen["notices"].add(step["notice"])
                by = "observe" if step["notice"] in LEADERS else "watch"
                seen["calls"].add(f"{kinds.get((step['at'], step['on']), 'client')}.{by}")
        for given in options_in(scenario):
            seen["options"].update(given)
            seen["protocols"].update({given["protocol"]} if "protocol" in given else ())
    return seen


def read(header_path):
    with open(header_path, encoding="utf-8") as file:
        return file.read()


def check(header_path, scenarios):
    """None, or the text for sys.exit about everything that is missing."""
    header = read(header_path)
    seen = shown(scenarios)
    required = {"statuses": statuses_of(header) - BEYOND, "options": options_of(header),
              "protocols": protocols_of(header), "calls": calls_of(header) | CALLS_OF_HOLDS,
              "flags": FLAGS, "notices": {"lost", "at_risk", "contended"} | LEADERS | OF_LOCKS,
              "getters": getters_of(header)}
    missing = [f"{what}: {', '.join(sorted(names - seen[what]))}"
               for what, names in required.items() if names - seen[what]]
    return "no scenario shows " + "; ".join(missing) if missing else None
