"""A process that plays an actor, and the lines that go to and fro."""
import contextlib
import os
import select
import shlex
import signal
import subprocess
import time
import urllib.parse

from secrets_of_play import Secrets

PATIENCE_S = 30


class Gone(Exception):
    """The process ended, or said nothing for too long."""


class Answer:
    """`ID STATUS [token=N] [value=N] [text=…] [retryable=N ambiguous=N]`, and of a notice [reason=N].
    What was not said is None, which is no number and equals nothing."""

    def __init__(self, status, fields):
        self.status = status
        self.value = number_in(fields, "value", "token")
        self.text = fields.get("text", "")
        self.reason = number_in(fields, "reason")
        self.retryable = {"1": True, "0": False}.get(fields.get("retryable"))
        self.ambiguous = {"1": True, "0": False}.get(fields.get("ambiguous"))


def number_in(fields, *keys):
    """The first of these that was said."""
    return next((int(fields[key]) for key in keys if key in fields), None)


def sleep_ms(duration_ms):
    time.sleep(duration_ms / 1000)


def quote(value):
    """Any text, or bytes that are given as a list of numbers."""
    raw = bytes(value) if isinstance(value, list) else str(value).encode()
    return urllib.parse.quote(raw, safe="")


class Actor:
    def __init__(self, name, command, environment, patience_s=PATIENCE_S, secrets=Secrets(())):
        self.name = name
        self.secrets = secrets
        self.patience_s = patience_s
        # A session of its own, so that a language's launcher gets the signals, too.
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, start_new_session=True,
                                        env={**os.environ, **environment})
        self.buffer = b""
        self.last = 0
        self.answers = {}
        self.ended = {}
        self.notices = []

    # ---- lines ----------------------------------------------------------------------------

    def send(self, words, arguments):
        self.last += 1
        text = " ".join([str(self.last)] + words +
                        [f"{key}={quote(value)}" for key, value in arguments.items()])
        try:
            self.process.stdin.write(text.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Gone(f"{self.name} has ended") from None
        return self.last

    def read_line(self, deadline):
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [],
                                        max(0, deadline - time.monotonic()))
            if not ready:
                raise Gone(f"{self.name} says nothing")
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                raise Gone(f"{self.name} has ended")
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
        return self.answers.pop(number)

    # ---- what it is told ------------------------------------------------------------------

    def new(self, kind, name, arguments):
        return self.answer(self.send(["new", kind, name], arguments))

    def call(self, on, method, arguments):
        return self.answer(self.send(["call", on, method], arguments))

    def start(self, on, method, arguments):
        number = self.send(["start", on, method], arguments)
        return number, self.answer(number)

    def await_call(self, number):
        deadline = time.monotonic() + self.patience_s
        while number not in self.ended:
            if time.monotonic() > deadline:
                raise Gone(f"{self.name} never says how call {number} ended")
            self.answer(self.send(["pump"], {"timeout_ms": 50}))
        return self.ended.pop(number)

    def await_notice(self, on, kind):
        deadline = time.monotonic() + self.patience_s
        while True:
            for notice in self.notices:
                if notice[:2] == (on, kind):
                    self.notices.remove(notice)
                    return notice[2]
            if time.monotonic() > deadline:
                raise Gone(f"{self.name} gives no notice of {kind}")
            self.answer(self.send(["pump"], {"timeout_ms": 50}))

    def has_notice(self, on, kind):
        """Whether it has come, or comes with what the actor has not read yet."""
        self.answer(self.send(["pump"], {"timeout_ms": 50}))
        return any(notice[:2] == (on, kind) for notice in self.notices)

    def signal(self, name):
        os.killpg(self.process.pid, getattr(signal, "SIG" + name))

    def end_by_itself(self):
        self.process.stdin.close()
        try:
            self.process.wait(self.patience_s)
        except subprocess.TimeoutExpired:
            raise Gone(f"{self.name} does not end") from None

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            self.signal("KILL")
        with contextlib.suppress(BrokenPipeError):  # of what was written and not sent
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
