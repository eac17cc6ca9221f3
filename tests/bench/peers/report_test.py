#!/usr/bin/python3 -B
"""report_test COMPETITOR: the table has the results of a run. The competitor in C keeps to its
contract: two of it contend for a lock, and never are two inside."""
import dataclasses
import gzip
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import better
import report
import competitors
import holds
import killed
import workload


def result(**changed):
    return {"acquisitions": 2000, "seconds": 2, "handoffs": 1000, "p50_us": 80.0, "p99_us": 1234.0,
            "fewest": 0, "most": 900, "overlaps": 0, "errors": 0, "error": "", "server_cpu_s": 0.1,
            "commands": 14000, "client_cpu_s": 0.2, "peak_bytes": 5_000_000, **changed}


RUN = {
    "date": "2026-01-02", "machine": "a machine", "server": "Redis 7.0.15", "languages": "Go 1",
    "seconds": 2, "is_short": False, "note": "", "killed_limit_s": 70,
    "competitors": {name: {"name": name, "language": "C", "version": "1", "settings": "defaults"}
              for name in ("one", "two")},
    "missing": [{"name": "three", "language": "Go", "version": "3", "problem": "no registry"}],
    "workloads": {"crowd": {"title": "a crowd", "waiters": 100, "times": 1},
                  "pair": {"title": "alone", "waiters": 1, "times": 6}},
    "results": {"crowd one": [result(), result(acquisitions=4000, overlaps=1, error="not held",
                                               errors=3)],
                "pair one": [result(), result()],
                "holds one": [{"count": 100_000, "acquired_s": 4, "server_share": 0.05,
                               "client_share": 0.061, "commands": 700, "expired": 0,
                               "peak_bytes": 300_000_000}]},
    "problems": {"crowd two": ["it ended with 1"], "crowd one": ["it hangs"], "holds two": ["it hangs"]},
    "killed": {"one": 29.96, "two": None}, "killed_problems": {},
}


class Report(unittest.TestCase):
    def test_rounds_become_one_row(self):
        self.assertIn("| a crowd | one (C) | 1,500 (1,000 to 2,000) | 500 | 80 µs | 1.23 ms | 0, 900 | "
                      "33.3 µs | 4.67 | 66.7 µs | 5.00 MB | 1 | 3 |", report.table(RUN))

    def test_what_did_not_run_has_a_row(self):
        self.assertIn("| a crowd | two (C) | did not run: it ended with 1 | -", report.table(RUN))
        self.assertIn("three (Go) 3 did not run: no registry", report.section(RUN))
        self.assertIn("| two (C) | did not run: it hangs | -", report.holds(RUN))

    def test_a_failed_round_is_named(self):
        self.assertIn("one (C), a crowd: 1 of 3 rounds failed: it hangs", report.section(RUN))

    def test_many_holds_have_a_row(self):
        self.assertIn("| one (C) | 25,000 | 6.1 % | 5.0 % | 700 | 300 MB | 0 |", report.holds(RUN))

    def test_lengths_and_rounds_are_named(self):
        self.assertIn('1 to 2 rounds of 2.00 s for each row, in turns; 12.0 s for "alone".', report.facts(RUN))

    def test_all_rows_have_all_columns(self):
        self.assertEqual({line.count("|") for line in report.table(RUN).splitlines()},
                         {len(report.COLUMNS) + 1})

    def test_kills_have_rows(self):
        self.assertIn("| holder killed | one (C) | - | - | 30.0 s |", report.table(RUN))
        self.assertIn("| holder killed | two (C) | - | - | more than 70 s |", report.table(RUN))

    def test_the_page_keeps_what_is_around_it(self):
        with tempfile.TemporaryDirectory() as folder:
            page, figures = pathlib.Path(folder, "page.md"), pathlib.Path(folder, "figures.gz")
            page.write_text(f"before\n{report.BETTER_START}of 2024\n{report.BETTER_END}between\n"
                            f"{report.START}of 2025\n{report.END}after\n", "utf-8")
            report.write(RUN, "what is better", page, figures)
            text = page.read_text("utf-8")
            kept = json.loads(gzip.decompress(figures.read_bytes()))
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        self.assertIn("\nwhat is better\n", text)
        self.assertIn("\nbetween\n", text)
        self.assertIn(report.table(RUN), text)
        self.assertNotIn("of 202", text)
        self.assertEqual(kept, RUN)


class Better(unittest.TestCase):
    def run_of(self, mortise, other):
        competitors_of = {"mortise-c": {"name": "Mortise", "language": "C"},
                          "other": {"name": "other", "language": "Go"}}
        return {**RUN, "competitors": competitors_of, "killed": {"mortise-c": 15.0, "other": 4.99},
                "results": {"crowd mortise-c": [mortise], "crowd other": [other]}}

    def test_what_another_lock_does_better_has_a_row(self):
        text = better.table(self.run_of(result(), result(acquisitions=4000, p99_us=500.0)))
        self.assertIn("| a crowd | acquisitions/s | 2,000, other (Go) | 1,000 |", text)
        self.assertIn("| a crowd | wait p99 | 500 µs, other (Go) | 1.23 ms |", text)
        self.assertIn("| holder killed | wait | 4.99 s, other (Go) | 15.0 s |", text)
        self.assertNotIn("handoffs", text)
        self.assertNotIn("memory", text)

    def test_the_difference_of_two_runs_has_none(self):
        text = better.table(self.run_of(result(), result(acquisitions=2100, p50_us=75.0)))
        self.assertNotIn("a crowd", text)


class Competitor(unittest.TestCase):
    def setUp(self):
        self.competitor = competitors.Competitor("Mortise", "C", "", "", [COMPETITOR])

    def hanging(self, script):
        return competitors.Competitor("hanging", "sh", "", "", ["/bin/sh", "-c", script])

    def test_two_processes_never_overlap(self):
        found = workload.measure(self.competitor, workload.Workload("", 2, 2), 0.2)
        self.assertEqual((found["overlaps"], found["errors"], found["error"]), (0, 0, ""))
        self.assertGreater(found["acquisitions"], 0)
        self.assertGreater(found["commands"], 0)
        self.assertGreater(found["peak_bytes"], 0)

    def test_strict_order_is_an_option_after_the_address(self):
        strict = dataclasses.replace(self.competitor, options="?fair=strict")
        found = workload.measure(strict, workload.Workload("", 1, 4), 0.2)
        self.assertEqual((found["overlaps"], found["errors"]), (0, 0))
        self.assertGreater(found["acquisitions"], 0)
        # A program that ignored the options would accept this one.
        wrong = dataclasses.replace(self.competitor, options="?fair=wrong")
        with self.assertRaisesRegex(RuntimeError, "it ended with 1"):
            workload.measure(wrong, workload.Workload("", 1, 4), 0.2)

    def test_many_locks_are_held_at_once(self):
        found = holds.measure_holds(self.competitor, count=50, window_s=0.1)
        self.assertEqual((found["count"], found["expired"]), (50, 0))

    def test_a_competitor_that_hangs_is_a_problem(self):
        with mock.patch.object(workload, "ANSWER_LIMIT_S", 0.1):
            with self.assertRaisesRegex(RuntimeError, "it hangs: no answer within 0.1 s"):
                workload.measure(self.hanging("exec sleep 60"), workload.Workload("", 1, 1), 0.1)

    def test_a_taker_that_fails_has_not_waited(self):
        fails = self.hanging("echo ready; read x; if [ $0 = hold ]; then echo held; exec sleep 60; fi")
        waited, problems = killed.measure_killed({"fails": fails})
        self.assertEqual(waited, {})
        self.assertIn("it ended with 0", problems["fails"])


if __name__ == "__main__":
    COMPETITOR = sys.argv.pop()
    unittest.main()
