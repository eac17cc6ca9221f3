"""What all competitors talk to: a fresh server, a link that delays, and the server's own account of its work."""
import pathlib
import re
import socket
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[3]
HOST = "127.0.0.1"


class Server:
    """Fresh and without persistence, on a port of loopback."""

    def __init__(self):
        self.launcher = subprocess.Popen([TOP / "tests/support/server", "--port", "free"],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        pid, _, port = self.launcher.stdout.readline().split()
        self.pid, self.port = int(pid), int(port)
        self.connection = socket.create_connection((HOST, self.port))
        self.answers = self.connection.makefile("rb")

    @property
    def address(self):
        return f"{HOST}:{self.port}"

    def info(self, section):
        self.connection.sendall(f"INFO {section}\r\n".encode())
        length = int(self.answers.readline()[1:])
        return self.answers.read(length + 2).decode()

    def cpu_s(self):
        return sum(float(value) for value in
                   re.findall(r"^used_cpu_(?:user|sys):([\d.]+)", self.info("cpu"), re.M))

    def commands(self):
        """All, those inside scripts too, but this one."""
        return sum(int(calls) for name, calls in
                   re.findall(r"^cmdstat_([^:]+):calls=(\d+)", self.info("commandstats"), re.M)
                   if name != "info")

    def expired_keys(self):
        return int(re.search(r"^expired_keys:(\d+)", self.info("stats"), re.M)[1])

    def version(self):
        facts = self.info("server")
        name = "valkey" if "valkey_version" in facts else "redis"
        number = re.search(name + r"_version:(\S+)", facts)[1]
        return f"{name.capitalize()} {number}"

    def close(self):
        self.connection.close()
        self.launcher.stdin.close()
        self.launcher.wait()
        self.launcher.stdout.close()


class Link:
    """A way to the server that takes so long in each direction."""

    def __init__(self, server, one_way_us):
        self.process = subprocess.Popen(
            [TOP / "build/release/bench_peers_proxy", f"redis://{server.address}", str(one_way_us)],
            stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    @property
    def address(self):
        return f"{HOST}:{self.port}"

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
