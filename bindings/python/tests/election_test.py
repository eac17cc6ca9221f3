"""Elections: a candidate leads, and callbacks receive each leader."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Optional

import mortise
from support import Case, main, until

Seen = list[Optional[mortise.Leader]]


class ElectionTest(Case):
    def test_a_block_leads_and_an_observer_is_notified(self) -> None:
        seen: Seen = []
        candidate = self.client.election(self.name)
        observer = self.client.election(self.name)
        observer.observe(seen.append, interval=0.01)
        until(lambda: seen)
        self.assertIsNone(seen[0])
        with candidate as hold:
            self.assertTrue(candidate.is_leader)
            hold.set_value("10.0.0.5:8080")
            until(lambda: seen[-1] and seen[-1].value == "10.0.0.5:8080")
            last = seen[-1]
            assert last is not None
            self.assertFalse(last.is_mine)
            self.assertNotEqual(last.pid, 0)
            found = candidate.leader()
            assert found is not None
            self.assertTrue(found.is_mine)
            self.assertEqual(found.owner, last.owner)
            with self.assertRaises(mortise.NotAcquired):
                observer.campaign(timeout=0)
            self.assertIsNone(observer.try_acquire())
        self.assertIsNone(candidate.leader())
        until(lambda: seen[-1] is None)

    def test_an_observation_is_replaced_and_ends(self) -> None:
        first: Seen = []
        second: Seen = []
        election = self.client.election(self.name)
        election.observe(first.append)
        until(lambda: first)
        election.observe(second.append, interval=0.01)
        until(lambda: second)
        election.observe(None)
        count = len(second)
        hold = election.campaign()
        self.assertTrue(hold.is_held)
        election.resign()
        self.assertIsNone(election.leader())
        self.assertEqual((len(first), len(second)), (1, count))
        with self.assertRaisesRegex(mortise.InvalidArgument, "interval_ms: 9"):
            election.observe(first.append, interval=0.009)
        with self.assertRaises(TypeError):
            election.observe(first.append, interval="1")  # type: ignore[arg-type]

    def test_an_observation_leaves_nothing(self) -> None:
        class User:
            def __init__(self, election: mortise.Election) -> None:
                self.election = election
                self.seen: Seen = []

            def note(self, leader: mortise.Leader | None) -> None:
                self.seen.append(leader)

        user = User(self.client.election(self.name))
        before = len(gc.get_objects())
        for _ in range(200):
            user.election.observe(user.note)
        gc.collect()
        self.assertLess(len(gc.get_objects()) - before, 100)
        self.assertEqual(len(self.client._dispatchers.of_thread()._callbacks), 1)
        seen = user.seen
        until(lambda: seen)
        election = weakref.ref(user.election)
        del user
        until(lambda: gc.collect() is not None and election() is None)
        self.assertEqual(self.client._dispatchers.of_thread()._callbacks, {})

    def test_a_coroutine_leads_and_its_loop_runs_the_callback(self) -> None:
        async def lead() -> Seen:
            changes: asyncio.Queue[mortise.Leader | None] = asyncio.Queue()
            election = self.client.election(self.name)
            election.observe(changes.put_nowait, interval=0.01)
            seen = [await changes.get()]
            await election.campaign_async(timeout=10)
            seen.append(await changes.get())
            await election.resign_async()
            seen.append(await changes.get())
            return seen

        before, during, after = asyncio.run(lead())
        self.assertIsNone(before)
        self.assertIsNone(after)
        assert during is not None
        self.assertTrue(during.is_mine)


main()
