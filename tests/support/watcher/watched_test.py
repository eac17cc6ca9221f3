#!/usr/bin/python3 -B
"""watched_test WATCHED: what it repeats, and what it does not."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

WATCHED = sys.argv.pop()
# More than any real stall, and less than the one that a test makes by stopping its watcher.
NO_STALL_MS, SHORT_MS, LONG_MS = "3600000", "300", "2000"


def stall(duration_s):
    return f"kill -STOP $PPID; sleep {duration_s}; kill -CONT $PPID; "


STALL = stall(0.6)


class Watched(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_it(self, tolerance_ms, script):
        """(exit code, how often it ran, lines of repeats)"""
        repeats = self.folder / "repeats"
        done = subprocess.run(
            [WATCHED, "--tolerance", tolerance_ms, "sh", "-c", "echo >>runs; " + script], check=False,
            cwd=self.folder, env={**os.environ, "MORTISE_TEST_REPEATS": str(repeats)},
            stderr=subprocess.PIPE)
        runs = len((self.folder / "runs").read_text("ascii").splitlines())
        lines = repeats.read_text("ascii").splitlines() if repeats.exists() else []
        return done.returncode, runs, lines

    def test_a_failure_without_a_stall_is_final(self):
        self.assertEqual((3, 1, []), self.run_it(NO_STALL_MS, "exit 3"))

    def test_a_success_with_a_stall_is_final(self):
        self.assertEqual((0, 1, []), self.run_it(SHORT_MS, STALL + "exit 0"))

    def test_a_failure_with_a_stall_is_repeated_twice_at_most(self):
        code, runs, lines = self.run_it(SHORT_MS, STALL + "exit 3")
        self.assertEqual((3, 3, 2), (code, runs, len(lines)))
        self.assertRegex(lines[0], r"^repeated: sh -c, after a stall of \d+ ms; it bears 300 ms$")

    def test_a_repeated_test_may_pass(self):
        code, runs, lines = self.run_it(SHORT_MS, "test $(wc -l <runs) = 2 && exit 0; " + STALL + "exit 3")
        self.assertEqual((0, 2, 1), (code, runs, len(lines)))

    def test_a_stall_of_the_run_before_does_not_count(self):
        script = "test $(wc -l <runs) = 1 && { " + stall(2.5) + "exit 3; }; exit 4"
        code, runs, lines = self.run_it(LONG_MS, script)
        self.assertEqual((4, 2, 1), (code, runs, len(lines)))

    def test_a_signal_is_a_failure(self):
        self.assertEqual((128 + 9, 1, []), self.run_it(NO_STALL_MS, "kill -KILL $$"))

    def test_a_crash_is_not_repeated(self):
        self.assertEqual((128 + 6, 1, []), self.run_it(SHORT_MS, STALL + "kill -ABRT $$"))

    def test_the_report_of_a_sanitizer_is_not_repeated(self):
        for code in (66, 23):
            (self.folder / "runs").unlink(missing_ok=True)
            self.assertEqual((code, 1, []), self.run_it(SHORT_MS, STALL + f"exit {code}"))

    def test_a_skipped_test_is_not_repeated(self):
        self.assertEqual((77, 1, []), self.run_it(SHORT_MS, STALL + "exit 77"))


unittest.main()
