"""The Python competitor of the benchmark: executes each line, and answers by a line of numbers. The
arguments are the server's URL and the name of a lock.
"""

import asyncio
import gc
import subprocess
import sys

import mortise

CONTENDERS = 8
IMPORT = """
import time
begin = time.perf_counter()
import mortise
print((time.perf_counter() - begin) * 1000)
"""


class Competitor:
    def __init__(self, url, name):
        self.name = name
        self.client = mortise.Client(url)
        self.lock = self.client.lock(name)
        self.loop = asyncio.new_event_loop()
        self.gate = None
        self.waiters = []
        self.grants = []

    def pairs(self, count):
        """Acquires and unlocks so often."""
        lock = self.lock
        for _ in range(count):
            lock.acquire().release()

    def fresh(self, count):
        """The same by `with`, each time with a lock object of its own."""
        client, name = self.client, self.name
        for _ in range(count):
            with client.lock(name):
                pass

    def contend(self, count):
        """Has the lock so often in all, in turns of coroutines, each first come, first served."""

        async def turn():
            lock = self.client.lock(self.name, fair="strict")
            for _ in range(count // CONTENDERS):
                hold = await lock.acquire_async()
                await hold.release_async()

        async def all_of_them():
            await asyncio.gather(*(turn() for _ in range(CONTENDERS)))

        self.loop.run_until_complete(all_of_them())

    def readings(self, count):
        """Asks a hold so often whether it is held."""
        lock = self.lock
        with lock:
            for _ in range(count):
                if not lock.is_held:
                    sys.exit("the hold was lost")

    def take_gate(self):
        """Takes the lock."""
        self.gate = self.lock.acquire()

    def join(self):
        """One coroutine more waits for the lock, and unlocks it when it has it."""

        async def wait(number):
            lock = self.client.lock(self.name, fair="strict")
            hold = await lock.acquire_async()
            self.grants.append(f"{number} {hold.token}")
            await hold.release_async()

        async def begin():
            self.waiters.append(self.loop.create_task(wait(len(self.waiters))))
            await asyncio.sleep(0)

        self.loop.run_until_complete(begin())

    def serve(self):
        """Unlocks the lock; when all were served, the number and the token of each, in order."""

        async def all_of_them():
            self.gate.release()
            await asyncio.gather(*self.waiters)

        self.loop.run_until_complete(all_of_them())
        self.waiters.clear()
        return " ".join(self.grants)

    def cycle(self, count):
        """Pairs, each hundred by a lock object of its own."""
        for _ in range(count // 100):
            lock = self.client.lock(self.name)
            for _ in range(100):
                lock.acquire().release()

    def memory(self):
        """Collects garbage; 0, because resident memory has all of the rest."""
        gc.collect()

    def import_time(self):
        """The milliseconds of an import in a new process."""
        return subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True,
                              check=True).stdout.strip()


def main():
    competitor = Competitor(*sys.argv[1:])
    for line in sys.stdin:
        what, *numbers = line.split()
        method = getattr(competitor, {"gate": "take_gate", "import": "import_time"}.get(what, what))
        print(method(*map(int, numbers)) or 0, flush=True)


main()
