"""The common parts of the recipes' tests. They build the programs of a page, run several at once
against the test's server, and watch their lines."""
import os
import re
import signal
import subprocess
import threading

URL = os.environ["MORTISE_TEST_TCP_URL"]
PREFIX = os.environ["PREFIX"]
os.environ.update(GOPROXY="off", GOTOOLCHAIN="local", GOFLAGS="-mod=mod")
# Without a buffer Python writes a line and its end one after the other.
os.environ.pop("PYTHONUNBUFFERED", None)
MODULE = "github.com/mortise/mortise-go"
PATIENCE_S = 60
STRICT = "-Wall -Wextra -Wshadow -Werror".split()
COMPILERS = {"c": ["gcc", "-std=c99", "-D_GNU_SOURCE"], "cpp": ["g++", "-std=c++20", "-pedantic"]}
_running = []


def output_of(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def redis(*command):
    """The reply of the server."""
    return output_of("redis-cli", "-u", URL, *command)


def go_module(*modules):
    """Lets the Go programs of this folder find the installed package, and further modules, each a name
    and its folder."""
    version = output_of("pkg-config", "--modversion", "mortise")
    output_of("go", "mod", "init", "recipe")
    for name, at, folder in ((MODULE, version, f"{PREFIX}/share/mortise/go"), *modules):
        output_of("go", "mod", "edit", "-require", f"{name}@v{at}", "-replace", f"{name}={folder}")


def built(file, *flags, classpath=""):
    """The command that runs a file of the page."""
    name, _, language = file.rpartition(".")
    if language == "go":
        if not os.path.exists("go.mod"):
            go_module()
        unformatted = output_of("gofmt", "-l", file)
        assert not unformatted, f"run gofmt on the page's {unformatted}"
        output_of("go", "vet", *flags, file)
        output_of("go", "build", *flags, "-o", f"{name}_go", file)
        return [f"./{name}_go"]
    if language in COMPILERS:
        library = output_of("pkg-config", "--cflags", "--libs", "mortise").split()
        output_of(*COMPILERS[language], *STRICT, file, *library, *flags, "-o", f"{name}_{language}")
        return [f"./{name}_{language}"]
    if language == "java":
        jars = f"{PREFIX}/share/java/mortise.jar:{classpath}"
        output_of("javac", "-Xlint:all", "-Werror", "-cp", jars, "-d", "classes", file)
        return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"classes:{jars}", name]
    return [{"lua": "lua5.4", "py": "/usr/bin/python3", "sh": "bash"}[language], file]


class Program:
    """A running program. `query` is the operator's addition to its URL. With an `output` its lines
    go to that file."""

    def __init__(self, command, *arguments, query="", output=None):
        self.lines, self.seen = [], 0
        self.changed = threading.Condition()
        # A group of its own, so that what it has started ends with it.
        self.process = subprocess.Popen(
            [*command, *arguments], text=True, start_new_session=True, stdin=subprocess.PIPE,
            stdout=output or subprocess.PIPE, env={**os.environ, "MORTISE_URL": URL + query})
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        _running.append(self)

    def read(self):
        for line in self.process.stdout or ():
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)
            self.changed.notify_all()

    def expect(self, pattern):
        """The match in the next line that has one; those before it are passed over."""
        def find():
            while self.seen < len(self.lines):
                line = self.lines[self.seen]
                if line is None:
                    raise AssertionError(f"it ended without {pattern!r}: {self}")
                self.seen += 1
                found = re.search(pattern, line)
                if found:
                    return found
            return None

        with self.changed:
            found = self.changed.wait_for(find, PATIENCE_S)
        assert found, f"no {pattern!r}: {self}"
        return found

    def write_line(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def send(self, number):
        self.process.send_signal(number)
        if number == signal.SIGSTOP:
            os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def kill(self):
        """With SIGKILL, and what it has started, too."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def end(self, status=0):
        """All its lines, after it has ended by itself."""
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it does not end: {self}") from None
        assert self.process.returncode == status, f"exit code {self.process.returncode}: {self}"
        self.reader.join(PATIENCE_S)
        return [line for line in self.lines if line is not None]

    def __str__(self):
        return f"{' '.join(self.process.args)} said {self.lines}"


def eventually(what, condition):
    """Asks until it is so."""
    pause = threading.Event()
    for _ in range(PATIENCE_S * 50):
        value = condition()
        if value:
            return value
        pause.wait(0.02)
    raise AssertionError(f"never: {what}")


def run(*cases):
    """The cases one after the other; whatever they have started ends with each, and the next begins with
    a server that knows nothing of it."""
    for case in cases:
        try:
            case()
        except Exception:
            print(f"{case.__name__} failed")
            raise
        finally:
            while _running:
                _running.pop().kill()
            redis("FLUSHALL")
