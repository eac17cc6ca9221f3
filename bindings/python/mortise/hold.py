"""The result of an acquire."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from mortise import _core, _modes
from mortise._arguments import Seconds
from mortise._constants import LossReason
from mortise._dispatcher import Event
from mortise._loop import in_its_loop, loop_of, run_each, running_loop
from mortise._modes import Mode
from mortise.errors import (
    Busy,
    Closed,
    Error,
    InvalidArgument,
    LimitReached,
    LockLost,
    NotOwner,
    OutOfMemory,
    Unknown,
    Unreachable,
    Unsupported,
)

if TYPE_CHECKING:
    from mortise._owner import Owner

AnyHold = TypeVar("AnyHold", bound="Hold")

# After these a release did not begin, and the hold is unchanged.
_NOT_BEGUN = (Busy, LimitReached, OutOfMemory)
# After these an export did not begin. If the hold has ended, it was lost.
_NOT_EXPORTED = (InvalidArgument, Unsupported)

# Between two tries of a release at the end of a block.
_PAUSE_S = 0.001


class Hold:
    """A granted lock, from the grant until release or loss.

    It ends with its `with` block, or by `release`. The end of a block first waits for the end of an
    upgrade in another task. A lease cannot stop a paused process from acting after its end. So pass
    `token` to the resource that the lock protects. The resource must refuse a token below the
    highest token that it has seen.
    """

    def __init__(self, owner: Owner, mode: Mode, event: Event | None = None) -> None:
        self._owner = owner
        self._mode = mode
        self._has_ended = False
        self._callbacks: list[Callable[..., object]] = []
        self._contention_callbacks: list[Callable[..., object]] = []
        self._is_watched = False
        if event is not None:
            self._number, self._token = event.hold_number, event.token
        else:
            self._number = owner._calls.hold_number(owner._handle)
            self._token = self._current_token()

    def __repr__(self) -> str:
        state = "held" if self.is_held else "ended"
        return f"<mortise.{type(self).__name__} of {self._owner!r}, token {self._token}, {state}>"

    def __enter__(self: AnyHold) -> AnyHold:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._leave(has_failed=kind is not None)

    async def __aenter__(self: AnyHold) -> AnyHold:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self._leave_async(has_failed=kind is not None)

    # ---- facts by the local clock, without a request --------------------------------------

    @property
    def token(self) -> int:
        """The fencing token, below 2**53. 0 of a multi, whose members have their own.

        It rises with every grant of a mutex, and of a read-write lock to a writer. Readers of one
        client may have the same token. Only an upgrade changes it.
        """
        return self._token

    @property
    def is_held(self) -> bool:
        """Whether the hold lasts, by the local clock. Also right after a suspend of the process."""
        with contextlib.suppress(Closed):
            # In this order: what is held after the number was read may be another hold already.
            return not self._is_over and self._has_mode() and self._is_latest()
        return False

    def _has_mode(self) -> bool:
        return bool(self._mode.is_held(self._owner._handle))

    @property
    def valid_for(self) -> float:
        """How long the hold is still valid without a renewal, in seconds. 0 after its end."""
        with contextlib.suppress(Closed):
            valid_ms: int = self._owner._calls.valid_ms(self._owner._handle)
            if not self._is_over and self._is_latest():
                return valid_ms / 1000
        return 0.0

    @property
    def _is_over(self) -> bool:
        """Whether it was released, by itself or by its lock object."""
        return self._has_ended or self._number == self._owner._released_number

    def _is_latest(self) -> bool:
        number: int = self._owner._calls.hold_number(self._owner._handle)
        return number == self._number

    def _current_token(self) -> int:
        token = getattr(self._owner._calls, "token", None)
        return token(self._owner._handle) if token else 0

    def _is_lost(self) -> bool:
        """Whether it has ended without a release. With the option `acks` that is not `is_held`."""
        try:
            return not self._owner._calls.deadline_ns(self._owner._handle) or not self._is_latest()
        except Closed:
            return False

    # ---- losses ---------------------------------------------------------------------------

    def on_lost(self, callback: Callable[[LossReason], object]) -> None:
        """Calls `callback(reason)` when the hold is lost. A release is no loss.

        It runs in the thread `mortise-dispatcher` of the client, or in the event loop if this is
        called there. It runs at once if the hold is lost already, and the reason may be
        `LossReason.UNKNOWN` then. It must not wait for the work that it stops.
        """
        if self._is_over:
            return
        self._callbacks.append(in_its_loop(callback))
        self._begin_watch()
        self._note_missed_loss()

    def on_contended(self, callback: Callable[[], object]) -> None:
        """Calls `callback()` once when others wait for the lock. It needs the option `contended`.

        It is a hint, so the work may end early, or go on. It runs as the callback of `on_lost`
        does, and at once if others are known to wait.
        """
        if self._is_over:
            return
        self._contention_callbacks.append(in_its_loop(callback))
        self._begin_watch()
        self._note_contention()

    def _begin_watch(self) -> None:
        self._owner._begin_watch()
        if not self._is_watched:
            self._is_watched = True
            self._owner._watched.append(self)

    def _note_contention(self) -> None:
        """Others wait for the lock, of this or another hold."""
        if self._owner._is_contended(self):
            self._call_each(self._contention_callbacks)

    def _note_loss(self, number: int, reason: LossReason) -> None:
        """The owner has lost the hold with this number."""
        if self._owner._is_loss_of(self, number):
            self._note_own_loss(reason)

    def _note_missed_loss(self) -> None:
        """Reports a loss whose notice may have come before the watch."""
        # In this order: another thread may release the hold meanwhile.
        is_lost = self._is_lost() and not self._owner._is_ending
        if self._is_over:
            self._drop_callbacks()
        elif is_lost:
            self._note_own_loss(LossReason.UNKNOWN)

    def _note_own_loss(self, reason: LossReason) -> None:
        self._owner._drop_watched(self)
        self._call_each(self._callbacks, reason)

    @staticmethod
    def _call_each(callbacks: list[Callable[..., object]], *arguments: object) -> None:
        def taken() -> Iterator[Callable[[], object]]:
            with contextlib.suppress(IndexError):
                while True:
                    yield functools.partial(callbacks.pop(0), *arguments)  # each runs once

        run_each(taken())

    # ---- calls ----------------------------------------------------------------------------

    def extend(self, lease: Seconds | None = None) -> None:
        """Makes the hold last at least `lease` seconds from now. None is the lock's lease.

        It never shortens the hold. Raises `LockLost` if the hold was lost before.
        """
        self._check_latest()
        self._owner.extend(lease)
        # An acquire in another thread may have replaced the hold, and was extended.
        self._check_latest()

    async def extend_async(self, lease: Seconds | None = None) -> None:
        """As `extend`, without blocking the event loop."""
        self._check_latest()
        await self._owner.extend_async(lease)
        self._check_latest()

    def progress(self) -> None:
        """Reports that the work under this hold goes on, for the option `progress`.

        Without a report in that time the client stops to renew the hold. Sends nothing.
        """
        self._check_latest()
        self._owner.progress()
        self._check_latest()

    def set_value(self, value: str) -> None:
        """Sets the value of this hold, which queries and listings show to everybody.

        It is at most 1024 bytes of UTF-8, and ends with the hold. "" removes it. A multi has none,
        so the call raises `Unsupported`.
        """
        self._check_latest()
        self._owner.set_value(value)
        self._check_latest()

    async def set_value_async(self, value: str) -> None:
        """As `set_value`, without blocking the event loop."""
        self._check_latest()
        await self._owner.set_value_async(value)
        self._check_latest()

    def export(self, lease: Seconds | None = None) -> str:
        """Ends this hold without a release, and returns its id.

        The hold lasts for `lease` seconds at the server, or for the lock's lease, and no client
        renews it. Another lock object, process or host continues it: `Lock.adopt`. If the hold was
        adopted, its id stays the same. After an exception the hold continues if `deadline_ns` of
        the lock object is not 0. Otherwise its lease ends it. A multi has no id, so the call raises
        `Unsupported`.
        """
        self._check_latest()
        try:
            exported = self._owner.export(lease)
        except LockLost as error:
            # The release is still to come. Without it a reentrant lock cannot be acquired again.
            self._note_own_loss(error.reason)
            raise
        except _NOT_EXPORTED:
            raise
        except BaseException:
            if not self._lasts():
                self._end()
            raise
        self._end()
        return exported

    def _lasts(self) -> bool:
        """Whether it has not ended. With the option `acks` that is not `is_held`."""
        with contextlib.suppress(Closed):
            return (self._owner._calls.deadline_ns(self._owner._handle) != 0
                    and self._is_latest())
        return False

    def release(self) -> None:
        """Ends the hold and lets the next waiter in. It never ends a later hold.

        After `Busy`, `LimitReached` and `OutOfMemory` the hold is unchanged. After any other
        exception nothing is held. `LockLost` means that the hold was lost before. After `Unknown`
        and `Unreachable` the client continues to try, and the lease ends the hold at the latest.
        """
        self._check_open()
        try:
            self._owner._is_ending = True
            mode = self._mode
            try:
                mode.release_hold(self._owner._handle, self._number)
            except NotOwner:
                if not self._follow_change(mode):
                    raise
                self._mode.release_hold(self._owner._handle, self._number)
        except _NOT_BEGUN:
            raise
        except BaseException as error:
            self._end(error)
            raise
        else:
            self._end()
        finally:
            self._owner._is_ending = False

    async def release_async(self) -> None:
        """As `release`, without blocking the event loop."""
        self._check_open()
        try:
            self._owner._is_ending = True
            mode = self._mode
            try:
                await self._owner._finish(self._begin_release)
            except NotOwner:
                if not self._follow_change(mode):
                    raise
                await self._owner._finish(self._begin_release)
        except _NOT_BEGUN:
            raise
        except BaseException as error:
            self._end(error)
            raise
        else:
            self._end()
        finally:
            self._owner._is_ending = False

    def _begin_release(self, queue: Any, tag: int) -> None:
        self._mode.release_hold_async(self._owner._handle, queue, tag, self._number)

    def _end(self, error: BaseException | None = None) -> None:
        self._has_ended = True
        self._owner._report_end(self._number, error)
        self._drop_callbacks()

    def _drop_callbacks(self) -> None:
        self._callbacks.clear()
        self._contention_callbacks.clear()
        self._owner._drop_watched(self)

    def _check_open(self) -> None:
        if self._is_over:
            raise self._failure(NotOwner, "this hold has ended already")

    def _check_latest(self) -> None:
        self._check_open()
        if not self._is_latest():
            raise self._failure(LockLost, "this hold has ended; its lock was acquired again")

    def _failure(self, kind: type[Error], message: str) -> Error:
        name = getattr(self._owner, "name", b"")
        error = kind(f"{name!r}: {message}" if name else message)
        error.lock_name = name.encode() if isinstance(name, str) else name
        return error

    def _follow_change(self, tried: Mode) -> bool:
        """Whether the hold may have another mode than the one in which a release failed."""
        return False

    # ---- the end of a block ---------------------------------------------------------------

    # Nobody could release the hold after its block. So the end of a block waits for another call,
    # such as an upgrade in another task. Each call that causes `Busy` has a time limit.

    def _leave(self, has_failed: bool) -> None:
        while not (self._is_over or self._owner._is_closed):
            try:
                self.release()
            except Busy:
                time.sleep(_PAUSE_S)
            except Error as error:
                self._consider(error, has_failed)
                break

    async def _leave_async(self, has_failed: bool) -> None:
        cancelled: BaseException | None = None
        while not (self._is_over or self._owner._is_closed):
            try:
                await self.release_async()
            except Busy:
                cancelled = await loop_of(running_loop()).sleep(_PAUSE_S) or cancelled
            except LimitReached:
                # The queue has no room for the event. A blocking call needs none.
                self._leave(has_failed)
                break
            except Error as error:
                self._consider(error, has_failed)
                break
        if cancelled is not None:
            raise cancelled

    def _consider(self, error: Error, has_failed: bool) -> None:
        """Raises the failure of a release at the end of a block, if the program must know."""
        if has_failed or isinstance(error, (Unknown, Unreachable)):
            return  # the exception of the block matters more; the lease ends what is left
        if isinstance(error, NotOwner) and self._is_lost():
            return  # the block has released the lock by the lock object
        raise error


class ReadWriteHold(Hold):
    """A hold of a read-write lock, to read or to write."""

    # A call to downgrade has not returned. The C layer changes the mode before the server replies.
    _is_lowering = False

    @property
    def is_writing(self) -> bool:
        """Whether this is a hold to write."""
        self._follow_downgrade()
        return self._mode is _modes.WRITE or self._follow_upgrade()

    def upgrade(self) -> None:
        """Turns this hold of a reader into one of a writer, if nobody else reads. Never waits.

        The hold gets a new token. `NotAcquired` means that others also read, and after it the hold
        continues to read.
        """
        self._check_latest()
        _core.rw_upgrade(self._owner._handle)
        self._change(_modes.WRITE, self._current_token())

    async def upgrade_async(self) -> None:
        """As `upgrade`, without blocking the event loop."""
        self._check_latest()
        await self._owner._finish(
            lambda queue, tag: _core.rw_upgrade_async(self._owner._handle, queue, tag))
        self._change(_modes.WRITE, self._current_token())

    def downgrade(self) -> None:
        """Turns this hold of a writer into one of a reader, without a gap. The token stays.

        From the call on the hold only reads, also after an exception.
        """
        with self._lowering():
            _core.rw_downgrade(self._owner._handle)

    async def downgrade_async(self) -> None:
        """As `downgrade`, without blocking the event loop."""
        with self._lowering():
            await self._owner._finish(
                lambda queue, tag: _core.rw_downgrade_async(self._owner._handle, queue, tag))

    @contextlib.contextmanager
    def _lowering(self) -> Iterator[None]:
        """The call to downgrade, which has changed the mode whatever its result is."""
        self._check_latest()
        self._is_lowering = True
        try:
            yield
        finally:
            self._settle()
            self._is_lowering = False

    def _change(self, mode: Mode, token: int) -> None:
        self._mode = mode
        self._token = token
        self._report_change()

    def _settle(self) -> None:
        handle = self._owner._handle
        # In this order: an upgrade may succeed after the modes were read. Its token is that of a
        # writer.
        token = self._current_token()
        if _modes.READ.is_held(handle) and not _modes.WRITE.is_held(handle):
            self._change(_modes.READ, token)

    # ---- changes whose caller has no result yet -------------------------------------------

    def _has_mode(self) -> bool:
        # Another thread or task may change the mode between two looks.
        for _ in range(3):
            if self._mode.is_held(self._owner._handle):
                return True
            if not self._follow_upgrade():
                self._follow_downgrade()
        return False

    def _follow_change(self, tried: Mode) -> bool:
        # It may have been lost during the change.
        is_lost = not self._owner._calls.deadline_ns(self._owner._handle)
        if self._mode is not tried or self._follow_upgrade():
            return True
        if is_lost or self._is_lowering:
            self._mode = tried.other  # type: ignore[assignment]
            return True
        return False

    def _follow_upgrade(self) -> bool:
        """Whether an upgrade succeeded whose caller got no result. It changes the token."""
        if self._mode is not _modes.READ:
            return False
        # In this order: the token that was read is that of the number.
        token = self._current_token()
        if token == self._token or not self._is_latest():
            return False
        self._change(_modes.WRITE, token)
        return True

    def _follow_downgrade(self) -> None:
        """Takes the mode of a downgrade that has begun. The token stays."""
        # Not by the mode alone, because a reentrant lock may also read by another hold object.
        is_lowered = self._is_lowering and _modes.READ.is_held(self._owner._handle)
        # In this order: the mode is that of the number.
        if is_lowered and self._mode is _modes.WRITE and self._is_latest():
            self._mode = _modes.READ
            self._report_change()

    def _report_change(self) -> None:
        reports = self._owner._reports
        if reports is not None:
            reports.change(self._number, self._mode.lock_kind, self._token)
