"""Reports of the begin and the end of waits and holds, for example to trace them."""

from __future__ import annotations

import _thread
import contextlib
import enum
import functools
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from mortise._constants import LossReason
from mortise._loop import logger
from mortise.errors import (
    Busy,
    Closed,
    Error,
    LimitReached,
    LockLost,
    NotOwner,
    OutOfMemory,
)

if TYPE_CHECKING:
    from mortise.hold import Hold

HoldType = TypeVar("HoldType", bound="Hold")

# After the first three a release did not begin. The last means that the hold had ended before.
_NO_END = (Busy, LimitReached, OutOfMemory, NotOwner)


class LockKind(str, enum.Enum):
    """The kind of a wait or a hold. A later version may add values."""

    MUTEX = "mutex"
    READ = "read"
    WRITE = "write"
    SEMAPHORE = "semaphore"
    MULTI = "multi"


class HoldListener:
    """Receives the end of one hold."""

    def changed(self, kind: LockKind, token: int) -> None:
        """An upgrade or a downgrade succeeded. The hold continues, with this token."""

    def ended(self, error: BaseException | None) -> None:
        """The hold ended. It is called once.

        The error is None after a release or an export, `LockLost` after a loss, with its reason,
        and `Closed` if the lock object or the client was closed. After any other error the server
        did not confirm the release, and the lease ends what remains of the hold.
        """


class WaitListener:
    """Receives the end of one wait. One of its methods is called, once."""

    def granted(self, token: int) -> HoldListener | None:
        """The lock is held. The token is 0 for a multi. The result receives the end of the hold."""

    def failed(self, error: BaseException) -> None:
        """The acquire ended without a hold.

        The error is `NotAcquired`, `Timeout`, `Cancelled` or another one that it raises, also that
        of a cancelled task or of a signal's handler.
        """


class Listener:
    """Receives the begin and the end of each wait and each hold of a client.

    `Client(url, listener=…)` sets it. Each acquire begins a wait, which ends at once if the lock is
    free or the acquire does not wait. The thread or the task that acquires, tries or releases makes
    the calls, before its own call returns. A loss is reported in the thread `mortise-dispatcher`,
    or in the event loop that acquired. The end of a hold because its lock object or its client was
    closed comes in a thread of its own. An exception of a listener goes to the log, and the call
    continues. A listener that blocks delays its caller.
    """

    def begin_wait(self, name: str | bytes, kind: LockKind) -> WaitListener | None:
        """An acquire begins. The name is the lock's, or a text with the names of a multi.

        The result receives the end of this wait. It may be None.
        """


def _notify(listener: object, method: str, *arguments: object) -> Any:
    """Calls a listener, which cannot harm the caller."""
    try:
        return getattr(listener, method)(*arguments)
    except Exception:
        logger.exception("a listener raised an exception")
        return None


class _HoldReport:
    """One hold that a listener follows."""

    def __init__(self, number: int, kind: LockKind, listener: HoldListener) -> None:
        self.number = number
        self.kind = kind
        self.listener = listener


class Reports:
    """The waits and the open holds of one lock object, for the listener of its client."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._open: list[_HoldReport] = []  # the newest last
        self._process = os.getpid()

    def wait(self, name: str | bytes, kind: LockKind) -> WaitReport:
        """Reports a wait from here to the end of its `with` block."""
        return WaitReport(self, kind, _notify(self._listener, "begin_wait", name, kind))

    def follow(self, hold: Hold, kind: LockKind, listener: HoldListener) -> None:
        """Reports the end of this hold."""
        report = _HoldReport(hold._number, kind, listener)
        self._open.append(report)
        # If it is closed, or too much is watched, the release reports a loss.
        with contextlib.suppress(Error):
            hold.on_lost(functools.partial(self._lose, report, hold))

    def change(self, number: int, kind: LockKind, token: int) -> None:
        """The hold with this number has another mode."""
        for report in [*self._open]:
            if report.number == number and report.kind is not kind:
                report.kind = kind
                _notify(report.listener, "changed", kind, token)

    def end(self, number: int, error: BaseException | None) -> None:
        """A release ended the hold with this number. Of a reentrant lock, it is the newest."""
        if isinstance(error, _NO_END):
            return
        for report in reversed(self._open):
            if report.number == number:
                return self._end(report, error)

    def close(self) -> None:
        """Ends all in a thread of its own, because the garbage collector may make this call."""
        if self._open and os.getpid() == self._process:
            with contextlib.suppress(RuntimeError):  # the interpreter ends
                _thread.start_new_thread(self._close, ())

    def _close(self) -> None:
        for report in [*self._open]:
            self._end(report, Closed("the lock object or its client was closed"))

    def _lose(self, report: _HoldReport, hold: Hold, reason: LossReason) -> None:
        error = hold._failure(LockLost, "the hold was lost")
        error.reason = reason
        self._end(report, error)

    def _end(self, report: _HoldReport, error: BaseException | None) -> None:
        try:
            self._open.remove(report)
        except ValueError:
            return  # another thread was faster
        _notify(report.listener, "ended", error)


class WaitReport:
    """One wait that a listener follows, as a `with` block."""

    def __init__(self, reports: Reports, kind: LockKind, listener: WaitListener | None) -> None:
        self._reports = reports
        self._kind = kind
        self._listener = listener
        self._hold: Hold | None = None

    def grant(self, hold: HoldType) -> HoldType:
        """Reports the hold, and returns it."""
        self._hold = hold
        if self._listener is not None:
            listener = _notify(self._listener, "granted", hold.token)
            if listener is not None:
                self._reports.follow(hold, self._kind, listener)
        return hold

    def __enter__(self) -> WaitReport:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if error is None:
            return
        if self._hold is not None:
            # The handler of a signal raised an exception in a listener. Nobody else would release
            # this hold.
            with contextlib.suppress(Error):
                self._hold._leave(has_failed=True)
        elif self._listener is not None:
            _notify(self._listener, "failed", error)
