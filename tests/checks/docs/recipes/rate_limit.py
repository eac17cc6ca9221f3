"""Programs of all languages, all at once: never more than the permits between `begins` and `ends`; and
no faster than so many calls a period."""
import collections
import time

from stage import Program, built, run

AT_ONCE = [built(file) for file in (
    "atonce.go", "AtOnce.java", "atonce.lua", "atonce.py", "atonce.c", "atonce.cpp", "atonce.sh")]
LIMITED = [built(file) for file in (
    "limiter.go", "Limiter.java", "limiter.lua", "limiter.py", "limiter.c", "limiter.cpp", "limiter.sh")]
EACH = 2
TIMES = 10
PERMITS = 3
CALLS_PER_PERIOD = 5
PERIOD_S = 1


def never_more_at_once_than_permits():
    # All write to one file, each line at its end, so the lines are in the order of what happened.
    with open("all", "a", encoding="utf-8") as together:
        programs = [Program(command, output=together) for command in AT_ONCE * EACH]
        for program in programs:
            program.end()
    with open("all", encoding="utf-8") as together:
        lines = together.read().split("\n")[:-1]
    assert collections.Counter(lines) == {what: len(programs) * TIMES for what in ("begins", "ends")}
    within, most = 0, 0
    for line in lines:
        within += 1 if line == "begins" else -1
        most = max(most, within)
    assert 1 < most <= PERMITS, f"{most} at once"


def no_faster_than_so_many_a_period():
    began = time.monotonic()
    programs = [Program(command) for command in LIMITED]
    count = sum(program.end().count("calls") for program in programs)
    took_s = time.monotonic() - began
    assert count == len(programs) * TIMES
    # The last of them had to wait for all full periods before its own.
    assert took_s >= (count / CALLS_PER_PERIOD - 1) * PERIOD_S, f"{count} calls in {took_s} s"


run(never_more_at_once_than_permits, no_faster_than_so_many_a_period)
