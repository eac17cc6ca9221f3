"""Signals end a wait of the main thread, and leave nothing held."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
from types import FrameType
from typing import Any
from unittest import mock

import mortise
from mortise import _signals
from mortise._asyncio import AsyncioCall
from mortise._dispatcher import Event, LoopDispatcher
from support import PATIENCE_S, Background, Case, exit_first, main, until


class Alarm(Exception):
    """The handler of SIGALRM raises it."""


def send(number: int) -> None:
    os.kill(os.getpid(), number)


class SignalTest(Case):
    def after_wait_begins(self, number: int) -> threading.Thread:
        """Sends a signal once the lock of this test has a waiter."""

        def run() -> None:
            self.await_waiters(1)
            send(number)

        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join)
        return thread

    def test_ctrl_c_ends_a_wait(self) -> None:
        waiter = self.client.lock(self.name)
        with self.blocker():
            self.after_wait_begins(signal.SIGINT)
            with self.assertRaises(KeyboardInterrupt):
                waiter.acquire()
            self.await_waiters(0)
            self.assertIsNone(waiter.try_acquire())
        # The lock object is as before.
        with waiter:
            pass

    def test_a_handler_that_returns_does_not_end_a_wait(self) -> None:
        handled: list[int] = []

        def note(number: int, _: FrameType | None) -> None:
            handled.append(number)

        before = signal.signal(signal.SIGUSR1, note)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        hold = self.blocker().acquire()

        def run() -> None:
            self.await_waiters(1)
            send(signal.SIGUSR1)
            until(lambda: handled)
            self.await_waiters(1)
            hold.release()

        thread = threading.Thread(target=run)
        thread.start()
        with self.client.lock(self.name, timeout=PATIENCE_S):
            self.assertEqual(handled, [signal.SIGUSR1])
        thread.join()

    def test_a_handler_may_use_a_lock(self) -> None:
        taken = []

        def take(_: int, __: FrameType | None) -> None:
            with self.client.lock("handler" + self.name) as hold:
                taken.append(hold.token)
            raise Alarm

        before = signal.signal(signal.SIGUSR1, take)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        with self.blocker():
            self.after_wait_begins(signal.SIGUSR1)
            with self.assertRaises(Alarm):
                self.client.lock(self.name).acquire()
            self.assertEqual(len(taken), 1)
            self.await_waiters(0)

    def test_a_signal_at_any_moment_leaves_nothing_held(self) -> None:
        def stop(_: int, __: FrameType | None) -> None:
            raise Alarm

        before = signal.signal(signal.SIGALRM, stop)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        chance = random.Random(7)
        lock = self.client.lock(self.name)
        caught = 0
        for _ in range(400):
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 4e-4))
                with lock:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except Alarm:
                caught += 1
            self.assertFalse(lock.is_held)
            # Nor is it interrupted for other threads.
            with Background(lock.acquire).result():
                pass
        self.assertGreater(caught, 0)
        self.assert_free()

    def test_a_handler_may_raise_at_the_end_of_a_wait(self) -> None:
        lock = self.client.lock(self.name)
        with lock:  # which starts the watcher
            pass
        with mock.patch.object(_signals._Watcher, "end", side_effect=Alarm), \
                self.assertRaises(Alarm):
            lock.acquire()
        self.assertFalse(lock.is_held)
        # As if the handler had raised once.
        end, calls = _signals._Watcher.end, []

        def raise_first(watcher: _signals._Watcher) -> None:
            calls.append(watcher)
            if len(calls) == 1:
                raise Alarm
            end(watcher)

        with mock.patch.object(_signals._Watcher, "end", raise_first), self.assertRaises(Alarm):
            lock.acquire()
        self.assertFalse(lock.is_held)
        self.assertIsNone(calls[0].wait)

    def test_a_handler_may_raise_after_an_upgrade(self) -> None:
        lock = self.client.rw_lock(self.name)
        with self.assertRaises(Alarm), lock.reader() as hold, \
                mock.patch.object(mortise.ReadWriteHold, "_change", side_effect=Alarm):
            hold.upgrade()
        self.assertFalse(lock.reader().is_held or lock.writer().is_held)

    def test_a_handler_may_close_the_client(self) -> None:
        client = self.new_client()

        def close(_: int, __: FrameType | None) -> None:
            client.close()

        before = signal.signal(signal.SIGUSR1, close)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        start = threading.Thread.start

        def start_and_close(thread: threading.Thread) -> None:
            start(thread)
            send(signal.SIGUSR1)

        # While a thread of the client begins, which takes the longest.
        with mock.patch.object(threading.Thread, "start", start_and_close), \
                self.assertRaises(mortise.Closed):
            client.watch_log(print)

    def test_a_handler_that_waits_may_be_interrupted_by_another(self) -> None:
        locks = [self.client.lock(f"{number}{self.name}") for number in range(2)]

        def use(number: int, _: FrameType | None) -> None:
            with locks[number == signal.SIGUSR2]:
                pass

        for number in (signal.SIGUSR1, signal.SIGUSR2):
            self.addCleanup(signal.signal, number, signal.signal(number, use))
        interrupt = mortise.Lock._interrupt

        sent: list[int] = []

        def interrupt_and_send(lock: mortise.Lock, is_on: bool) -> None:
            interrupt(lock, is_on)
            if not is_on and not sent:
                sent.append(signal.SIGUSR2)
                send(signal.SIGUSR2)

        with self.blocker():
            self.after_wait_begins(signal.SIGUSR1)
            with mock.patch.object(mortise.Lock, "_interrupt", interrupt_and_send), \
                    self.assertRaises(mortise.Timeout):
                # Long enough that the other thread sees the waiter.
                self.client.lock(self.name).acquire(timeout=3)
        self.assertEqual(sent, [signal.SIGUSR2])

    def test_a_wait_is_interrupted_after_a_handler_that_waited_before_it(self) -> None:
        taken: list[int] = []

        def take(_: int, __: FrameType | None) -> None:
            with self.client.lock("handler" + self.name) as hold:
                taken.append(hold.token)

        self.addCleanup(signal.signal, signal.SIGUSR1, signal.signal(signal.SIGUSR1, take))
        begin = _signals._Watcher.begin
        sent: list[int] = []

        def begin_and_send(watcher: _signals._Watcher, wait: _signals.Wait) -> None:
            begin(watcher, wait)
            if not sent:
                sent.append(signal.SIGUSR1)
                send(signal.SIGUSR1)

        lock = self.client.lock(self.name)
        ended: list[bool] = []

        def stop() -> None:
            self.await_waiters(1)
            send(signal.SIGINT)
            try:
                until(lambda: ended)
            finally:
                lock.cancel()  # so that the test ends

        with self.blocker():
            stopping = Background(stop)
            with mock.patch.object(_signals._Watcher, "begin", begin_and_send), \
                    self.assertRaises(KeyboardInterrupt):
                lock.acquire()
            ended.append(True)
            stopping.result()
        self.assertEqual(len(taken), 1)

    def test_a_wait_whose_end_failed_is_not_watched_later(self) -> None:
        with mock.patch.object(_signals.Wait, "end", side_effect=Alarm), \
                self.assertRaises(Alarm):
            self.client.lock("other" + self.name).acquire()
        watcher = _signals._watcher
        assert watcher is not None
        self.assertIsNotNone(watcher.wait)
        with self.client.lock(self.name):
            self.assertIsNone(watcher.wait)

    def test_a_cancel_that_comes_with_a_signal_ends_the_wait(self) -> None:
        def note(number: int, _: FrameType | None) -> None:
            pass

        self.addCleanup(signal.signal, signal.SIGUSR1, signal.signal(signal.SIGUSR1, note))
        lock = self.client.lock(self.name)
        acquire = lock._mode.acquire

        def acquire_and_send(*arguments: Any) -> None:
            try:
                acquire(*arguments)
            except mortise.Cancelled:
                watcher = _signals._watcher
                assert watcher is not None
                wait = watcher.wait
                assert wait is not None
                send(signal.SIGUSR1)
                until(lambda: wait.is_interrupted)
                raise

        def cancel() -> bool:
            self.await_waiters(1)
            return lock.cancel()

        with self.blocker():
            end = Background(cancel)
            with mock.patch.object(lock._mode, "acquire", acquire_and_send), \
                    self.assertRaises(mortise.Cancelled):
                lock.acquire(timeout=PATIENCE_S)
            self.assertTrue(end.result())

    def test_an_interrupt_by_the_program_stays_when_that_of_a_signal_ends(self) -> None:
        lock = self.client.lock(self.name)
        interrupt = lock._calls.interrupt
        ends: list[Background] = []

        def interrupt_first(handle: object, is_on: int) -> None:
            if not is_on and not ends:
                ends.append(Background(lock.interrupt))
                ends[0].result()
            interrupt(handle, is_on)

        with mock.patch.object(lock._calls, "interrupt", interrupt_first):
            lock._interrupt(True)
            lock._interrupt(False)
        with self.assertRaises(mortise.Cancelled):
            lock.acquire(timeout=PATIENCE_S)
        lock.interrupt(False)
        with lock:
            pass

    def test_a_handler_may_raise_at_the_begin_of_a_block(self) -> None:
        class Entered(list[Any]):
            def append(self, item: Any) -> None:
                super().append(item)
                raise Alarm

        lock = self.client.lock(self.name)

        async def work() -> None:
            async with lock:
                pass

        for enter in (lock.__enter__, lambda: asyncio.run(work())):
            lock._entered = Entered()
            with self.assertRaises(Alarm):
                enter()
            self.assertFalse(lock.is_held)
            self.assertEqual(lock._entered, [])

    def test_an_event_loop_still_gets_its_signals(self) -> None:
        async def work() -> None:
            came = asyncio.Event()
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, came.set)
            with self.blocker():
                self.after_wait_begins(signal.SIGUSR1)
                # The wait blocks the loop, which a program should not do.
                with self.assertRaises(mortise.Timeout):
                    self.client.lock(self.name).acquire(timeout=3)
            await asyncio.wait_for(came.wait(), PATIENCE_S)

        asyncio.run(work())

    def test_a_handler_that_ends_an_event_loop_leaves_nothing_held(self) -> None:
        locks = [self.client.lock(f"{number}{self.name}") for number in range(2)]

        async def work() -> None:
            tasks = [asyncio.create_task(lock.acquire_async()) for lock in locks]
            await asyncio.sleep(0)
            until(lambda: all(lock.is_held for lock in locks))  # the loop reads both grants at once
            await asyncio.gather(*tasks)

        places: list[tuple[Any, str]] = [
            (Event, "_make"), (LoopDispatcher, "_finish_call"), (AsyncioCall, "finish"),
            (AsyncioCall, "_wake")]
        for place, name in places:
            with self.subTest(name), mock.patch.object(place, name, exit_first(place, name)):
                with self.assertRaises(SystemExit):
                    asyncio.run(work())
                self.assertFalse(any(lock.is_held for lock in locks))

    def test_other_threads_run_during_a_wait(self) -> None:
        with self.client.lock(self.name):
            ticks: list[float] = []

            def run() -> None:
                while not ticks or ticks[-1] < end:
                    time.sleep(0.01)
                    ticks.append(time.monotonic())

            end = time.monotonic() + 2
            thread = threading.Thread(target=run)
            thread.start()
            with self.assertRaises(mortise.Timeout):
                self.client.lock(self.name).acquire(timeout=3)
            thread.join()
            self.assertGreater(len(ticks), 2)


main()
