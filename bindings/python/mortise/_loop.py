"""What the package needs of an event loop. `_asyncio` and `_trio` have it of each library.

A program imports only the library that it uses.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import sys
import weakref
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable

from mortise._arguments import check_callback
from mortise.errors import Error

if TYPE_CHECKING:
    from mortise._dispatcher import Event

logger = logging.getLogger("mortise")

# The number of each task that has acquired. All clients share it, because a deadlock may be of
# locks of several clients. A number outlives its task in what the task holds, so none is reused.
_task_numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_next_number = itertools.count(1)


def run_each(calls: Iterable[Callable[[], object]]) -> None:
    """Makes each call of a program's callback, which must not prevent the later ones.

    An exception goes to the log. What ends a program, such as SystemExit, is raised at the end.
    """
    ending: BaseException | None = None
    for call in calls:
        try:
            call()
        except Exception:
            logger.exception("a callback raised an exception")
        except BaseException as error:
            ending = error
    if ending is not None:
        raise ending


class Call:
    """A call that a coroutine waits for. Only the thread of the loop uses it."""

    def __init__(self) -> None:
        self._result: Event | Error | None = None

    @property
    def is_done(self) -> bool:
        """Whether it has a result."""
        return self._result is not None

    def finish(self, result: Event | Error) -> None:
        """Sets the result, unless it has one. May be repeated after an exception."""
        if self._result is None:
            self._result = result
        self._wake()

    def event(self) -> Event:
        """The result. An error is raised."""
        assert self._result is not None
        if isinstance(self._result, Error):
            raise self._result
        return self._result

    def _wake(self) -> None:
        raise NotImplementedError

    async def wait(self) -> None:
        """Waits for the result. The call goes on if the task is cancelled."""
        raise NotImplementedError

    async def wait_for_end(self) -> BaseException | None:
        """Waits for the result, also in a cancelled task. Returns the cancel, to be raised again.

        None if there was none, or if the library itself raises it again.
        """
        raise NotImplementedError


class Guard:
    """Cancels the rest of a block of the running task."""

    def begin(self) -> None:
        """The block begins. `cancel` may have been called already."""

    def cancel(self) -> None:
        """Cancels the block, unless it has ended."""
        raise NotImplementedError

    def end(self, kind: type[BaseException] | None, error: BaseException | None,
            trace: TracebackType | None) -> bool:
        """The block has ended. Returns whether its exception is the cancel of this guard only."""
        raise NotImplementedError


class Loop:
    """One event loop."""

    #: Whether it is known that it runs no more callbacks.
    is_over: bool

    def watch(self, descriptor: int, read: Callable[[], bool], end: Callable[[], None]) -> None:
        """Calls `read` while the descriptor has something to read. After False it calls `end`.

        After an exception it calls `read` again, because the descriptor may have nothing to read.
        """
        raise NotImplementedError

    def call_soon(self, call: Callable[[], object]) -> None:
        """Makes a call in the loop, from any thread. Raises RuntimeError if the loop is over."""
        raise NotImplementedError

    async def sleep(self, seconds: float) -> BaseException | None:
        """Sleeps, also in a cancelled task. Returns as `Call.wait_for_end`."""
        raise NotImplementedError

    def new_call(self) -> Call:
        """A call of a task in this loop."""
        raise NotImplementedError

    def new_guard(self) -> Guard:
        """A guard of the running task."""
        raise NotImplementedError

    def _current_task(self) -> Any:
        """The running task, as its library has it, or None."""
        raise NotImplementedError

    def task_number(self) -> int:
        """The number of the running task, which no other task of this process has, or 0."""
        task = self._current_task()
        if task is None:
            return 0
        return _task_numbers.get(task) or _task_numbers.setdefault(task, next(_next_number))


def running_loop() -> Any:
    """The event loop that runs in this thread, as its library has it, or None."""
    asyncio = sys.modules.get("asyncio")
    loop = None
    if asyncio is not None:
        with contextlib.suppress(RuntimeError):
            loop = asyncio.get_running_loop()
    trio = sys.modules.get("trio")
    if trio is not None and (loop is None or asyncio.current_task() is None):  # type: ignore[union-attr]
        # Each of them can run in the loop of the other.
        with contextlib.suppress(RuntimeError, AttributeError):  # trio may be half imported
            return trio.lowlevel.current_trio_token()
    return loop


def loop_of(running: Any) -> Loop:
    """The loop that `running_loop` has returned."""
    trio = sys.modules.get("trio")
    if trio is not None and isinstance(running, trio.lowlevel.TrioToken):
        from mortise._trio import TrioLoop

        return TrioLoop(running)
    from mortise._asyncio import AsyncioLoop

    return AsyncioLoop(running)


def in_its_loop(callback: Callable[..., object]) -> Callable[..., object]:
    """A callback that runs in the event loop where this is called, also for other threads."""
    check_callback(callback)
    running = running_loop()
    if running is None:
        return callback
    loop = loop_of(running)

    def call(*arguments: object) -> None:
        if running_loop() is running:
            callback(*arguments)
            return
        with contextlib.suppress(RuntimeError):  # a closed loop has no work to notify
            loop.call_soon(
                functools.partial(run_each, [functools.partial(callback, *arguments)]))

    return call
