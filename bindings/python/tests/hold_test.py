"""What a hold shows to others, and what it learns of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from unittest import mock

import mortise
from support import PATIENCE_S, Background, Case, main, redis, until


class ValueTest(Case):
    def value(self) -> str:
        """What another client reads."""
        return self.new_client().lock(self.name).query().holders[0].value

    def test_others_read_the_value_of_a_hold(self) -> None:
        lock = self.client.lock(self.name)
        with lock as hold:
            self.assertEqual(self.value(), "")
            hold.set_value("10.0.0.5:8080")
            self.assertEqual(self.value(), "10.0.0.5:8080")
            lock.set_value("é")
            self.assertEqual(self.value(), "é")
            asyncio.run(lock.set_value_async("later"))
            self.assertEqual(self.value(), "later")
            asyncio.run(hold.set_value_async("of the hold"))
            self.assertEqual(self.value(), "of the hold")
            hold.set_value("")
            self.assertEqual(self.value(), "")
        with self.assertRaises(mortise.NotOwner):
            hold.set_value("late")

    def test_a_multi_has_no_value(self) -> None:
        member = self.client.lock(self.name)
        with self.client.multi(member) as hold:
            with self.assertRaises(mortise.Unsupported):
                hold.set_value("x")
            with self.assertRaises(mortise.Unsupported):
                asyncio.run(hold.set_value_async("x"))
            member.set_value("of a member")
            self.assertEqual(self.value(), "of a member")

    def test_a_wrong_value_is_refused(self) -> None:
        with self.client.lock(self.name) as hold:
            for wrong in ("x" * 1025, "a\0b"):
                with self.assertRaisesRegex(mortise.InvalidArgument, "value"):
                    hold.set_value(wrong)
            with self.assertRaises(TypeError):
                hold.set_value(1)  # type: ignore[arg-type]


class IdTest(Case):
    def test_an_adopter_continues_an_exported_hold(self) -> None:
        lock = self.client.lock(self.name)
        with lock as hold:
            hold_id = hold.export(60)
            self.assertFalse(hold.is_held)
            self.assertIsNone(self.client.lock(self.name).try_acquire())
        with self.assertRaises(mortise.NotOwner):
            hold.release()
        other = self.new_client().lock(self.name)
        adopted = other.adopt(hold_id)
        self.assertTrue(adopted.is_held)
        self.assertGreater(adopted.token, hold.token)
        with self.assertRaises(mortise.NotOwner):
            lock.adopt(hold_id)
        with self.assertRaises(mortise.AlreadyHeld):
            other.adopt(hold_id)
        adopted.export()
        with lock.adopt(hold_id):
            pass
        with self.assertRaises(mortise.NotOwner):
            lock.adopt(hold_id)

    def test_an_export_is_no_loss(self) -> None:
        reasons: list[mortise.LossReason] = []
        lock = self.client.lock(self.name)
        for is_of_hold in (True, False):
            hold = lock.acquire()
            hold.on_lost(reasons.append)
            hold_id = hold.export(60) if is_of_hold else lock.export(60)
            self.assertFalse(hold.is_held)
            self.assertEqual(lock._watched, [])
            hold.on_lost(reasons.append)
            with self.assertRaises(mortise.NotOwner):
                hold.release()
            lock.adopt(hold_id).release()
        self.assertEqual(reasons, [])

    def test_a_failed_export_does_not_end_a_hold_without_acknowledgement(self) -> None:
        lock = self.client.lock(self.name)
        hold = lock.acquire()
        # As after a failover with the option `acks`.
        with mock.patch.object(hold._mode, "is_held", return_value=False), \
                self.assertRaises(mortise.InvalidArgument):
            hold.export(10**9)
        self.assertTrue(hold.is_held)
        hold.release()
        self.assertFalse(lock.is_held)

    def test_an_export_of_a_lost_hold_leaves_its_release(self) -> None:
        # Renewed soon, but long enough that a slow machine renews in time.
        lock = self.client.lock(self.name, reentrant=True, lease=3)
        for lease, expected in ((60, mortise.LockLost), (0.001, mortise.InvalidArgument)):
            hold = lock.acquire()
            redis(f"DEL {{mortise:{self.name}}}")
            until(lambda: not lock.is_held)
            with self.assertRaises(expected):
                hold.export(lease)
            with self.assertRaises(mortise.LockLost):
                lock.acquire()
            with self.assertRaises(mortise.LockLost):
                hold.release()
        with lock:
            self.assertTrue(lock.is_held)

    def test_an_export_that_finds_a_loss_reports_it(self) -> None:
        reasons: list[mortise.LossReason] = []
        with self.client.lock(self.name) as hold:
            hold.on_lost(reasons.append)
            redis(f"DEL {{mortise:{self.name}}}")
            with self.assertRaises(mortise.LockLost):
                hold.export(60)
            self.assertEqual(reasons, [mortise.LossReason.SERVER_LOST])

    def test_readers_writers_and_permits_have_ids(self) -> None:
        rw = self.client.rw_lock(self.name)
        for side in (rw.reader(), rw.writer()):
            is_writing = side.acquire().is_writing
            with rw.adopt(rw.export(60)) as hold:
                self.assertEqual(hold.is_writing, is_writing)
        semaphore = self.client.semaphore(self.name + "/s", 3)
        semaphore.permits(2).acquire()
        with semaphore.adopt(semaphore.export(60)):
            self.assertIsNone(self.client.semaphore(self.name + "/s", 3).permits(2).try_acquire())

    def test_a_wrong_id_is_refused(self) -> None:
        lock = self.client.lock(self.name)
        for wrong in ("", "no id", "é"):
            with self.assertRaisesRegex(mortise.InvalidArgument, "id: "):
                lock.adopt(wrong)
        with self.assertRaises(TypeError):
            lock.adopt(1)  # type: ignore[arg-type]
        with lock as hold:
            with self.assertRaisesRegex(mortise.InvalidArgument, "lease"):
                hold.export(0.001)
            self.assertTrue(hold.is_held)
            with self.assertRaisesRegex(mortise.InvalidArgument, "another kind"):
                self.client.rw_lock(self.name).adopt(hold.export(60))
        member = self.client.lock(self.name + "/m")
        with self.client.multi(member) as multi, self.assertRaises(mortise.Unsupported):
            multi.export()


class ContendedTest(Case):
    @staticmethod
    def use(lock: mortise.Lock) -> Callable[[], None]:
        """Waits for the lock, and releases it."""
        return lambda: lock.acquire().release()

    def test_a_hold_is_notified_once_that_others_wait(self) -> None:
        reports: list[str] = []
        lock = self.new_client(contended=True).lock(self.name)
        with lock as hold:
            hold.on_contended(lambda: reports.append("first"))
            self.assertEqual(reports, [])
            waiting = [self.new_client().lock(self.name) for _ in range(2)]
            ends = [Background(self.use(one)) for one in waiting]
            until(lambda: reports)
            # It is known by now.
            hold.on_contended(lambda: reports.append("second"))
            self.assertEqual(reports, ["first", "second"])
        for end in ends:
            end.result()
        self.assertEqual(reports, ["first", "second"])

    def test_the_next_hold_of_a_multi_has_a_report_of_its_own(self) -> None:
        reports: list[int] = []
        both = self.new_client(contended=True)
        multi = both.multi(both.lock(self.name))
        for number in (1, 2):
            with multi as hold:
                hold.on_contended(lambda number=number: reports.append(number))  # type: ignore[misc]
                self.assertEqual(len(reports), number - 1)
                end = Background(self.new_client().lock(self.name).acquire)
                until(lambda number=number: len(reports) == number)  # type: ignore[misc]
            end.result().release()
        self.assertEqual(reports, [1, 2])

    def test_a_multi_is_notified_of_waiters_that_were_there_before(self) -> None:
        client = self.new_client(contended=True)
        multi = client.multi(client.lock(self.name), client.lock("2" + self.name))
        reports: list[str] = []

        async def work() -> None:
            async with multi as hold:
                hold.on_contended(lambda: reports.append("first"))
            before = self.blocker().acquire()
            task = asyncio.create_task(multi.acquire_async())
            await asyncio.to_thread(self.await_waiters, 1)
            end = Background(self.use(self.blocker()))
            await asyncio.to_thread(self.await_waiters, 2)
            before.release()
            hold = await task
            hold.on_contended(lambda: reports.append("second"))
            while not reports:
                await asyncio.sleep(0.01)
            await hold.release_async()
            end.result()

        asyncio.run(asyncio.wait_for(work(), PATIENCE_S))
        self.assertEqual(reports, ["second"])

    def test_a_lock_is_notified_after_its_multi(self) -> None:
        client = self.new_client(contended=True)
        lock = client.lock(self.name)
        reports: list[str] = []
        for block in (lock, client.multi(lock), lock):
            with block as hold:
                hold.on_contended(lambda: reports.append("x"))
                end = Background(self.use(self.blocker()))
                until(lambda: reports)
            end.result()
            self.assertEqual(reports, ["x"])
            reports.clear()

    def test_a_watch_that_failed_is_set_by_the_next_callback(self) -> None:
        reports: list[mortise.LossReason] = []
        with self.assertRaises(mortise.LockLost), self.client.lock(self.name) as hold:
            with mock.patch.object(hold._owner._calls, "watch", side_effect=mortise.LimitReached), \
                    self.assertRaises(mortise.LimitReached):
                hold.on_lost(reports.append)
            hold.on_lost(reports.append)
            other = self.client.lock(self.name)
            other.force_release(other.query().holders[0].owner)
            until(lambda: len(reports) == 2)

    def test_without_the_option_there_is_no_report(self) -> None:
        reports: list[str] = []
        with self.client.lock(self.name) as hold:
            hold.on_contended(lambda: reports.append("x"))
            end = Background(self.new_client().lock(self.name).acquire)
            self.await_waiters(1)
        end.result().release()
        self.assertEqual(reports, [])


main()
