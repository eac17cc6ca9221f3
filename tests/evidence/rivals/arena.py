"""Some processes of one library that work under one lock of a server, and what a fault does to them."""
import dataclasses
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests/bench/peers"))
READY_LIMIT_S = 60


class Launched:
    """tests/support/server or tests/support/proxy: a line for each command."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([TOP / "tests/support" / program, *map(str, arguments)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.fields = self.process.stdout.readline().split()

    @property
    def port(self):
        return self.fields[2]

    def control(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        self.fields = self.process.stdout.readline().split() or self.fields

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Server(Launched):
    def __init__(self, *arguments):
        super().__init__("server", "--port", "free", *arguments)

    def ask(self, *words):
        """The first line of the reply. Without one while the server is down."""
        request = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        try:
            with socket.create_connection(("127.0.0.1", int(self.port)), 5) as connection:
                connection.sendall(request.encode())
                return connection.makefile("rb").readline().decode().strip()
        except OSError:
            return ""


@dataclasses.dataclass
class Line:
    at: float
    what: str  # enter, leave, failed
    worker: int
    text: str = ""

    @property
    def process(self):
        return self.worker >> 16


@dataclasses.dataclass
class Overlap:
    at: float
    workers: tuple
    is_of_stopped: bool  # a process was stopped in this section


class Arena:
    """Lines of all processes come through one pipe, so their order is the order of the events."""

    def __init__(self, competitor, processes, workers, section_s, server_arguments=(), has_proxies=False):
        self.server = Server(*server_arguments)
        self.section_s, self.workers = section_s, workers
        self.output, pipe = os.pipe()
        self.rest = b""
        self.lines, self.overlaps, self.inside, self.stopped = [], [], {}, set()
        self.proxies, self.processes = {}, {}
        for _ in range(processes):
            proxy = Launched("proxy", f"127.0.0.1:{self.server.port}") if has_proxies else None
            self.add(competitor, proxy, pipe)
        os.close(pipe)
        self.start = time.monotonic()
        for process in self.processes.values():
            process.stdin.write(b"\n")
            process.stdin.flush()

    def add(self, competitor, proxy, pipe):
        """Starts a process. It is ready before the next one starts, because the line "ready" may be more
        than one write."""
        address = f"127.0.0.1:{(proxy or self.server).port}"
        command = [*competitor.command, "work", address, "rivals", self.workers, int(self.section_s * 1e6), 0,
                   "-"]
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=pipe,
                                   stderr=subprocess.DEVNULL,
                                   env={**os.environ, **competitor.environment})
        self.processes[process.pid], self.proxies[process.pid] = process, proxy
        deadline = time.monotonic() + READY_LIMIT_S
        while "ready" not in self.take(0.1):
            if time.monotonic() > deadline:
                raise RuntimeError(f"it is not ready after {READY_LIMIT_S} s")

    def take(self, patience_s):
        """The complete lines that come within this time."""
        if select.select([self.output], [], [], max(0, patience_s))[0]:
            self.rest += os.read(self.output, 1 << 16)
        *lines, self.rest = self.rest.split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def note(self, text):
        what, worker, *words = text.split(" ", 2)
        line = Line(time.monotonic(), what, int(worker), *words)
        if line.process not in self.processes:
            return None  # written before it was killed
        if what == "enter":
            for other in self.inside:
                self.overlaps.append(Overlap(line.at, (other, line.worker), other in self.stopped))
            self.inside[line.worker] = line.at
        if what == "leave":
            self.inside.pop(line.worker, None)
            self.stopped.discard(line.worker)
        self.lines.append(line)
        return line

    def watch(self, seconds, until=lambda line: False):
        """Reads for this time. Returns the line for which `until` is true, if there is one."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = None
            for text in self.take(min(0.1, deadline - time.monotonic())):
                line = self.note(text)
                found = found or (line if line and until(line) else None)
            if found:
                return found
        return None

    def await_entry(self, seconds, except_process=None):
        """When a worker entered next, of another process if one is given. None if none did."""
        line = self.watch(seconds, lambda line: line.what == "enter" and line.process != except_process)
        return line.at if line else None

    def catch_holder(self, seconds=30):
        """The process of a worker that has just entered."""
        line = self.watch(seconds, lambda line: line.what == "enter")
        if not line:
            raise RuntimeError("no worker gets the lock")
        return line.process

    def kill(self, process):
        self.processes[process].kill()
        self.processes.pop(process).wait()
        self.inside = {worker: at for worker, at in self.inside.items() if worker >> 16 != process}

    def stop(self, process):
        os.kill(process, signal.SIGSTOP)
        self.stopped |= {worker for worker in self.inside if worker >> 16 == process}

    def resume(self, process):
        os.kill(process, signal.SIGCONT)

    def waiting(self):
        """The processes without a worker inside."""
        return [process for process in self.processes
                if all(worker >> 16 != process for worker in self.inside)]

    def entries(self, since=0.0):
        return [line for line in self.lines if line.what == "enter" and line.at >= since]

    def longest_gap_s(self, since):
        """The longest time without an entry, since then until now."""
        times = [since, *(line.at for line in self.entries(since)), time.monotonic()]
        return max(later - earlier for earlier, later in zip(times, times[1:]))

    def unserved(self, since):
        """How many live workers have not entered since then."""
        served = {line.worker for line in self.entries(since)}
        every = {(process << 16) + number + 1 for process in self.processes for number in range(self.workers)}
        return len(every - served)

    def close(self):
        for process in [*self.processes]:
            self.processes[process].kill()
            self.processes[process].wait()
            self.processes[process].stdin.close()
        for proxy in self.proxies.values():
            if proxy:
                proxy.close()
        os.close(self.output)
        self.server.close()
