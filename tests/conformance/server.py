"""The server of one scenario, from tests/support/server, on a unix socket."""
import pathlib
import subprocess
import threading

LAUNCHER = pathlib.Path(__file__).resolve().parents[1] / "support/server"


class Server:
    def __init__(self):
        self.launcher = subprocess.Popen([LAUNCHER], text=True, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)
        self.lock = threading.Lock()
        self.socket = f"{self.launcher.stdout.readline().split()[1]}/redis.sock"
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

    def tell(self, what):
        with self.lock:
            if self.launcher.stdin.closed:
                return
            print(what, file=self.launcher.stdin, flush=True)
            self.launcher.stdout.readline()

    def end(self):
        with self.lock:
            self.launcher.communicate()
