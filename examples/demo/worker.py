"""The demo's worker in Python: worker.c has the contract, and the same order of reading."""

import fcntl
import os
import random
import sys
import time

import mortise

VALUE_LINE = "%20d %20d\n"


def now_ms():
    return time.monotonic_ns() // 1_000_000


def tell(*words):
    print(*words, flush=True)


# ---- the store: see store.h ---------------------------------------------------------------------


class Store:
    def __init__(self, folder, is_safe):
        self.folder = folder
        self.is_safe = is_safe

    def open(self, name, flags):
        return os.fdopen(os.open(f"{self.folder}/{name}", flags), "rb+" if flags & os.O_RDWR else
                         "ab" if flags & os.O_APPEND else "rb", buffering=0)

    def read(self, number):
        number.seek(0)
        value, token = number.read(160).split(b"\n")[0].split()
        return int(value), int(token)

    def value(self):
        with self.open("number", os.O_RDONLY) as number:
            return self.read(number)[0]

    def append(self, line):
        with self.open("writes", os.O_WRONLY | os.O_APPEND) as writes:
            if writes.write(line.encode()) != len(line):
                raise OSError("a line was not written as a whole")

    def write(self, value, token):
        """Returns the highest token that was there, and whether it wrote."""
        with self.open("number", os.O_RDWR) as number:
            fcntl.lockf(number, fcntl.LOCK_EX)
            _, highest = self.read(number)
            if self.is_safe and token < highest:
                self.append(f"refused {os.getpid()} {value} {token} {highest}\n")
                return highest, False
            self.append(f"wrote {os.getpid()} {value} {token}\n")
            number.seek(0)
            line = (VALUE_LINE % (value, token)).encode()
            if number.write(line) != len(line):
                raise OSError("a line was not written as a whole")
            return highest, True


# ---- the work -----------------------------------------------------------------------------------


class Worker:
    def __init__(self, store, pause_ms, lock):
        self.store = store
        self.pause_ms = pause_ms
        self.lock = lock
        self.end_ms = 0
        self.count = 0

    def increment(self, token):
        tell("held", token)
        number = self.store.value() + 1
        # From half of the average to one and a half.
        time.sleep(self.pause_ms * (0.5 + random.random()) / 1000)
        highest, is_written = self.store.write(number, token)
        if is_written:
            self.count += 1
            tell("wrote", number, token)
        else:
            tell("refused", number, token, highest)

    def take_turn(self):
        """One turn: false when the time is up."""
        left_ms = self.end_ms - now_ms()
        if left_ms <= 0:
            return False
        if self.lock is None:
            self.increment(0)
            return True
        try:
            hold = self.lock.acquire(timeout=left_ms / 1000)
        except mortise.NotAcquired:
            return False
        except mortise.Unknown:
            # The time was up between the request and its reply: the library releases the lock.
            if now_ms() >= self.end_ms:
                return False
            raise
        self.increment(hold.token)
        try:
            hold.release()
            tell("free", hold.token)
        except mortise.LockLost:
            tell("lost", hold.token)
        return True

    def run(self, run_ms):
        tell("ready")
        sys.stdin.read()
        self.end_ms = now_ms() + run_ms
        while self.take_turn():
            pass
        tell("done", self.count)


def main():
    if len(sys.argv) != 8:
        sys.exit("usage: worker.py URL LOCK FOLDER RUN_MS LEASE_MS PAUSE_MS safe|unsafe")
    url, name, folder, run_ms, lease_ms, pause_ms, mode = sys.argv[1:]
    is_safe = mode != "unsafe"
    try:
        lock = mortise.Client(url, lease=int(lease_ms) / 1000).lock(name) if is_safe else None
        Worker(Store(folder, is_safe), int(pause_ms), lock).run(int(run_ms))
    except Exception as failure:
        tell("failed", str(failure).split("\n")[0])
        sys.exit(1)


main()
