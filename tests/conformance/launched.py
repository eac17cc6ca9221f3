"""A program of tests/support that reads commands line by line, and ends with this one."""
import pathlib
import subprocess
import threading

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "support"


class Launched:
    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([PROGRAMS / program, *arguments], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock = threading.Lock()
        _, self.folder, *self.ports = self.process.stdout.readline().split()

    def send(self, command):
        """It is done."""
        with self.lock:
            if self.process.stdin.closed:
                return
            print(command, file=self.process.stdin, flush=True)
            self.process.stdout.readline()

    def end(self):
        with self.lock:
            self.process.communicate()
