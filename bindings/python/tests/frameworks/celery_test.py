"""Tasks of Celery whose worker processes open their clients in worker_process_init."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
import tempfile

import celery_program
from support import PATIENCE_S, Case, main, until

HERE = pathlib.Path(__file__).resolve().parent


class CeleryTest(Case):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.counter = pathlib.Path(folder.name, self.name)
        self.counter.write_text("0")
        self.worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "--quiet", "--app", "celery_program", "worker",
             "--pool", "prefork", "--concurrency", "2", "--loglevel", "error"], cwd=HERE)
        self.addCleanup(self.worker.wait)
        self.addCleanup(self.worker.kill)

    def test_worker_processes_take_turns(self) -> None:
        answers: list[dict[str, int]] = []

        def ask() -> bool:
            results = [celery_program.count.delay(str(self.counter)) for _ in range(20)]
            answers.extend(result.get(timeout=PATIENCE_S) for result in results)
            return len({answer["process"] for answer in answers}) == 2

        until(ask)
        self.assertEqual(int(self.counter.read_text()), len(answers))
        self.assertEqual(len({answer["token"] for answer in answers}), len(answers))
        self.worker.send_signal(signal.SIGTERM)
        self.assertEqual(self.worker.wait(PATIENCE_S), 0)
        self.assert_free()


main()
