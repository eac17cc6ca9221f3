"""Event loops of asyncio, and of libraries with the same interface such as uvloop."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Callable

from mortise._loop import Call, Guard, Loop


class AsyncioLoop(Loop):
    """One event loop of asyncio."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    @property
    def is_over(self) -> bool:  # type: ignore[override]
        """Whether the loop is closed."""
        return self._loop.is_closed()

    def watch(self, descriptor: int, read: Callable[[], bool], end: Callable[[], None]) -> None:
        """As in `Loop`."""

        def on_ready() -> None:
            try:
                if not read():
                    self._loop.remove_reader(descriptor)
                    end()
            except BaseException:  # the handler of a signal raised it
                self._loop.call_soon(on_ready)
                raise

        self._loop.add_reader(descriptor, on_ready)

    def call_soon(self, call: Callable[[], object]) -> None:
        """As in `Loop`."""
        self._loop.call_soon_threadsafe(call)

    async def sleep(self, seconds: float) -> BaseException | None:
        """As in `Loop`."""
        end: asyncio.Future[None] = self._loop.create_future()
        self._loop.call_later(seconds, end.set_result, None)
        return await _wait(end, end.done)

    def new_call(self) -> Call:
        """As in `Loop`."""
        return AsyncioCall(self._loop)

    def new_guard(self) -> Guard:
        """As in `Loop`."""
        return AsyncioGuard(self._loop)

    def _current_task(self) -> asyncio.Task[Any] | None:
        return asyncio.current_task(self._loop)


class AsyncioCall(Call):
    """A call of a task of asyncio."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._future: asyncio.Future[None] = loop.create_future()

    def _wake(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    async def wait(self) -> None:
        """As in `Call`."""
        await asyncio.shield(self._future)

    async def wait_for_end(self) -> BaseException | None:
        """As in `Call`."""
        return await _wait(self._future, lambda: self.is_done)


async def _wait(future: asyncio.Future[None],
                is_done: Callable[[], bool]) -> asyncio.CancelledError | None:
    """Waits in spite of cancels. Returns the last one."""
    cancelled: asyncio.CancelledError | None = None
    while not is_done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled


class AsyncioGuard(Guard):
    """Cancels a task of asyncio, in which the block runs."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._task = asyncio.current_task()
        self._loop = loop
        self._is_over = False
        self._has_cancelled = False

    def cancel(self) -> None:
        """As in `Guard`."""
        # The loss may be known already, and a task must not cancel itself.
        self._loop.call_soon(self._cancel_task)

    def _cancel_task(self) -> None:
        if self._task is not None and not self._is_over:
            self._has_cancelled = self._task.cancel()

    def end(self, kind: type[BaseException] | None, error: BaseException | None,
            trace: TracebackType | None) -> bool:
        """As in `Guard`."""
        self._is_over = True
        if not self._has_cancelled:
            return False
        uncancel = getattr(self._task, "uncancel", None)  # from Python 3.11 on
        others = uncancel() if uncancel else 0
        return kind is asyncio.CancelledError and others == 0
