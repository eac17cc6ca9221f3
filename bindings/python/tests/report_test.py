"""The log of a client, its statistics at an interval, and the history of a lock."""

from __future__ import annotations

import logging
import os
import sys
import time
from unittest import mock

import mortise
from mortise import _core
from mortise._dispatcher import Event
from mortise.errors import Details
from support import Case, main, until


class ReportTest(Case):
    def lose(self) -> None:
        hold = self.client.lock(self.name).acquire()
        other = self.client.lock(self.name)
        other.force_release(other.query().holders[0].owner)
        until(lambda: not hold.is_held)

    def test_the_log_goes_to_logging(self) -> None:
        self.client.log_to(level=mortise.LogLevel.ERROR)
        with self.assertLogs("mortise", logging.INFO) as logs:
            self.lose()
            until(lambda: logs.records)
        record, = logs.records
        self.assertEqual(record.levelno, logging.ERROR)
        self.assertIn(self.name, record.getMessage())
        self.assertEqual(record.subject, "lost")  # type: ignore[attr-defined]
        self.assertEqual(record.lock_name, self.name.encode())  # type: ignore[attr-defined]

    def test_a_log_ends(self) -> None:
        records: list[mortise.LogRecord] = []
        self.client.watch_log(records.append)
        self.lose()
        until(lambda: records)
        self.assertEqual(records[0].level, mortise.LogLevel.ERROR)
        self.assertEqual(records[0].subject, mortise.LogSubject.LOST)
        self.assertEqual(records[0].reason, mortise.LossReason.FORCED)
        self.client.watch_log(None)
        self.client.log_to(None)

    def test_what_a_newer_library_reports_is_unknown(self) -> None:
        records: list[mortise.LogRecord] = []
        self.client.watch_log(records.append)
        details = Details("new", level=99, subject=99)
        for tag, report in [*self.client._dispatchers.of_thread()._callbacks.items()]:
            report(Event(0, tag, 0, 0, 0, details, None))
        self.assertEqual([(record.text, record.level, record.subject) for record in records],
                         [("new", mortise.LogLevel.INFO, mortise.LogSubject.UNKNOWN)])
        with mock.patch.object(_core, "health_severity", return_value=99), \
                mock.patch.object(_core, "health_worst", return_value=99):
            health = self.client.check_health()
        self.assertEqual({health.worst, *(finding.severity for finding in health.findings)},
                         {mortise.Severity.UNKNOWN})

    def test_statistics_come_at_an_interval(self) -> None:
        counted: list[mortise.Stats] = []
        self.client.watch_stats(counted.append, interval=0.01)
        until(lambda: len(counted) > 2)
        self.client.watch_stats(None)
        self.assertTrue(counted[0].samples)

    def test_a_history_has_the_holds_of_a_lock(self) -> None:
        with self.client.lock(self.name) as hold:
            history = self.client.list_history(self.name, window=60, timeout=20)
        self.assertEqual([one.event for one in history.events], ["granted", "holds"])
        granted = history.events[0]
        self.assertEqual((granted.token, granted.pid), (hold.token, os.getpid()))
        self.assertEqual(granted.mode, "exclusive")
        self.assertGreater(granted.time, 1.6e9)
        self.assertGreater(granted.error, 0)
        self.assertEqual(history.silent + history.truncated, 0)
        self.assertIn('"event":"granted"', history.json)
        self.assertFalse(self.client.list_history(self.name + " 2", timeout=20).events)

    def test_a_client_may_be_closed_while_statistics_come(self) -> None:
        with self.assertNoLogs("mortise"):
            for _ in range(10):
                client = self.new_client()
                counted: list[mortise.Stats] = []
                client.watch_stats(counted.append, interval=0.01)
                until(lambda: counted)  # noqa: B023
                time.sleep(0.01)
                client.close()

    def test_a_callback_that_exits_stops_no_other(self) -> None:
        for _ in range(2):
            with self.assertLogs("mortise", logging.ERROR) as logs:
                hold = self.client.lock(self.name).acquire()
                reasons: list[mortise.LossReason] = []
                hold.on_lost(lambda _: sys.exit(1))
                hold.on_lost(reasons.append)
                other = self.client.lock(self.name)
                other.force_release(other.query().holders[0].owner)
                until(lambda: reasons and logs.output)  # noqa: B023
            self.assertIn("SystemExit", logs.output[0])

    def test_a_callback_that_fails_stops_no_other(self) -> None:
        counted: list[mortise.Stats] = []

        def fail(_: object) -> None:
            raise ZeroDivisionError

        with self.assertLogs("mortise", logging.ERROR) as logs:
            self.client.watch_stats(fail, interval=0.01)
            until(lambda: logs.records)
        self.assertIn("ZeroDivisionError", logs.output[0])
        with self.assertLogs("mortise", logging.ERROR):
            hold = self.client.lock(self.name).acquire()
            hold.on_lost(fail)
            hold.on_lost(counted.append)  # type: ignore[arg-type]
            other = self.client.lock(self.name)
            other.force_release(other.query().holders[0].owner)
            until(lambda: counted)
        self.client.watch_stats(None)


main()
