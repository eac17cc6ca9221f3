"""At SIGTERM waiters stop waiting, and holders finish their work. Both have released everything
when they have ended."""
from signal import SIGCONT, SIGSTOP, SIGTERM

from stage import Program, built, eventually, redis, run

LOCK = "{mortise:report}"
# A virtual machine that was ended by a signal returns this code.
COMMANDS = [(built("worker.go"), 0), (built("Worker.java"), 143), (built("worker.lua"), 0),
            (built("worker.py"), 0),
            (built("worker.c"), 0), (built("worker.cpp"), 0)]


def stopped_with_the_lock(worker):
    worker.send(SIGSTOP)
    if redis("EXISTS", LOCK) == "1":
        return True
    worker.send(SIGCONT)
    return False


def the_signal_ends_the_wait_and_not_the_work():
    for command, status in COMMANDS:
        works = Program(command)
        works.expect("^begins$")
        eventually("it is stopped while it works", lambda works=works: stopped_with_the_lock(works))
        waits = Program(command)
        eventually("one waits", lambda: redis("LLEN", LOCK + ":q") == "1")
        waits.send(SIGTERM)
        assert waits.end(status) == [], waits
        assert redis("LLEN", LOCK + ":q") == "0"

        works.send(SIGCONT)
        works.expect("^begins$")
        works.send(SIGTERM)
        lines = works.end(status)
        assert lines == ["begins", "has done it"] * (len(lines) // 2), lines
        assert redis("EXISTS", LOCK) == "0"


run(the_signal_ends_the_wait_and_not_the_work)
