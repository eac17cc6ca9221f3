"""The exceptions of this package. Each has a status of the C library."""

from __future__ import annotations

from typing import NamedTuple

from mortise import _core
from mortise._constants import LossReason, Status


class Error(Exception):
    """Base of all exceptions of this package. `str(error)` is one line with cause and remedy."""

    #: What happened. A plain number if a later version of the library adds a status.
    status: Status | int = Status.INTERNAL
    #: True if the same call may succeed later without any change.
    retryable: bool = False
    #: True if the server may have executed the request although the call failed.
    ambiguous: bool = False
    #: The server's own text, or "" if it sent none.
    server_text: str = ""
    #: The name of the lock, of a multi that of the member, or b"" without a lock.
    lock_name: bytes = b""
    #: The reason of a loss. `LossReason.UNKNOWN` also without a loss.
    reason: LossReason = LossReason.UNKNOWN


class NotAcquired(Error):
    """Another owner holds the lock, and the call does not wait."""

    status = Status.NOT_ACQUIRED


class Timeout(NotAcquired, TimeoutError):
    """The timeout passed first. Nothing is held."""

    status = Status.TIMED_OUT


class Deadlock(NotAcquired):
    """Threads or tasks waited for each other, and the option `deadlock` ended this wait.

    Nothing is held. An acquire of asyncio or trio belongs to its task, and one that blocks to its
    thread. Release what this task or thread holds before it tries again.
    """

    status = Status.DEADLOCK


class Cancelled(Error):
    """`cancel()` or `interrupt()` ended the wait. Nothing is held."""

    status = Status.CANCELLED


class LockLost(Error):
    """The hold was lost: its lease ended, or the server reports another owner or none."""

    status = Status.LOST


class NotOwner(Error):
    """Nothing is held: it never was, or it was released before."""

    status = Status.NOT_OWNER


class NotWaiting(Error):
    """No call of this lock object was waiting. `cancel()` returns False instead."""

    status = Status.NOT_WAITING


class InvalidArgument(Error, ValueError):
    """An argument is wrong. The message has its name, its value and the remedy."""

    status = Status.INVALID_ARGUMENT


class Unreachable(Error, ConnectionError):
    """No server answered, and the request was never sent. It is safe to try again."""

    status = Status.UNREACHABLE


class Unknown(Error):
    """The request was sent and no answer arrived. The server may have executed it."""

    status = Status.UNKNOWN


class Refused(Error):
    """The server refused the request and did not execute it: see `server_text`."""

    status = Status.REFUSED


class AlreadyHeld(Error):
    """This lock object holds the lock already and is not reentrant."""

    status = Status.ALREADY_HELD


class Busy(Error):
    """Another call on this lock object is in progress. Give each thread and task its own."""

    status = Status.BUSY


class LimitReached(Error):
    """A bound was reached: too many members, open requests or file descriptors."""

    status = Status.LIMIT


class Closed(Error):
    """The object or its client was closed."""

    status = Status.CLOSED


class Forked(Error):
    """The client was made before fork() in the parent process. Make one in this process."""

    status = Status.FORKED


class Unsupported(Error):
    """This protocol, deployment or server cannot do that."""

    status = Status.UNSUPPORTED


class OutOfMemory(Error, MemoryError):
    """Memory ran out."""

    status = Status.NO_MEMORY


class InternalError(Error):
    """A defect in Mortise. Please report it with the message."""

    status = Status.INTERNAL


_BY_STATUS: dict[int, type[Error]] = {
    one.status: one for one in (
        NotAcquired, Timeout, Deadlock, Cancelled, LockLost, NotOwner, NotWaiting, InvalidArgument,
        Unreachable, Unknown, Refused, AlreadyHeld, Busy, LimitReached, Closed, Forked,
        Unsupported, OutOfMemory, InternalError,
    )
}


class Details(NamedTuple):
    """What the C layer knows of a failure, in its order."""

    message: str
    lock_name: bytes = b""
    reason: int = 0
    server_text: str = ""
    is_retryable: int = 0
    is_ambiguous: int = 0
    level: int = 0
    subject: int = 0
    dropped: int = 0


def reason_of(number: int) -> LossReason:
    """A reason that a later version adds is unknown."""
    try:
        return LossReason(number)
    except ValueError:
        return LossReason.UNKNOWN


def failure(status: int, details: Details | None = None) -> Error:
    """The exception of a status, with its details."""
    if status == Status.SHUT_DOWN:  # of a queue, which is never a program's
        status = Status.CLOSED
    kind = _BY_STATUS.get(status, Error)
    if details is None:
        details = Details("")
    error = kind(details.message or _core.status_text(status))
    if kind is Error:
        error.status = status
    error.lock_name = details.lock_name
    error.reason = reason_of(details.reason)
    error.server_text = details.server_text
    error.retryable = bool(details.is_retryable)
    error.ambiguous = bool(details.is_ambiguous)
    return error


def invalid(argument: str, value: object, remedy: str) -> InvalidArgument:
    """An exception about an argument, in the form of the C library's messages."""
    return InvalidArgument(f"{argument}: {value!r} {remedy}")


_KINDS = {"rw": "read-write lock"}


def _from_core(status: int, details: tuple[object, ...] | str) -> Error:
    """The C layer gives the details of a failed call, or the kind of a closed object."""
    if isinstance(details, str):
        return Closed(f"this {_KINDS.get(details, details)} is closed; make a new one")
    return failure(status, Details(*details))  # type: ignore[arg-type]


_core.set_failure(_from_core)
