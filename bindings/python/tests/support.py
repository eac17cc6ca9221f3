"""What the tests share: the server that tests/support/with_server started, and names of locks."""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import subprocess
import sys
import textwrap
import threading
import unittest
from collections.abc import Callable, Coroutine
from typing import Any

import mortise

URL = os.environ["MORTISE_TEST_URL"]
TCP_URL = os.environ["MORTISE_TEST_TCP_URL"]
PATIENCE_S = 20
# A client looks for deadlocks once a wait has lasted 1 s.
LOOKED_S = 2.5

_numbers = itertools.count(1)


def new_name() -> str:
    """A name of a lock that no other test has."""
    return f"{os.getpid()}-{next(_numbers)}"


class Case(unittest.TestCase):
    """A test with a client and the name of a lock."""

    def setUp(self) -> None:
        self.name = new_name()
        self.client = self.new_client()

    def new_client(self, url: str = URL, **options: Any) -> mortise.Client:
        """A client that is closed after the test."""
        client = mortise.Client(url, **options)
        self.addCleanup(client.close)
        return client

    def blocker(self) -> mortise.Lock:
        """A lock of another client. The server then knows that this test's client waits."""
        return self.new_client().lock(self.name)

    def await_waiters(self, count: int) -> None:
        """Waits until so many clients are queued for the lock of this test."""
        watcher = self.client.lock(self.name)
        until(lambda: watcher.query().waiter_count == count)

    def halt(self) -> None:
        """The server delays what writes, at most until the end of the test."""
        self.addCleanup(redis, "CLIENT UNPAUSE")
        redis("CLIENT PAUSE 60000 WRITE")

    def assert_free(self) -> None:
        """Nobody holds the lock of this test, at once or after a release on its way."""
        with self.new_client().lock(self.name, timeout=PATIENCE_S):
            pass
        self.assertFalse(self.client.lock(self.name).query().is_held)


class AsyncCase(Case):
    """A test with an event loop of asyncio."""

    @staticmethod
    def run_in_loop(work: Coroutine[Any, Any, None]) -> None:
        """Runs it in a loop of its own. Then it is a task."""
        asyncio.run(asyncio.wait_for(work, 2 * PATIENCE_S))

    async def await_queue(self, count: int) -> None:
        """As `await_waiters`, without blocking the event loop."""
        await asyncio.to_thread(self.await_waiters, count)


def redis(command: str) -> None:
    """Sends a command to the server of the tests."""
    host, port = TCP_URL[len("redis://"):].split(":")
    with socket.create_connection((host, int(port)), PATIENCE_S) as connection:
        connection.sendall(command.encode() + b"\r\n")
        reply = connection.recv(100)
    if not reply.startswith((b"+", b":")):
        raise AssertionError(f"{command}: {reply!r}")


def until(is_so: Callable[[], object]) -> None:
    """Waits until something is so."""
    for _ in range(PATIENCE_S * 100):
        if is_so():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not happen in time")


def exit_first(place: Any, name: str) -> Callable[..., Any]:
    """A function as this one, but its first call ends as if the handler of a signal had exited."""
    function = getattr(place, name)
    calls = itertools.count()

    def call(*arguments: Any) -> Any:
        if next(calls) == 0:
            raise SystemExit(7)
        return function(*arguments)

    return call


class Background:
    """A call in another thread."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._result: object = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(call,))
        self._thread.start()

    def _run(self, call: Callable[[], object]) -> None:
        try:
            self._result = call()
        except BaseException as error:  # the caller of `result` gets it
            self._error = error

    def result(self) -> Any:
        """The result, or the exception of the call."""
        self._thread.join(PATIENCE_S)
        if self._thread.is_alive():
            raise AssertionError("the call does not end")
        if self._error is not None:
            raise self._error
        return self._result


def run_program(code: str, *arguments: str, expect: int = 0) -> str:
    """Runs a program of its own that may use mortise and URL. Returns what it printed.

    In development mode asyncio warns of each callback that is slow, as all are on a busy machine.
    """
    head = ("import logging, mortise\n"
            "logging.getLogger('asyncio').setLevel(logging.ERROR)\n"
            f"URL = {URL!r}\n")
    done = subprocess.run([sys.executable, "-B", "-X", "dev", "-W", "error", "-c",
                           head + textwrap.dedent(code), *arguments],
                          capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != expect or done.stderr:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


main = unittest.main
