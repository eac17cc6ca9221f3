"""The common part of mutexes, read-write locks, semaphores and multis."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from mortise import _core, _signals
from mortise._arguments import Seconds, lease_ms, name_bytes
from mortise._constants import EVENT_CONTENDED, EVENT_LOST, LossReason
from mortise._dispatcher import Dispatcher, Event, ThreadDispatcher
from mortise._loop import Call, in_its_loop, run_each, running_loop
from mortise._modes import Calls, LockCalls, Mode, NamedCalls
from mortise.errors import Cancelled, Closed, Error, Forked, NotWaiting, Unsupported, reason_of
from mortise.listener import LockKind
from mortise.reports import LockInfo, read_info

if TYPE_CHECKING:
    from mortise.client import Client
    from mortise.hold import Hold


class Notice(NamedTuple):
    """A loss of a hold, a risk that comes before it, or a report that others wait."""

    #: True for a loss.
    is_loss: bool
    #: The fencing token of the hold. Of a multi it is the member's.
    token: int
    #: The number of the hold. Of a multi it is the member's.
    hold_number: int
    reason: LossReason
    #: The cause in one line.
    message: str
    #: The name of the lock, of a multi that of the member.
    lock_name: bytes
    #: True for a report that others wait. It needs the option `contended`.
    is_contended: bool


class Owner:
    """One owner of a lock, which holds it or not. Use it in one thread or task at a time."""

    _calls: Calls

    def __init__(self, client: Client, handle: Any) -> None:
        self._client = client
        self._handle = handle
        self._is_closed = False
        self._is_interrupted = False
        self._is_stopped = False
        # How many calls of `cancel` have ended a wait.
        self._cancels = 0
        # The handler of a signal may cancel, too.
        self._cancel_lock = threading.RLock()
        # What the C layer has as the task of the next acquire.
        self._task = 0
        # The latest acquire of a coroutine, until an acquire succeeds.
        self._acquiring: Call | None = None
        self._on_notice: Callable[[Notice], object] | None = None
        self._watched: list[Hold] = []
        # The number of the latest hold that others are known to wait for.
        self._contended_number = 0
        # The multis that also receive the notices of this object, as a member.
        self._multis: list[weakref.ref[Owner]] = []
        # The latest hold that was released without the object of the hold.
        self._released_number = 0
        # A release or an export runs, so what ends now is not lost.
        self._is_ending = False
        # For the listener of the client.
        self._reports = client._new_reports(self)
        client._note_owner(self)

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} belongs to one process; make one in each")

    def close(self) -> None:
        """Releases what is held and frees the object. A waiting call raises `Closed`.

        The garbage collector also closes an object without references.
        """
        if self._is_closed:
            return
        self._is_closed = True
        # A call in another thread may still use the object, and then frees it.
        self._interrupt(True)
        _core.close(self._handle)
        if self._reports is not None:
            self._reports.close()

    def _forget_acquire(self) -> None:
        """A hold begins, which no coroutine of an earlier acquire may release."""
        self._acquiring = None

    def _check_open(self) -> None:
        """A grant may come together with a close, which has released it then."""
        if self._is_closed or self._client._is_closed:
            raise Closed("this object or its client was closed while the call waited")

    # ---- facts by the local clock, without a request --------------------------------------

    @property
    def valid_for(self) -> float:
        """How long the hold is still valid, in seconds. 0 if nothing is held.

        After a wait it is at most 1.6 s until the first renewal confirms the grant.
        """
        return self._calls.valid_ms(self._handle) / 1000  # type: ignore[no-any-return]

    @property
    def deadline_ns(self) -> int:
        """When the hold ends unless it is renewed, in nanoseconds of `time.CLOCK_BOOTTIME`.

        0 if nothing is held.
        """
        return self._calls.deadline_ns(self._handle)  # type: ignore[no-any-return]

    @property
    def hold_number(self) -> int:
        """The number of the latest hold of this object. The first is 1."""
        return self._calls.hold_number(self._handle)  # type: ignore[no-any-return]

    # ---- calls ----------------------------------------------------------------------------

    def extend(self, lease: Seconds | None = None) -> None:
        """Makes the hold last at least `lease` seconds from now, or the lock's lease."""
        self._calls.extend(self._handle, lease_ms(lease))

    async def extend_async(self, lease: Seconds | None = None) -> None:
        """As `extend`, without blocking the event loop."""
        wanted_ms = lease_ms(lease)
        await self._finish(
            lambda queue, tag: self._calls.extend_async(self._handle, queue, tag, wanted_ms))

    def progress(self) -> None:
        """Reports that the work under the hold goes on (option `progress`). Sends nothing."""
        self._calls.progress(self._handle)

    def set_value(self, value: str) -> None:
        """Sets the value of the hold. A multi has none."""
        raise Unsupported("a multi has no value; set the value of a lock with one name")

    async def set_value_async(self, value: str) -> None:
        """As `set_value`, without blocking the event loop."""
        self.set_value(value)

    def export(self, lease: Seconds | None = None) -> str:
        """Ends the hold without a release, and returns its id. Only locks have one."""
        raise Unsupported("a multi and a leadership have no id; export a lock with one name")

    def cancel(self) -> bool:
        """Ends the waiting acquire of this object with `Cancelled`. Any thread may call it.

        Returns whether a call was waiting.
        """
        with self._cancel_lock:
            try:
                self._calls.cancel(self._handle)
            except NotWaiting:
                return False
            self._cancels += 1
            return True

    def _cancel_count(self) -> int:
        with self._cancel_lock:
            return self._cancels

    def interrupt(self, is_on: bool = True) -> None:
        """As `cancel`, and blocks later acquires until a call with False."""
        self._is_interrupted = is_on
        self._apply_interrupts()

    def _interrupt(self, is_on: bool) -> None:
        """Ends a wait for a signal or a close. Afterwards the program's own setting counts."""
        self._is_stopped = is_on
        with contextlib.suppress(Closed, Forked):
            self._apply_interrupts()

    def _apply_interrupts(self) -> None:
        """The last call decides, so each thread repeats its own until nothing has changed."""
        applied = None
        while applied != (wanted := self._is_to_stop()):
            self._calls.interrupt(self._handle, 1 if wanted else 0)
            applied = wanted

    def _is_to_stop(self) -> bool:
        return bool(self._is_interrupted or self._is_stopped or self._is_closed)

    # ---- waiting --------------------------------------------------------------------------

    def _set_task(self, number: int) -> None:
        """Names the task of the next acquire, or the thread by 0, for the option `deadlock`."""
        if number != self._task:
            self._task = -1  # unknown, if the handler of a signal raises an exception here
            self._calls.set_task(self._handle, number)
            self._task = number

    def _wait(self, call: Callable[..., None], arguments: tuple[int, ...],
              limit_ms: int | None) -> None:
        """Makes a call that waits. A signal ends the wait, and its handler runs then.

        The limit is the last argument of the call, or None of a call that does not have it.
        """
        begin = time.monotonic()
        cancels = self._cancel_count()
        limits = () if limit_ms is None else (limit_ms,)
        while True:
            wait = _signals.Wait(self._interrupt)
            try:
                wait.begin()
                call(self._handle, *arguments, *limits)
                return
            except Cancelled:
                if self._is_closed:
                    raise Closed("this object was closed while the call waited") from None
                if (self._is_interrupted or not wait.is_interrupted
                        or self._cancel_count() != cancels):
                    raise
            finally:
                try:
                    wait.end()
                except BaseException:
                    # The handler of a signal raised an exception in it.
                    wait.end()
                    raise
            # The handler raised no exception, so the wait begins again.
            if limit_ms is not None and limit_ms > 0:
                passed_ms = int((time.monotonic() - begin) * 1000)
                limits = (max(1, limit_ms - passed_ms),)

    def _start(self, submit: Callable[[Any, int], None]) -> Call:
        return self._client._dispatchers.of_loop().start(submit)

    def _start_acquire(self, submit: Callable[[Any, int], None]) -> Call:
        dispatcher = self._client._dispatchers.of_loop()
        self._set_task(dispatcher.loop.task_number())
        return dispatcher.start(submit)

    async def _finish(self, submit: Callable[[Any, int], None]) -> None:
        """Makes a call and waits for its end, also if the task is cancelled meanwhile.

        The object is busy until then. The option `command_timeout` bounds the time.
        """
        call = self._start(submit)
        cancelled = await call.wait_for_end()
        if cancelled is not None:
            raise cancelled
        call.event().check()

    # ---- losses ---------------------------------------------------------------------------

    def watch(self, callback: Callable[[Notice], object] | None) -> None:
        """Calls `callback` with each loss or risk of a hold of this object. None ends that.

        With the option `contended` also when others wait, at most once for each hold.
        It runs in the thread `mortise-dispatcher` of the client, or in the event loop if this is
        called there.
        """
        self._on_notice = None if callback is None else in_its_loop(callback)
        if callback is not None:
            self._begin_watch()

    def _begin_watch(self) -> None:
        """A loop that no longer runs reports nothing, so the watch follows its user."""
        raise NotImplementedError

    def _notify(self, event: Event) -> None:
        details = event.details
        notice = Notice(
            event.kind == EVENT_LOST, event.token, event.hold_number,
            reason_of(details.reason) if details else LossReason.UNKNOWN,
            details.message if details else "", details.lock_name if details else b"",
            event.kind == EVENT_CONTENDED)
        if notice.is_contended:
            self._contended_number = event.hold_number
        run_each(call for owner in self._watchers() for call in owner._calls_of(notice))

    def _watchers(self) -> list[Owner]:
        """This object and the multis that receive its notices."""
        multis = [multi() for multi in [*self._multis]]
        return [self, *(multi for multi in multis if multi is not None)]

    def _calls_of(self, notice: Notice) -> list[Callable[[], object]]:
        calls: list[Callable[[], object]] = []
        if notice.is_loss:
            calls += [functools.partial(hold._note_loss, notice.hold_number, notice.reason)
                      for hold in self._watched]
        elif notice.is_contended:
            calls += [hold._note_contention for hold in self._watched]
        if self._on_notice is not None:
            calls.append(functools.partial(self._on_notice, notice))
        return calls

    def _is_loss_of(self, hold: Hold, number: int) -> bool:
        """Whether the loss of the hold with this number is that of this hold."""
        return hold._number == number

    def _is_contended(self, hold: Hold) -> bool:
        """Whether it is known that others wait for the lock of this hold."""
        return hold._number == self._contended_number

    def _drop_watched(self, hold: Hold) -> None:
        with contextlib.suppress(ValueError):  # another thread was faster
            self._watched.remove(hold)

    # ---- the listener of the client -------------------------------------------------------

    def _title(self) -> str | bytes:
        """What a listener calls the lock."""
        raise NotImplementedError

    def _number_to_report(self) -> int:
        """The number of the latest hold, if there is a listener."""
        return self.hold_number if self._reports is not None else 0

    def _report_end(self, number: int, error: BaseException | None = None) -> None:
        if self._reports is not None:
            self._reports.end(number, error)

    # ---- releases -------------------------------------------------------------------------

    def _note_release(self) -> None:
        """A release or an export without the object of the hold has succeeded. It is no loss."""
        with contextlib.suppress(Closed):
            if self._calls.deadline_ns(self._handle):
                return  # a reentrant lock is still held
            self._released_number = self.hold_number
            self._watched = [one for one in self._watched if not one._is_over]


class NamedOwner(Owner):
    """An owner of a lock with a name."""

    _calls: NamedCalls

    def __init__(self, client: Client, handle: Any, name: str | bytes) -> None:
        super().__init__(client, handle)
        self._name = name
        self._watching: tuple[Dispatcher, int] | None = None

    def __repr__(self) -> str:
        state = " (closed)" if self._is_closed else ""
        return f"<mortise.{type(self).__name__} {self._name!r}{state}>"

    @property
    def name(self) -> str | bytes:
        """The name of the lock, as it was given."""
        return self._name

    def _title(self) -> str | bytes:
        return self._name

    @property
    def token(self) -> int:
        """The fencing token of the latest hold of this object, or 0 before the first."""
        return self._calls.token(self._handle)  # type: ignore[no-any-return]

    def set_value(self, value: str) -> None:
        """Sets a text that queries and listings of the lock show to everybody. "" removes it.

        It is at most 1024 bytes of UTF-8, belongs to the hold, and ends with it.
        """
        self._calls.set_value(self._handle, name_bytes(value, "value"))

    async def set_value_async(self, value: str) -> None:
        """As `set_value`, without blocking the event loop."""
        text = name_bytes(value, "value")
        await self._finish(
            lambda queue, tag: self._calls.set_value_async(self._handle, queue, tag, text))

    def query(self) -> LockInfo:
        """Asks the server for the holders and the waiters of the lock.

        The answer may be old when it arrives. To decide whether to act, use `hold.is_held`.
        """
        info = _core.info_new()
        self._calls.query(self._handle, info)
        return read_info(info)

    def force_release(self, owner: str | bytes) -> None:
        """Ends the hold of another owner, whose owner token `query` shows. For operators only."""
        token = owner.encode("utf-8", "surrogateescape") if isinstance(owner, str) else owner
        self._calls.force_release(self._handle, name_bytes(token, "owner"))

    # ---- losses ---------------------------------------------------------------------------

    def _begin_watch(self) -> None:
        watching = self._watching
        dispatchers = self._client._dispatchers
        dispatchers.check()
        dispatcher: Dispatcher
        if running_loop() is None:
            dispatcher = dispatchers.of_thread()
        elif watching is not None and isinstance(watching[0], ThreadDispatcher):
            return
        else:
            dispatcher = dispatchers.of_loop()
        if watching is not None and watching[0] is dispatcher:
            return
        tags: list[int] = []

        def forget(_: object) -> None:
            for tag in tags:
                dispatcher.forget(tag)

        this = weakref.ref(self, forget)

        def notify(event: Event) -> None:
            owner = this()
            if owner is not None:
                owner._notify(event)

        tag = dispatcher.submit(
            lambda queue, tag: self._calls.watch(self._handle, queue, tag), notify)
        tags.append(tag)
        self._watching = (dispatcher, tag)
        if watching is not None:
            watching[0].forget(watching[1])
            # Its queue may still have the loss of one of them.
            run_each(hold._note_missed_loss
                     for owner in self._watchers() for hold in [*owner._watched])

    def _notify_multi(self, multi: Owner) -> None:
        """Passes later notices of this member on. The watch of a multi in C would replace its own.
        """
        if not any(one() is multi for one in [*self._multis]):
            self._multis.append(weakref.ref(multi, self._multis.remove))
        self._begin_watch()


class LockOwner(NamedOwner):
    """An owner whose holds have ids."""

    _calls: LockCalls

    def export(self, lease: Seconds | None = None) -> str:
        """Ends the hold here without a release, and returns its id. See `Hold.export`."""
        number = self._number_to_report()
        try:
            self._is_ending = True
            exported = self._calls.export(self._handle, lease_ms(lease))
        except Error as error:
            if number and not self._lasts():
                self._report_end(number, error)
            raise
        else:
            self._note_release()
        finally:
            self._is_ending = False
        self._report_end(number)
        return _core.hold_id_text(exported)  # type: ignore[no-any-return]

    def _lasts(self) -> bool:
        with contextlib.suppress(Closed):
            return bool(self._calls.deadline_ns(self._handle))
        return False

    def adopt(self, hold_id: str) -> Hold:
        """Continues an exported hold with this object, which renews it from now on.

        Of several adopters one succeeds. The others get `NotOwner`, as after the end of the hold.
        The hold has a higher fencing token. After another failure the id may still be valid. It
        waits for the server at most for the option `command_timeout`, and only blocks.
        """
        text = name_bytes(hold_id, "hold_id")
        if self._reports is None:
            return self._adopt(text)
        with self._reports.wait(self._title(), self._kind_of_id(text)) as wait:
            return wait.grant(self._adopt(text))

    def _kind_of_id(self, text: bytes) -> LockKind:
        raise NotImplementedError

    def _adopt(self, text: bytes) -> Hold:
        handle = self._handle
        grants = _core.grants(handle)
        try:
            self._set_task(0)
            self._calls.adopt(handle, text)
            self._forget_acquire()
            return self._adopted()
        except BaseException:
            # The handler of a signal raised an exception between the grant and here.
            if _core.grants(handle) not in (0, grants):
                with contextlib.suppress(Error):  # the handler's exception matters more
                    self._adopted_mode().release(handle)
            raise

    def _adopted_mode(self) -> Mode:
        raise NotImplementedError

    def _adopted(self) -> Hold:
        from mortise.hold import Hold

        return Hold(self, self._adopted_mode())
