"""Whether the header documents each status that a scenario expects of a call."""
import re

from coverage import calls_in, read

COMMENTED = re.compile(r"/\*\*((?:(?!\*/).)*)\*/\s*(?:MORTISE_\w+ )*MORTISE_API [^;]*?(mortise_\w+)\(",
                       re.S)
# What every function can return.
ALWAYS = {"MORTISE_OK", "MORTISE_NO_MEMORY", "MORTISE_INTERNAL"}


def own_statuses(comment):
    """(statuses, functions whose statuses it has) of a comment's @return."""
    _, _, returned = re.sub(r"\n \* ?", "\n", comment).partition("@return")
    statuses = set(re.findall(r"\b(MORTISE_[A-Z_]+)(?=:| of `)", returned))
    return statuses, set(re.findall(r"`(mortise_\w+)`", returned))


def statuses_of_functions(header):
    own = {name: own_statuses(comment) for comment, name in COMMENTED.findall(header)}

    def closure(name, seen):
        statuses, others = own.get(name, (set(), set()))
        return statuses.union(*(closure(other, seen | {name}) for other in others - seen - {name}))

    # An event ends what an asynchronous function began, with a status of the waiting one.
    return {name: closure(name, set()) for name in own}


def expected_in(scenario):
    """(kind, method, status) of each call, and of each end of one that was started."""
    started = {}
    for step, kind, method in calls_in(scenario):
        if "start" in step:
            started[step["at"], step.get("as")] = (kind, step["start"])
        yield kind, method, step.get("expect", "ok")
    for step in scenario["steps"]:
        begun = started.get((step.get("at"), step.get("await") or step.get("hear")))
        if begun:
            yield (*begun, step.get("expect", "ok"))


def undocumented(header, scenarios):
    """Lines such as "mortise_lock_try: not_owner", of statuses that its comment lacks."""
    documented = statuses_of_functions(header)
    wrong = set()
    for scenario in scenarios:
        for kind, method, expected in expected_in(scenario):
            statuses = documented.get(f"mortise_{kind}_{method}")
            for status in [expected] if isinstance(expected, str) else expected:
                name = f"MORTISE_{status.upper()}"
                if statuses and name not in statuses | ALWAYS:
                    wrong.add(f"mortise_{kind}_{method}: {status}")
    return sorted(wrong)


def check(header_path, scenarios):
    """None, or the text for sys.exit about everything that is missing."""
    wrong = undocumented(read(header_path), scenarios)
    return "statuses that the header lacks: " + "; ".join(wrong) if wrong else None
