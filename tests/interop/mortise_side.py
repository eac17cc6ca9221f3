"""Mortise's side of an interop test: just enough of the C ABI."""

import ctypes
import threading
import time

OK, NOT_ACQUIRED, TIMED_OUT, LOST = 0, 1, 2, 4


class Client:
    def __init__(self, library, url):
        self.library = ctypes.CDLL(library)
        for name in ("mortise_client_new", "mortise_lock_new"):
            getattr(self.library, name).restype = ctypes.c_void_p
        encoded = url.encode()
        self.handle = self.library.mortise_client_new(
            encoded, ctypes.c_size_t(len(encoded)), None, None
        )
        assert self.handle, f"no client for {url}"

    def lock(self, name):
        encoded = name.encode()
        handle = self.library.mortise_lock_new(
            ctypes.c_void_p(self.handle), encoded, ctypes.c_size_t(len(encoded)), None, None
        )
        assert handle, f"no lock {name}"
        return Lock(self.library, handle)


class Lock:
    def __init__(self, library, handle):
        self.library = library
        self.handle = ctypes.c_void_p(handle)

    def try_acquire(self):
        return self.library.mortise_lock_try(self.handle, None)

    def acquire(self, timeout_ms):
        return self.library.mortise_lock_acquire(self.handle, ctypes.c_int64(timeout_ms), None)

    def unlock(self):
        return self.library.mortise_lock_unlock(self.handle, None)


class Background:
    """A call in a thread of its own; `seconds` is how long it took."""

    def __init__(self, call, *arguments):
        self.result = None

        def run():
            begin = time.monotonic()
            self.result = call(*arguments)
            self.seconds = time.monotonic() - begin

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def is_waiting(self):
        return self.thread.is_alive()

    def end(self):
        self.thread.join(60)
        assert not self.thread.is_alive(), "the call never ended"
        return self.result


def expect(expected, got, what):
    if expected != got:
        raise AssertionError(f"{what}: expected {expected!r}, got {got!r}")


def eventually(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"never: {what}")
        time.sleep(0.01)


def run_cases(module):
    """Runs each case_* function of a module, and prints its name."""
    for name, case in list(vars(module).items()):
        if name.startswith("case_"):
            case()
            print("ok", name)
