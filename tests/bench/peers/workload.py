"""The workloads of the competitors, and their measurement."""
import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

from servers import TOP, Link, Server

# A competitor that hangs must not hold up the others.
ANSWER_LIMIT_S = 120
LOG = TOP / "build/peers/competitors.log"
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Workload:
    title: str
    processes: int
    waiters: int
    section_us: int = 0
    one_way_us: int = 0
    is_pinned: bool = False
    times: int = 1  # as long as the others


WORKLOADS = {
    "pair": Workload("uncontended", 1, 1, times=6),
    "pair_pinned": Workload("uncontended, client on one core", 1, 1, is_pinned=True),
    "link_1ms": Workload("uncontended, link of 1 ms", 1, 1, one_way_us=500, is_pinned=True),
    "crowd_0ms": Workload("10 × 10 waiters, sections of 0 ms", 10, 10),
    "crowd_1ms": Workload("10 × 10 waiters, sections of 1 ms", 10, 10, section_us=1000),
    "thousand": Workload("1,000 waiters in one process", 1, 1000),
}


class Process:
    """One process of a competitor."""

    def __init__(self, competitor, arguments, core=None):
        pin = (lambda: os.sched_setaffinity(0, {core})) if core is not None else None
        LOG.parent.mkdir(parents=True, exist_ok=True)
        with open(LOG, "ab") as log:
            self.process = subprocess.Popen([*competitor.command, *map(str, arguments)], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                            preexec_fn=pin, env={
                                                **os.environ, **competitor.environment,
                                                "WARM_UP_S": str(competitor.warm_up_s)})

    def receive(self, limit_s=None):
        limit_s = limit_s or ANSWER_LIMIT_S
        is_late = threading.Event()

        def end():
            is_late.set()
            self.process.kill()

        limit = threading.Timer(limit_s, end)
        limit.start()
        line = self.process.stdout.readline()
        limit.cancel()
        if is_late.is_set():
            raise RuntimeError(f"it hangs: no answer within {limit_s} s")
        if not line:
            raise RuntimeError(f"it ended with {self.process.wait()}, see {LOG.name} in {LOG.parent.name}")
        return line.strip()

    def expect(self, word, limit_s=None):
        if (line := self.receive(limit_s)) != word:
            raise RuntimeError(f"it answers {line[:80]!r} instead of {word!r}")

    def start(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def cpu_s(self):
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text("ascii")
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) * TICK_S

    def peak_bytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text("ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        return 0

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def pin(pid, core):
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), {core})


def percentile(values, share):
    values = sorted(values)
    return values[min(int(share * len(values)), len(values) - 1)] if values else None


def summary(answers, seconds):
    """Of the competitors' own accounts. A wait that goes on at the end counts with what it has lasted."""
    counts = [count for answer in answers for count in answer["counts"]]
    waits = [wait for answer in answers for wait in answer["waits_us"] + answer["unfinished_us"]]
    return {
        "acquisitions": sum(counts), "seconds": seconds,
        "handoffs": sum(answer["handoffs"] for answer in answers),
        "p50_us": percentile(waits, 0.5), "p99_us": percentile(waits, 0.99),
        "fewest": min(counts), "most": max(counts),
        "overlaps": sum(answer["overlaps"] for answer in answers),
        "errors": sum(answer["errors"] for answer in answers),
        "error": next((answer["error"] for answer in answers if answer["error"]), ""),
    }


def measure(competitor, workload, seconds):
    """One competitor in one workload, with a server of its own."""
    with contextlib.ExitStack() as ends:
        server = ends.enter_context(contextlib.closing(Server()))
        address = server.address
        seconds *= workload.times
        if workload.one_way_us:
            link = ends.enter_context(contextlib.closing(Link(server, workload.one_way_us)))
            address = link.address
        cores = sorted(os.sched_getaffinity(0))
        if workload.is_pinned:
            pin(server.pid, cores[-1])
            if workload.one_way_us:
                pin(link.process.pid, cores[-1])
        check = "-"
        if workload.processes * workload.waiters > 1:
            file = ends.enter_context(tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="mortise-"))
            file.write(bytes(16))
            file.flush()
            check = file.name
        processes = []
        for _ in range(workload.processes):
            one = Process(competitor, ["contend", address + competitor.options, "bench", workload.waiters,
                                       workload.section_us, seconds, check],
                          cores[0] if workload.is_pinned else None)
            ends.callback(one.kill)
            processes.append(one)
        return observe(server, processes, seconds)


def observe(server, processes, seconds):
    for one in processes:
        one.expect("ready")
    before = server.cpu_s(), server.commands(), sum(one.cpu_s() for one in processes)
    start = time.monotonic()
    for one in processes:
        one.start()
    time.sleep(max(0, start + seconds - time.monotonic()))
    after = server.cpu_s(), server.commands(), sum(one.cpu_s() for one in processes)
    result = summary([json.loads(one.receive()) for one in processes], seconds)
    result["server_cpu_s"], result["commands"], result["client_cpu_s"] = (
        late - early for early, late in zip(before, after))
    result["peak_bytes"] = sum(one.peak_bytes() for one in processes)
    return result
