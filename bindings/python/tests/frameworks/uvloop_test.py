"""The tests of asyncio, with the event loop of uvloop."""

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
runpy.run_path(str(tests / "asyncio_test.py"), run_name="__main__")
