"""The competitors in Python: COMPETITOR LIBRARY MODE …, where LIBRARY is one of LIBRARIES. Each is used
as its documentation shows. The rest of the contract is in competitor.c. PYTHONPATH has the packages.
"""
import asyncio
import inspect
import json
import os
import struct
import sys
import threading
import time


class RedisPy:
    def __init__(self, address):
        import redis

        self.client = redis.Redis.from_url(f"redis://{address}")

    def lock(self, name):
        return self.client.lock(name)


class PythonRedisLock(RedisPy):
    def lock(self, name):
        import redis_lock

        return redis_lock.Lock(self.client, name)


class Pottery(RedisPy):
    def lock(self, name):
        import pottery

        return pottery.Redlock(key=name, masters={self.client})


class Mortise:
    def __init__(self, address):
        import mortise

        self.client = mortise.Client(f"redis://{address}")

    def lock(self, name):
        return self.client.lock(name)


class AsyncLock:
    """A lock of asyncio, whose release needs what its acquire returned."""

    def __init__(self, acquire, release):
        self._acquire, self._release, self._held = acquire, release, None

    async def acquire(self):
        self._held = await self._acquire()
        return self._held

    async def release(self):
        await self._release(self._held)


class MortiseAsyncio(Mortise):
    def lock(self, name):
        return AsyncLock(self.client.lock(name).acquire_async, lambda hold: hold.release_async())


class Aioredlock:
    def __init__(self, address):
        import aioredlock

        self.failure = aioredlock.LockError
        self.manager = aioredlock.Aioredlock([f"redis://{address}"])

    def lock(self, name):
        async def acquire():
            while True:
                try:
                    return await self.manager.lock(name)
                except self.failure:  # after three tries
                    pass

        return AsyncLock(acquire, self.manager.unlock)


LIBRARIES = {"mortise": Mortise, "mortise-asyncio": MortiseAsyncio, "redis-py": RedisPy,
             "python-redis-lock": PythonRedisLock, "pottery": Pottery, "aioredlock": Aioredlock}


class Contention:
    def __init__(self, library, name, waiters, section_us, seconds, check):
        self.library = library
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

    def begin(self, number):
        with self.mutex:
            self.since[number] = time.monotonic()
            return self.since[number]

    def note(self, number, start, got, overlaps, is_handoff):
        with self.mutex:
            self.since[number] = None
            if got < self.end:
                self.counts[number] += 1
                self.waits_us.append(int((got - start) * 1e6))
                self.overlaps += overlaps
                self.handoffs += is_handoff

    def note_error(self, problem):
        with self.mutex:
            if time.monotonic() < self.end:
                self.error = self.error or repr(problem)
                self.errors += 1

    def contend(self, number):
        own = (os.getpid() << 16) + number + 1
        lock = self.library.lock(self.name)
        while time.monotonic() < self.end:
            try:
                start = self.begin(number)
                lock.acquire()
                got = time.monotonic()
                overlaps, is_handoff = self.enter(own)
                if self.section_s:
                    time.sleep(self.section_s)
                overlaps = self.leave(own) or overlaps
                self.note(number, start, got, overlaps, is_handoff)
                lock.release()
            except Exception as problem:  # each library has its own
                self.note_error(problem)

    async def contend_async(self, number):
        own = (os.getpid() << 16) + number + 1
        lock = self.library.lock(self.name)
        while time.monotonic() < self.end:
            try:
                start = self.begin(number)
                await lock.acquire()
                got = time.monotonic()
                overlaps, is_handoff = self.enter(own)
                if self.section_s:
                    await asyncio.sleep(self.section_s)
                overlaps = self.leave(own) or overlaps
                self.note(number, start, got, overlaps, is_handoff)
                await lock.release()
            except Exception as problem:  # each library has its own
                self.note_error(problem)

    def report(self):
        with self.mutex:
            unfinished = [int((self.end - since) * 1e6) for since in self.since
                          if since is not None and since < self.end]
            print(json.dumps({"counts": self.counts, "waits_us": self.waits_us,
                              "unfinished_us": unfinished, "handoffs": self.handoffs,
                              "overlaps": self.overlaps, "errors": self.errors,
                              "error": self.error}), flush=True)

    def run(self):
        for number in range(len(self.counts)):
            threading.Thread(target=self.contend, args=(number,), daemon=True).start()
        time.sleep(max(0, self.end - time.monotonic()))

    async def run_async(self):
        tasks = [asyncio.ensure_future(self.contend_async(number))
                 for number in range(len(self.counts))]
        await asyncio.wait(tasks, timeout=max(0, self.end - time.monotonic()))


def write(line):
    """One write, so that lines of several processes in one pipe are in their true order."""
    os.write(1, (line.replace("\n", " ") + "\n").encode())


def work(library, name, number, section_s):
    own = (os.getpid() << 16) + number + 1
    lock = library.lock(name)
    while True:
        try:
            held = lock.acquire()
            if not held:
                continue
            write(f"enter {own}")
            left = threading.Event()

            def leave(_=None, left=left):
                if not left.is_set():
                    left.set()
                    write(f"leave {own}")

            if hasattr(held, "on_lost"):
                held.on_lost(leave)
            left.wait(section_s)
            leave()
            lock.release()
        except Exception as problem:  # each library has its own
            write(f"failed {own} {problem!r}")
            time.sleep(0.01)


def held_names(mode, name, count):
    return [f"{name}-{number}" for number in range(count)] if mode == "many" else [name]


def warm_up(library):
    lock = library.lock(f"warm-up-{os.getpid()}")
    end = time.monotonic() + 1
    while time.monotonic() < end:
        lock.acquire()
        lock.release()


async def main_async(library, mode, name, waiters, section_us, seconds, check):
    """The modes of a comparison, without the threads of `work`."""
    lock = library.lock(f"warm-up-{os.getpid()}")
    end = time.monotonic() + 1
    while time.monotonic() < end:
        await lock.acquire()
        await lock.release()
    print("ready", flush=True)
    sys.stdin.readline()
    if mode == "contend":
        contention = Contention(library, name, waiters, section_us, seconds, check)
        await contention.run_async()
        contention.report()
        sys.stdin.read()
        os._exit(0)
    if mode == "work":
        raise SystemExit("not of a library of asyncio")
    locks = [library.lock(one) for one in held_names(mode, name, waiters)]
    for lock in locks:
        await lock.acquire()
    print("taken" if mode == "take" else "held", flush=True)
    await asyncio.Event().wait()


def main():
    kind, mode, address, name, waiters, section_us, seconds, check = sys.argv[1:]
    library = LIBRARIES[kind](address)
    numbers = int(waiters), int(section_us), float(seconds)
    if inspect.iscoroutinefunction(library.lock("lock").acquire):
        asyncio.run(main_async(library, mode, name, *numbers, check))
    warm_up(library)
    print("ready", flush=True)
    sys.stdin.readline()
    if mode == "contend":
        contention = Contention(library, name, *numbers, check)
        contention.run()
        contention.report()
        sys.stdin.read()
        os._exit(0)
    if mode == "work":
        for number in range(int(waiters)):
            threading.Thread(target=work, daemon=True,
                             args=(library, name, number, numbers[1] / 1e6)).start()
        threading.Event().wait()
    # Without a reference a lock object may end its hold.
    locks = [library.lock(one) for one in held_names(mode, name, numbers[0])]
    for lock in locks:
        lock.acquire()
    print("taken" if mode == "take" else "held", flush=True)
    threading.Event().wait()


main()
