#!/usr/bin/python3 -B
"""`redlock:` with the protocol `token`, and a client of the algorithm made of redis-py's Lock, one
for each server: redlock_py_test.py LIBRARY."""

import pathlib
import random
import sys
import time
import uuid

import redis
import redis.exceptions

from mortise_side import LOST, NOT_ACQUIRED, OK, Background, Client, eventually, expect, run_cases

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))
from server import Server  # noqa: E402

SERVERS = [Server() for _ in range(3)]
NEEDED = 2


def url(query):
    return "redlock:" + ",".join(
        server.url + (f"?quarantine=0&protocol=token&{query}" if number == 0 else "")
        for number, server in enumerate(SERVERS))


OURS = Client(sys.argv[1], url("poll_interval=20ms&lease=30s"))
SHORT = Client(sys.argv[1], url("lease=2s&renewal=off"))


class Redlock:
    """The algorithm as its page has it: the same value on all, a quorum, and given back everywhere."""

    def __init__(self, name, timeout):
        nodes = [redis.Redis(unix_socket_path=server.socket) for server in SERVERS]
        self.locks = [node.lock(name, timeout=timeout, thread_local=False) for node in nodes]
        self.timeout = timeout

    def acquire(self):
        begin, value = time.monotonic(), uuid.uuid4().hex
        votes = sum(lock.acquire(blocking=False, token=value) for lock in self.locks)
        if votes >= NEEDED and time.monotonic() - begin < self.timeout:
            return True
        self.release()
        return False

    def wait(self, seconds=60):
        end = time.monotonic() + seconds
        while not self.acquire():
            if time.monotonic() > end:
                return False
            time.sleep(random.uniform(0, 0.02))
        return True

    def votes(self):
        """How many servers have its vote: a quorum or all, as leases do not end everywhere at once."""
        votes = sum(lock.owned() for lock in self.locks)
        assert votes >= NEEDED, votes
        return votes

    def release(self):
        """How many servers still had its vote."""
        released = 0
        for lock in self.locks:
            try:
                lock.release()
                released += 1
            except redis.exceptions.LockError:
                pass
        return released


def values(name):
    return {server.command(f"GET {name}") for server in SERVERS}


def case_it_holds_and_we_wait_for_its_release():
    theirs, ours = Redlock("first", 60), OURS.lock("first")
    assert theirs.acquire()
    held = values("first")
    expect(NOT_ACQUIRED, ours.try_acquire(), "our try")
    waiting = Background(ours.acquire, 60_000)
    time.sleep(0.2)
    assert waiting.is_waiting()
    expect(held, values("first"), "the keys")
    theirs.release()
    expect(OK, waiting.end(), "our acquire")
    expect(OK, ours.unlock(), "our unlock")
    eventually(lambda: values("first") == {""}, "all is given back")


def case_we_hold_and_it_waits_for_our_release():
    theirs, ours = Redlock("second", 60), OURS.lock("second")
    expect(OK, ours.try_acquire(), "our try")
    assert not theirs.acquire()
    waiting = Background(theirs.wait)
    time.sleep(0.2)
    assert waiting.is_waiting()
    expect(OK, ours.unlock(), "our unlock")
    expect(True, waiting.end(), "its acquire")
    expect(theirs.votes(), theirs.release(), "its votes")


def case_its_lease_ends_and_it_takes_nothing_of_ours():
    theirs, ours = Redlock("third", 0.5), OURS.lock("third")
    assert theirs.acquire()
    expect(OK, ours.acquire(60_000), "our acquire")
    eventually(lambda: len(values("third")) == 1, "all vote for us")
    held = values("third")
    expect(0, theirs.release(), "its votes")
    expect(held, values("third"), "the keys")
    expect(OK, ours.unlock(), "our unlock")


def case_our_lease_ends_and_we_find_that_we_have_lost():
    theirs, ours = Redlock("fourth", 60), SHORT.lock("fourth")
    expect(OK, ours.try_acquire(), "our try")
    assert theirs.wait()
    votes = theirs.votes()
    expect(LOST, ours.unlock(), "our unlock")
    expect(votes, theirs.release(), "its votes")


def case_with_one_server_down_each_still_excludes_the_other():
    SERVERS[1].control("pause")
    theirs, ours = Redlock("fifth", 60), OURS.lock("fifth")
    theirs.locks.pop(1)  # it has no way not to wait for it
    expect(OK, ours.acquire(60_000), "our acquire")
    assert not theirs.acquire()
    expect(OK, ours.unlock(), "our unlock")
    assert theirs.wait()
    expect(NOT_ACQUIRED, ours.try_acquire(), "our try")
    expect(2, theirs.release(), "its votes")
    SERVERS[1].control("resume")


run_cases(sys.modules[__name__])
