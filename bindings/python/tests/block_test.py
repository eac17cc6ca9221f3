"""The end of a block while another call of its lock object is open."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any
from unittest import mock

import mortise
from mortise import _modes
from support import AsyncCase, main, redis


class BlockTest(AsyncCase):
    def setUp(self) -> None:
        super().setUp()
        self.lock = self.new_client(command_timeout=60).rw_lock(self.name)

    def refused(self, name: str) -> Any:
        """The server continues once the release of a reader, which has this name, was refused."""
        release = getattr(_modes.READ, name)
        self.refusals = 0

        def call(*arguments: Any) -> None:
            try:
                release(*arguments)
            except mortise.Busy:
                self.refusals += 1
                redis("CLIENT UNPAUSE")
                raise

        return mock.patch.object(_modes.READ, name, call)

    async def begin_upgrade(self, hold: mortise.ReadWriteHold) -> asyncio.Task[None]:
        """An upgrade that the server delays."""
        self.halt()
        upgrade = asyncio.create_task(hold.upgrade_async())
        await asyncio.sleep(0)
        return upgrade

    async def check(self, upgrade: asyncio.Task[None]) -> None:
        """The block has released the lock after the upgrade."""
        self.assertGreater(self.refusals, 0)
        self.assertFalse(self.lock.reader().is_held or self.lock.writer().is_held)
        with self.new_client().rw_lock(self.name).writer():
            pass
        with contextlib.suppress(mortise.Error):
            await upgrade

    def test_a_block_of_a_coroutine_releases_after_an_upgrade(self) -> None:
        async def work(has_failed: bool) -> None:
            with contextlib.suppress(ZeroDivisionError), self.refused("release_hold_async"):
                async with self.lock.reader() as hold:
                    upgrade = await self.begin_upgrade(hold)
                    if has_failed:
                        _ = 1 / 0
            await self.check(upgrade)

        self.run_in_loop(work(True))
        self.run_in_loop(work(False))

    def test_a_cancel_does_not_end_the_wait_for_an_upgrade(self) -> None:
        async def block(upgrades: list[asyncio.Task[None]]) -> None:
            async with self.lock.reader() as hold:
                upgrades.append(await self.begin_upgrade(hold))
                await asyncio.Event().wait()

        async def work() -> None:
            upgrades: list[asyncio.Task[None]] = []
            # As `refused`, but the server continues later.
            self.refusals = 0
            release = _modes.READ.release_hold_async

            def count(*arguments: Any) -> None:
                self.refusals += 1
                release(*arguments)

            with mock.patch.object(_modes.READ, "release_hold_async", count):
                task = asyncio.create_task(block(upgrades))
                while not upgrades:
                    await asyncio.sleep(0)
                for refusals in (1, 2):
                    task.cancel()
                    while self.refusals < refusals:
                        await asyncio.sleep(0)
                task.cancel()
                redis("CLIENT UNPAUSE")
                with self.assertRaises(asyncio.CancelledError):
                    await task
            await self.check(upgrades[0])

        self.run_in_loop(work())

    def test_a_blocking_block_releases_after_an_upgrade(self) -> None:
        async def work() -> None:
            with contextlib.suppress(ZeroDivisionError), self.refused("release_hold"), \
                    self.lock.reader() as hold:
                upgrade = await self.begin_upgrade(hold)
                _ = 1 / 0
            await self.check(upgrade)

        self.run_in_loop(work())


main()
