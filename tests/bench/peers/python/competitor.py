"""The competitor of redis-py's Lock, as its documentation uses it; the contract is in competitor.c. The package is
in the folder that PYTHONPATH names."""
import json
import os
import struct
import sys
import threading
import time

import redis


class Contention:
    def __init__(self, client, name, waiters, section_us, seconds, check):
        self.client = client
        self.name = name
        self.section_s = section_us / 1e6
        self.check = None if check == "-" else os.open(check, os.O_RDWR)
        self.end = time.monotonic() + seconds
        self.mutex = threading.Lock()  # over all that follows
        self.counts = [0] * waiters
        self.since = [None] * waiters
        self.waits_us = []
        self.handoffs = self.overlaps = self.errors = 0
        self.error = ""

    def enter(self, own):
        """Whether another waiter is inside, and whether another was last."""
        if self.check is None:
            return False, False
        inside, last = struct.unpack("<qq", os.pread(self.check, 16, 0))
        os.pwrite(self.check, struct.pack("<qq", own, own), 0)
        return inside != 0, last != own

    def leave(self, own):
        if self.check is None:
            return False
        inside, = struct.unpack("<q", os.pread(self.check, 8, 0))
        os.pwrite(self.check, bytes(8), 0)
        return inside != own

    def contend_once(self, number, own, lock):
        start = time.monotonic()
        with self.mutex:
            self.since[number] = start
        lock.acquire()
        got = time.monotonic()
        overlaps, is_handoff = self.enter(own)
        if self.section_s:
            time.sleep(self.section_s)
        overlaps = self.leave(own) or overlaps
        with self.mutex:
            self.since[number] = None
            if got < self.end:
                self.counts[number] += 1
                self.waits_us.append(int((got - start) * 1e6))
                self.overlaps += overlaps
                self.handoffs += is_handoff
        lock.release()

    def contend(self, number):
        own = (os.getpid() << 16) + number + 1
        lock = self.client.lock(self.name)
        while time.monotonic() < self.end:
            try:
                self.contend_once(number, own, lock)
            except redis.RedisError as problem:
                with self.mutex:
                    if time.monotonic() < self.end:
                        self.error = self.error or repr(problem)
                        self.errors += 1

    def run(self):
        for number in range(len(self.counts)):
            threading.Thread(target=self.contend, args=(number,), daemon=True).start()
        time.sleep(max(0, self.end - time.monotonic()))
        with self.mutex:
            unfinished = [int((self.end - since) * 1e6) for since in self.since
                          if since is not None and since < self.end]
            print(json.dumps({"counts": self.counts, "waits_us": self.waits_us,
                              "unfinished_us": unfinished, "handoffs": self.handoffs,
                              "overlaps": self.overlaps, "errors": self.errors,
                              "error": self.error}), flush=True)


def write(line):
    """One write, so that lines of several processes in one pipe are in their true order."""
    os.write(1, (line.replace("\n", " ") + "\n").encode())


def work(client, name, number, section_s):
    own = (os.getpid() << 16) + number + 1
    lock = client.lock(name)
    while True:
        try:
            if not lock.acquire():
                continue
            write(f"enter {own}")
            time.sleep(section_s)
            write(f"leave {own}")
            lock.release()
        except redis.RedisError as problem:
            write(f"failed {own} {problem!r}")
            time.sleep(0.01)


def main():
    mode, address, name, waiters, section_us, seconds, check = sys.argv[1:]
    host, port = address.split(":")
    client = redis.Redis(host=host, port=int(port))
    warm = client.lock(f"warm-up-{os.getpid()}")
    end = time.monotonic() + 1
    while time.monotonic() < end:
        with warm:
            pass
    print("ready", flush=True)
    sys.stdin.readline()
    if mode == "contend":
        Contention(client, name, int(waiters), int(section_us), float(seconds), check).run()
        sys.stdin.read()
        os._exit(0)
    if mode == "work":
        for number in range(int(waiters)):
            threading.Thread(target=work, daemon=True,
                             args=(client, name, number, int(section_us) / 1e6)).start()
        threading.Event().wait()
    client.lock(name).acquire()
    print("held" if mode == "hold" else "taken", flush=True)
    threading.Event().wait()


main()
