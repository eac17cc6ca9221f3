"""Wrong arguments and wrong use raise exceptions that name the argument and the remedy."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from datetime import timedelta
from decimal import Decimal
from typing import Any

import mortise
from mortise import _core
from support import URL, Case, main


class BadInputTest(Case):
    def check(self, words: str, call: Any, *arguments: object, **named: object) -> None:
        """A call raises an exception about an argument, with these words."""
        with self.assertRaises((mortise.InvalidArgument, TypeError)) as caught:
            call(*arguments, **named)
        for word in words.split():
            self.assertIn(word, str(caught.exception))

    def test_timeouts_and_leases(self) -> None:
        lock = self.client.lock(self.name)
        bad: tuple[Any, ...] = (math.nan, -1, -0.001, 1e300, -math.inf, "5", b"5", True, [],
                                Decimal(1), timedelta(days=-1), timedelta(days=9999))
        for value in bad:
            self.check("timeout", lock.acquire, timeout=value)
            self.check("timeout", self.client.lock, self.name, timeout=value)
        with lock as hold:
            for value in (*bad, math.inf, 0.001):
                self.check("lease", hold.extend, value)
        self.check("timeout", self.client.list_locks, 0)
        self.check("timeout", self.client.list_locks, 61)
        for window in (0, 86400.001, -1, math.nan):
            self.check("window", self.client.list_history, self.name, window)
        for timeout in (0, 61):
            self.check("timeout", self.client.list_history, self.name, 1, timeout)

    def test_callbacks(self) -> None:
        async def coroutine(_: object) -> None:
            pass

        bad: tuple[Any, ...] = (5, "print", [], coroutine)
        lock = self.client.lock(self.name)
        election = self.client.election(self.name)
        with self.client.lock(self.name) as hold:
            for call in (hold.on_lost, hold.on_contended, lock.watch, election.observe,
                         self.client.watch_log, self.client.watch_stats):
                for wrong in bad:
                    self.check("callback", call, wrong)
        self.assertEqual(lock._watched, [])

    def test_infinity_is_no_limit(self) -> None:
        with self.client.lock(self.name, max_hold=math.inf).acquire(timeout=math.inf):
            pass

    def test_names(self) -> None:
        bad: tuple[Any, ...] = ("", b"", "x" * 1025, b"x" * 1025, "\ud800", None, 5, bytearray(3))
        for name in bad:
            self.check("name", self.client.lock, name)
            self.check("name", self.client.rw_lock, name)
            self.check("name", self.client.list_history, name)
            self.check("name", self.client.semaphore, name, 1)
        for name in (b"\0\xff\n", "a\0b", "schlüssel", "x" * 1024, b"{x}"):
            with self.client.lock(name) as hold:
                self.assertTrue(hold.is_held)
            self.assertEqual(self.client.lock(name).name, name)
        with self.client.lock("schlüssel"):
            self.assertIsNone(self.client.lock("schlüssel".encode()).try_acquire())

    def test_options(self) -> None:
        bad: tuple[tuple[str, dict[str, object]], ...] = (
            ("lease", {"lease": -1}), ("lease", {"lease": 0.01}), ("lease", {"lease": math.nan}),
            ("lease", {"lease": "5 parsecs"}), ("lease", {"lease": None}), ("leese", {"leese": 1}),
            ("renewal", {"renewal": "maybe"}), ("renewal", {"renewal": 2}),
            ("label", {"label": "x" * 65}), ("label surrogate", {"label": "\udfff"}),
            ("fair", {"fair": object()}), ("command_timeout", {"command_timeout": 1}),
            ("poll_attempts", {"poll_attempts": 0}),
        )
        for words, options in bad:
            self.check(words, self.client.lock, self.name, **options)
        self.check("lease", mortise.Client, URL, lease=-1)
        self.check("nonsense", mortise.Client, URL, nonsense=1)

    def test_urls(self) -> None:
        for url in ("", "localhost", "http://localhost", "redis://[", "\0"):
            self.check("", mortise.Client, url)
        self.check("url surrogate", mortise.Client, "redis://\udc00")
        self.check("url", mortise.Client, 5)

    def test_a_message_has_no_password(self) -> None:
        for call in (lambda: self.client.set_credentials("u", "secret\udc80"),
                     lambda: mortise.Client("redis://u:secret\udc80@localhost")):
            with self.assertRaises(mortise.InvalidArgument) as caught:
                call()
            self.assertIn("surrogate", str(caught.exception))
            self.assertNotIn("secret", str(caught.exception))

    def test_numbers(self) -> None:
        for permits in (0, -1, 1_000_001, 2**63, 1.0, True, "1", None):
            self.check("", self.client.semaphore, self.name, permits)
        seats = self.client.semaphore(self.name, 2)
        bad: tuple[Any, ...] = (0, -5, 2**70, 1.5)
        for number in bad:
            self.check("permits", lambda number=number: seats.permits(number).acquire())
        with self.assertRaises(mortise.Refused):
            seats.permits(3).acquire()
        self.check("", seats.resize, 0)

    def test_members(self) -> None:
        one, new = self.client.lock(self.name), self.client.multi
        self.check("", new, one, one)
        self.check("members str", new, "a")
        self.check("members reader()", new, self.client.rw_lock(self.name))
        self.check("members", new, new(one))
        self.check("", new().acquire)
        self.check("", new, one, self.new_client().lock("2" + self.name))

    def test_a_closed_client(self) -> None:
        client = self.new_client()
        lock = client.lock(self.name)
        client.close()
        for call in (client.ping, client.stats, client.check_health, client.list_locks,
                     lambda: client.list_history(self.name),
                     lambda: client.lock(self.name), lambda: client.watch_log(print),
                     lock.acquire, lock.try_acquire, lock.query, lambda: client.multi()):
            with self.assertRaises(mortise.Closed) as caught:
                call()
            self.assertTrue(str(caught.exception))
        self.assertFalse(lock.is_held)
        self.assertIn("closed", repr(client))

    def test_a_closed_lock(self) -> None:
        lock = self.client.lock(self.name)
        hold = lock.acquire()
        lock.close()
        lock.close()
        for call in (lock.acquire, lock.try_acquire, lock.query, lock.extend, hold.release,
                     lock.cancel, lambda: lock.is_held, lambda: lock.token,
                     lambda: self.client.multi(lock)):
            with self.assertRaises(mortise.Closed) as caught:
                call()
            self.assertIn("lock is closed", str(caught.exception))
        self.assertFalse(hold.is_held)
        self.assertEqual(hold.valid_for, 0)
        self.assertIn("closed", repr(lock))

    def test_what_belongs_to_one_process_is_not_copied(self) -> None:
        with self.client.lock(self.name) as hold:
            for one in (self.client, self.client.lock(self.name), self.client.rw_lock(self.name)):
                for copier in (copy.copy, copy.deepcopy, pickle.dumps):
                    with self.assertRaises(TypeError) as caught:
                        copier(one)
                    self.assertIn("process", str(caught.exception))
            with self.assertRaises(TypeError):
                pickle.dumps(hold)

    def test_exceptions_can_be_copied(self) -> None:
        with self.client.lock(self.name), self.assertRaises(mortise.Timeout) as caught:
            self.client.lock(self.name).acquire(timeout=0.01)
        same = pickle.loads(pickle.dumps(caught.exception))
        self.assertIs(type(same), mortise.Timeout)
        self.assertEqual(vars(same), vars(caught.exception))
        self.assertEqual(str(same), str(caught.exception))

    def test_wrong_handles_of_the_layer_below(self) -> None:
        client = self.client._handle
        self.check("", _core.lock_new, client, self.name)
        self.check("", _core.close, 5)
        for call, arguments in ((_core.lock_try, [None]), (_core.lock_try, [client]),
                                (_core.lock_try, []), (_core.grants, [object()]),
                                (_core.queue_fd, ["queue"])):
            with self.assertRaises((TypeError, ValueError)):
                call(*arguments)

    def test_a_close_while_threads_use_a_lock(self) -> None:
        for _ in range(30):
            lock = self.client.lock(self.name, reentrant=True)
            failures: list[BaseException] = []

            def use(lock: mortise.Lock = lock, failures: list[BaseException] = failures) -> None:
                try:
                    while True:
                        with lock.acquire():
                            lock.query()
                except (mortise.Closed, mortise.Busy, mortise.AlreadyHeld, mortise.LockLost,
                        mortise.NotOwner):
                    return
                except BaseException as error:
                    failures.append(error)

            threads = [threading.Thread(target=use) for _ in range(3)]
            for thread in threads:
                thread.start()
            lock.close()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])
        self.assert_free()


main()
