"""Runs of trio. The first call of a client in a run starts a task, which ends with the run."""

from __future__ import annotations

from types import TracebackType
from typing import Callable

import trio

from mortise._loop import Call, Guard, Loop, logger


def _run(call: Callable[[], object]) -> object:
    """Makes a call whose exceptions, such as SystemExit, would be errors inside trio.

    Returns its result, or None after an exception.
    """
    try:
        return call()
    except BaseException:
        logger.exception("a callback raised an exception")
        return None


class TrioLoop(Loop):
    """One `trio.run`."""

    def __init__(self, token: trio.lowlevel.TrioToken) -> None:
        self._token = token
        self.is_over = False

    def watch(self, descriptor: int, read: Callable[[], bool], end: Callable[[], None]) -> None:
        """As in `Loop`."""

        async def read_all() -> None:
            try:
                await trio.lowlevel.wait_readable(descriptor)
                while (result := _run(read)) is not False:
                    if result is None:
                        await trio.lowlevel.checkpoint()
                    else:
                        await trio.lowlevel.wait_readable(descriptor)
            finally:
                self.is_over = True
            end()

        trio.lowlevel.spawn_system_task(read_all, name="mortise-dispatcher")

    def call_soon(self, call: Callable[[], object]) -> None:
        """As in `Loop`."""
        self._token.run_sync_soon(_run, call)

    async def sleep(self, seconds: float) -> BaseException | None:
        """As in `Loop`."""
        try:
            with trio.CancelScope(shield=True):
                await trio.sleep(seconds)
        except KeyboardInterrupt as error:
            return error
        return None

    def new_call(self) -> Call:
        """As in `Loop`."""
        return TrioCall()

    def new_guard(self) -> Guard:
        """As in `Loop`."""
        return TrioGuard()

    def _current_task(self) -> trio.lowlevel.Task:
        return trio.lowlevel.current_task()


class TrioCall(Call):
    """A call of a task of trio."""

    def __init__(self) -> None:
        super().__init__()
        self._end = trio.Event()

    def _wake(self) -> None:
        self._end.set()

    async def wait(self) -> None:
        """As in `Call`."""
        await self._end.wait()

    async def wait_for_end(self) -> BaseException | None:
        """As in `Call`. Of a cancelled task the next checkpoint raises the cancel again."""
        interrupt: KeyboardInterrupt | None = None
        with trio.CancelScope(shield=True):
            while not self.is_done:
                try:
                    await self._end.wait()
                except KeyboardInterrupt as error:  # no scope holds it back
                    interrupt = error
        return interrupt


class TrioGuard(Guard):
    """A cancel scope around the block."""

    def __init__(self) -> None:
        self._scope = trio.CancelScope()

    def begin(self) -> None:
        """As in `Guard`."""
        self._scope.__enter__()

    def cancel(self) -> None:
        """As in `Guard`."""
        self._scope.cancel()

    def end(self, kind: type[BaseException] | None, error: BaseException | None,
            trace: TracebackType | None) -> bool:
        """As in `Guard`."""
        return bool(self._scope.__exit__(kind, error, trace)) and kind is not None
