"""The protocol `token` with redis-py's Lock, on one key. The arguments: redis_py_test.py LIBRARY,
with a server's URL in MORTISE_TEST_TCP_URL."""

import os
import sys
import time

import redis
import redis.exceptions

from mortise_side import LOST, NOT_ACQUIRED, OK, Background, Client, eventually, expect, run_cases

URL = os.environ["MORTISE_TEST_TCP_URL"]
SERVER = redis.Redis.from_url(URL)
OURS = Client(sys.argv[1], URL + "?protocol=token&poll_interval=20ms&lease=30s")
SHORT = Client(sys.argv[1], URL + "?protocol=token&lease=2s&renewal=off")


def case_it_holds_and_we_wait_for_its_release():
    theirs, ours = SERVER.lock("first", timeout=60), OURS.lock("first")
    assert theirs.acquire(blocking=False)
    expect(NOT_ACQUIRED, ours.try_acquire(), "our try")
    waiting = Background(ours.acquire, 60_000)
    time.sleep(0.2)
    assert waiting.is_waiting()
    assert theirs.owned()
    theirs.release()
    expect(OK, waiting.end(), "our acquire")
    expect(OK, ours.unlock(), "our unlock")


def case_we_hold_and_it_waits_for_our_release():
    theirs, ours = SERVER.lock("second", timeout=60, sleep=0.02), OURS.lock("second")
    expect(OK, ours.try_acquire(), "our try")
    assert not theirs.acquire(blocking=False)
    waiting = Background(lambda: theirs.acquire(blocking_timeout=60))
    time.sleep(0.2)
    assert waiting.is_waiting()
    expect(OK, ours.unlock(), "our unlock")
    expect(True, waiting.end(), "its acquire")


def case_its_lease_ends_and_it_finds_that_it_has_lost():
    theirs, ours = SERVER.lock("third", timeout=0.5), OURS.lock("third")
    assert theirs.acquire(blocking=False)
    expect(OK, ours.acquire(60_000), "our acquire")
    value = SERVER.get("third")
    try:
        theirs.release()
        raise AssertionError("it released our lock")
    except redis.exceptions.LockNotOwnedError:
        pass
    expect(value, SERVER.get("third"), "the key")
    expect(OK, ours.unlock(), "our unlock")


def case_our_lease_ends_and_we_find_that_we_have_lost():
    theirs, ours = SERVER.lock("fourth", timeout=60), SHORT.lock("fourth")
    expect(OK, ours.try_acquire(), "our try")
    eventually(lambda: theirs.acquire(blocking=False), "it gets in")
    expect(LOST, ours.unlock(), "our unlock")
    assert theirs.owned()


run_cases(sys.modules[__name__])
