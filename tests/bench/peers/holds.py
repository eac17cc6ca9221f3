"""Many locks of one client: how fast they are acquired, and what their renewals cost."""
import contextlib
import time

from servers import Server
from workload import Process

COUNT = 100_000
# Longer than any of the leases, so that each lock is renewed.
WINDOW_S = 40
ACQUIRE_LIMIT_S = 900


def measure_holds(competitor, count=COUNT, window_s=WINDOW_S):
    with contextlib.ExitStack() as ends:
        server = ends.enter_context(contextlib.closing(Server()))
        process = Process(competitor, ["many", server.address + competitor.options, "many", count, 0, 0, "-"])
        ends.callback(process.kill)
        process.expect("ready")
        start = time.monotonic()
        process.start()
        process.expect("held", ACQUIRE_LIMIT_S)
        acquired_s = time.monotonic() - start
        before = time.monotonic(), server.cpu_s(), process.cpu_s(), server.commands()
        time.sleep(window_s)
        after = time.monotonic(), server.cpu_s(), process.cpu_s(), server.commands()
        passed_s, server_cpu_s, client_cpu_s, commands = (late - early for early, late in zip(before, after))
        return {"count": count, "acquired_s": acquired_s, "server_share": server_cpu_s / passed_s,
                "client_share": client_cpu_s / passed_s, "commands": commands / passed_s,
                "expired": server.expired_keys(), "peak_bytes": process.peak_bytes()}
