#!/usr/bin/python3 -B
"""rivals_test COMPETITOR: overlaps, workers without service and locks that stay taken are found, and
Mortise's competitor in C has none of them."""
import contextlib
import pathlib
import sys
import tempfile
import unittest

import table
from arena import Arena
from faults import result

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/peers"))
import competitors  # noqa: E402

# One worker for each process. BODY is what it does with its number and the number of its process.
FAKE = """
import fcntl, os, sys, time
print("ready", flush=True)
sys.stdin.readline()
own = (os.getpid() << 16) + 1
def write(what):
    os.write(1, f"{what} {own}\\n".encode())
lock = open(sys.argv[-1], "w")
while True:
BODY
"""
WITHOUT_LOCK = """
    write("enter"); time.sleep(0.05); write("leave")
"""
WITH_LOCK = """
    fcntl.flock(lock, fcntl.LOCK_EX)
    write("enter"); time.sleep(0.05); write("leave")
    fcntl.flock(lock, fcntl.LOCK_UN)
    time.sleep(0.01)
"""
LONG_WITHOUT_LOCK = """
    write("enter"); time.sleep(1); write("leave")
"""
NEVER_RELEASED = """
    fcntl.flock(lock, fcntl.LOCK_EX)
    write("enter"); time.sleep(1000)
"""


def fake(folder, body):
    program = pathlib.Path(folder, "competitor.py")
    program.write_text(FAKE.replace("BODY", body), "utf-8")
    wrapper = pathlib.Path(folder, "run")
    wrapper.write_text(f'#!/bin/sh\nexec /usr/bin/python3 -B {program} {folder}/lock\n', "utf-8")
    wrapper.chmod(0o755)
    return competitors.Competitor("fake", "Python", "", "", [wrapper])


def await_all(arena):
    """Until each worker has entered, however slow the machine is."""
    if arena.unserved(arena.start):
        arena.watch(60, lambda line: not arena.unserved(arena.start))


class Rivals(unittest.TestCase):
    def run_for(self, competitor, seconds=1.0, awaits_all=False, **more):
        with contextlib.closing(Arena(competitor, 2, 1, 0.05, **more)) as arena:
            arena.watch(seconds)
            if awaits_all:
                await_all(arena)
            return result(arena, arena.start, arena.start, harms=1)

    def of_fake(self, body, awaits_all=False):
        with tempfile.TemporaryDirectory() as folder:
            return self.run_for(fake(folder, body), awaits_all=awaits_all)

    def test_overlaps_are_found(self):
        found = self.of_fake(WITHOUT_LOCK)
        self.assertGreater(found["overlaps"], 0)
        self.assertIn("overlaps", table.text("holder_killed", "x", found))

    def test_a_lock_that_works_has_none(self):
        found = self.of_fake(WITH_LOCK, awaits_all=True)
        self.assertEqual((found["overlaps"], found["unserved"]), (0, 0))
        self.assertGreater(found["entries"], 1)

    def test_a_worker_without_service_is_found(self):
        found = self.of_fake(NEVER_RELEASED)
        self.assertEqual((found["overlaps"], found["unserved"], found["entries"]), (0, 1, 1))

    def test_a_section_of_a_stopped_process_counts_apart(self):
        with tempfile.TemporaryDirectory() as folder, \
                contextlib.closing(Arena(fake(folder, LONG_WITHOUT_LOCK), 2, 1, 1)) as arena:
            holder = arena.catch_holder()
            arena.stop(holder)
            before = len(arena.overlaps)
            arena.watch(2.5)
            self.assertTrue(arena.overlaps[before:])
            self.assertTrue(all(overlap.is_of_stopped for overlap in arena.overlaps[before:]))
            arena.resume(holder)

    def test_a_killed_holder_is_not_inside(self):
        with tempfile.TemporaryDirectory() as folder, \
                contextlib.closing(Arena(fake(folder, WITH_LOCK), 2, 1, 0.05)) as arena:
            arena.kill(arena.catch_holder())
            self.assertIsNotNone(arena.await_entry(10))
            self.assertEqual(arena.overlaps, [])

    def test_mortise_keeps_its_lock(self):
        competitor = competitors.Competitor("Mortise", "C", "", "", [COMPETITOR])
        with contextlib.closing(Arena(competitor, 2, 2, 0.05)) as arena:
            arena.watch(2)
            await_all(arena)
            found = result(arena, arena.start, arena.start, harms=0)
        self.assertEqual((found["overlaps"], found["unserved"], found["failed_calls"]), (0, 0, 0),
                         found["error"])
        self.assertGreater(found["entries"], 1)


if __name__ == "__main__":
    COMPETITOR = sys.argv.pop()
    unittest.main()
