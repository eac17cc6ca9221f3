"""Locks that redis-py's own Lock and Mortise share."""

from __future__ import annotations

import threading

import redis  # type: ignore[import-untyped]
from redis.exceptions import LockNotOwnedError  # type: ignore[import-untyped]

import mortise
from support import PATIENCE_S, TCP_URL, Case, main


class RedisLockTest(Case):
    def setUp(self) -> None:
        super().setUp()
        self.redis = redis.Redis.from_url(TCP_URL)
        self.addCleanup(self.redis.close)
        self.client = self.new_client(protocol="token", poll_interval=0.01)

    def new_lock(self) -> redis.lock.Lock:
        return self.redis.lock(self.name, timeout=PATIENCE_S, sleep=0.01)

    def test_redis_py_waits_for_mortise(self) -> None:
        other = self.new_lock()
        with self.client.lock(self.name) as hold:
            self.assertTrue(hold.is_held)
            self.assertFalse(other.acquire(blocking=False))
            self.assertTrue(other.locked())
        self.assertTrue(other.acquire(blocking_timeout=PATIENCE_S))
        other.release()

    def test_mortise_waits_for_redis_py(self) -> None:
        lock = self.client.lock(self.name, timeout=PATIENCE_S)
        with self.new_lock():
            self.assertIsNone(lock.try_acquire())
            with self.assertRaises(mortise.Timeout):
                lock.acquire(timeout=1.5)
        with lock:
            pass

    def test_both_take_turns(self) -> None:
        count = [0]

        def add(lock: object) -> None:
            for _ in range(25):
                with lock:  # type: ignore[attr-defined]
                    seen = count[0]
                    threading.Event().wait(0.0005)
                    count[0] = seen + 1

        locks = [self.new_lock(), self.new_lock(),
                 self.client.lock(self.name), self.client.lock(self.name)]
        threads = [threading.Thread(target=add, args=(lock,)) for lock in locks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(count, [100])

    def test_neither_releases_the_other_one(self) -> None:
        other = self.new_lock()
        other.acquire()
        self.redis.delete(self.name)
        with self.client.lock(self.name) as hold:
            with self.assertRaises(LockNotOwnedError):
                other.release()
            self.assertTrue(hold.is_held)
            self.redis.delete(self.name)
            self.assertTrue(other.acquire(blocking=False))
            with self.assertRaises(mortise.LockLost):
                hold.release()
        self.assertTrue(other.owned())
        other.release()


main()
