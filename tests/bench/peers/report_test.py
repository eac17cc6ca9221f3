#!/usr/bin/python3 -B
"""report_test COMPETITOR: the table has the results of a run. The competitor in C keeps to its
contract: two of it contend for a lock, and never are two inside."""
import pathlib
import sys
import tempfile
import unittest

import report
import competitors
import workload


def result(**changed):
    return {"acquisitions": 2000, "seconds": 2, "handoffs": 1000, "p50_us": 80.0, "p99_us": 1234.0,
            "fewest": 0, "most": 900, "overlaps": 0, "errors": 0, "error": "", "server_cpu_s": 0.1,
            "commands": 14000, "client_cpu_s": 0.2, "peak_bytes": 5_000_000, **changed}


RUN = {
    "date": "2026-01-02", "machine": "a machine", "server": "Redis 7.0.15", "languages": "Go 1",
    "rounds": 2, "seconds": 2, "is_short": False, "note": "", "killed_limit_s": 70,
    "competitors": {name: {"name": name, "language": "C", "version": "1", "settings": "defaults"}
              for name in ("one", "two")},
    "missing": [{"name": "three", "language": "Go", "version": "3", "problem": "no registry"}],
    "workloads": {"crowd": {"title": "a crowd", "contenders": 100}},
    "results": {"crowd one": [result(), result(acquisitions=4000, overlaps=1, error="not held",
                                               errors=3)]},
    "problems": {"crowd two": "it ended with 1"},
    "killed": {"one": 29.96, "two": None},
}


class Report(unittest.TestCase):
    def test_rounds_become_one_row(self):
        self.assertIn("| a crowd | one (C) | 1,500 | 500 | 80 µs | 1.23 ms | 0, 900 | 33.3 µs | 4.67 | "
                      "66.7 µs | 5.00 MB | 1 | 3 |", report.table(RUN))

    def test_what_did_not_run_has_a_row(self):
        self.assertIn("| a crowd | two (C) | did not run: it ended with 1 | -", report.table(RUN))
        self.assertIn("three (Go) 3 did not run: no registry", report.section(RUN))

    def test_all_rows_have_all_columns(self):
        self.assertEqual({line.count("|") for line in report.table(RUN).splitlines()},
                         {len(report.COLUMNS) + 1})

    def test_kills_have_rows(self):
        self.assertIn("| holder killed | one (C) | - | - | 30.0 s |", report.table(RUN))
        self.assertIn("| holder killed | two (C) | - | - | more than 70 s |", report.table(RUN))

    def test_the_page_keeps_what_is_around_it(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text(f"before\n{report.START}of 2025\n{report.END}after\n", "utf-8")
            report.write(RUN, page)
            text = page.read_text("utf-8")
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        self.assertIn(report.table(RUN), text)
        self.assertNotIn("of 2025", text)


class Contention(unittest.TestCase):
    def test_two_processes_never_overlap(self):
        competitor = competitors.Competitor("Mortise", "C", "", "", [COMPETITOR])
        found = workload.measure(competitor, workload.Workload("", 2, 2), 0.2)
        self.assertEqual((found["overlaps"], found["errors"], found["error"]), (0, 0, ""))
        self.assertGreater(found["acquisitions"], 0)
        self.assertGreater(found["commands"], 0)
        self.assertGreater(found["peak_bytes"], 0)


if __name__ == "__main__":
    COMPETITOR = sys.argv.pop()
    unittest.main()
