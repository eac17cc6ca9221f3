"""What servers and clients report: locks, listings, health checks, statistics and log records.

All durations are in seconds.
"""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

from mortise import _core
from mortise._constants import LogLevel, LogSubject, LossReason, Severity
from mortise.errors import Details, reason_of


def _severity(number: int) -> Severity:
    """A severity that a later version adds is unknown."""
    try:
        return Severity(number)
    except ValueError:
        return Severity.UNKNOWN


class LockUser(NamedTuple):
    """A holder or a waiter of a lock."""

    #: The owner token, which `force_release` takes.
    owner: str
    #: "" if it is unknown.
    host: str
    #: 0 if it is unknown.
    pid: int
    label: str
    #: What the holder has set by `set_value`, otherwise "".
    value: str
    permits: int
    #: Whether it excludes all others.
    is_exclusive: bool
    #: Whether its client only keeps the lock for its next acquire (option `retain`).
    is_retained: bool


class LockInfo(NamedTuple):
    """The server's state of a lock. It may be old when it arrives."""

    is_held: bool
    #: Whether the lock object that asked holds the lock.
    is_mine: bool
    #: How long the holder's lease still lasts at the server. 0 without a holder.
    time_left: float
    #: The fencing token of the latest grant.
    latest_token: int
    holder_count: int
    #: The number of permits of a semaphore.
    permits: int
    permits_in_use: int
    waiter_count: int
    #: The first of them.
    holders: tuple[LockUser, ...]
    waiters: tuple[LockUser, ...]


def _user(info: Any, index: int) -> LockUser:
    return LockUser(
        _core.info_entry_owner(info, index), _core.info_entry_host(info, index),
        _core.info_entry_pid(info, index), _core.info_entry_label(info, index),
        _core.info_entry_value(info, index), _core.info_entry_permits(info, index),
        _core.info_entry_is_exclusive(info, index), _core.info_entry_is_retained(info, index))


def read_info(info: Any) -> LockInfo:
    """Copies what the C layer has."""
    users = tuple(_user(info, index) for index in range(_core.info_entry_count(info)))
    shown_holders = _core.info_shown_holder_count(info)
    return LockInfo(
        _core.info_is_held(info), _core.info_is_mine(info),
        max(0, _core.info_time_left_ms(info)) / 1000,
        _core.info_latest_token(info), _core.info_holder_count(info), _core.info_permits(info),
        _core.info_permits_in_use(info), _core.info_waiter_count(info), users[:shown_holders],
        users[shown_holders:])


class ListingEntry(NamedTuple):
    """The relation of one client to one lock."""

    client: str
    host: str
    pid: int
    label: str
    #: The value of the hold, or "".
    value: str
    name: str
    kind: str
    #: How it holds the lock, or "".
    mode: str
    holds: int
    token: int
    held_for: float
    time_left: float
    permits: int
    #: How it waits, or "".
    waits: str
    waiters: int
    waited_for: float
    grants: int
    contended: int
    waited_total: float
    #: 1 or more while the client only keeps the lock for its next acquire.
    retained: int
    #: The threads and tasks that hold or wait; see docs/deadlocks.md.
    threads: str
    #: "client", or "key" of a scan.
    source: str


class Listing(NamedTuple):
    """What all live clients hold and wait for, or what a scan found."""

    #: How many clients answered. After a scan: servers.
    answered: int
    #: How many live clients did not answer in time.
    silent: int
    #: How many answered only in part.
    truncated: int
    entries: tuple[ListingEntry, ...]
    json: str


def read_listing(listing: Any) -> Listing:
    """Copies what the C layer has."""

    def entry(index: int) -> ListingEntry:
        def text(key: str) -> str:
            return _core.listing_text(listing, index, key)  # type: ignore[no-any-return]

        def number(key: str) -> int:
            return _core.listing_number(listing, index, key)  # type: ignore[no-any-return]

        return ListingEntry(
            text("client"), text("host"), number("pid"), text("label"), text("value"),
            text("name"), text("kind"), text("mode"), number("holds"), number("token"),
            number("held_ms") / 1000, number("time_left_ms") / 1000, number("permits"),
            text("waits"), number("waiters"), number("waited_ms") / 1000, number("grants"),
            number("contended"), number("waited_total_ms") / 1000, number("retained"),
            text("threads"), text("source"))

    return Listing(
        _core.listing_answered(listing), _core.listing_silent(listing),
        _core.listing_truncated(listing),
        tuple(entry(index) for index in range(_core.listing_count(listing))),
        _core.listing_json(listing))


class HistoryEvent(NamedTuple):
    """Something that happened to a wait or a hold of one client."""

    client: str
    host: str
    pid: int
    label: str
    #: "began", "queued", "granted", "released", "lost" and others, see docs/history.md.
    event: str
    #: "exclusive" or "shared".
    mode: str
    #: The number of the handle in its client. 0 for none.
    handle: int
    #: The fencing token of the hold. 0 for none.
    token: int
    #: Of an acquire. 0 if unknown.
    permits: int
    #: Of "queued": the place in the queue. 0 if unknown.
    place: int
    #: Of "ended" the status, of "lost" the reason, otherwise "".
    why: str
    #: Seconds since 1970 by the server's clock.
    time: float
    #: How long the wait or the hold had lasted.
    lasted: float
    #: By how much the time may be wrong, in both directions.
    error: float


class History(NamedTuple):
    """The latest events of a lock at all live clients, in their order."""

    #: How many clients answered.
    answered: int
    #: How many live clients did not answer in time.
    silent: int
    #: How many answered only in part.
    truncated: int
    events: tuple[HistoryEvent, ...]
    json: str


def read_history(listing: Any) -> History:
    """Copies what the C layer has."""

    def event(index: int) -> HistoryEvent:
        def text(key: str) -> str:
            return _core.listing_text(listing, index, key)  # type: ignore[no-any-return]

        def number(key: str) -> int:
            return _core.listing_number(listing, index, key)  # type: ignore[no-any-return]

        return HistoryEvent(
            text("client"), text("host"), number("pid"), text("label"), text("event"),
            text("mode"), number("handle"), number("token"), number("permits"), number("place"),
            text("why"), number("time_us") / 1e6, number("lasted_us") / 1e6,
            number("error_us") / 1e6)

    return History(
        _core.listing_answered(listing), _core.listing_silent(listing),
        _core.listing_truncated(listing),
        tuple(event(index) for index in range(_core.listing_count(listing))),
        _core.listing_json(listing))


class Finding(NamedTuple):
    """One finding of a health check."""

    name: str
    severity: Severity
    server: str
    value: str
    #: What it can lead to, or "".
    consequence: str
    #: How to fix it, or "".
    remedy: str


class Health(NamedTuple):
    """The result of a health check of the servers."""

    worst: Severity
    findings: tuple[Finding, ...]
    json: str


def read_health(health: Any) -> Health:
    """Copies what the C layer has."""
    findings = tuple(
        Finding(
            _core.health_name(health, index), _severity(_core.health_severity(health, index)),
            _core.health_server(health, index), _core.health_value(health, index),
            _core.health_consequence(health, index), _core.health_remedy(health, index))
        for index in range(_core.health_count(health)))
    return Health(_severity(_core.health_worst(health)), findings, _core.health_json(health))


class Sample(NamedTuple):
    """One number of the statistics."""

    name: str
    #: "counter", "gauge" or "histogram".
    type: str
    value: float
    labels: dict[str, str]


class Stats(NamedTuple):
    """The counters of a client at one moment."""

    samples: tuple[Sample, ...]
    #: All of them in the text format of Prometheus, version 0.0.4.
    prometheus: str
    json: str

    def as_dict(self) -> dict[str, Any]:
        """All of them as a dict, in the form that docs/statistics.md describes as JSON."""
        import json  # which would take a part of the time to import this package

        return json.loads(self.json)  # type: ignore[no-any-return]


def read_stats(stats: Any) -> Stats:
    """Copies what the C layer has."""

    def labels(index: int) -> dict[str, str]:
        return {_core.stats_label_name(stats, index, label):
                _core.stats_label_value(stats, index, label)
                for label in range(_core.stats_label_count(stats, index))}

    samples = tuple(
        Sample(_core.stats_name(stats, index), _core.stats_type(stats, index),
               _core.stats_value(stats, index), labels(index))
        for index in range(_core.stats_count(stats)))
    return Stats(samples, _core.stats_prometheus(stats), _core.stats_json(stats))


class LogRecord(NamedTuple):
    """A record of a client's log."""

    level: LogLevel
    subject: LogSubject
    #: One line.
    text: str
    #: The name of a lost lock, or b"".
    lock_name: bytes
    #: The reason of a loss.
    reason: LossReason
    #: How many records were dropped just before this one.
    dropped: int


def read_log_record(details: Details) -> LogRecord:
    """Copies what the C layer has. A later version may add levels and subjects."""
    level, subject = LogLevel.INFO, LogSubject.UNKNOWN
    with contextlib.suppress(ValueError):
        level = LogLevel(details.level)
    with contextlib.suppress(ValueError):
        subject = LogSubject(details.subject)
    return LogRecord(level, subject, details.message, details.lock_name,
                     reason_of(details.reason), details.dropped)
