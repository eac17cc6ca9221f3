"""The protocol `hash` with Redisson's RLock, on one key. The arguments: redisson_test.py LIBRARY
CLASSPATH, with a server's URL in MORTISE_TEST_TCP_URL."""

import os
import subprocess
import sys
import time

from mortise_side import LOST, NOT_ACQUIRED, OK, Background, Client, eventually, expect, run_cases

URL = os.environ["MORTISE_TEST_TCP_URL"]
OURS = Client(sys.argv[1], URL + "?protocol=hash&lease=30s")
SHORT = Client(sys.argv[1], URL + "?protocol=hash&lease=500ms&renewal=off")
# No lease of a test ends sooner, so a client that is granted within half of it was woken by the
# other's message.
LEASE_MS = 60_000


class Redisson:
    """One lock of one Redisson client, in a JVM of its own."""

    def __init__(self, key):
        command = ["java", "-cp", sys.argv[2], "RedissonSide", URL, key]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        while (line := self.receive()) != "ready":
            assert line, "Redisson did not start"

    def receive(self):
        return self.process.stdout.readline().strip()

    def ask(self, line):
        self.send(line)
        return self.receive()

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


def case_it_holds_and_we_are_woken_by_its_release():
    theirs, ours = Redisson("first"), OURS.lock("first")
    expect("true", theirs.ask(f"try {LEASE_MS}"), "its try")
    expect("true", theirs.ask(f"try {LEASE_MS}"), "its second hold")
    expect(NOT_ACQUIRED, ours.try_acquire(), "our try")
    waiting = Background(ours.acquire, LEASE_MS)
    time.sleep(0.5)
    expect("ok", theirs.ask("unlock"), "its unlock of the second hold")
    time.sleep(0.5)
    assert waiting.is_waiting()
    released = time.monotonic()
    expect("ok", theirs.ask("unlock"), "its unlock")
    expect(OK, waiting.end(), "our acquire")
    assert time.monotonic() - released < 10, "we were not woken"
    expect("false", theirs.ask(f"try {LEASE_MS}"), "its try while we hold")
    expect(OK, ours.unlock(), "our unlock")
    theirs.close()


def case_we_hold_and_it_is_woken_by_our_release():
    theirs, ours = Redisson("second"), OURS.lock("second")
    expect(OK, ours.try_acquire(), "our try")
    expect("false", theirs.ask(f"try {LEASE_MS}"), "its try")
    expect("IllegalMonitorStateException", theirs.ask("unlock"), "its unlock of our lock")
    expect("waiting", theirs.ask(f"lock {LEASE_MS} {LEASE_MS}"), "its lock")
    time.sleep(1)
    released = time.monotonic()
    expect(OK, ours.unlock(), "our unlock")
    expect("true", theirs.receive(), "its lock")
    assert time.monotonic() - released < 10, "it was not woken"
    expect(NOT_ACQUIRED, ours.try_acquire(), "our try while it holds")
    expect("ok", theirs.ask("unlock"), "its unlock")
    expect(OK, ours.try_acquire(), "our try at last")
    expect(OK, ours.unlock(), "our unlock")
    theirs.close()


def case_its_lease_ends_and_we_get_in():
    theirs, ours = Redisson("third"), OURS.lock("third")
    expect("true", theirs.ask("try 1000"), "its try")
    expect(OK, ours.acquire(LEASE_MS), "our acquire")
    expect("IllegalMonitorStateException", theirs.ask("unlock"), "its unlock of our lock")
    expect(OK, ours.unlock(), "our unlock")
    theirs.close()


def case_our_lease_ends_and_it_gets_in():
    theirs, ours = Redisson("fourth"), SHORT.lock("fourth")
    expect(OK, ours.try_acquire(), "our try")
    eventually(lambda: theirs.ask(f"try {LEASE_MS}") == "true", "it gets in")
    expect(LOST, ours.unlock(), "our unlock")
    expect("ok", theirs.ask("unlock"), "its unlock, of a lock that is still its own")
    theirs.close()


run_cases(sys.modules[__name__])
