"""The faults that provoke each hazard of docs/hazards.md: those of the campaign, or a test where the
campaign cannot inject it."""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/hazards.md"
ROW = re.compile(r"^\| (\d+) \| ([^|]+) \|", re.M)

FAULTS = {
    1: ("client: process is stopped", "client: process is stopped before a write"),
    3: ("client: wall clock of a process steps",),
    4: ("server: clock drifts", "server: clock steps ahead", "server: clock steps back"),
    6: ("network: replies are late", "server: clients are paused", "server: server sleeps"),
    7: ("server: failover by command", "server: master is killed, and replaced"),
    8: ("server: replica hangs", "server: replica is killed, loses its data"),
    10: ("server: master hangs, and is replaced", "server: master is cut off from its peers",
         "server: master is cut off with clients"),
    11: ("server: server is killed, has an old snapshot", "server: server is killed, loses its data",
         "server: two servers stop, a third loses its data"),
    13: ("server: memory is full",),
    14: ("server: keys are deleted",),
    15: ("network: replies are lost",),
    16: ("network: requests are lost", "server: server stops"),
    17: ("client: process is stopped", "server: server is killed, loses its data"),
    18: ("network: network refuses", "server: connections end"),
    21: ("client: process forks and executes",),
    22: ("client: process is killed",),
    24: ("network: connections are forgotten", "server: listeners end", "server: messages arrive twice"),
    25: ("server: two servers stop", "server: two servers stop, a third loses its data"),
    26: ("network: network is cut", "network: network loses all", "server: server stops"),
    27: ("server: scripts are forgotten",),
    28: ("server: failover by command", "server: memory is full"),
    29: ("server: slot moves",),
    30: ("server: keys are deleted", "server: server is killed, loses its data"),
}
TESTS = {
    2: "safety.hazard_02_suspend_ends_the_hold",
    9: "acknowledgement.hazard_9_a_server_that_has_nothing_to_wait_for_says_nothing",
    12: "strict_health_check.hazard_12_nothing_is_asked_of_a_server_that_evicts",
    19: "safety.hazard_19_forgotten_hold_ends_by_max_hold",
    20: "safety.hazard_20_stalled_renewal_thread_does_not_make_held_lie",
    23: "safety.hazard_23_denied_publish_does_not_make_a_release_fail",
    31: "safety.hazard_31_hostile_replies_are_refused",
    32: "forged_message.hazard_32_a_grant_without_the_secret_is_no_grant",
}


def rows(injected):
    """A row for each hazard. `injected` is how often the campaign injected each fault so far."""
    for number, name in ROW.findall(PAGE.read_text("utf-8")):
        counts = [(fault.split(": ", 1)[1], injected[fault])
                  for fault in FAULTS.get(int(number), ()) if injected.get(fault)]
        if counts:
            provoked = "; ".join(f"{fault} ({count:,})" for fault, count in counts)
        elif int(number) in TESTS:
            provoked = f"test `{TESTS[int(number)]}`"
        else:
            provoked = "**nothing**"
        yield number, name.strip(), provoked
