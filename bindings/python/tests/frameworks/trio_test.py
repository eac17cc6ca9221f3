"""The calls of coroutines with trio, and with anyio on trio and on asyncio."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Awaitable
from functools import partial
from typing import Callable
from unittest import mock

import anyio
import trio
import trio.testing

import mortise
from mortise import _modes
from mortise._dispatcher import Event
from mortise._trio import TrioCall
from support import LOOKED_S, PATIENCE_S, Case, exit_first, main, redis, until

Work = Callable[[], Awaitable[None]]


class TrioCase(Case):
    @staticmethod
    def run_trio(work: Work) -> None:
        async def limited() -> None:
            with trio.fail_after(2 * PATIENCE_S):
                await work()

        trio.run(limited)

    async def await_queue(self, count: int) -> None:
        await trio.to_thread.run_sync(self.await_waiters, count)

    def lose(self) -> None:
        other = self.client.lock(self.name)
        other.force_release(other.query().holders[0].owner)


class TrioTest(TrioCase):
    def test_each_kind_of_lock_works(self) -> None:
        async def work() -> None:
            async with self.client.lock(self.name, timeout=5) as hold:
                self.assertTrue(hold.is_held)
                self.assertIsNone(await self.client.lock(self.name).try_acquire_async())
                await hold.extend_async(30)
                await hold.set_value_async("here")
            with self.assertRaises(mortise.NotOwner):
                await hold.release_async()
            rw = self.client.rw_lock(self.name)
            async with rw.reader() as reading:
                await reading.upgrade_async()
                await reading.downgrade_async()
            seats = self.client.semaphore(self.name + "/s", 2)
            async with self.client.multi(rw.writer(), seats.permits(2)) as both:
                self.assertTrue(both.is_held)
            async with self.client.election(self.name + "/e") as leading:
                self.assertTrue(leading.is_held)

        self.run_trio(work)
        self.run_trio(work)
        self.assert_free()
        self.assertLessEqual(len(self.client._dispatchers._loops), 1)

    def test_a_failure_is_raised(self) -> None:
        async def work() -> None:
            with self.client.lock(self.name), self.assertRaises(mortise.Timeout):
                await self.client.lock(self.name).acquire_async(timeout=0.05)
            with self.assertRaises(mortise.InvalidArgument):
                await self.client.lock(self.name).extend_async(-1)

        self.run_trio(work)

    def test_a_thousand_tasks_are_served_in_their_order(self) -> None:
        count = 1000
        served: list[int] = []

        async def wait(number: int) -> None:
            async with self.client.lock(self.name, fair="strict"):
                served.append(number)

        async def work() -> None:
            gate = self.client.lock(self.name, fair="strict")
            async with trio.open_nursery() as nursery, gate:
                for number in range(count):
                    nursery.start_soon(wait, number)
                    await trio.testing.wait_all_tasks_blocked()
                self.assertLessEqual(threading.active_count(), before)

        before = threading.active_count()
        self.run_trio(work)
        self.assertEqual(served, list(range(count)))

    def test_a_cancelled_task_gives_its_place_back(self) -> None:
        async def work() -> None:
            waiter = self.client.lock(self.name)
            async with self.blocker(), trio.open_nursery() as nursery:
                nursery.start_soon(waiter.acquire_async)
                await self.await_queue(1)
                nursery.cancel_scope.cancel()
            with self.blocker(), trio.move_on_after(0.05) as scope:
                await waiter.acquire_async()
            self.assertTrue(scope.cancelled_caught)
            self.assertFalse(waiter.is_held)
            async with waiter:
                pass

        self.run_trio(work)
        self.assert_free()

    def test_a_grant_that_comes_with_the_cancel_is_given_back(self) -> None:
        lock = self.client.lock(self.name)

        async def wait(begun: trio.Event) -> None:
            begun.set()
            async with lock:
                await trio.sleep_forever()

        async def work() -> None:
            begun = trio.Event()
            with trio.CancelScope() as scope:
                scope.cancel()
                await lock.acquire_async()
            for step in range(40):
                with trio.move_on_after(step * 2e-5) as scope:
                    hold = await lock.acquire_async()
                    await hold.release_async()
                self.assertFalse(lock.is_held)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(wait, begun)
                await begun.wait()
                until(lambda: lock.is_held)  # the run does not read the grant meanwhile
                nursery.cancel_scope.cancel()
            self.assertFalse(lock.is_held)

        self.run_trio(work)
        self.assert_free()

    def test_a_cancelled_block_releases_its_hold(self) -> None:
        async def work() -> None:
            with trio.move_on_after(0.05) as scope:
                async with self.client.lock(self.name) as hold:
                    await trio.sleep_forever()
            self.assertTrue(scope.cancelled_caught)
            self.assertFalse(hold.is_held)

        self.run_trio(work)
        self.assert_free()

    def test_a_cancelled_block_releases_its_hold_after_an_upgrade(self) -> None:
        lock = self.new_client(command_timeout=60).rw_lock(self.name)
        release, refused = _modes.READ.release_hold_async, []

        def note_refusal(*arguments: object) -> None:
            try:
                release(*arguments)
            except mortise.Busy as error:
                refused.append(error)
                redis("CLIENT UNPAUSE")
                raise

        async def upgrade(hold: mortise.ReadWriteHold) -> None:
            with trio.CancelScope(shield=True), contextlib.suppress(mortise.Error):
                await hold.upgrade_async()

        async def work() -> None:
            with mock.patch.object(_modes.READ, "release_hold_async", note_refusal):
                async with trio.open_nursery() as nursery, lock.reader() as hold:
                    self.halt()
                    nursery.start_soon(upgrade, hold)
                    await trio.testing.wait_all_tasks_blocked()
                    nursery.cancel_scope.cancel()
            self.assertTrue(refused)
            self.assertFalse(lock.reader().is_held or lock.writer().is_held)

        self.run_trio(work)
        with self.new_client().rw_lock(self.name).writer():
            pass

    def test_ctrl_c_ends_a_wait_and_holds_nothing(self) -> None:
        async def work() -> None:
            def interrupt() -> None:
                self.await_waiters(1)
                os.kill(os.getpid(), signal.SIGINT)

            thread = threading.Thread(target=interrupt)
            thread.start()
            try:
                await waiter.acquire_async()
            finally:
                thread.join()

        waiter = self.client.lock(self.name)
        with self.blocker(), self.assertRaises(KeyboardInterrupt):
            trio.run(work)
        self.assertFalse(waiter.is_held)
        self.assert_free()

    def test_ctrl_c_does_not_end_the_wait_for_a_release(self) -> None:
        async def work() -> None:
            def interrupt() -> None:
                await_blocked()
                signal.pthread_kill(main, signal.SIGINT)
                await_blocked()
                token.run_sync_soon(call.finish, mortise.Closed())

            def await_blocked() -> None:
                trio.from_thread.run(trio.testing.wait_all_tasks_blocked, trio_token=token)

            call = TrioCall()
            main = threading.get_ident()
            token = trio.lowlevel.current_trio_token()
            thread = threading.Thread(target=interrupt)
            thread.start()
            self.assertIsInstance(await call.wait_for_end(), KeyboardInterrupt)
            self.assertTrue(call.is_done)
            thread.join()

        self.run_trio(work)

    def test_a_handler_that_exits_during_a_read_loses_no_grant(self) -> None:
        async def work() -> None:
            with mock.patch.object(Event, "_make", exit_first(Event, "_make")), \
                    self.assertLogs("mortise") as logs:
                async with self.client.lock(self.name):
                    pass
            self.assertIn("SystemExit: 7", logs.output[0])

        self.run_trio(work)
        self.assert_free()

    def test_the_close_of_a_client_ends_waits(self) -> None:
        async def work() -> None:
            client = self.new_client()

            async def wait() -> None:
                with self.assertRaises(mortise.Closed):
                    await client.lock(self.name).acquire_async()

            async with self.blocker(), trio.open_nursery() as nursery:
                nursery.start_soon(wait)
                await self.await_queue(1)
                client.close()
            with self.assertRaises(mortise.Closed):
                await client.lock(self.name).acquire_async()

        self.run_trio(work)

    def test_a_client_serves_several_runs(self) -> None:
        async def work() -> None:
            async with self.client.lock(self.name, timeout=PATIENCE_S) as hold:
                self.assertTrue(hold.is_held)

        threads = [threading.Thread(target=self.run_trio, args=(work,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.run_trio(work)
        self.client.close()

    def test_a_run_inside_an_event_loop_of_asyncio_is_that_of_its_tasks(self) -> None:
        import asyncio

        async def work() -> None:
            async with self.client.lock(self.name, timeout=PATIENCE_S) as hold:
                self.assertTrue(hold.is_held)

        async def host() -> None:
            loop = asyncio.get_running_loop()
            ended = loop.create_future()
            trio.lowlevel.start_guest_run(
                work, run_sync_soon_threadsafe=loop.call_soon_threadsafe,
                done_callback=ended.set_result)
            await work()
            (await ended).unwrap()

        asyncio.run(host())
        self.assert_free()


class DeadlockTest(TrioCase):
    def test_one_wait_of_a_circle_raises_and_the_other_continues(self) -> None:
        client = self.new_client(deadlock="fail")
        names = self.name, "2" + self.name
        both_hold = [trio.Event(), trio.Event()]
        results: list[str] = []

        async def cross(number: int) -> None:
            async with client.lock(names[number]):
                both_hold[number].set()
                await both_hold[1 - number].wait()
                try:
                    async with client.lock(names[1 - number], timeout=PATIENCE_S) as hold:
                        results.append("held" if hold.is_held else "lost")
                except mortise.Deadlock as error:
                    self.assertIn("which this task holds", str(error))
                    results.append("deadlock")

        async def work() -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(cross, 0)
                nursery.start_soon(cross, 1)

        self.run_trio(work)
        self.assertEqual(sorted(results), ["deadlock", "held"])
        self.assert_free()

    def test_a_wait_for_a_lock_of_the_same_task_raises(self) -> None:
        client = self.new_client(deadlock="fail")

        async def work() -> None:
            async with client.lock(self.name) as hold:
                with self.assertRaises(mortise.Deadlock):
                    await client.lock(self.name).acquire_async(timeout=PATIENCE_S)
                self.assertTrue(hold.is_held)

        self.run_trio(work)

    def test_the_acquires_of_a_nursery_belong_to_no_holder(self) -> None:
        client = self.new_client(deadlock="fail")
        granted: list[mortise.Hold] = []

        async def wait(name: str) -> None:
            granted.append(await client.lock(name).acquire_async(timeout=PATIENCE_S))

        async def work() -> None:
            holds = [await client.lock(name).acquire_async() for name in names]
            async with trio.open_nursery() as nursery:
                for name in names:
                    nursery.start_soon(wait, name)
                await trio.sleep(LOOKED_S)
                for hold in holds:
                    await hold.release_async()

        names = self.name, "2" + self.name
        self.run_trio(work)
        self.assertEqual(len(granted), 2)

    def test_a_guest_run_and_its_host_have_different_tasks(self) -> None:
        import asyncio

        numbers: list[int] = []

        async def note() -> None:
            lock = self.client.lock(self.name, timeout=PATIENCE_S)
            for _ in range(2):
                async with lock:
                    numbers.append(lock._task)

        async def host() -> None:
            loop = asyncio.get_running_loop()
            ended = loop.create_future()
            trio.lowlevel.start_guest_run(
                note, run_sync_soon_threadsafe=loop.call_soon_threadsafe,
                done_callback=ended.set_result)
            await note()
            (await ended).unwrap()

        asyncio.run(host())
        self.assertEqual(len(numbers), 4)
        self.assertEqual(len({*numbers}), 2)
        self.assertGreater(min(numbers), 0)


class LossTest(TrioCase):
    def test_a_loss_cancels_a_block(self) -> None:
        async def work() -> None:
            with self.assertRaises(mortise.LockLost) as caught:
                async with self.client.lock(self.name) as hold:
                    await trio.to_thread.run_sync(self.lose)
                    await trio.sleep_forever()
            self.assertFalse(hold.is_held)
            self.assertEqual(caught.exception.lock_name, self.name.encode())
            self.assertEqual(caught.exception.reason, mortise.LossReason.FORCED)
            await trio.lowlevel.checkpoint()

        self.run_trio(work)

    def test_a_loss_cancels_the_tasks_of_a_block(self) -> None:
        async def work() -> None:
            with self.assertRaises(mortise.LockLost):
                async with self.client.lock(self.name), trio.open_nursery() as nursery:
                    nursery.start_soon(trio.sleep_forever)
                    await trio.to_thread.run_sync(self.lose)

        self.run_trio(work)

    def test_a_block_may_refuse_the_cancel(self) -> None:
        async def work() -> None:
            lost = trio.Event()
            with self.assertRaises(mortise.LockLost):
                async with self.client.lock(self.name, cancel_on_loss=False) as hold:
                    hold.on_lost(lambda _: lost.set())
                    await trio.to_thread.run_sync(self.lose)
                    await lost.wait()

        self.run_trio(work)

    def test_a_cancel_by_the_program_stays_a_cancel(self) -> None:
        async def work() -> None:
            with trio.CancelScope() as scope:
                async with self.client.lock(self.name):
                    self.lose()
                    scope.cancel()
                    await trio.sleep_forever()
            self.assertTrue(scope.cancelled_caught)

        self.run_trio(work)

    def test_a_callback_cannot_end_the_run(self) -> None:
        async def work() -> None:
            lost = trio.Event()
            hold = await self.client.lock(self.name).acquire_async()
            hold.on_lost(lambda _: sys.exit(7))
            hold.on_lost(lambda _: lost.set())
            with self.assertLogs("mortise") as logs:
                await trio.to_thread.run_sync(self.lose)
                await lost.wait()
                await trio.testing.wait_all_tasks_blocked()
            self.assertIn("SystemExit: 7", logs.output[0])

        self.run_trio(work)


class AnyioTest(Case):
    def test_both_libraries_work_through_anyio(self) -> None:
        for backend in ("asyncio", "trio"):
            with self.subTest(backend):
                anyio.run(self.work, backend=backend)
                self.assert_free()

    def lose(self) -> None:
        other = self.client.lock(self.name)
        other.force_release(other.query().holders[0].owner)

    async def work(self) -> None:
        waiter = self.client.lock(self.name)
        async with self.blocker(), anyio.create_task_group() as group:
            group.start_soon(waiter.acquire_async)
            await anyio.to_thread.run_sync(partial(self.await_waiters, 1))
            group.cancel_scope.cancel()
        self.assertFalse(waiter.is_held)
        with anyio.move_on_after(0.05) as scope:
            async with waiter as hold:
                await anyio.sleep_forever()
        self.assertTrue(scope.cancelled_caught)
        self.assertFalse(hold.is_held)
        with self.assertRaises(mortise.LockLost):
            async with waiter:
                await anyio.to_thread.run_sync(self.lose)
                await anyio.sleep_forever()
        async with waiter:
            await anyio.sleep(0)


main()
