"""The tests of asyncio and of deadlocks, with the event loop of uvloop."""

from __future__ import annotations

import asyncio
import pathlib
import runpy

import uvloop


async def module_of_loop() -> str:
    return type(asyncio.get_running_loop()).__module__


asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
if asyncio.run(module_of_loop()) != "uvloop":
    raise AssertionError("the event loop is not that of uvloop")
tests = pathlib.Path(__file__).resolve().parent.parent
for name in ("asyncio_test.py", "deadlock_test.py"):
    try:
        runpy.run_path(str(tests / name), run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
