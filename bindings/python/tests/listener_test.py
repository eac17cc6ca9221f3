"""The reports of waits and holds to the listener of a client."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from typing import Any

import mortise
from support import Case, main, until


class Recorder(mortise.Listener):
    """Keeps all calls as tuples."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.threads: list[int] = []

    def add(self, *call: object) -> None:
        self.calls.append(call)
        self.threads.append(threading.get_ident())

    def take(self) -> list[tuple[Any, ...]]:
        taken, self.calls = self.calls, []
        return taken

    def begin_wait(self, name: str | bytes, kind: mortise.LockKind) -> mortise.WaitListener:
        self.add("wait", name, kind)
        return Recorded(self)


class Recorded(mortise.WaitListener, mortise.HoldListener):
    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def granted(self, token: int) -> mortise.HoldListener:
        self.recorder.add("granted", token)
        return self

    def failed(self, error: BaseException) -> None:
        self.recorder.add("failed", type(error))

    def changed(self, kind: mortise.LockKind, token: int) -> None:
        self.recorder.add("changed", kind, token)

    def ended(self, error: BaseException | None) -> None:
        self.recorder.add("ended", None if error is None else type(error))


MUTEX = mortise.LockKind.MUTEX


class ListenerTest(Case):
    def setUp(self) -> None:
        super().setUp()
        self.recorder = Recorder()
        self.traced = self.new_client(listener=self.recorder)

    def test_a_block_is_a_wait_and_a_hold_of_its_thread(self) -> None:
        lock = self.traced.lock(self.name)
        with lock as hold:
            self.assertEqual(self.recorder.take(),
                             [("wait", self.name, MUTEX), ("granted", hold.token)])
        self.assertEqual(self.recorder.take(), [("ended", None)])
        self.assertEqual({*self.recorder.threads}, {threading.get_ident()})

    def test_a_wait_without_a_hold_fails(self) -> None:
        lock = self.traced.lock(self.name)
        with self.client.lock(self.name):
            self.assertIsNone(lock.try_acquire())
            with self.assertRaises(mortise.Timeout):
                lock.acquire(timeout=1.5)
        begin = ("wait", self.name, MUTEX)
        self.assertEqual(self.recorder.take(), [begin, ("failed", mortise.NotAcquired),
                                                begin, ("failed", mortise.Timeout)])

    def test_a_release_by_the_lock_object_ends_the_hold_once(self) -> None:
        lock = self.traced.lock(self.name)
        hold = lock.acquire()
        lock.release()
        with self.assertRaises(mortise.NotOwner):
            hold.release()
        with self.assertRaises(mortise.NotOwner):
            lock.release()
        self.assertEqual(self.recorder.take()[2:], [("ended", None)])

    def test_each_hold_of_a_reentrant_lock_ends(self) -> None:
        lock = self.traced.lock(self.name, reentrant=True)
        with lock, lock:
            self.assertEqual([call[0] for call in self.recorder.take()],
                             ["wait", "granted", "wait", "granted"])
        self.assertEqual(self.recorder.take(), [("ended", None)] * 2)

    def test_a_loss_ends_the_hold_with_its_reason(self) -> None:
        reasons: list[Any] = []
        listener = self.recorder

        class Lost(Recorded):
            def ended(self, error: BaseException | None) -> None:
                reasons.append(getattr(error, "reason", None))
                super().ended(error)

        listener.begin_wait = lambda name, kind: Lost(listener)  # type: ignore[method-assign]
        lock = self.traced.lock(self.name)
        hold = lock.acquire()
        other = self.client.lock(self.name)
        other.force_release(other.query().holders[0].owner)
        until(lambda: len(listener.calls) == 2)
        with self.assertRaises(mortise.LockLost):
            hold.release()
        self.assertEqual([call[0] for call in listener.take()], ["granted", "ended"])
        self.assertEqual(reasons, [mortise.LossReason.FORCED])

    def test_a_loss_is_reported_after_a_multi_of_the_lock(self) -> None:
        lock = self.traced.lock(self.name)
        for block in (lock, self.traced.multi(lock), lock):
            with self.assertRaises(mortise.LockLost), block:
                other = self.client.lock(self.name)
                other.force_release(other.query().holders[0].owner)
                until(lambda: len(self.recorder.calls) == 3)
            self.assertEqual(self.recorder.take()[2:], [("ended", mortise.LockLost)])

    def test_a_hold_changes_its_kind(self) -> None:
        lock = self.traced.rw_lock(self.name)
        with lock.reader() as hold:
            hold.upgrade()
            written = hold.token
            hold.downgrade()
        self.assertEqual(self.recorder.take()[2:], [
            ("changed", mortise.LockKind.WRITE, written),
            ("changed", mortise.LockKind.READ, written), ("ended", None)])

    def test_a_multi_is_one_hold(self) -> None:
        second = self.traced.lock(f"{self.name} 2".encode())
        with self.traced.multi(self.traced.lock(self.name), second):
            pass
        title = f'multi of "{self.name}", "{self.name} 2"'
        self.assertEqual(self.recorder.take(), [
            ("wait", title, mortise.LockKind.MULTI), ("granted", 0), ("ended", None)])

    def test_an_exported_and_an_adopted_hold(self) -> None:
        lock = self.traced.rw_lock(self.name)
        hold_id = lock.writer().acquire().export(20)
        other = self.traced.rw_lock(self.name)
        with other.adopt(hold_id) as hold:
            self.assertEqual(self.recorder.take()[2:], [
                ("ended", None), ("wait", self.name, mortise.LockKind.WRITE),
                ("granted", hold.token)])
        self.assertEqual(self.recorder.take(), [("ended", None)])
        with self.assertRaises(mortise.NotOwner):
            lock.adopt(hold_id)
        with self.assertRaises(mortise.InvalidArgument):
            lock.adopt("nonsense")
        self.assertEqual([call for call in self.recorder.take() if call[0] == "failed"], [
            ("failed", mortise.NotOwner), ("failed", mortise.InvalidArgument)])

    def test_closing_ends_what_is_held(self) -> None:
        lock = self.traced.lock(self.name)
        lock.acquire()
        lock.close()
        until(lambda: self.recorder.calls[-1:] == [("ended", mortise.Closed)])
        again = self.traced.lock(self.name)
        again.acquire()
        del again
        gc.collect()
        until(lambda: self.recorder.calls.count(("ended", mortise.Closed)) == 2)
        last = self.traced.lock(self.name)
        last.acquire()
        self.traced.close()
        until(lambda: self.recorder.calls.count(("ended", mortise.Closed)) == 3)

    def test_coroutines_are_reported(self) -> None:
        async def work() -> None:
            lock = self.traced.lock(self.name)
            async with lock as hold:
                self.assertEqual(self.recorder.take(),
                                 [("wait", self.name, MUTEX), ("granted", hold.token)])
            self.assertEqual(self.recorder.take(), [("ended", None)])
            with self.client.lock(self.name), self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(lock.acquire_async(), 0.05)
            self.assertEqual(self.recorder.take()[1:], [("failed", asyncio.CancelledError)])
            await lock.acquire_async()
            await lock.release_async()
            self.assertEqual(self.recorder.take()[2:], [("ended", None)])

        asyncio.run(work())

    def test_a_listener_that_fails_harms_nobody(self) -> None:
        class Broken(mortise.Listener):
            def begin_wait(self, name: str | bytes, kind: mortise.LockKind) -> Any:
                return Broken() if name == "second" else 1 / 0

        client = self.new_client(listener=Broken())
        with self.assertLogs("mortise", "ERROR") as logs:
            with client.lock(self.name):
                pass
            with client.lock("second"):
                pass
        self.assertEqual(len(logs.records), 2)

    def test_an_interrupt_in_a_listener_leaves_nothing_held(self) -> None:
        class Interrupted(Recorded):
            def granted(self, token: int) -> mortise.HoldListener:
                raise KeyboardInterrupt

        self.recorder.begin_wait = (  # type: ignore[method-assign]
            lambda name, kind: Interrupted(self.recorder))
        with self.assertRaises(KeyboardInterrupt):
            self.traced.lock(self.name).acquire()
        with self.client.lock(self.name, timeout=0):
            pass

    def test_a_child_reports_nothing_of_its_parent(self) -> None:
        self.traced.lock(self.name).acquire()
        lock = self.traced.lock(f"{self.name} 2")
        lock.acquire()
        self.recorder.take()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            lock.close()
            self.traced.close()
            threading.Event().wait(0.1)
            os.write(writing, str(len(self.recorder.calls)).encode())
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(os.read(reading, 10), b"0")

    def test_a_wrong_listener_is_refused(self) -> None:
        with self.assertRaisesRegex(TypeError, "listener: give an object.*not int"):
            mortise.Client(listener=3)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
