"""Blocking calls of each kind of lock, and holds."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import threading
from datetime import timedelta
from fractions import Fraction

import mortise
from support import PATIENCE_S, URL, Background, Case, main, until


class LockTest(Case):
    def test_a_block_holds_the_lock(self) -> None:
        lock = self.client.lock(self.name, timeout=5)
        with lock as hold:
            self.assertIsInstance(hold, mortise.Hold)
            self.assertTrue(hold.is_held and lock.is_held)
            self.assertGreater(hold.token, 0)
            self.assertEqual(hold.token, lock.token)
            self.assertGreater(hold.valid_for, 10)
            self.assertIsNone(self.client.lock(self.name).try_acquire())
        self.assertFalse(hold.is_held or lock.is_held)
        self.assertEqual(hold.valid_for, 0)
        self.assert_free()

    def test_tokens_rise(self) -> None:
        tokens = []
        for _ in range(3):
            with self.client.lock(self.name) as hold:
                tokens.append(hold.token)
        self.assertEqual(tokens, sorted(set(tokens)))

    def test_an_acquire_raises_after_its_timeout(self) -> None:
        with self.client.lock(self.name):
            other = self.client.lock(self.name, timeout=0.05)
            with self.assertRaises(mortise.Timeout) as caught, other:
                pass
            self.assertIsInstance(caught.exception, TimeoutError)
            self.assertEqual(caught.exception.status, mortise.Status.TIMED_OUT)
            self.assertEqual(caught.exception.lock_name, self.name.encode())
            with self.assertRaises(mortise.NotAcquired):
                other.acquire(timeout=0)
            with self.assertRaises(mortise.Timeout):
                other.acquire(timeout=timedelta(milliseconds=50))

    def test_a_wait_in_a_deadlock_raises(self) -> None:
        client = self.new_client(deadlock="fail")
        with client.lock(self.name) as hold:
            with self.assertRaises(mortise.Deadlock) as caught:
                client.lock(self.name, timeout=PATIENCE_S).acquire()
            self.assertIsInstance(caught.exception, mortise.NotAcquired)
            self.assertEqual(caught.exception.status, mortise.Status.DEADLOCK)
            self.assertIn("in a deadlock: this thread holds it", str(caught.exception))
            self.assertTrue(hold.is_held)
        self.assert_free()

    def test_the_next_waiter_gets_the_lock(self) -> None:
        hold = self.blocker().acquire()
        waiter = self.client.lock(self.name)
        waiting = Background(lambda: waiter.acquire(timeout=PATIENCE_S))
        self.await_waiters(1)
        hold.release()
        with waiting.result() as second:
            self.assertGreater(second.token, hold.token)

    def test_an_exception_releases_the_lock(self) -> None:
        with self.assertRaises(ZeroDivisionError), self.client.lock(self.name):
            _ = 1 / 0
        self.assert_free()

    def test_a_hold_ends_once(self) -> None:
        hold = self.client.lock(self.name).acquire()
        hold.release()
        with self.assertRaises(mortise.NotOwner):
            hold.release()
        with self.assertRaises(mortise.NotOwner):
            hold.extend()

    def test_a_hold_never_ends_a_later_one(self) -> None:
        lock = self.client.lock(self.name)
        first = lock.acquire()
        lock.release()
        second = lock.acquire()
        self.assertFalse(first.is_held)
        for call in (first.release, first.extend):
            with self.assertRaises((mortise.LockLost, mortise.NotOwner)):
                call()
        self.assertTrue(second.is_held)
        second.release()

    def test_a_lock_without_references_is_released(self) -> None:
        hold = self.client.lock(self.name).acquire()
        self.assertTrue(hold.is_held)
        del hold
        gc.collect()
        self.assert_free()

    def test_a_reentrant_lock_is_released_as_often_as_it_was_acquired(self) -> None:
        lock = self.client.lock(self.name, reentrant=True)
        with lock as outer:
            with lock as inner:
                self.assertEqual(inner.token, outer.token)
            self.assertTrue(outer.is_held)
        self.assertFalse(lock.is_held)
        plain = self.client.lock(self.name)
        with plain, self.assertRaises(mortise.AlreadyHeld):
            plain.acquire()

    def test_a_release_within_a_block_is_allowed(self) -> None:
        lock = self.client.lock(self.name)
        with lock as hold:
            hold.release()
        with lock:
            lock.release()
        self.assert_free()

    def test_holds_and_locks_work_with_contextlib(self) -> None:
        with contextlib.ExitStack() as stack:
            hold = stack.enter_context(self.client.lock(self.name))
            other = stack.enter_context(contextlib.closing(self.client.lock("other" + self.name)))
            with other.acquire():
                self.assertTrue(hold.is_held)
        self.assertFalse(hold.is_held)

    def test_options_override_those_of_the_client(self) -> None:
        client = self.new_client(lease=20, label="of the client")
        with client.lock(self.name, lease=timedelta(seconds=40)) as hold:
            self.assertGreater(hold.valid_for, 20)
            holder, = client.lock(self.name).query().holders
            self.assertEqual(holder.label, "of the client")
        with client.lock(self.name, lease="30s", label="own") as hold:
            self.assertGreater(hold.valid_for, 20)
            self.assertLess(hold.valid_for, 30)
            info = client.lock(self.name).query()
            self.assertEqual(info.holders[0].label, "own")
            self.assertFalse(info.is_mine)

    def test_an_extension_lasts(self) -> None:
        with self.client.lock(self.name, renewal=False, lease=5) as hold:
            hold.extend(60)
            self.assertGreater(hold.valid_for, 50)
            hold.extend()
            self.assertGreater(hold.valid_for, 50)

    def test_a_cancel_ends_a_wait(self) -> None:
        with self.blocker():
            waiter = self.client.lock(self.name)
            self.assertFalse(waiter.cancel())
            waiting = Background(waiter.acquire)
            self.await_waiters(1)
            self.assertTrue(waiter.cancel())
            with self.assertRaises(mortise.Cancelled):
                waiting.result()
            waiter.interrupt()
            with self.assertRaises(mortise.Cancelled):
                waiter.acquire()
            waiter.interrupt(False)
            self.assertIsNone(waiter.try_acquire())

    def test_a_close_ends_a_wait(self) -> None:
        with self.blocker():
            waiter = self.client.lock(self.name)
            waiting = Background(waiter.acquire)
            self.await_waiters(1)
            waiter.close()
            with self.assertRaises(mortise.Closed):
                waiting.result()
            self.await_waiters(0)

    def test_the_close_of_a_client_ends_its_waits_and_holds(self) -> None:
        client = self.new_client()
        hold = client.lock("held" + self.name).acquire()
        with self.blocker():
            waiter = client.lock(self.name)
            waiting = Background(waiter.acquire)
            self.await_waiters(1)
            client.close()
            client.close()
            with self.assertRaises(mortise.Closed):
                waiting.result()
            self.assertFalse(hold.is_held)
            with self.client.lock("held" + self.name, timeout=PATIENCE_S):
                pass

    def test_a_client_closes_while_a_call_on_it_runs(self) -> None:
        client = self.new_client()
        locks = [client.lock("held" + self.name), client.lock(self.name)]
        hold = locks[0].acquire()
        second = self.client.lock("2" + self.name)
        # A client that does not answer, so that the call lasts. Its thread ends with the program.
        silent = socket.socket(socket.AF_UNIX)
        self.addCleanup(silent.close)
        silent.connect(URL.replace("unix://", ""))
        silent.sendall(b"SUBSCRIBE mortise:inbox:silent\r\n")
        self.assertIn(b"subscribe", silent.recv(100))
        threading.Thread(target=client.list_locks, args=(60,), daemon=True).start()

        async def wait() -> None:
            await client.lock("2" + self.name).acquire_async()

        with self.blocker(), second:
            waits = [Background(locks[1].acquire), Background(lambda: asyncio.run(wait()))]
            self.await_waiters(1)
            until(lambda: second.query().waiter_count == 1)
            client.close()
            for one in waits:
                with self.assertRaises(mortise.Closed):
                    one.result()
            self.assertFalse(hold.is_held)
            with self.client.lock("held" + self.name, timeout=PATIENCE_S):
                pass
            with self.assertRaises(mortise.Closed):
                locks[0].acquire()


class KindsTest(Case):
    def test_readers_share_and_a_writer_is_alone(self) -> None:
        one, two = self.client.rw_lock(self.name), self.client.rw_lock(self.name)
        with one.reader() as first, two.reader(timeout=PATIENCE_S) as second:
            self.assertIsInstance(first, mortise.ReadWriteHold)
            self.assertTrue(first.is_held and second.is_held)
            self.assertFalse(first.is_writing)
            self.assertIsNone(self.client.rw_lock(self.name).writer().try_acquire())
        with one.writer() as hold:
            self.assertTrue(hold.is_writing)
            self.assertTrue(one.writer().is_held)
            self.assertFalse(one.reader().is_held)
            self.assertIsNone(two.reader().try_acquire())

    def test_the_mode_of_a_hold_changes(self) -> None:
        lock, other = self.client.rw_lock(self.name), self.client.rw_lock(self.name)
        with lock.reader() as hold:
            with other.reader(), self.assertRaises(mortise.NotAcquired):
                hold.upgrade()
            first = hold.token
            hold.upgrade()
            self.assertTrue(hold.is_held and hold.is_writing)
            self.assertGreater(hold.token, first)
            hold.downgrade()
            self.assertTrue(hold.is_held and not hold.is_writing)
            with other.reader():
                pass
            hold.extend(30)
        self.assertFalse(hold.is_held)
        with lock.writer(timeout=PATIENCE_S):
            pass

    def test_a_semaphore_has_permits(self) -> None:
        seats = self.client.semaphore(self.name, permits=3)
        with seats.permits(2) as two:
            self.assertTrue(two.is_held and seats.is_held)
            with self.client.semaphore(self.name, 3):
                other = self.client.semaphore(self.name, 3)
                self.assertIsNone(other.try_acquire())
                self.assertEqual(other.query().permits_in_use, 3)
                other.resize(4)
                with other:
                    pass
        self.assertFalse(two.is_held)

    def test_a_multi_acquires_all_or_none(self) -> None:
        one, two = self.client.lock(self.name), self.client.rw_lock("rw" + self.name)
        seats = self.client.semaphore("seats" + self.name, 2)
        members = (one, two.reader(), seats.permits(2))
        both = self.client.multi(*members, timeout=PATIENCE_S)
        self.assertEqual(len(both), 3)
        with both as hold:
            self.assertTrue(hold.is_held and one.is_held and seats.is_held)
            self.assertEqual(hold.token, 0)
        again = self.client.multi(*members, timeout=1.5)
        with self.client.lock(self.name), self.assertRaises(mortise.Timeout), again:
            pass
        with self.client.rw_lock("rw" + self.name).writer():
            pass


class ClientTest(Case):
    def test_a_client_reports_health_locks_and_statistics(self) -> None:
        self.client.ping()
        health = self.client.check_health()
        self.assertTrue(health.findings)
        self.assertEqual(self.client.last_health(), health)
        with self.client.lock(self.name) as hold:
            held = [one for one in self.client.list_locks(10).entries if one.name == self.name]
            self.assertEqual([one.token for one in held], [hold.token])
            found = [one for one in self.client.scan_locks().entries if one.name == self.name]
            self.assertEqual([one.kind for one in found], ["mutex"])
        counted = self.client.stats()
        self.assertIn("mortise_acquire_seconds_count", counted.prometheus)
        self.assertTrue(counted.as_dict())
        self.assertIn("mutex", {one.labels.get("kind") for one in counted.samples})

    def test_an_old_owner_is_released_by_force(self) -> None:
        hold = self.client.lock(self.name).acquire()
        other = self.new_client().lock(self.name)
        other.force_release(other.query().holders[0].owner)
        with other:
            pass
        until(lambda: not hold.is_held)
        with self.assertRaises(mortise.LockLost) as caught:
            hold.release()
        self.assertEqual(caught.exception.reason, mortise.LossReason.FORCED)

    def test_no_server_is_a_connection_error(self) -> None:
        with self.assertRaises(mortise.Unreachable) as caught:
            mortise.Client("redis://127.0.0.1:1", command_timeout=0.1)
        self.assertIsInstance(caught.exception, ConnectionError)
        self.assertTrue(caught.exception.retryable)
        self.assertFalse(caught.exception.ambiguous)

    def test_any_number_of_seconds_is_a_duration(self) -> None:
        with self.client.lock(self.name, lease=20):
            for timeout in (1e-9, 0.1 + 0.2, 1, timedelta(microseconds=1), float(Fraction(1, 3))):
                with self.assertRaises(mortise.Timeout):
                    self.client.lock(self.name).acquire(timeout=timeout)


main()
