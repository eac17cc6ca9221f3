"""The server of one scenario, on a unix socket."""
import os
import pathlib
import signal
import subprocess
import threading
import time

PROGRAM = os.environ.get("MORTISE_TEST_SERVER") or "redis-server"


class Server:
    def __init__(self, folder):
        self.socket = pathlib.Path(folder) / "redis.sock"
        self.folder = folder
        self.url = f"unix://{self.socket}"
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [PROGRAM, "--port", "0", "--unixsocket", str(self.socket), "--save", "",
             "--appendonly", "no", "--dir", str(self.folder)],
            stdout=subprocess.DEVNULL)
        for _ in range(500):
            if self.socket.exists() and self.command("PING") == "PONG":
                return
            time.sleep(0.01)
        raise RuntimeError(f"{PROGRAM} does not start")

    def command(self, text):
        """A command as redis-cli takes it: one line, with quotes where they are needed."""
        done = subprocess.run(["redis-cli", "-s", str(self.socket)], input=text + "\n", text=True,
                              capture_output=True, check=False)
        return done.stdout.rstrip("\n")

    def control(self, what, in_ms=0):
        """Ends the server and starts it anew; or makes it hang, with its sockets open, and go on."""
        action = {"stop": self.stop, "start": self.start,
                  "pause": self.pause, "resume": self.resume}[what]
        if in_ms == 0:
            return action()
        later = threading.Timer(in_ms / 1000, lambda: self.process and action())
        later.daemon = True
        return later.start()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = None
        self.socket.unlink(missing_ok=True)
