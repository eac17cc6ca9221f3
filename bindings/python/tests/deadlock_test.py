"""Deadlocks of coroutines: which task an acquire belongs to, and which wait ends."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from typing import Any
from unittest import mock

import mortise
from mortise import _loop, _modes
from support import LOOKED_S, PATIENCE_S, AsyncCase, main, until


class Meeting:
    """Where so many tasks wait for each other."""

    def __init__(self, count: int) -> None:
        self._absent = count
        self._is_complete = asyncio.Event()

    async def wait(self) -> None:
        self._absent -= 1
        if self._absent == 0:
            self._is_complete.set()
        await self._is_complete.wait()


async def release_later(hold: mortise.Hold) -> None:
    await asyncio.sleep(LOOKED_S)
    await hold.release_async()


class DeadlockTest(AsyncCase):
    async def circle(self, client: mortise.Client, timeout: float) -> list[str]:
        """Two tasks wait for each other. Returns what became of their waits, sorted."""
        both_hold, both_waited = Meeting(2), Meeting(2)

        async def cross(first: str, second: str) -> str:
            async with client.lock(first):
                await both_hold.wait()
                try:
                    async with client.lock(second, timeout=timeout) as hold:
                        return "held" if hold.is_held else "lost"
                except mortise.Deadlock as error:
                    self.assertIn("this task holds", str(error))
                    return "deadlock"
                except mortise.Timeout:
                    await both_waited.wait()  # otherwise the release ends the other wait
                    return "timeout"

        names = self.name, "2" + self.name
        return sorted(await asyncio.gather(cross(*names), cross(*reversed(names))))

    def test_one_wait_of_a_circle_raises_and_the_other_continues(self) -> None:
        async def work() -> None:
            client = self.new_client(deadlock="fail")
            self.assertEqual(await self.circle(client, PATIENCE_S), ["deadlock", "held"])

        self.run_in_loop(work())
        self.assert_free()

    def test_without_the_option_both_wait(self) -> None:
        async def work() -> None:
            self.assertEqual(await self.circle(self.client, LOOKED_S), ["timeout", "timeout"])

        self.run_in_loop(work())
        self.assert_free()

    def test_a_wait_for_a_lock_of_the_same_task_raises(self) -> None:
        client = self.new_client(deadlock="fail")
        names = [f"{kind}{self.name}" for kind in ("rw", "semaphore", "election", "a", "b")]

        def multi() -> mortise.Multi:
            return client.multi(*map(client.lock, names[3:]))

        async def work(held: Any, again: Any) -> None:
            async with held as hold:
                with self.assertRaises(mortise.Deadlock) as caught:
                    await again.acquire_async(timeout=PATIENCE_S)
                self.assertIsInstance(caught.exception, mortise.NotAcquired)
                self.assertIn("this task holds it", str(caught.exception))
                self.assertTrue(hold.is_held)

        async def all_kinds() -> None:
            await asyncio.gather(
                work(client.lock(self.name), client.lock(self.name)),
                work(client.rw_lock(names[0]).reader(), client.rw_lock(names[0]).writer()),
                work(client.semaphore(names[1], 2), client.semaphore(names[1], 2).permits(2)),
                work(client.election(names[2]), client.election(names[2])),
                work(multi(), multi()))

        self.run_in_loop(all_kinds())

    def test_a_gather_of_acquires_belongs_to_no_holder(self) -> None:
        async def work() -> None:
            client = self.new_client(deadlock="fail")
            first = await client.lock(self.name).acquire_async()
            second = await client.lock("2" + self.name).acquire_async()
            # This task holds what the tasks of the calls wait for, and is free to release it.
            *holds, _, _ = await asyncio.gather(
                client.lock(self.name).acquire_async(PATIENCE_S),
                client.lock("2" + self.name).acquire_async(PATIENCE_S),
                release_later(first), release_later(second))
            self.assertTrue(all(one.is_held for one in holds))

        self.run_in_loop(work())

    def test_a_blocking_call_belongs_to_its_thread(self) -> None:
        client = self.new_client(deadlock="fail")

        def acquire(lock: mortise.Lock) -> mortise.Hold:
            return lock.acquire()

        def try_(lock: mortise.Lock) -> mortise.Hold:
            hold = lock.try_acquire()
            assert hold is not None
            return hold

        def adopt(lock: mortise.Lock) -> mortise.Hold:
            return lock.adopt(client.lock(lock.name).acquire().export())

        async def work(call: Callable[[mortise.Lock], mortise.Hold]) -> None:
            lock, again = (client.lock(call.__name__ + self.name) for _ in range(2))
            async with lock:
                pass
            releasing = asyncio.create_task(release_later(await asyncio.to_thread(call, lock)))
            async with again:
                await releasing
            async with lock:
                with self.assertRaises(mortise.Deadlock):
                    await again.acquire_async(timeout=PATIENCE_S)

        async def all_calls() -> None:
            await asyncio.gather(work(acquire), work(try_), work(adopt))

        self.run_in_loop(all_calls())


class TaskTest(AsyncCase):
    async def task_of_an_acquire(self, lock: mortise.Lock) -> int:
        """What the C layer has as the task of an acquire."""
        async with lock:
            return lock._task

    def test_no_two_tasks_have_the_same_number(self) -> None:
        async def work() -> None:
            lock = self.client.lock(self.name)
            for _ in range(100):  # whose objects often have the same address
                numbers.append(await asyncio.create_task(self.task_of_an_acquire(lock)))

        numbers: list[int] = []
        self.run_in_loop(work())
        threads = [threading.Thread(target=self.run_in_loop, args=(work(),)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len({*numbers}), 400)
        self.assertGreater(min(numbers), 0)
        gc.collect()
        self.assertEqual(len(_loop._task_numbers), 0)

    def test_a_task_has_one_number_with_all_clients(self) -> None:
        async def work() -> None:
            other = self.new_client().lock("2" + self.name)
            first = await self.task_of_an_acquire(self.client.lock(self.name))
            self.assertEqual(await self.task_of_an_acquire(other), first)

        self.run_in_loop(work())

    def test_only_another_task_costs_a_call(self) -> None:
        calls: list[int] = []

        def set_task(handle: Any, number: int) -> None:
            calls.append(number)
            original(handle, number)

        async def work() -> None:
            lock = self.client.lock(self.name)
            with lock:
                self.assertEqual(calls, [])
            own = await self.task_of_an_acquire(lock)
            self.assertEqual(await self.task_of_an_acquire(lock), own)
            self.assertEqual(calls, [own])
            other = await asyncio.create_task(self.task_of_an_acquire(lock))
            for _ in range(2):
                with lock:
                    self.assertEqual(calls, [own, other, 0])

        original = _modes.LOCK.set_task
        with mock.patch.object(_modes.LOCK, "set_task", set_task):
            self.run_in_loop(work())

    def test_an_acquire_outside_a_task_has_none(self) -> None:
        lock = self.client.lock(self.name)
        acquiring = lock.acquire_async()

        async def work() -> None:
            self.assertGreater(await self.task_of_an_acquire(lock), 0)
            asyncio.get_running_loop().call_soon(acquiring.send, None)
            await asyncio.sleep(0)
            until(lambda: lock.is_held)  # which nobody reads
            self.assertEqual(lock._task, 0)
            acquiring.close()
            self.assertFalse(lock.is_held)

        self.run_in_loop(work())
        self.assert_free()

    def test_a_task_is_set_again_after_a_handler_has_raised(self) -> None:
        def interrupted(handle: Any, number: int) -> None:
            original(handle, number)
            raise KeyboardInterrupt

        async def work() -> None:
            lock = self.client.lock(self.name)
            own = await self.task_of_an_acquire(lock)
            with mock.patch.object(_modes.LOCK, "set_task", interrupted), \
                    self.assertRaises(KeyboardInterrupt):
                lock.acquire()
            with mock.patch.object(_modes.LOCK, "set_task", wraps=original) as set_task:
                self.assertEqual(await self.task_of_an_acquire(lock), own)
                set_task.assert_called_once_with(lock._handle, own)

        original = _modes.LOCK.set_task
        self.run_in_loop(work())


main()
