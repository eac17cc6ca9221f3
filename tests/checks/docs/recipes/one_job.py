"""Of all candidates for one run, in all languages and at once, one runs the command, also with
candidates that come later. If its host dies or it fails, a waiter runs it. The next run is another
one."""
import os
import pathlib

from stage import Program, built, eventually, redis, run

COMMANDS = [built(file) for file in ("once.go", "Once.java", "once.lua", "once.py", "once.c",
                                   "once.cpp")]
EACH = 2
os.environ["LOG"] = "log"

# Each appends its lines to one file. The shell of a waiting command reads a pipe that is never
# written.
QUICK = ["sh", "-c", "echo done >>$LOG"]
FAILING = ["sh", "-c", "echo fails >>$LOG; exit 1"]
LONG = ["sh", "-c", "mkfifo $LOG.gate; echo begins >>$LOG; read line <$LOG.gate; echo done >>$LOG"]


def log():
    path = pathlib.Path("log")
    return path.read_text("utf-8").split() if path.exists() else []


def lock(name):
    return f"{{mortise:{name}}}"


def wait_for_queue(name, length):
    eventually(f"{length} wait for {name}", lambda: redis("LLEN", lock(name) + ":q") == str(length))


def it_is_done_once_and_the_next_run_is_another():
    for number, name in enumerate(("report 10", "report 11")):
        programs = [Program(command, "60", name, *QUICK) for command in COMMANDS * EACH]
        eventually("one has ended", lambda: any(one.process.poll() is not None for one in programs))
        eventually("the mark", lambda: int(redis("PTTL", lock(name))) > 3_000_000)
        wait_for_queue(name, len(programs) - 1)
        assert log() == ["done"] * (number + 1), log()
        for program in programs:
            program.kill()
    for first in COMMANDS:
        name = f"report of {first[0]}"
        Program(first, "60", name, *QUICK).end()
        assert int(redis("PTTL", lock(name))) > 3_000_000
        assert Program(first, "1", name, *QUICK).end() == ["taken"]
    assert len(log()) == 2 + len(COMMANDS)


def another_takes_over_from_who_dies():
    for number, command in enumerate(COMMANDS):
        name, before = f"long report {number}", log()
        first = Program(command, "60", name, *LONG, query="?lease=2s")
        eventually("it begins", lambda: log() == before + ["begins"])
        second = Program(COMMANDS[number - 1], "60", name, *QUICK)
        wait_for_queue(name, 1)
        first.kill()
        second.end()
        assert log() == before + ["begins", "done"], log()
        os.remove("log.gate")


def who_fails_lets_the_next_one_try():
    for number, command in enumerate(COMMANDS):
        name, before = f"failing report {number}", log()
        Program(command, "60", name, *FAILING).end(1)
        Program(COMMANDS[number - 1], "60", name, *QUICK).end()
        assert log() == before + ["fails", "done"], log()


def the_command_ends_with_the_hold():
    for number, command in enumerate(COMMANDS[:2]):
        name, before = f"lost report {number}", log()
        program = Program(command, "60", name, *LONG, query="?lease=2s")
        eventually("it begins", lambda: log() == before + ["begins"])
        redis("DEL", lock(name))
        assert program.process.wait(60) != 0
        assert log() == before + ["begins"], log()
        os.remove("log.gate")


run(it_is_done_once_and_the_next_run_is_another, another_takes_over_from_who_dies,
    who_fails_lets_the_next_one_try, the_command_ends_with_the_hold)
