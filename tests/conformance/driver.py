"""A driver's process, and the lines to and from it."""
import contextlib
import os
import select
import shlex
import signal
import subprocess
import time
import urllib.parse

from run_secrets import Secrets

PATIENCE_S = 30
# A driver that frees everything needs 0.1 s per client.
RESET_PATIENCE_S = 5


class Unresponsive(Exception):
    """The process ended, or did not answer in time."""


class Ended(Unresponsive):
    """The process ended by itself."""


class Answer:
    """`ID STATUS [token=N] [value=N] [text=…] [retryable=N ambiguous=N]`, and of a notice [reason=N].
    A missing field is None, which is no number and equals nothing."""

    def __init__(self, status, fields):
        self.status = status
        self.value = number_in(fields, "value", "token")
        self.text = fields.get("text", "")
        self.reason = number_in(fields, "reason")
        self.retryable = {"1": True, "0": False}.get(fields.get("retryable"))
        self.ambiguous = {"1": True, "0": False}.get(fields.get("ambiguous"))


def number_in(fields, *keys):
    """The first of these fields that is present."""
    return next((int(fields[key]) for key in keys if key in fields), None)


def sleep_ms(duration_ms):
    time.sleep(duration_ms / 1000)


def quote(value):
    """Any text, or bytes that are given as a list of numbers."""
    raw = bytes(value) if isinstance(value, list) else str(value).encode()
    return urllib.parse.quote(raw, safe="")


class Driver:
    def __init__(self, name, command, environment, patience_s=PATIENCE_S, secrets=Secrets(())):
        self.command = command
        # A session of its own, so that a signal also reaches the children of a language's launcher.
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, start_new_session=True,
                                        env={**os.environ, **environment})
        self.buffer = b""
        self.last = 0
        self.begin_run(name, patience_s, secrets)

    def begin_run(self, name, patience_s, secrets):
        """From now on the driver belongs to this run. Nothing of an earlier run is left."""
        self.name = name
        self.patience_s = patience_s
        self.secrets = secrets
        self.answers = {}
        self.ended = {}
        self.notices = []
        self.pending = set()  # numbers of calls whose end was not awaited

    # ---- lines ----------------------------------------------------------------------------

    def send(self, words, arguments):
        self.last += 1
        text = " ".join([str(self.last)] + words +
                        [f"{key}={quote(value)}" for key, value in arguments.items()])
        try:
            self.process.stdin.write(text.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Ended(f"{self.name} has ended") from None
        self.pending.add(self.last)
        return self.last

    def read_line(self, deadline):
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [],
                                        max(0, deadline - time.monotonic()))
            if not ready:
                raise Unresponsive(f"{self.name} does not answer")
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                raise Ended(f"{self.name} has ended")
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def take_line(self, deadline):
        line = self.read_line(deadline)
        self.secrets.check(line, self.name)
        words = line.split(" ")
        kind = words.pop(0) if words[0] in ("done", "notice") else "answer"
        fields = dict(word.split("=", 1) for word in words[2:])
        fields = {key: urllib.parse.unquote(value) for key, value in fields.items()}
        if kind == "notice":
            self.notices.append((words[0], words[1], Answer("ok", fields)))
        else:
            into = self.ended if kind == "done" else self.answers
            into[int(words[0])] = Answer(words[1], fields)

    def answer(self, number):
        deadline = time.monotonic() + self.patience_s
        while number not in self.answers:
            self.take_line(deadline)
        self.pending.discard(number)
        return self.answers.pop(number)

    # ---- commands -------------------------------------------------------------------------

    def new(self, kind, name, arguments):
        return self.answer(self.send(["new", kind, name], arguments))

    def call(self, on, method, arguments):
        return self.answer(self.send(["call", on, method], arguments))

    def start(self, on, method, arguments):
        number = self.send(["start", on, method], arguments)
        answer = self.answer(number)
        if answer.status == "ok":
            self.pending.add(number)
        return number, answer

    def await_call(self, number):
        deadline = time.monotonic() + self.patience_s
        while number not in self.ended:
            if time.monotonic() > deadline:
                raise Unresponsive(f"{self.name} does not report the end of call {number}")
            self.answer(self.send(["pump"], {"timeout_ms": 50}))
        self.pending.discard(number)
        return self.ended.pop(number)

    def await_notice(self, on, kind):
        deadline = time.monotonic() + self.patience_s
        while True:
            for notice in self.notices:
                if notice[:2] == (on, kind):
                    self.notices.remove(notice)
                    return notice[2]
            if time.monotonic() > deadline:
                raise Unresponsive(f"{self.name} gives no notice of {kind}")
            self.answer(self.send(["pump"], {"timeout_ms": 50}))

    def has_notice(self, on, kind):
        """Whether the notice has come, or is among the events that the driver has not read yet."""
        self.answer(self.send(["pump"], {"timeout_ms": 50}))
        return any(notice[:2] == (on, kind) for notice in self.notices)

    def signal(self, name):
        os.killpg(self.process.pid, getattr(signal, "SIG" + name))

    # ---- the end of a run -----------------------------------------------------------------

    def begin_reset(self):
        """Has the driver free everything that the run made. Returns the number of the command; None if
        a call is still under way."""
        return None if self.pending else self.send(["reset"], {})

    def is_reset(self, number):
        """Whether the driver reports that everything is freed, so that another run can use it.
        Raises Ended if the process ends instead, because freeing has made it crash."""
        if number is None:
            return False
        self.patience_s = RESET_PATIENCE_S
        try:
            return self.answer(number).status == "ok"
        except Ended:
            raise
        except Unresponsive:
            return False

    def end_by_itself(self):
        self.process.stdin.close()
        try:
            self.process.wait(self.patience_s)
        except subprocess.TimeoutExpired:
            raise Unresponsive(f"{self.name} does not end") from None

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            self.signal("KILL")
        with contextlib.suppress(BrokenPipeError):  # for written and unsent bytes
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
