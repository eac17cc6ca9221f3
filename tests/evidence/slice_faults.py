"""The faults of a slice: those of its servers and networks, which evidence_inject_faults injects,
and those of its processes. A fault counts if it was injected."""
import json
import mmap
import os
import select
import signal
import struct
import subprocess
import sys
import time


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def line_of(kind, name, call_ns, return_ns):
    return {"op": "fault", "kind": kind, "fault": name, "call_ns": call_ns, "return_ns": return_ns}


class DeploymentEnded(Exception):
    """The program that has the servers ended, for example because they did not become whole."""


class Deployment:
    """The servers, and one fault of theirs at a time."""
    PATIENCE_S = 180

    def __init__(self, build, kind, seed, names):
        words = [f"{build}/evidence_inject_faults", kind, str(seed), *names]
        # A server that is killed keeps its files, on a disk or in memory, which is faster.
        surroundings = dict(os.environ)
        if os.access("/dev/shm", os.W_OK):
            surroundings.setdefault("TMPDIR", "/dev/shm")
        # It does not outlive this program.
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *words], bufsize=0,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=surroundings)
        self.rest = b""
        self.pending = None
        facts = self.read(self.PATIENCE_S)
        self.exclusive = facts["exclusive"]
        self.semaphores = facts["semaphores"]
        self.entrances = facts["entrances"]
        self.faults = facts["faults"]

    def send(self, text):
        try:
            self.process.stdin.write(text.encode() + b"\n")
        except BrokenPipeError:
            raise DeploymentEnded("the servers have ended") from None

    def read(self, seconds):
        """The next answer; None if there is none in time."""
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            left = max(0, end - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                return None
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise DeploymentEnded("the servers have ended")
            self.rest += chunk
        text, self.rest = self.rest.split(b"\n", 1)
        return json.loads(text)

    def begin(self, chance):
        number = chance.randrange(len(self.faults))
        self.pending = self.faults[number]
        self.send(str(number))

    def injected(self, seconds=0):
        """The line of the fault that was under way, if it is over and was injected."""
        if self.pending is None or (answer := self.read(seconds)) is None:
            return None
        fault, self.pending = self.pending, None
        if not answer["injected"]:
            return None
        return line_of(fault["kind"], fault["fault"], answer["call_ns"], answer["return_ns"])

    def leftovers(self):
        self.send("end")
        answer = self.read(self.PATIENCE_S)
        return ["no answer"] if answer is None else answer["leftovers"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class ClientClock:
    """The wall clock of a process, by tests/support/clock_shim.cpp."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb+") as file:
            os.posix_fallocate(file.fileno(), 0, mmap.PAGESIZE)
            self.shifts = memoryview(mmap.mmap(file.fileno(), 0)).cast("q")

    def environment(self, build):
        shim = f"{build}/libserver_clock.so"
        if not os.path.exists(shim):
            sys.exit(f"{shim} is not built: build the target server_clock")
        return {"LD_PRELOAD": shim, "MORTISE_CLOCK_SHIFTS": self.path}

    def step(self, chance):
        self.shifts[time.CLOCK_REALTIME] = chance.randrange(-86400, 86400) * 1_000_000_000


def register_counts(path):
    """The sums over all registers of guarded_cell.h."""
    keys = ("fenced_writes", "fenced_refusals", "fenced_losses", "plain_writes", "plain_losses")
    sums = dict.fromkeys(keys, 0)
    if path.exists():
        for cell in struct.iter_unpack("<9q", path.read_bytes()):
            for key, number in zip(keys, cell[4:9]):
                sums[key] += number
    return sums


def is_stopped(process):
    flags = os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG
    found = os.waitid(os.P_PID, process.pid, flags)
    return found is not None and found.si_code == os.CLD_STOPPED


def stop(process):
    """Whether it stopped; a process that has just ended does not."""
    process.send_signal(signal.SIGSTOP)
    found = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    return found.si_code == os.CLD_STOPPED
