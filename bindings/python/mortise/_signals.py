"""Signals end a wait of the main thread, so that Ctrl-C works while it waits for a lock.

Python runs the handler of a signal between two steps of the main thread, and a call of the C
library is one step. So a thread of this module waits for signals while the main thread waits for a
lock. It interrupts that wait, and then Python runs the handler.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from types import FrameType
from typing import Callable


class Wait:
    """One wait, which a signal interrupts if the main thread waits."""

    def __init__(self, interrupt: Callable[[bool], None]) -> None:
        self._interrupt = interrupt
        # The handler of a signal may wait itself, while this thread is at the end of a wait.
        self._lock = threading.RLock()
        self._is_over = False
        self._is_paused = False
        self._frame: FrameType | None = None
        #: The wait that the handler of a signal has left for this one.
        self.outer: Wait | None = None
        self.is_interrupted = False

    def begin(self) -> None:
        """From now on a signal interrupts the wait, until its caller ends it."""
        if threading.current_thread() is threading.main_thread():
            self._frame = sys._getframe(1)
            _watcher_of_process().begin(self)

    def end(self) -> None:
        """From now on no signal affects the lock object. May be called again."""
        if _watcher is not None and _watcher.wait is self:
            _watcher.end()
        self.finish()

    def strike(self) -> None:
        """A signal has arrived, perhaps before the call waits or after its end."""
        with self._lock:
            if not self._is_over and not self._is_paused:
                self.is_interrupted = True
                self._interrupt(True)

    def pause(self) -> None:
        """A handler waits, perhaps for the same lock object. It runs, so no other is missed."""
        with self._lock:
            self._is_paused = True
            if self.is_interrupted and not self._is_over:
                self._interrupt(False)

    def resume(self) -> None:
        """The handler no longer waits."""
        with self._lock:
            self._is_paused = False

    def finish(self) -> None:
        """The call has ended."""
        with self._lock:
            self._is_over = True
            self._frame = None
            if self.is_interrupted:
                self._interrupt(False)

    def is_left(self) -> bool:
        """Whether its caller has returned without an end: a handler raised in it."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame is not self._frame:
            frame = frame.f_back
        return frame is None


class _Watcher:
    """A thread that reads the numbers of signals from a pipe. The main thread uses the rest."""

    def __init__(self) -> None:
        self.wait: Wait | None = None
        self._previous = -1
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        threading.Thread(target=self._run, name="mortise-signals", daemon=True).start()

    def _run(self) -> None:
        while True:
            numbers = os.read(self._reader, 64)
            if self._previous >= 0:
                # Other code, such as an event loop, also waits for signals.
                with contextlib.suppress(OSError):
                    os.write(self._previous, numbers)
            wait = self.wait
            if wait is not None:
                wait.strike()

    def begin(self, wait: Wait) -> None:
        earlier = self.wait
        while earlier is not None and earlier.is_left():
            earlier.finish()
            earlier = earlier.outer
        # In this order: the end of the new wait resumes the earlier one.
        wait.outer = earlier
        self.wait = wait
        if earlier is not None:
            earlier.pause()
        previous = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        if previous != self._writer:
            self._previous = previous

    def end(self) -> None:
        outer = self.wait.outer if self.wait is not None else None
        if outer is not None:
            outer.resume()
        else:
            signal.set_wakeup_fd(self._previous, warn_on_full_buffer=False)
        self.wait = outer

    def forget(self) -> None:
        """In a forked child, which has no thread of the parent."""
        if self.wait is not None:
            signal.set_wakeup_fd(self._previous, warn_on_full_buffer=False)
        os.close(self._reader)
        os.close(self._writer)


_watcher: _Watcher | None = None


def _watcher_of_process() -> _Watcher:
    global _watcher
    if _watcher is None:
        _watcher = _Watcher()
    return _watcher


def _forget() -> None:
    global _watcher
    if _watcher is not None:
        _watcher.forget()
    _watcher = None


os.register_at_fork(after_in_child=_forget)
