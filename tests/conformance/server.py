"""A server of a scenario, from tests/support/server, on a unix socket and on a port."""
import pathlib
import re
import threading

from launched import Launched
from resp import ask

# What a run leaves at a server besides its configuration.
CLEANING = ("FLUSHALL", "SCRIPT FLUSH", "CONFIG RESETSTAT", "ACL LOG RESET", "DBSIZE", "CLIENT ID",
            "CLIENT LIST")


class Server(Launched):
    def __init__(self, *arguments):
        super().__init__("server", "--port", "free", *arguments)
        self.socket = f"{self.folder}/redis.sock"
        self.url = f"unix://{self.socket}"

    def command(self, text):
        """A command as redis-cli takes it: one line, with quotes where they are needed."""
        return ask(self.socket, text)[0]

    def clean(self):
        """Ends all clients but a Sentinel, and deletes all that they stored. Whether nothing is left."""
        left = []
        for _ in range(3):
            *_, size, own, clients = ask(self.socket, *(f"CLIENT KILL ID {number}" for number in left), *CLEANING)
            left = [number for number, name in re.findall(r"^id=(\d+) .* name=(\S*)", clients, re.M)
                    if number != own and not name.startswith("sentinel-")]
            if size == "0" and clients and not left:
                return True
        return False

    def write(self, name, text):
        """A file in its folder, which appears as a whole, as in a rotation of passwords."""
        fresh = pathlib.Path(self.folder, name + ".new")
        fresh.touch(mode=0o600)
        fresh.write_bytes(text.encode())
        fresh.rename(fresh.with_suffix(""))

    def control(self, what, in_ms=0):
        """What tests/support/server can do: kill, start, pause, resume."""
        if in_ms == 0:
            return self.send(what)
        later = threading.Timer(in_ms / 1000, self.send, [what])
        later.daemon = True
        return later.start()
