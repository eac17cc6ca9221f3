"""The test that has started this program, and its commands: lines, until their end or the death of
the test. The process counts: a thread of it may end, and a process that it has forked may still
have the other end of the pipe."""
import os
import select
import sys

# What `struct launcher` of launcher.h has room for.
LONGEST_FOLDER = 79


def own_folder():
    """A new folder. Where none can be made the program ends, with the path and the reason."""
    folder = f"{os.environ.get('TMPDIR') or '/tmp'}/mortise-test-{os.urandom(6).hex()}"
    if len(folder.encode()) > LONGEST_FOLDER:
        sys.exit(f"{folder}: the path is longer than {LONGEST_FOLDER} bytes; set a shorter TMPDIR")
    try:
        os.mkdir(folder, 0o700)
    except OSError as error:
        sys.exit(f"cannot make the folder {folder}: {error.strerror}")
    return folder


def full_disk(folder):
    """Why nothing can be written into the folder, with its path; empty where it can."""
    path = f"{folder}/room"
    try:
        with open(path, "wb") as file:
            file.write(bytes(1 << 16))
        os.unlink(path)
    except OSError as error:
        return f"cannot write to {folder}: {error.strerror}"
    return ""


class Parent:
    def __init__(self):
        self.process = os.pidfd_open(os.getppid())
        self.rest = b""
        try:
            # What a terminal sends is for the test, and this program is the test's.
            os.setsid()
        except PermissionError:
            pass

    def descriptors(self):
        """When one of these can be read, there is a line or the end."""
        return self.process, 0

    def read_lines(self):
        """The lines that have come since; None after the end."""
        either = select.poll()
        for descriptor in self.descriptors():
            either.register(descriptor, select.POLLIN)
        ready = dict(either.poll(0))
        if self.process in ready:
            return None
        if 0 not in ready:
            return []
        chunk = os.read(0, 4096)
        if not chunk:
            return None
        *whole, self.rest = (self.rest + chunk).split(b"\n")
        return [line.decode() for line in whole]

    def lines(self):
        """All its lines, for a program that has nothing else to do meanwhile."""
        either = select.poll()
        for descriptor in self.descriptors():
            either.register(descriptor, select.POLLIN)
        while either.poll() and (lines := self.read_lines()) is not None:
            yield from lines

    @staticmethod
    def write(*words):
        os.write(1, (" ".join(str(word) for word in words) + "\n").encode())
