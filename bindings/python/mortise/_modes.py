"""The functions of the C layer for each kind of lock, and for each way to hold one."""

from __future__ import annotations

from typing import Any

from mortise import _core
from mortise.listener import LockKind


def _call(kind: str, name: str) -> Any:
    return getattr(_core, f"{kind}_{name}")


class Calls:
    """What every kind of lock object has."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.valid_ms = _call(kind, "valid_ms")
        self.deadline_ns = _call(kind, "deadline_ns")
        self.hold_number = _call(kind, "hold_number")
        self.extend = _call(kind, "extend")
        self.extend_async = _call(kind, "extend_async")
        self.progress = _call(kind, "progress")
        self.cancel = _call(kind, "cancel")
        self.interrupt = _call(kind, "interrupt")
        self.set_task = _call(kind, "set_task")


class NamedCalls(Calls):
    """What every kind but a multi has."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.token = _call(kind, "token")
        self.watch = _call(kind, "watch")
        self.set_value = _call(kind, "set_value")
        self.set_value_async = _call(kind, "set_value_async")
        self.query = _call(kind, "query")
        self.force_release = _call(kind, "force_release")


class LockCalls(NamedCalls):
    """What every kind has whose holds have ids."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.export = _call(kind, "export")
        self.adopt = _call(kind, "adopt")


class Mode:
    """A way to hold a lock. A read-write lock has two."""

    def __init__(self, kind: str, prefix: str, ending: str, is_held: str,
                 lock_kind: LockKind) -> None:
        self.lock_kind = lock_kind
        self.try_ = _call(kind, f"{prefix}try")
        self.try_async = _call(kind, f"{prefix}try_async")
        self.acquire = _call(kind, f"{prefix}acquire")
        self.acquire_async = _call(kind, f"{prefix}acquire_async")
        self.release = _call(kind, f"{prefix}{ending}")
        self.release_async = _call(kind, f"{prefix}{ending}_async")
        self.release_hold = _call(kind, f"{prefix}{ending}_hold")
        self.release_hold_async = _call(kind, f"{prefix}{ending}_hold_async")
        self.is_held = _call(kind, is_held)
        #: The other mode of a read-write lock.
        self.other: Mode | None = None


class Campaign(Mode):
    """The way to lead an election."""

    def __init__(self, kind: str) -> None:
        self.lock_kind = LockKind.MUTEX
        self.acquire = _call(kind, "campaign")
        self.acquire_async = _call(kind, "campaign_async")
        self.try_ = lambda handle: self.acquire(handle, 0)
        self.try_async = lambda handle, queue, tag: self.acquire_async(handle, queue, tag, 0)
        self.release = _call(kind, "resign")
        self.release_async = _call(kind, "resign_async")
        self.release_hold = _call(kind, "resign_hold")
        self.release_hold_async = _call(kind, "resign_hold_async")
        self.is_held = _call(kind, "is_leader")
        self.other = None


LOCK = LockCalls("lock")
RW = LockCalls("rw")
SEMAPHORE = LockCalls("semaphore")
ELECTION = NamedCalls("election")
MULTI = Calls("multi")

MUTEX = Mode("lock", "", "unlock", "is_held", LockKind.MUTEX)
READ = Mode("rw", "read_", "unlock", "is_reading", LockKind.READ)
WRITE = Mode("rw", "write_", "unlock", "is_writing", LockKind.WRITE)
PERMITS = Mode("semaphore", "", "release", "is_held", LockKind.SEMAPHORE)
LEADING = Campaign("election")
ALL = Mode("multi", "", "unlock", "is_held", LockKind.MULTI)
READ.other = WRITE
WRITE.other = READ
