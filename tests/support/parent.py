"""The test that has started this program, and what it says: lines, until it has no more to say or
has died, whatever it died of. It is the process that counts: a thread of it may end, and a process
that it has forked may still have the other end of the conversation."""
import os
import select


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
        """When one of these can be read, there is something to hear."""
        return self.process, 0

    def hear(self):
        """The lines that have come since; None when none will come any more."""
        either = select.poll()
        for descriptor in self.descriptors():
            either.register(descriptor, select.POLLIN)
        ready = dict(either.poll(0))
        if self.process in ready:
            return None
        if 0 not in ready:
            return []
        said = os.read(0, 4096)
        if not said:
            return None
        *whole, self.rest = (self.rest + said).split(b"\n")
        return [line.decode() for line in whole]

    def lines(self):
        """All that it says, for a program that has nothing else to do meanwhile."""
        either = select.poll()
        for descriptor in self.descriptors():
            either.register(descriptor, select.POLLIN)
        while either.poll() and (heard := self.hear()) is not None:
            yield from heard

    @staticmethod
    def tell(*words):
        os.write(1, (" ".join(str(word) for word in words) + "\n").encode())
