"""The faults: each sets up an arena, does its harm, and returns what came of it."""
import contextlib
import random
import time

from arena import Arena

SECTION_S = 0.1
LIMIT_S = 70  # longer than any default lease
SETTLE_S = 45  # longer than the longest default lease, which some waiters wait for
FULL_AOF = ("--appendonly", "yes", "--appendfsync", "always")


def result(arena, fault_began, fault_ended, **more):
    overlaps = [overlap for overlap in arena.overlaps if not overlap.is_of_stopped]
    failed = [line for line in arena.lines if line.what == "failed"]
    return {"entries": len(arena.entries()), "overlaps": len(overlaps),
            "overlaps_with_a_stopped_process": len(arena.overlaps) - len(overlaps),
            "longest_gap_s": round(arena.longest_gap_s(fault_began), 2),
            "unserved": arena.unserved(fault_ended), "failed_calls": len(failed),
            "error": failed[0].text[:120] if failed else "", **more}


@contextlib.contextmanager
def started(competitor, processes=3, workers=2, section_s=SECTION_S, **more):
    arena = Arena(competitor, processes, workers, section_s, **more)
    try:
        if arena.await_entry(30) is None:
            raise RuntimeError("no worker gets the lock")
        arena.watch(1)
        yield arena
    finally:
        arena.close()


def harm_repeatedly(arena, harm, seconds, pause_s):
    """Returns the number of harms. None that had no effect counts."""
    count = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        count += bool(harm())
        arena.watch(pause_s)
    return count


def repeated(competitor, harm, pause_s, **more):
    """A harm again and again for 10 s, and the time after it."""
    with started(competitor, **more) as arena:
        begin = time.monotonic()
        harms = harm_repeatedly(arena, lambda: harm(arena), 10, pause_s)
        end = time.monotonic()
        arena.watch(SETTLE_S)
        return result(arena, begin, end, harms=harms)


def holder_killed(competitor):
    with started(competitor, workers=1, section_s=0.8) as arena:
        holder = arena.catch_holder()
        arena.watch(0.4)
        arena.kill(holder)
        begin = time.monotonic()
        entry = arena.await_entry(LIMIT_S)
        arena.watch(3)
        return result(arena, begin, begin, harms=1, free_again_s=entry and round(entry - begin, 2))


def holder_stopped(competitor):
    with started(competitor, workers=1) as arena:
        holder = arena.catch_holder()
        arena.stop(holder)
        begin = time.monotonic()
        entry = arena.await_entry(LIMIT_S, holder)
        arena.watch(3)
        arena.resume(holder)
        end = time.monotonic()
        arena.watch(10)
        return result(arena, begin, end, harms=1, free_again_s=entry and round(entry - begin, 2))


def holder_cut_off(competitor):
    """The network of the holder is frozen in a section that is longer than any lease."""
    with started(competitor, processes=2, workers=1, section_s=50, has_proxies=True) as arena:
        holder = next(iter(arena.inside)) >> 16
        arena.proxies[holder].control("freeze")
        begin = time.monotonic()
        entry = arena.await_entry(LIMIT_S, holder)
        arena.watch(3)
        arena.proxies[holder].control("thaw")
        return result(arena, begin, begin, harms=1, free_again_s=entry and round(entry - begin, 2))


def waiters_killed(competitor):
    with started(competitor, processes=6, workers=1) as arena:
        begin = time.monotonic()
        for _ in range(3):
            # Right after an entry, so that the killed process surely waits.
            holder = arena.catch_holder()
            arena.kill(random.choice([process for process in arena.waiting() if process != holder]))
            arena.watch(1)
        end = time.monotonic()
        arena.watch(SETTLE_S)
        return result(arena, begin, end, harms=3)


def long_section(competitor):
    """No fault: sections of 12 s, and every process lives."""
    with started(competitor, processes=2, workers=1, section_s=12) as arena:
        begin = time.monotonic()
        arena.watch(40)
        return result(arena, begin, begin, harms=1)


def subscribers_disconnected(competitor):
    return repeated(competitor, lambda arena: int(arena.server.ask("CLIENT", "KILL", "TYPE", "pubsub")[1:]
                                                  or 0), 0.1)


def clients_disconnected(competitor):
    # A RESP3 connection with a subscription is of type pubsub.
    def kill(arena):
        return sum(int(arena.server.ask("CLIENT", "KILL", "TYPE", kind)[1:] or 0)
                   for kind in ("normal", "pubsub"))
    return repeated(competitor, kill, 0.5)


def scripts_flushed(competitor):
    return repeated(competitor, lambda arena: arena.server.ask("SCRIPT", "FLUSH") == "+OK", 0.05)


def server_hangs(competitor):
    def hang(arena):
        arena.server.control("pause")
        arena.watch(1)
        arena.server.control("resume")
        return True
    return repeated(competitor, hang, 1)


def restart(arena):
    arena.server.control("kill")
    arena.watch(0.5)
    arena.server.control("start")
    return True


def server_restarted(competitor):
    return repeated(competitor, restart, 2.5, server_arguments=FULL_AOF)


def server_restarted_empty(competitor):
    return repeated(competitor, restart, 2.5)


def memory_full(competitor):
    with started(competitor) as arena:
        begin = time.monotonic()
        arena.server.ask("CONFIG", "SET", "maxmemory", "1")
        arena.watch(5)
        arena.server.ask("CONFIG", "SET", "maxmemory", "0")
        end = time.monotonic()
        arena.watch(SETTLE_S)
        return result(arena, begin, end, harms=1)


FAULTS = {function.__name__: function for function in (
    long_section, holder_killed, waiters_killed, holder_stopped, holder_cut_off, subscribers_disconnected,
    clients_disconnected, scripts_flushed, server_hangs, memory_full, server_restarted,
    server_restarted_empty)}
