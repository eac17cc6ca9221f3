"""A program in gunicorn whose workers open their clients in the hook post_fork."""

from __future__ import annotations

import concurrent.futures
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
from typing import Any

from support import PATIENCE_S, Case, main, until

HERE = pathlib.Path(__file__).resolve().parent


class Connection(http.client.HTTPConnection):
    """HTTP through a unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=PATIENCE_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE_S)
        self.sock.connect(self._path)


class GunicornTest(Case):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.socket = f"{folder.name}/socket"
        self.counter = pathlib.Path(folder.name, self.name)
        self.counter.write_text("0")
        self.server = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "--config", str(HERE / "gunicorn_settings.py"),
             "--log-level", "warning", "--bind", f"unix:{self.socket}",
             "gunicorn_program:application"],
            cwd=HERE, env={**os.environ, "COUNTER": str(self.counter)})
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.kill)
        until(lambda: self.server.poll() is not None or os.path.exists(self.socket))

    def get(self, path: str) -> Any:
        connection = Connection(self.socket)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            self.assertEqual(response.status, 200)
            return json.load(response)
        finally:
            connection.close()

    def test_workers_take_turns(self) -> None:
        answers: list[dict[str, int]] = []
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            def ask() -> bool:
                answers.extend(pool.map(self.get, ["/count"] * 40))
                return len({answer["process"] for answer in answers}) == 2

            until(ask)
        self.assertEqual(int(self.counter.read_text()), len(answers))
        self.assertEqual(len({answer["token"] for answer in answers}), len(answers))
        self.assertIn("fork", self.get("/master"))
        # The workers close their clients, so their sessions end with them.
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(PATIENCE_S), 0)
        self.assert_free()


main()
