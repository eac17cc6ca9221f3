"""How long a lock is blocked after its holder was killed."""
import contextlib
import selectors
import time

from servers import Server
from workload import Process

LIMIT_S = 70


def start_pair(key, competitor, address, ends):
    """A holder, and a process that waits for its lock."""
    pair = []
    for mode in ("hold", "take"):
        one = Process(competitor, [mode, address, f"killed-{key}", 1, 0, 0, "-"])
        ends.callback(one.kill)
        one.expect("ready")
        pair.append(one)
    pair[0].start()
    pair[0].expect("held")
    pair[1].start()
    return pair


def measure_killed(competitors):
    """All at once, as all wait. The seconds of each, None beyond the limit; and what failed."""
    waited, problems, pairs = {}, {}, {}
    with contextlib.ExitStack() as ends, selectors.DefaultSelector() as selector:
        server = ends.enter_context(contextlib.closing(Server()))
        for key, competitor in competitors.items():
            try:
                pairs[key] = start_pair(key, competitor, server.address, ends)
                waited[key] = None
            except (RuntimeError, OSError) as problem:
                problems[key] = str(problem)
        time.sleep(0.1)  # so that all wait already
        for key, (holder, taker) in pairs.items():
            holder.process.kill()
            selector.register(taker.process.stdout, selectors.EVENT_READ, (key, time.monotonic()))
        deadline = time.monotonic() + LIMIT_S
        while selector.get_map() and time.monotonic() < deadline:
            for ready, _ in selector.select(deadline - time.monotonic()):
                key, killed = ready.data
                selector.unregister(ready.fileobj)
                lasted_s = time.monotonic() - killed
                try:
                    pairs[key][1].expect("taken")
                    waited[key] = lasted_s
                except RuntimeError as problem:
                    waited.pop(key)
                    problems[key] = str(problem)
    return waited, problems
