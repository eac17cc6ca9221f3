"""Coroutines: blocks, waits, cancellation and losses."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import select
import sys
import threading
from collections.abc import Callable
from typing import Any
from unittest import mock

import mortise
from mortise import _core, _modes
from support import PATIENCE_S, AsyncCase, Background, main, redis, until


class AsyncioTest(AsyncCase):
    def test_a_block_holds_the_lock(self) -> None:
        async def work() -> None:
            async with self.client.lock(self.name, timeout=5) as hold:
                self.assertTrue(hold.is_held)
                self.assertIsNone(await self.client.lock(self.name).try_acquire_async())
                await hold.extend_async(30)
            self.assertFalse(hold.is_held)
            hold = await self.client.lock(self.name).acquire_async()
            await hold.release_async()
            with self.assertRaises(mortise.NotOwner):
                await hold.release_async()

        self.run_in_loop(work())
        self.assert_free()

    def test_each_kind_of_lock_works(self) -> None:
        async def work() -> None:
            rw = self.client.rw_lock("rw" + self.name)
            async with rw.reader() as reading:
                await reading.upgrade_async()
                self.assertTrue(reading.is_writing and reading.is_held)
                await reading.downgrade_async()
                self.assertTrue(rw.reader().is_held)
            seats = self.client.semaphore("seats" + self.name, 2)
            async with seats.permits(2), self.client.lock(self.name):
                self.assertEqual(seats.query().permits_in_use, 2)
            async with self.client.multi(self.client.lock(self.name), rw.writer(), seats) as hold:
                self.assertTrue(hold.is_held)

        self.run_in_loop(work())

    def test_a_failure_is_raised(self) -> None:
        async def work() -> None:
            with self.client.lock(self.name):
                with self.assertRaises(mortise.Timeout) as caught:
                    await self.client.lock(self.name).acquire_async(timeout=0.05)
                self.assertIn(self.name, str(caught.exception))
                with self.assertRaises(mortise.Timeout):
                    async with self.client.lock(self.name, timeout=0.05):
                        pass

        self.run_in_loop(work())

    def test_many_coroutines_take_turns(self) -> None:
        async def turn(count: list[int]) -> None:
            async with self.client.lock(self.name) as hold:
                seen = count[0]
                await asyncio.sleep(0)
                count[0] = seen + 1
                self.assertGreater(hold.token, 0)

        async def work() -> None:
            count = [0]
            await asyncio.gather(*(turn(count) for _ in range(200)))
            self.assertEqual(count[0], 200)

        before = threading.active_count()
        self.run_in_loop(work())
        self.assertLessEqual(threading.active_count(), before)

    def test_a_cancelled_task_gives_its_place_back(self) -> None:
        async def work() -> None:
            waiter = self.client.lock(self.name)
            async with self.blocker():
                task = asyncio.create_task(waiter.acquire_async())
                await self.await_queue(1)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                await self.await_queue(0)
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(waiter.acquire_async(), 0.05)
                self.assertIsNone(await waiter.try_acquire_async())
            async with waiter:
                pass

        self.run_in_loop(work())

    def test_a_grant_that_comes_with_the_cancel_is_given_back(self) -> None:
        async def work() -> None:
            lock = self.client.lock(self.name)
            for delay in range(40):
                task = asyncio.create_task(lock.acquire_async())
                await asyncio.sleep(delay * 2e-5)
                is_cancelled = task.cancel()
                try:
                    hold = await task
                    await hold.release_async()
                except asyncio.CancelledError:
                    self.assertTrue(is_cancelled)
                self.assertFalse(lock.is_held)

        self.run_in_loop(work())
        self.assert_free()

    def test_a_second_cancel_does_not_keep_the_grant(self) -> None:
        async def work() -> None:
            lock = self.client.lock(self.name)
            task = asyncio.create_task(lock.acquire_async())
            await asyncio.sleep(0)
            until(lambda: lock.is_held)  # the loop does not read the grant meanwhile
            task.cancel()
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertFalse(lock.is_held)

        self.run_in_loop(work())
        self.assert_free()

    def test_a_cancel_stays_a_cancel_when_the_object_is_closed(self) -> None:
        async def work() -> None:
            client = self.new_client()
            async with self.blocker():
                for closed in (client.lock(self.name), client):
                    lock = closed if isinstance(closed, mortise.Lock) else client.lock(self.name)
                    task = asyncio.create_task(lock.acquire_async())
                    await self.await_queue(1)
                    closed.close()
                    task.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await task

        self.run_in_loop(work())

    def test_a_cancelled_upgrade_is_released_with_its_hold(self) -> None:
        async def work() -> None:
            lock = self.client.rw_lock(self.name)
            async with lock.reader() as hold:
                read_token = hold.token
                task = asyncio.create_task(hold.upgrade_async())
                await asyncio.sleep(0)
                until(lambda: lock.writer().is_held)  # which the loop does not read meanwhile
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                self.assertTrue(hold.is_held and hold.is_writing)
                self.assertGreater(hold.token, read_token)
            self.assertFalse(lock.reader().is_held or lock.writer().is_held)

        self.run_in_loop(work())

    def test_a_hold_is_released_during_its_downgrade(self) -> None:
        async def work() -> None:
            lock = self.new_client(command_timeout=60).rw_lock(self.name)
            hold = await lock.writer().acquire_async()
            self.halt()
            downgrade = asyncio.create_task(hold.downgrade_async())
            await asyncio.sleep(0)
            self.assertTrue(hold.is_held)
            self.assertFalse(hold.is_writing)
            release = asyncio.create_task(hold.release_async())
            await asyncio.sleep(0)
            redis("CLIENT UNPAUSE")
            await release
            with self.assertRaises(mortise.NotOwner):
                await downgrade

        self.run_in_loop(work())
        self.assert_free()

    def test_an_upgrade_that_ends_during_a_refused_downgrade_is_noticed(self) -> None:
        is_writing = _modes.WRITE.is_held

        def look(handle: Any) -> Any:
            seen = is_writing(handle)
            redis("CLIENT UNPAUSE")
            until(lambda: is_writing(handle))
            return seen

        async def work() -> None:
            lock = self.new_client(command_timeout=60).rw_lock(self.name)
            hold = await lock.reader().acquire_async()
            self.halt()
            upgrade = asyncio.create_task(hold.upgrade_async())
            await asyncio.sleep(0)
            with mock.patch.object(_modes.WRITE, "is_held", look), \
                    self.assertRaises(mortise.Busy):
                await hold.downgrade_async()
            upgrade.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await upgrade
            self.assertTrue(hold.is_held and hold.is_writing)
            self.assertEqual(hold.token, lock.token)
            await hold.release_async()

        self.run_in_loop(work())
        self.assert_free()

    def test_two_tasks_cannot_use_one_lock_object(self) -> None:
        async def work() -> None:
            lock = self.client.lock(self.name)
            async with self.blocker():
                task = asyncio.create_task(lock.acquire_async())
                await self.await_queue(1)
                with self.assertRaises(mortise.Busy) as caught:
                    await lock.acquire_async()
                self.assertIn("another call", str(caught.exception))
            async with await task:
                pass

        self.run_in_loop(work())

    def test_a_full_queue_does_not_keep_a_hold(self) -> None:
        async def work() -> None:
            with mock.patch("mortise._dispatcher.QUEUE_CAPACITY", 1):
                client = self.new_client()
                lock = client.lock(self.name, cancel_on_loss=False)
                with self.assertRaises(ZeroDivisionError):
                    async with lock:
                        task = asyncio.create_task(client.lock(self.name).acquire_async())
                        await asyncio.sleep(0)
                        with self.assertRaises(mortise.LimitReached):
                            await lock.release_async()
                        _ = 1 / 0
                self.assertFalse(lock.is_held)
                async with await task:
                    pass

        self.run_in_loop(work())

    def test_the_close_of_a_client_ends_waits(self) -> None:
        async def work() -> None:
            client = self.new_client()
            async with self.blocker():
                task = asyncio.create_task(client.lock(self.name).acquire_async())
                await self.await_queue(1)
                client.close()
                with self.assertRaises(mortise.Closed):
                    await task
                await self.await_queue(0)
                with self.assertRaises(mortise.Closed):
                    await client.lock(self.name).acquire_async()

        self.run_in_loop(work())

    def test_a_grant_that_comes_with_the_close_is_no_hold(self) -> None:
        async def work(client: mortise.Client, close: Callable[[mortise.Lock], None]) -> None:
            lock = client.lock(self.name)
            blocker = self.blocker().acquire()
            task = asyncio.create_task(lock.acquire_async())
            await self.await_queue(1)
            blocker.release()
            until(lambda: lock.is_held)  # the loop does not read the grant meanwhile
            close(lock)
            with self.assertRaises(mortise.Closed):
                await task

        client = self.new_client()
        self.run_in_loop(work(client, lambda lock: lock.close()))
        self.run_in_loop(work(client, lambda _: client.close()))
        self.assert_free()

    def test_a_client_serves_several_loops(self) -> None:
        async def work() -> None:
            async with self.client.lock(self.name, timeout=PATIENCE_S) as hold:
                self.assertTrue(hold.is_held)

        threads = [threading.Thread(target=self.run_in_loop, args=(work(),)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.run_in_loop(work())
        self.run_in_loop(work())
        self.assertEqual(len(self.client._dispatchers._loops), 1)

    def test_a_loop_that_is_closed_while_a_call_waits_leaves_no_waiter(self) -> None:
        loop = asyncio.new_event_loop()
        with self.blocker():
            waiter = self.client.lock(self.name)
            future = loop.create_task(waiter.acquire_async())
            loop.run_until_complete(asyncio.sleep(0))
            self.await_waiters(1)
            loop.close()
            waiter.close()
            self.await_waiters(0)
        self.destroy(future)

    @staticmethod
    def destroy(task: asyncio.Task[Any]) -> None:
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        task.get_coro().close()
        gc.collect()

    def test_a_destroyed_task_holds_nothing_later(self) -> None:
        lock = self.client.lock(self.name)
        for is_granted in (False, True):
            loop = asyncio.new_event_loop()
            hold = self.blocker().acquire()
            task = loop.create_task(lock.acquire_async())
            loop.run_until_complete(asyncio.sleep(0))
            self.await_waiters(1)
            if is_granted:  # which nobody reads
                hold.release()
                until(lambda: lock.is_held)
            loop.close()
            self.destroy(task)
            if not is_granted:
                hold.release()
            self.assert_free()
            self.assertFalse(lock.is_held)

    def unread_task(self, lock: mortise.Lock) -> asyncio.Task[Any]:
        """A task whose acquire has timed out, after which its loop was closed."""
        loop = asyncio.new_event_loop()
        with self.blocker():
            # Long enough that the loop does not see its end.
            task = loop.create_task(lock.acquire_async(timeout=0.5))
            loop.run_until_complete(asyncio.sleep(0))
            descriptor = _core.queue_fd(self.client._dispatchers._loops[loop].queue)
            until(lambda: select.select([descriptor], [], [], 0)[0])
            self.await_waiters(0)
        loop.close()
        return task

    def test_a_task_that_is_destroyed_late_ends_no_later_hold(self) -> None:
        lock = self.client.lock(self.name)
        task = self.unread_task(lock)
        with lock as hold:
            self.destroy(task)
            self.assertTrue(hold.is_held)

    def test_a_task_that_is_destroyed_late_ends_no_later_hold_of_a_multi(self) -> None:
        for is_async in (False, True):
            lock = self.client.lock(self.name)
            multi = self.client.multi(lock, self.client.lock(self.name + "2"))
            task = self.unread_task(lock)
            hold = asyncio.run(multi.acquire_async()) if is_async else multi.acquire()
            self.destroy(task)
            self.assertTrue(hold.is_held)
            hold.release()


class LossTest(AsyncCase):
    def lose(self) -> None:
        other = self.client.lock(self.name)
        other.force_release(other.query().holders[0].owner)

    def test_a_loss_cancels_the_task_of_a_block(self) -> None:
        async def work() -> None:
            with self.assertRaises(mortise.LockLost) as caught:
                async with self.client.lock(self.name) as hold:
                    await asyncio.to_thread(self.lose)
                    await asyncio.sleep(2 * PATIENCE_S)
            self.assertFalse(hold.is_held)
            self.assertEqual(caught.exception.lock_name, self.name.encode())
            self.assertEqual(caught.exception.reason, mortise.LossReason.FORCED)
            # The task itself is not cancelled.
            await asyncio.sleep(0)
            task = asyncio.current_task()
            assert task is not None
            self.assertEqual(task.cancelling() if hasattr(task, "cancelling") else 0, 0)
            async with self.client.lock(self.name):
                pass

        self.run_in_loop(work())

    def test_a_block_may_refuse_the_cancel(self) -> None:
        async def work() -> None:
            lost = asyncio.Event()
            with self.assertRaises(mortise.LockLost):
                async with self.client.lock(self.name, cancel_on_loss=False) as hold:
                    hold.on_lost(lambda _: lost.set())
                    await asyncio.to_thread(self.lose)
                    await lost.wait()

        self.run_in_loop(work())

    def test_a_block_that_ignores_the_cancel_raises_the_loss(self) -> None:
        async def work() -> None:
            with self.assertRaises(mortise.LockLost):
                async with self.client.lock(self.name):
                    await asyncio.to_thread(self.lose)
                    with contextlib.suppress(asyncio.CancelledError):
                        await asyncio.sleep(2 * PATIENCE_S)
            await asyncio.sleep(0)

        self.run_in_loop(work())

    def test_a_block_that_ends_at_the_loss_raises_it(self) -> None:
        async def work() -> None:
            for _ in range(10):
                with self.assertRaises(mortise.LockLost):
                    async with self.client.lock(self.name):
                        self.lose()
                await asyncio.sleep(0)
                async with self.client.lock(self.name):
                    pass

        self.run_in_loop(work())

    def test_a_cancel_by_the_program_stays_a_cancel(self) -> None:
        async def hold_it(begun: asyncio.Event) -> None:
            async with self.client.lock(self.name):
                begun.set()
                await asyncio.sleep(2 * PATIENCE_S)

        async def work() -> None:
            begun = asyncio.Event()
            task = asyncio.create_task(hold_it(begun))
            await begun.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        self.run_in_loop(work())
        self.assert_free()

    def test_a_callback_gets_the_reason(self) -> None:
        reasons: list[mortise.LossReason] = []
        hold = self.client.lock(self.name).acquire()
        hold.on_lost(reasons.append)
        self.lose()
        until(lambda: reasons == [mortise.LossReason.FORCED])
        hold.on_lost(reasons.append)
        self.assertEqual(len(reasons), 2)
        with self.assertRaises(mortise.LockLost):
            hold.release()

    def test_a_callback_runs_where_it_was_set(self) -> None:
        ran: list[tuple[str, str]] = []
        lock = self.client.lock(self.name)

        def note(place: str) -> None:
            ran.append((place, threading.current_thread().name))

        async def set_in_loop(hold: mortise.Hold) -> None:
            hold.on_lost(lambda _: note("loop"))

        async def work(hold: mortise.Hold) -> None:
            await asyncio.to_thread(self.lose)
            while len(ran) < 2:
                await asyncio.sleep(0.01)

        for is_loop_first in (False, True):
            loop = asyncio.new_event_loop()
            hold = lock.acquire()
            if is_loop_first:
                loop.run_until_complete(set_in_loop(hold))
            hold.on_lost(lambda _: note("thread"))
            if not is_loop_first:
                loop.run_until_complete(set_in_loop(hold))
            loop.run_until_complete(asyncio.wait_for(work(hold), PATIENCE_S))
            loop.close()
            self.assertEqual(sorted(ran), [("loop", threading.current_thread().name),
                                           ("thread", "mortise-dispatcher")])
            ran.clear()
            with self.assertRaises(mortise.LockLost):
                hold.release()

    def test_a_loss_is_reported_after_the_loop_has_stopped(self) -> None:
        lock = self.client.lock(self.name)

        async def work() -> None:
            async with lock:
                pass

        loop = asyncio.new_event_loop()
        loop.run_until_complete(work())
        reasons: list[mortise.LossReason] = []
        with self.assertRaises(mortise.LockLost), lock as hold:
            hold.on_lost(reasons.append)
            self.lose()
            until(lambda: reasons)
        loop.run_until_complete(work())
        loop.close()

    def test_a_callback_may_end_the_program(self) -> None:
        async def work() -> None:
            hold = await self.client.lock(self.name).acquire_async()
            hold.on_lost(lambda _: sys.exit(7))
            hold.on_lost(reasons.append)
            await asyncio.to_thread(self.lose)
            task = asyncio.create_task(other.acquire_async())
            await asyncio.sleep(0)
            until(lambda: other.is_held)  # the loop reads this grant together with the loss
            await task

        reasons: list[mortise.LossReason] = []
        other = self.client.lock("other" + self.name)
        with self.assertRaises(SystemExit) as caught:
            self.run_in_loop(work())
        self.assertEqual(caught.exception.code, 7)
        self.assertEqual(reasons, [mortise.LossReason.FORCED])
        self.assertFalse(other.is_held)

    def test_a_release_is_no_loss(self) -> None:
        reasons: list[mortise.LossReason] = []
        lock = self.client.lock(self.name)
        hold = lock.acquire()
        hold.on_lost(reasons.append)
        hold.release()
        self.assertEqual(lock._watched, [])
        for release in (lock.release, lambda: asyncio.run(lock.release_async())):
            hold = lock.acquire()
            hold.on_lost(reasons.append)
            release()
            self.assertEqual(lock._watched, [])
            hold.on_lost(reasons.append)
            self.assertEqual(reasons, [])
        with self.assertRaises(mortise.LockLost), lock as second:
            second.on_lost(reasons.append)
            self.lose()
            until(lambda: reasons)
            self.assertFalse(second.is_held)
        self.assertEqual(reasons, [mortise.LossReason.FORCED])

    def test_a_callback_that_is_set_during_a_release_gets_no_loss(self) -> None:
        reasons: list[mortise.LossReason] = []
        lock = self.client.lock(self.name)

        def check(function: str, release: Callable[[mortise.Hold], object]) -> None:
            hold = lock.acquire()
            original = getattr(hold._mode, function)

            def call(*arguments: Any) -> None:
                original(*arguments)
                Background(lambda: hold.on_lost(reasons.append)).result()

            with mock.patch.object(hold._mode, function, call):
                release(hold)
            self.assertEqual(reasons, [])
            self.assertEqual(lock._watched, [])

        check("release_hold", lambda hold: hold.release())
        check("release", lambda _: lock.release())

    def test_a_watch_reports_losses_of_members(self) -> None:
        notices: list[mortise.Notice] = []
        both = self.client.multi(self.client.lock(self.name), self.client.lock("2" + self.name))
        both.watch(notices.append)
        reasons: list[mortise.LossReason] = []
        with self.assertRaises(mortise.LockLost), both as hold:
            hold.on_lost(reasons.append)
            self.lose()
            until(lambda: reasons and any(one.is_loss for one in notices))
        lost = [one for one in notices if one.is_loss]
        self.assertEqual([one.lock_name for one in lost], [self.name.encode()])
        self.assertEqual(lost[0].reason, mortise.LossReason.FORCED)
        self.assertFalse(notices[0].is_loss)

    def test_a_lock_and_its_multis_keep_their_watches(self) -> None:
        lock, other = self.client.lock(self.name), self.client.lock("2" + self.name)
        both = self.client.multi(lock, other)
        again = self.client.multi(lock)

        async def lose_in(block: mortise.Lock | mortise.Multi) -> None:
            reasons: list[mortise.LossReason] = []
            with self.assertRaises(mortise.LockLost):
                async with block as hold:
                    hold.on_lost(reasons.append)
                    await asyncio.to_thread(self.lose)
                    await asyncio.sleep(2 * PATIENCE_S)
            self.assertEqual(reasons, [mortise.LossReason.FORCED])

        async def work() -> None:
            for block in (lock, both, lock, again, both, again, lock):
                async with block:
                    pass
                await lose_in(block)

        self.run_in_loop(work())

    def test_callbacks_of_a_lock_and_of_its_multi_get_the_notices(self) -> None:
        notices: list[tuple[str, mortise.Notice]] = []
        lock = self.client.lock(self.name)
        both = self.client.multi(lock, self.client.lock("2" + self.name))
        watches: list[tuple[str, mortise.Lock | mortise.Multi]] = [("lock", lock), ("multi", both)]
        for order in (watches, watches[::-1]):
            for name, owner in order:
                owner.watch(lambda one, name=name: notices.append((name, one)))  # type: ignore[misc]
            for acquirable in (lock, both):
                notices.clear()
                with self.assertRaises(mortise.LockLost), acquirable:
                    self.lose()
                    until(lambda: len([one for _, one in notices if one.is_loss]) == 2)
                self.assertEqual({name for name, _ in notices}, {"lock", "multi"})
                self.assertEqual({one.lock_name for _, one in notices}, {self.name.encode()})


main()
