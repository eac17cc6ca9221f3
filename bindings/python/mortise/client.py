"""A connection to one deployment, which makes locks."""

from __future__ import annotations

import logging
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Union

from mortise import _core
from mortise._arguments import (
    Seconds,
    check_callback,
    count,
    milliseconds,
    name_bytes,
    options_of,
)
from mortise._constants import LogLevel
from mortise._dispatcher import Dispatchers, Event
from mortise._loop import logger
from mortise.election import Election
from mortise.errors import Closed
from mortise.listener import Listener, Reports
from mortise.locks import Lock, Member, Multi, ReadWriteLock, Semaphore
from mortise.reports import (
    Health,
    History,
    Listing,
    LogRecord,
    Stats,
    read_health,
    read_history,
    read_listing,
    read_log_record,
    read_stats,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mortise._constants import ClientOptions, LockOptions
    from mortise._owner import Owner

Name = Union[str, bytes]

_LEVELS = {
    LogLevel.ERROR: logging.ERROR, LogLevel.WARNING: logging.WARNING, LogLevel.INFO: logging.INFO,
}


class Client:
    """One connection and one thread, shared by all locks that it makes. Any thread may use it.

    `url` is a URL such as "redis://localhost", "redis+sentinel://…" or "redlock:…". None reads the
    environment variable MORTISE_URL. The options are the defaults of the client's locks, and those
    of the client itself. Durations are seconds. For example::

        with mortise.Client("redis://localhost", lease=10, command_timeout=2) as client:
            with client.lock("report", timeout=5) as hold:
                print("mine, with token", hold.token)

    The `listener` receives the begin and the end of each wait and each hold.

    Raises `Unreachable` if no server answers in `command_timeout`, `Refused` if the server refuses
    the login or is unsuitable, and `InvalidArgument`.
    """

    def __init__(self, url: Name | None = None, *, listener: Listener | None = None,
                 **options: Unpack[ClientOptions]) -> None:
        if listener is not None and not callable(getattr(listener, "begin_wait", None)):
            raise TypeError("listener: give an object with the method begin_wait, such as a "
                            f"mortise.Listener, not {type(listener).__name__}")
        text = None if url is None else name_bytes(url, "url")
        self._handle = _core.client_new(text, options_of(options))
        self._dispatchers = Dispatchers(self._handle)
        self._listener = listener
        self._owners: weakref.WeakValueDictionary[int, Owner] = weakref.WeakValueDictionary()
        self._finalizer = weakref.finalize(
            self, _close, self._handle, self._owners, self._dispatchers)
        # At the end of the interpreter, daemon threads may still work under their locks.
        self._finalizer.atexit = False
        self._log_tag = 0
        self._stats_tag = 0

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<mortise.Client{' (closed)' if self._is_closed else ''}>"

    def __reduce__(self) -> Any:
        raise TypeError("a Client belongs to one process; open one in each process")

    @property
    def _is_closed(self) -> bool:
        return not self._finalizer.alive

    def close(self) -> None:
        """Closes the client. Waiting calls raise `Closed`, and its holds are released.

        It sends the releases for at most 100 ms and does not wait for the answers. A call such as
        `ping` or `list_locks` in another thread goes on until its end. The garbage collector also
        closes a client.
        """
        self._finalizer()

    # ---- locks ----------------------------------------------------------------------------

    def lock(self, name: Name, *, timeout: Seconds | None = None, cancel_on_loss: bool = True,
             **options: Unpack[LockOptions]) -> Lock:
        """A new owner of the mutex of this name. Sends nothing.

        `name` is a text, or any 1 to 1024 bytes. `timeout` is that of `with`, and of `acquire`
        without one: in seconds, None without a limit. With `cancel_on_loss` an `async with` block
        cancels its task when the hold is lost, and raises `LockLost`. The options override those of
        the client.
        """
        handle = _core.lock_new(self._handle, name_bytes(name), self._options(options))
        return Lock(self, name, handle, timeout, cancel_on_loss)

    def rw_lock(self, name: Name, *, timeout: Seconds | None = None,
                cancel_on_loss: bool = True, **options: Unpack[LockOptions]) -> ReadWriteLock:
        """A new owner of the read-write lock of this name. The arguments are those of `lock`.

        Use `reader()` and `writer()` of the result. A mutex of the same name is another lock.
        """
        handle = _core.rw_new(self._handle, name_bytes(name), self._options(options))
        return ReadWriteLock(self, name, handle, timeout, cancel_on_loss)

    def semaphore(self, name: Name, permits: int, *, timeout: Seconds | None = None,
                  cancel_on_loss: bool = True, **options: Unpack[LockOptions]) -> Semaphore:
        """A new owner of permits of the semaphore of this name. `permits` is 1 to 1000000.

        All owners share so many permits. Each acquires one, or several with `permits(n)` of the
        result. The other arguments are those of `lock`.
        """
        handle = _core.semaphore_new(
            self._handle, name_bytes(name), count(permits, "permits"), self._options(options))
        return Semaphore(self, name, handle, timeout, cancel_on_loss)

    def election(self, name: Name, *, timeout: Seconds | None = None, cancel_on_loss: bool = True,
                 **options: Unpack[LockOptions]) -> Election:
        """A new candidate of the election of this name, or an observer of it.

        The arguments are those of `lock`. The option `lease` is the time without a leader after a
        crash, and `value` a text of each leadership, such as an address. A leadership lasts at most
        `max_hold`, which is one hour by default.
        """
        handle = _core.election_new(self._handle, name_bytes(name), self._options(options))
        return Election(self, name, handle, timeout, cancel_on_loss)

    def multi(self, *members: Member, timeout: Seconds | None = None,
              cancel_on_loss: bool = True) -> Multi:
        """Several locks of this client that are acquired all or none.

        The members are 1 to 64 locks, `rw.reader()`, `rw.writer()`, semaphores and
        `semaphore.permits(n)`.
        """
        return Multi(self, _core.multi_new(self._handle), members, timeout, cancel_on_loss)

    def _options(self, options: LockOptions) -> Any:
        return options_of(options, self._handle)

    # ---- servers --------------------------------------------------------------------------

    def ping(self) -> None:
        """Checks that the server answers, within `command_timeout`."""
        _core.client_ping(self._handle)

    def set_credentials(self, user: Name, password: Name) -> None:
        """Logs in with another user and password, on the open connection and on new ones.

        "" is the server's default user. After an exception the old ones stay in force at each
        server that did not accept the new ones.
        """
        _core.client_set_credentials(
            self._handle, name_bytes(user, "user"), name_bytes(password, "password"))

    def check_health(self) -> Health:
        """Checks the settings, rights and clocks of the servers that matter to locks."""
        return read_health(_core.client_check_health(self._handle))

    def last_health(self) -> Health:
        """The last health check, without a new one. It has no findings without a check."""
        return read_health(_core.client_last_health(self._handle))

    def list_locks(self, timeout: Seconds = 1) -> Listing:
        """Asks all live clients which locks they hold and wait for, for at most `timeout`."""
        return read_listing(
            _core.client_list_locks(self._handle, milliseconds(timeout, "timeout")))

    def scan_locks(self, pattern: Name = "", most_keys: int = 100_000,
                   timeout: Seconds = 10) -> Listing:
        """Searches the keys of the servers for locks, at most `most_keys` of each server.

        "" selects locks in Mortise's own format. Another pattern is that of SCAN, for locks of
        other programs.
        """
        return read_listing(_core.client_scan_locks(
            self._handle, name_bytes(pattern, "pattern"), count(most_keys, "most_keys"),
            milliseconds(timeout, "timeout")))

    def list_history(self, name: Name, window: Seconds = 600, timeout: Seconds = 1) -> History:
        """Asks all live clients for the latest events of a lock, for at most `timeout`.

        `window` is how far to look back, at most a day. The events are those of the mutex, the
        read-write lock and the semaphore of this name.
        """
        return read_history(_core.client_list_history(
            self._handle, name_bytes(name), milliseconds(window, "window"),
            milliseconds(timeout, "timeout")))

    # ---- what the client reports ----------------------------------------------------------

    def stats(self) -> Stats:
        """What the client has counted since it was opened, without a request to a server."""
        return read_stats(_core.client_stats(self._handle))

    def watch_log(self, callback: Callable[[LogRecord], object] | None,
                  level: LogLevel = LogLevel.INFO) -> None:
        """Calls `callback` with each record of the client's log, of this level and worse.

        It runs in the thread `mortise-dispatcher`. None ends the reports.
        """

        def submit(queue: Any, tag: int) -> None:
            _core.client_watch_log(self._handle, queue, tag, int(level))

        def report(event: Event) -> None:
            if callback is not None and event.details is not None:
                callback(read_log_record(event.details))

        self._log_tag = self._watch(self._log_tag, callback, submit, report)

    def log_to(self, target: logging.Logger | None = logger,
               level: LogLevel = LogLevel.INFO) -> None:
        """Writes the client's log to a logger of `logging`, "mortise" unless given.

        A record has the attributes `subject` (a text) and `lock_name`. None ends the log.
        """

        def write(record: LogRecord) -> None:
            assert target is not None
            text = record.text
            if record.dropped:
                text += f" ({record.dropped} records were dropped before)"
            target.log(_LEVELS.get(record.level, logging.INFO), "%s", text, extra={
                "subject": record.subject.name.lower(), "lock_name": record.lock_name})

        self.watch_log(None if target is None else write, level)

    def watch_stats(self, callback: Callable[[Stats], object] | None,
                    interval: Seconds = 10) -> None:
        """Calls `callback` with the statistics at this interval of 10 ms or more.

        It runs in the thread `mortise-dispatcher`. None ends the reports.
        """
        interval_ms = milliseconds(interval, "interval")
        this = weakref.ref(self)

        def submit(queue: Any, tag: int) -> None:
            _core.client_watch_stats(self._handle, queue, tag, interval_ms)

        def report(_: Event) -> None:
            client = this()
            if client is None or callback is None:
                return
            try:
                counted = client.stats()
            except Closed:
                return  # meanwhile
            callback(counted)

        self._stats_tag = self._watch(self._stats_tag, callback, submit, report)

    def _watch(self, old_tag: int, callback: object, submit: Callable[[Any, int], None],
               report: Callable[[Event], object]) -> int:
        """Replaces a watch. Returns the new tag, or 0 without one."""
        if callback is None:
            submit(None, 0)
            tag = 0
        else:
            check_callback(callback)
            tag = self._dispatchers.of_thread().submit(submit, report)
        if old_tag:
            self._dispatchers.of_thread().forget(old_tag)
        return tag

    def _note_owner(self, owner: Owner) -> None:
        """A new lock object ends with the client."""
        self._owners[id(owner)] = owner
        if self._is_closed:
            owner.close()

    def _new_reports(self, owner: Owner) -> Reports | None:
        """What a new lock object reports to the listener."""
        if self._listener is None:
            return None
        reports = Reports(self._listener)
        weakref.finalize(owner, reports.close).atexit = False
        return reports


def _close(handle: Any, owners: weakref.WeakValueDictionary[int, Owner],
           dispatchers: Dispatchers) -> None:
    is_freed = _core.close(handle)
    for reference in owners.valuerefs():
        owner = reference()
        if owner is None:
            continue
        if not is_freed:
            # A call on the client uses it, perhaps for long. Its holds and waits end before that.
            owner.close()
        elif owner._reports is not None:
            owner._reports.close()
    dispatchers.close()
