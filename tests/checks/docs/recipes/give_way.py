"""Programs of all languages at once: one works at a time, and each lets the others have a turn."""
import collections

from stage import Program, built, run

COMMANDS = [built(file) for file in (
    "giver.go", "Giver.java", "giver.lua", "giver.py", "giver.c", "giver.cpp", "giver.sh")]
PIECES = 10


def each_gives_way_to_the_others():
    # All write to one file, each line at its end, so the lines are in the order of what happened.
    with open("all", "a", encoding="utf-8") as together:
        programs = [Program(command, output=together) for command in COMMANDS]
        for program in programs:
            program.end()
    with open("all", encoding="utf-8") as together:
        lines = together.read().split("\n")[:-1]
    counts = collections.Counter(lines)
    assert counts["works"] == len(programs) * PIECES, counts
    assert counts["begins"] == counts["ends"], counts
    is_within = False
    for line in lines:
        assert is_within == (line != "begins"), lines
        is_within = line != "ends"
    # A program that keeps the lock until its last piece begins once.
    assert counts["begins"] > 2 * len(programs), counts


run(each_gives_way_to_the_others)
