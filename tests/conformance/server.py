"""A server of a scenario, from tests/support/server, on a unix socket and on a port."""
import pathlib
import subprocess
import threading

from launched import Launched


class Server(Launched):
    def __init__(self, *arguments):
        super().__init__("server", "--port", "free", *arguments)
        self.socket = f"{self.folder}/redis.sock"
        self.url = f"unix://{self.socket}"

    def command(self, text):
        """A command as redis-cli takes it: one line, with quotes where they are needed."""
        done = subprocess.run(["redis-cli", "-s", self.socket], input=text + "\n", text=True,
                              capture_output=True, check=False)
        return done.stdout.rstrip("\n")

    def write(self, name, text):
        """A file in its folder; as who rotates it does, whole or as it was."""
        fresh = pathlib.Path(self.folder, name + ".new")
        fresh.write_bytes(text.encode())
        fresh.rename(fresh.with_suffix(""))

    def control(self, what, in_ms=0):
        """What tests/support/server can do: kill, start, pause, resume."""
        if in_ms == 0:
            return self.tell(what)
        later = threading.Timer(in_ms / 1000, self.tell, [what])
        later.daemon = True
        return later.start()
