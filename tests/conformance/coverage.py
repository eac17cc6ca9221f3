"""Whether the scenarios show everything that the header promises."""
import re

# What no scenario can bring about: a defect of ours, and an exhausted memory.
BEYOND = {"internal", "no_memory"}


def statuses_of(header):
    body = re.search(r"enum mortise_status_code \{(.*?)\};", header, re.S).group(1)
    return {name.lower() for name in re.findall(r"^\s+MORTISE_(\w+) = ", body, re.M)}


def options_of(header):
    text = re.search(r"Keys: (.*?)\n \*\n", header, re.S).group(1)
    return set(re.findall(r"`([a-z_]+)`", text))


def protocols_of(header):
    text = re.search(r'(/\*\*(?:(?!\*/).)*\*/)\s*MORTISE_API mortise_status mortise_options_set_protocol',
                     header, re.S).group(1)
    return set(re.findall(r'"([a-z_]+)"', text))


def calls_of(header):
    """What an actor can be told: the methods of the four kinds, without the forms of waiting."""
    found = re.findall(r"mortise_(lock|rw|semaphore|multi)_([a-z_]+)\(", header)
    return {f"{kind}.{method}" for kind, method in found
            if not method.endswith("_async") and not method.startswith(("add_", "free", "new"))}


def shown(scenarios):
    seen = {"statuses": set(), "options": set(), "protocols": {"queued"}, "calls": set()}
    for scenario in scenarios:
        kinds = {}
        options = [scenario.get("client_options", {})]
        for step in scenario["steps"]:
            at = step.get("at")
            if "server" in step or "control" in step or at is None:
                continue
            if "new" in step:
                kinds[(at, step["as"])] = step["new"]
                options.append(step.get("options", {}))
            method = step.get("do") or step.get("start")
            if method:
                seen["calls"].add(f"{kinds.get((at, step['on']), 'client')}.{method}")
            seen["statuses"].add(step.get("expect", "ok"))
            if step.get("notice") == "lost":
                seen["calls"].add(f"{kinds[(at, step['on'])]}.watch")
        for given in options:
            seen["options"].update(given)
            if "protocol" in given:
                seen["protocols"].add(given["protocol"])
    return seen


def check(header_path, scenarios):
    """None, or a text of what is missing, for sys.exit."""
    with open(header_path, encoding="utf-8") as file:
        header = file.read()
    seen = shown(scenarios)
    wanted = {"statuses": statuses_of(header) - BEYOND, "options": options_of(header),
              "protocols": protocols_of(header), "calls": calls_of(header)}
    missing = [f"{what}: {', '.join(sorted(names - seen[what]))}"
               for what, names in wanted.items() if names - seen[what]]
    return "no scenario shows " + "; ".join(missing) if missing else None
