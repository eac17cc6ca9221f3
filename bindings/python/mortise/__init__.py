"""Mortise: distributed locks on Redis and Valkey.

A first program::

    import mortise

    client = mortise.Client("redis://localhost")
    with client.lock("report", timeout=5) as hold:
        print("mine, with token", hold.token)

The same objects work with asyncio and trio::

    async with client.lock("report", timeout=5) as hold:
        ...

A hold is a lease, which the client renews. It ends by release, or it is lost. A lease cannot stop a
paused process from acting after its end, so pass `hold.token` to the resource that the lock
protects. Timeouts and leases are in seconds.
"""

from __future__ import annotations

import sys

if sys.implementation.name != "cpython":
    raise ImportError(f"mortise needs CPython, not {sys.implementation.name}; use python3")
if "t" in getattr(sys, "abiflags", ""):
    raise ImportError("mortise needs a CPython with the GIL, not a free-threaded build; use "
                      "python{}.{} instead of python{}.{}t".format(*sys.version_info[:2] * 2))

from mortise import _constants, _core
from mortise._constants import (
    Duration,
    LogLevel,
    LogSubject,
    LossReason,
    Severity,
    Status,
)
from mortise._owner import Notice
from mortise.client import Client
from mortise.election import Election, Leader
from mortise.errors import (
    AlreadyHeld,
    Busy,
    Cancelled,
    Closed,
    Deadlock,
    Error,
    Forked,
    InternalError,
    InvalidArgument,
    LimitReached,
    LockLost,
    NotAcquired,
    NotOwner,
    NotWaiting,
    OutOfMemory,
    Refused,
    Timeout,
    Unknown,
    Unreachable,
    Unsupported,
)
from mortise.hold import Hold, ReadWriteHold
from mortise.listener import HoldListener, Listener, LockKind, WaitListener
from mortise.locks import Lock, Multi, Permits, Reader, ReadWriteLock, Semaphore, Writer
from mortise.reports import (
    Finding,
    Health,
    History,
    HistoryEvent,
    Listing,
    ListingEntry,
    LockInfo,
    LockUser,
    LogRecord,
    Sample,
    Stats,
)

#: The version of the loaded library.
__version__: str = _core.version_text()

if _core.check_abi(_constants.ABI_MAJOR, _constants.ABI_MINOR) != Status.OK:
    raise ImportError(f"mortise needs libmortise {_constants.ABI_MAJOR}.{_constants.ABI_MINOR} or "
                      f"later of the same major version, not {__version__}")

__all__ = [
    "AlreadyHeld", "Busy", "Cancelled", "Client", "Closed", "Deadlock", "Duration", "Election",
    "Error", "Finding", "Forked", "Health", "History", "HistoryEvent", "Hold", "HoldListener",
    "InternalError", "InvalidArgument", "Leader", "LimitReached", "Listener", "Listing",
    "ListingEntry", "Lock", "LockInfo", "LockKind", "LockLost", "LockUser", "LogLevel",
    "LogRecord", "LogSubject", "LossReason", "Multi", "NotAcquired", "NotOwner", "NotWaiting",
    "Notice", "OutOfMemory", "Permits", "ReadWriteHold", "ReadWriteLock", "Reader", "Refused",
    "Sample", "Semaphore", "Severity", "Stats", "Status", "Timeout", "Unknown", "Unreachable",
    "Unsupported", "WaitListener", "Writer",
]
