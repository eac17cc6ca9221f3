"""The kinds of lock."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union

from mortise import _core, _modes
from mortise._arguments import Seconds, count, name_text, timeout_ms
from mortise._constants import LossReason
from mortise._loop import Call, loop_of, running_loop
from mortise._modes import Mode
from mortise._owner import LockOwner, NamedOwner, Owner
from mortise.errors import Closed, Error, LockLost, NotAcquired
from mortise.hold import Hold, ReadWriteHold
from mortise.listener import LockKind

if TYPE_CHECKING:
    from mortise.client import Client

HoldType = TypeVar("HoldType", bound=Hold)


class _Default:
    """The timeout of the lock object."""


DEFAULT = _Default()
Limit = Union[Seconds, None, _Default]


class Acquirable(Generic[HoldType]):
    """What can be acquired, by calls, a `with` block or an `async with` block.

    A timeout is in seconds, or a `timedelta`. None waits as long as necessary, and 0 does not wait.
    """

    _mode: Mode
    _new_hold: Any = Hold

    def __init__(self, timeout: Seconds | None, cancel_on_loss: bool) -> None:
        self._timeout_ms = timeout_ms(timeout)
        self._cancel_on_loss = cancel_on_loss
        self._entered: list[tuple[HoldType, _LossGuard | None]] = []
        self._arguments: tuple[int, ...] = ()

    @property
    def _owner_of_calls(self) -> Owner:
        raise NotImplementedError

    # ---- blocking -------------------------------------------------------------------------

    def acquire(self, timeout: Limit = DEFAULT) -> HoldType:
        """Waits for the lock, in the order of arrival at the server. Returns the hold.

        Raises `Timeout` after the timeout, which is that of the lock object unless it is given.
        Other threads run meanwhile. Ctrl-C and other signals end the wait of the main thread.
        """
        return self._acquire(self._mode.acquire, self._limit(timeout))

    def try_acquire(self) -> HoldType | None:
        """Acquires the lock if it is free. Returns the hold, or None."""
        try:
            return self._acquire(self._mode.try_, None)
        except NotAcquired:
            return None

    def release(self) -> None:
        """Ends the current hold of the lock object, without the object of the hold."""
        owner = self._owner_of_calls
        number = owner._number_to_report()
        try:
            owner._is_ending = True
            self._mode.release(owner._handle)
        except BaseException as error:
            owner._report_end(number, error)
            raise
        else:
            owner._note_release()
        finally:
            owner._is_ending = False
        owner._report_end(number)

    @property
    def is_held(self) -> bool:
        """Whether the lock object holds the lock, by the local clock."""
        return self._mode.is_held(self._owner_of_calls._handle)  # type: ignore[no-any-return]

    def __enter__(self) -> HoldType:
        hold = self.acquire()
        try:
            self._entered.append((hold, None))
            return hold
        except BaseException:  # the handler of a signal raised it
            self._forget_entered(hold)
            hold._leave(has_failed=True)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._entered.pop()[0]._leave(has_failed=kind is not None)

    def _forget_entered(self, hold: HoldType) -> None:
        """Its block does not begin."""
        self._entered = [one for one in self._entered if one[0] is not hold]

    def _limit(self, timeout: Limit) -> int:
        return self._timeout_ms if isinstance(timeout, _Default) else timeout_ms(timeout)

    def _acquire(self, call: Any, limit_ms: int | None) -> HoldType:
        owner = self._owner_of_calls
        if owner._reports is None:
            return self._acquire_unreported(call, limit_ms)
        with owner._reports.wait(owner._title(), self._mode.lock_kind) as wait:
            return wait.grant(self._acquire_unreported(call, limit_ms))

    def _acquire_unreported(self, call: Any, limit_ms: int | None) -> HoldType:
        owner = self._owner_of_calls
        handle = owner._handle
        grants = _core.grants(handle)
        try:
            owner._set_task(0)
            owner._wait(call, self._arguments, limit_ms)
            owner._forget_acquire()
            owner._check_open()
            return self._new_hold(owner, self._mode)  # type: ignore[no-any-return]
        except BaseException:
            # The handler of a signal raised an exception between the grant and here. Nobody would
            # release this grant, which other calls of this thread did not make.
            if _core.grants(handle) not in (0, grants):
                with contextlib.suppress(Error):  # the handler's exception matters more
                    self._mode.release(handle)
            raise

    # ---- asyncio --------------------------------------------------------------------------

    async def acquire_async(self, timeout: Limit = DEFAULT) -> HoldType:
        """As `acquire`, without blocking the event loop.

        A cancelled task gives its place in the queue back.
        """
        arguments = (*self._arguments, self._limit(timeout))
        return await self._acquire_async(self._mode.acquire_async, arguments)

    async def try_acquire_async(self) -> HoldType | None:
        """As `try_acquire`, without blocking the event loop."""
        try:
            return await self._acquire_async(self._mode.try_async, self._arguments)
        except NotAcquired:
            return None

    async def release_async(self) -> None:
        """As `release`, without blocking the event loop."""
        owner = self._owner_of_calls
        number = owner._number_to_report()
        try:
            owner._is_ending = True
            await owner._finish(
                lambda queue, tag: self._mode.release_async(owner._handle, queue, tag))
        except BaseException as error:
            owner._report_end(number, error)
            raise
        else:
            owner._note_release()
        finally:
            owner._is_ending = False
        owner._report_end(number)

    async def __aenter__(self) -> HoldType:
        hold = await self.acquire_async()
        try:
            guard = _LossGuard(hold) if self._cancel_on_loss else None
            self._entered.append((hold, guard))
        except BaseException:
            self._forget_entered(hold)
            await hold._leave_async(has_failed=True)
            raise
        if guard is not None:
            guard.begin()
        return hold

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        hold, guard = self._entered.pop()
        try:
            if guard is not None:
                guard.end(kind, error, trace)
        finally:
            await hold._leave_async(has_failed=kind is not None)

    async def _acquire_async(self, call: Any, arguments: tuple[int, ...]) -> HoldType:
        owner = self._owner_of_calls
        if owner._reports is None:
            return await self._acquire_async_unreported(call, arguments)
        with owner._reports.wait(owner._title(), self._mode.lock_kind) as wait:
            return wait.grant(await self._acquire_async_unreported(call, arguments))

    async def _acquire_async_unreported(self, call: Any, arguments: tuple[int, ...]) -> HoldType:
        owner = self._owner_of_calls
        acquiring = owner._start_acquire(
            lambda queue, tag: call(owner._handle, queue, tag, *arguments))
        owner._acquiring = acquiring
        try:
            try:
                await acquiring.wait()
            except GeneratorExit:
                raise
            except BaseException:  # a cancel, which each library has in its own way
                await self._give_up(acquiring)
                raise
        except GeneratorExit:
            self._abandon(acquiring)
            raise
        event = acquiring.event()
        if event.status and owner._is_closed:
            raise Closed("this object was closed while the call waited")
        event.check()
        owner._forget_acquire()
        owner._check_open()
        return self._new_hold(owner, self._mode, event)  # type: ignore[no-any-return]

    async def _give_up(self, call: Call) -> None:
        """Ends the wait of a cancelled task. It ends at once, unless the grant came first.

        Then nobody else would release it, so later cancels wait.
        """
        owner = self._owner_of_calls
        with contextlib.suppress(Error):  # such as Closed: that has ended the wait, or the hold
            if not call.is_done:
                owner.cancel()
            await call.wait_for_end()
            event = call.event()
            if event.status == 0:
                await self._new_hold(owner, self._mode, event)._leave_async(has_failed=True)

    def _abandon(self, call: Call) -> None:
        """Ends the wait of a task that was destroyed, such as with its event loop.

        Nobody reads a grant that came first, so this blocks for its release. The collector may
        destroy the task late, when the lock object has a later hold.
        """
        owner = self._owner_of_calls
        if owner._acquiring is not call:
            return
        with contextlib.suppress(Error):
            if not call.is_done:
                if not owner.cancel():
                    self._mode.release_hold(owner._handle, owner.hold_number)
            elif call.event().status == 0:
                self._mode.release_hold(owner._handle, call.event().hold_number)


class _LossGuard:
    """Cancels an `async with` block when its hold is lost."""

    def __init__(self, hold: Hold) -> None:
        self._hold = hold
        self._reason = LossReason.UNKNOWN
        self._guard = loop_of(running_loop()).new_guard()
        self._hold.on_lost(self._note_loss)

    def begin(self) -> None:
        """The block begins."""
        self._guard.begin()

    def _note_loss(self, reason: LossReason) -> None:
        self._reason = reason
        self._guard.cancel()

    def end(self, kind: type[BaseException] | None, error: BaseException | None,
            trace: TracebackType | None) -> None:
        """The block has ended. Raises `LockLost` if this guard has ended it."""
        if self._guard.end(kind, error, trace):
            loss = self._hold._failure(LockLost, "the hold was lost")
            loss.reason = self._reason
            raise loss


class Lock(LockOwner, Acquirable[Hold]):
    """One owner of a mutex, from `Client.lock`.

    Use it in one thread or task at a time: another call raises `Busy` or `AlreadyHeld`. Each thread
    and each task makes its own lock object with the same name.
    """

    _calls = _modes.LOCK
    _mode = _modes.MUTEX

    def __init__(self, client: Client, name: str | bytes, handle: Any,
                 timeout: Seconds | None, cancel_on_loss: bool) -> None:
        LockOwner.__init__(self, client, handle, name)
        Acquirable.__init__(self, timeout, cancel_on_loss)

    @property
    def _owner_of_calls(self) -> Owner:
        return self

    def _adopted_mode(self) -> Mode:
        return self._mode

    def _kind_of_id(self, text: bytes) -> LockKind:
        return self._mode.lock_kind


class ReadWriteLock(LockOwner):
    """One owner of a read-write lock, from `Client.rw_lock`. It reads or writes.

    Many owners may read at once, and one may write. A waiting writer holds back later readers.
    """

    _calls = _modes.RW

    def __init__(self, client: Client, name: str | bytes, handle: Any,
                 timeout: Seconds | None, cancel_on_loss: bool) -> None:
        super().__init__(client, handle, name)
        timeout_ms(timeout)
        self._timeout = timeout
        self._cancel_on_loss = cancel_on_loss

    def adopt(self, hold_id: str) -> ReadWriteHold:
        """As `Lock.adopt`. The object then reads or writes, as the exporter did."""
        return super().adopt(hold_id)  # type: ignore[return-value]

    def _kind_of_id(self, text: bytes) -> LockKind:
        with contextlib.suppress(Error):  # the adoption raises it
            if _core.hold_id_is_exclusive(_core.hold_id_new(text)):
                return LockKind.WRITE
        return LockKind.READ

    def _adopted_mode(self) -> Mode:
        return _modes.WRITE if _modes.WRITE.is_held(self._handle) else _modes.READ

    def _adopted(self) -> ReadWriteHold:
        return ReadWriteHold(self, self._adopted_mode())

    def reader(self, timeout: Limit = DEFAULT) -> Reader:
        """What is acquired to read. The timeout is that of the lock object unless it is given."""
        return Reader(self, self._timeout if isinstance(timeout, _Default) else timeout)

    def writer(self, timeout: Limit = DEFAULT) -> Writer:
        """What is acquired to write. The timeout is that of the lock object unless it is given."""
        return Writer(self, self._timeout if isinstance(timeout, _Default) else timeout)


class _Side(Acquirable[ReadWriteHold]):
    _new_hold = ReadWriteHold

    def __init__(self, lock: ReadWriteLock, timeout: Seconds | None) -> None:
        super().__init__(timeout, lock._cancel_on_loss)
        self._lock = lock

    @property
    def _owner_of_calls(self) -> Owner:
        return self._lock


class Reader(_Side):
    """A read-write lock to read, from `ReadWriteLock.reader`."""

    _mode = _modes.READ


class Writer(_Side):
    """A read-write lock to write, from `ReadWriteLock.writer`."""

    _mode = _modes.WRITE


class Permits(Acquirable[Hold]):
    """Some permits of a semaphore, from `Semaphore.permits`."""

    _mode = _modes.PERMITS

    def __init__(self, semaphore: Semaphore, permits: int, timeout: Seconds | None) -> None:
        super().__init__(timeout, semaphore._cancel_on_loss)
        self._semaphore = semaphore
        self._arguments = (count(permits, "permits"),)

    @property
    def _owner_of_calls(self) -> Owner:
        return self._semaphore


class Semaphore(LockOwner, Acquirable[Hold]):
    """One owner of permits of a semaphore, from `Client.semaphore`. It acquires one by itself."""

    _calls = _modes.SEMAPHORE
    _mode = _modes.PERMITS

    def __init__(self, client: Client, name: str | bytes, handle: Any,
                 timeout: Seconds | None, cancel_on_loss: bool) -> None:
        LockOwner.__init__(self, client, handle, name)
        Acquirable.__init__(self, timeout, cancel_on_loss)
        self._timeout = timeout
        self._arguments = (1,)

    @property
    def _owner_of_calls(self) -> Owner:
        return self

    def _adopted_mode(self) -> Mode:
        return self._mode

    def _kind_of_id(self, text: bytes) -> LockKind:
        return self._mode.lock_kind

    def permits(self, permits: int, timeout: Limit = DEFAULT) -> Permits:
        """So many permits at once. The timeout is that of the semaphore unless it is given."""
        return Permits(self, permits, self._timeout if isinstance(timeout, _Default) else timeout)

    def resize(self, permits: int) -> None:
        """Changes the number of permits that all owners share."""
        _core.semaphore_resize(self._handle, count(permits, "permits"))


Member = Union[Lock, Reader, Writer, Semaphore, Permits]


class Multi(Owner, Acquirable[Hold]):
    """Several locks of one client that are acquired all or none, from `Client.multi`."""

    _calls = _modes.MULTI
    _mode = _modes.ALL

    def __init__(self, client: Client, handle: Any, members: tuple[Member, ...],
                 timeout: Seconds | None, cancel_on_loss: bool) -> None:
        Owner.__init__(self, client, handle)
        Acquirable.__init__(self, timeout, cancel_on_loss)
        self._members: list[Member] = []
        for member in members:
            self._add(member)

    def __repr__(self) -> str:
        return f"<mortise.Multi of {len(self._members)}>"

    def _title(self) -> str:
        return "multi of " + ", ".join(f'"{name_text(owner.name)}"' for owner in self._owners())

    def __len__(self) -> int:
        """The number of members."""
        return _core.multi_member_count(self._handle)  # type: ignore[no-any-return]

    @property
    def _owner_of_calls(self) -> Owner:
        return self

    def _add(self, member: Member) -> None:
        if isinstance(member, (Reader, Writer)):
            add = _core.multi_add_reader if isinstance(member, Reader) else _core.multi_add_writer
            add(self._handle, member._lock._handle)
        elif isinstance(member, (Semaphore, Permits)):
            _core.multi_add_semaphore(
                self._handle, member._owner_of_calls._handle, *member._arguments)
        elif isinstance(member, Lock):
            _core.multi_add_lock(self._handle, member._handle)
        else:
            raise TypeError("members: give locks, rw.reader(), rw.writer() and semaphores, "
                            f"not {type(member).__name__}")
        self._members.append(member)

    def _begin_watch(self) -> None:
        for owner in self._owners():
            owner._notify_multi(self)

    def _is_loss_of(self, hold: Hold, number: int) -> bool:
        # The number is that of the member's hold, perhaps an earlier one.
        return hold._is_lost() and not self._is_ending

    def _is_contended(self, hold: Hold) -> bool:
        return hold._is_latest() and any(
            owner._contended_number and owner._contended_number == owner.hold_number
            for owner in self._owners())

    def _forget_acquire(self) -> None:
        super()._forget_acquire()
        for owner in self._owners():
            owner._forget_acquire()

    def _owners(self) -> list[NamedOwner]:
        owners = (member._owner_of_calls for member in self._members)
        return [owner for owner in owners if isinstance(owner, NamedOwner)]
