"""A server of a scenario, from tests/support/server, on a unix socket and on a port."""
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

    def control(self, what, in_ms=0):
        """What tests/support/server can do: kill, start, pause, resume."""
        if in_ms == 0:
            return self.tell(what)
        later = threading.Timer(in_ms / 1000, self.tell, [what])
        later.daemon = True
        return later.start()
