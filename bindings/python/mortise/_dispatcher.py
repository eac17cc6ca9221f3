"""Readers of completion queues: a thread for callbacks, and an event loop for coroutines."""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

from mortise import _core
from mortise._constants import (
    EVENT_LEADER,
    EVENT_NO_LEADER,
    FOREVER,
    QUEUE_CAPACITY,
    Status,
)
from mortise._loop import Call, Loop, logger, loop_of, run_each, running_loop
from mortise.errors import Closed, Details, Forked, failure

# How many events an event loop handles at once. It also has other work.
MOST_EVENTS = 256

_OF_ELECTIONS = (EVENT_LEADER, EVENT_NO_LEADER)


class Event(NamedTuple):
    """One event of a queue, in the order of the C layer."""

    kind: int
    tag: int
    status: int
    token: int
    hold_number: int
    details: Details | None
    #: The info of an observed election, for `read_info`.
    leader: Any

    def check(self) -> None:
        """Raises the failure of the call, if it failed."""
        if self.status != Status.OK:
            raise failure(self.status, self.details)


Submit = Callable[[Any, int], None]
Callback = Callable[[Event], object]


class Dispatcher:
    """A queue and what its events are for."""

    def __init__(self, client: Any) -> None:
        self.queue = _core.queue_new(client, QUEUE_CAPACITY)
        self._tags = itertools.count(1)
        self._callbacks: dict[int, Callback] = {}
        # At most one: the events that were taken from the queue, or None after the last one.
        self._batches: list[list[Any] | None] = []

    def submit(self, submit: Submit, callback: Callback) -> int:
        """Hands a call or a watch to the C library. The callback gets its events."""
        tag = next(self._tags)
        self._callbacks[tag] = callback
        try:
            submit(self.queue, tag)
        except BaseException:
            self._callbacks.pop(tag, None)
            raise
        return tag

    def forget(self, tag: int) -> None:
        """Drops the later events of this tag."""
        self._callbacks.pop(tag, None)

    def shut_down(self) -> None:
        """Ends the waits of its calls. Its reader then reads the rest and frees the queue."""
        _core.queue_shutdown(self.queue)

    def read(self, timeout_ms: int) -> bool:
        """Handles the next events. False after the last one.

        The handler of a signal may raise an exception at any moment. The next call then handles
        the other events.
        """
        if not self._batches:
            # One call of C: a handler that raised between two calls would lose the events.
            self._batches.extend(
                map(_core.next_events, [self.queue], [timeout_ms], [MOST_EVENTS]))
        batch = self._batches[0]
        if batch is None:
            return False
        run_each(self._calls_of(batch))
        self._batches.clear()
        return True

    def _calls_of(self, batch: list[Any]) -> Iterator[Callable[[], object]]:
        while batch:
            *numbers, details = batch[0]
            if numbers[0] in _OF_ELECTIONS:
                event = Event._make((*numbers, None, details))
            else:
                event = Event._make((*numbers, details and Details(*details), None))
            self._finish_call(event)
            callback = self._callbacks.get(event.tag)
            # Until here an exception repeats the event, so a result is not lost. A callback runs
            # once.
            del batch[0]
            if callback is not None:
                yield functools.partial(callback, event)

    def _finish_call(self, event: Event) -> None:
        """Gives a call its result, perhaps for the second time."""


class ThreadDispatcher(Dispatcher):
    """A daemon thread that reads the queue and runs callbacks."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self._thread = threading.Thread(target=self._run, name="mortise-dispatcher", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        is_open = True
        while is_open:
            try:
                is_open = self.read(FOREVER)
            except BaseException:
                # Such as SystemExit, which ends one thread only. All losses are reported in this.
                logger.exception("a callback raised an exception")
        _core.close(self.queue)

    def shut_down(self) -> None:
        super().shut_down()
        if self._thread is not threading.current_thread():
            self._thread.join(1)


class LoopDispatcher(Dispatcher):
    """An event loop that watches the descriptor of the queue."""

    def __init__(self, client: Any, loop: Loop) -> None:
        super().__init__(client)
        self.loop = loop
        self._calls: dict[int, Call] = {}
        loop.watch(_core.queue_fd(self.queue), self._read, self._end)

    def start(self, submit: Submit) -> Call:
        """Hands a call to the C library. The result is its only event."""
        tag = next(self._tags)
        call = self._calls[tag] = self.loop.new_call()
        try:
            submit(self.queue, tag)
        except BaseException:
            self._calls.pop(tag, None)
            raise
        return call

    def _finish_call(self, event: Event) -> None:
        call = self._calls.get(event.tag)
        if call is not None:
            call.finish(event)
            self._calls.pop(event.tag, None)

    def _read(self) -> bool:
        return self.read(0)

    def _end(self) -> None:
        for call in [*self._calls.values()]:
            call.finish(Closed("the client was closed"))
        self._calls.clear()
        _core.close(self.queue)

    def shut_down(self) -> None:
        # The loop reads the end of the queue.
        super().shut_down()
        if self.loop.is_over:
            _core.close(self.queue)


class Dispatchers:
    """The dispatchers of one client: a thread at most, and one for each event loop."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._process = os.getpid()
        # The handler of a signal may close the client while the same thread makes a dispatcher.
        self._lock = threading.RLock()
        self._thread: ThreadDispatcher | None = None
        self._loops: dict[Any, LoopDispatcher] = {}
        self._is_closed = False

    def check(self) -> None:
        """A forked child has no thread of the parent, and the lock may be locked for good."""
        if os.getpid() != self._process:
            raise Forked("the client was made before fork(); make one in this process")
        if self._is_closed:
            raise Closed("this client is closed; make a new one")

    def of_thread(self) -> ThreadDispatcher:
        """The dispatcher with a thread."""
        self.check()
        with self._lock:
            thread = self._thread
            if thread is None:
                thread = self._thread = ThreadDispatcher(self._client)
                self._check_new(thread)
            return thread

    def of_loop(self) -> LoopDispatcher:
        """The dispatcher of the running event loop."""
        running = running_loop()
        if running is None:
            raise RuntimeError("no event loop of asyncio or trio runs in this thread")
        found = self._loops.get(running)
        if found is not None and not self._is_closed:
            return found
        self.check()
        with self._lock:
            for other in [one for one, its in self._loops.items() if its.loop.is_over]:
                self._loops.pop(other).shut_down()
            found = self._loops[running] = LoopDispatcher(self._client, loop_of(running))
            self._check_new(found)
            return found

    def _check_new(self, made: Dispatcher) -> None:
        """A signal's handler that closed the client meanwhile did not see this dispatcher."""
        if self._is_closed:
            made.shut_down()
            self.check()

    def close(self) -> None:
        """Ends all of them."""
        if self._is_closed or os.getpid() != self._process:
            return
        self._is_closed = True
        with self._lock:
            ended = [*self._loops.values()]
            if self._thread is not None:
                ended.append(self._thread)  # type: ignore[arg-type]
            self._loops.clear()
        for one in ended:
            one.shut_down()
