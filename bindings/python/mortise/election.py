"""Leader election."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from mortise import _core, _modes
from mortise._arguments import Seconds, check_callback, milliseconds
from mortise._dispatcher import Dispatcher, Event
from mortise._loop import running_loop
from mortise._owner import NamedOwner, Owner
from mortise.hold import Hold
from mortise.locks import DEFAULT, Acquirable, Limit
from mortise.reports import LockInfo, read_info

if TYPE_CHECKING:
    from mortise.client import Client


class Leader(NamedTuple):
    """The leader of an election, as a server has it."""

    #: The owner token of the leadership. Each leadership has its own.
    owner: str
    #: What the leader has set by `set_value` or the option `value`, otherwise "".
    value: str
    #: "" if it is unknown.
    host: str
    #: 0 if it is unknown.
    pid: int
    label: str
    #: Whether the object that asked is the leader.
    is_mine: bool


def _leader_in(info: LockInfo) -> Leader | None:
    # A claim that its client only retains has no leader.
    if not info.holders or info.holders[0].is_retained:
        return None
    first = info.holders[0]
    return Leader(first.owner, first.value, first.host, first.pid, first.label, info.is_mine)


class _Observation:
    """What a call of `observe` began. It ends with the only reference, which the election has."""

    def __init__(self, callback: Callable[[Leader | None], object]) -> None:
        self.callback = callback


class Election(NamedOwner, Acquirable[Hold]):
    """One candidate of an election, from `Client.election`, or an observer of it.

    The election is the mutex of its name, whose holder leads. A `with` block leads::

        with client.election("scheduler", value="10.0.0.5:8080") as leadership:
            while leadership.is_held:
                work(leadership.token)

    Use it in one thread or task at a time.
    """

    _calls = _modes.ELECTION
    _mode = _modes.LEADING

    def __init__(self, client: Client, name: str | bytes, handle: Any,
                 timeout: Seconds | None, cancel_on_loss: bool) -> None:
        NamedOwner.__init__(self, client, handle, name)
        Acquirable.__init__(self, timeout, cancel_on_loss)
        self._observation: _Observation | None = None

    @property
    def _owner_of_calls(self) -> Owner:
        return self

    # ---- leading --------------------------------------------------------------------------

    def campaign(self, timeout: Limit = DEFAULT) -> Hold:
        """Waits until this candidate leads. Returns the leadership, whose `release` resigns.

        Raises `Timeout` after the timeout, which is that of the object unless it is given, and
        `NotAcquired` with the timeout 0 if somebody else leads. `acquire` is the same.
        """
        return self.acquire(timeout)

    async def campaign_async(self, timeout: Limit = DEFAULT) -> Hold:
        """As `campaign`, without blocking the event loop."""
        return await self.acquire_async(timeout)

    def resign(self) -> None:
        """Ends the leadership, without its object. The next candidate leads. As `release`."""
        self.release()

    async def resign_async(self) -> None:
        """As `resign`, without blocking the event loop."""
        await self.release_async()

    @property
    def is_leader(self) -> bool:
        """Whether this candidate leads, by the local clock. As `is_held`."""
        return self.is_held

    # ---- observing ------------------------------------------------------------------------

    def leader(self) -> Leader | None:
        """Asks the server for the leader. None if nobody leads. The answer may be old."""
        return _leader_in(self.query())

    def observe(self, callback: Callable[[Leader | None], object] | None,
                interval: Seconds = 1) -> None:
        """Calls `callback` with the leader, or None: soon, and after each change. None ends that.

        A new value of the leader is a change. The client queries the server at this interval in
        seconds, so a change is reported up to one interval late. It needs no campaign. The callback
        runs in the thread `mortise-dispatcher`, or in the event loop if this is called there.
        """
        if callback is None:
            _core.election_observe(self._handle, None, 0, 0)
            self._observation = None
        else:
            check_callback(callback)
            self._observation = self._begin_observation(
                _Observation(callback), milliseconds(interval, "interval"))

    def _begin_observation(self, observation: _Observation, interval_ms: int) -> _Observation:
        dispatchers = self._client._dispatchers
        dispatcher: Dispatcher = (
            dispatchers.of_thread() if running_loop() is None else dispatchers.of_loop())
        tags: list[int] = []

        def forget(_: object) -> None:
            for tag in tags:
                dispatcher.forget(tag)

        this = weakref.ref(observation, forget)

        def report(event: Event) -> None:
            observation = this()
            if observation is not None:
                observation.callback(_leader_in(read_info(event.leader)))

        tags.append(dispatcher.submit(
            lambda queue, tag: _core.election_observe(self._handle, queue, tag, interval_ms),
            report))
        return observation
