#!/usr/bin/env python3
"""The behavior of Mortise at servers in the shape of managed services, which hide, forbid and
replace.

    managed.py --driver build/release/conformance_driver --page docs/server.md

Prints a table of the shapes and the results of all attempts of this run. Real servers are
configured alike, and drivers of tests/conformance try the calls of tests/checks/docs/rights.py, and
lose a hold. It fails unless the table is on the page, and also if a call never ends.
"""
import argparse
import pathlib
import re
import sys
from concurrent import futures

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "conformance"))
sys.path.insert(0, str(HERE))
import rights  # noqa: E402
from launched import Launched  # noqa: E402
from rights import PATIENCE_MS, Refused, do, make  # noqa: E402
from server import Server  # noqa: E402

TRIED_AT_A_TIME = 4


def lose(setup):
    """A hold ends with a server that forgets it, long before its lease."""
    holder = setup.driver()
    make(holder, "lock", "x")
    do(holder, "x", "watch")
    do(holder, "x", "try")
    setup.server.control("kill")
    setup.server.control("start")
    holder.await_notice("x", "lost")


TRIED = {**rights.TRIED, "noticing a restart without data": lose}


def hidden(*commands):
    """They are unknown to the server."""
    return [word for command in commands for word in ("--rename-command", command, "")]


class Service(rights.Setup):
    """A server of some shape, and drivers that connect to it."""

    arguments = []
    # What shows in no status.
    cost = "–"

    def __init__(self, command):
        self.server = Server(*self.arguments)
        self.url = self.server.url
        self.command = command
        self.drivers = []

    @classmethod
    def seen(cls, command):
        """(the working calls, the other refusals), after everything was tried."""
        failed = {}
        for what, attempt in TRIED.items():
            setup = cls(command)
            try:
                attempt(setup)
            except Refused as problem:
                failed[what] = text_of(problem)
            finally:
                setup.close()
        if "to connect" in failed:
            return "nothing", failed["to connect"]
        if failed:
            return f"all but {', '.join(failed)}", "; ".join(sorted(set(failed.values())))
        return "everything", cls.cost


def text_of(failure):
    """Its status and message, without the lock's name and the address. Redis 6.2 quotes otherwise."""
    text = re.sub(r'^("[^"]*": )?\S+: ', "", failure.text).replace("`", "'")
    return f"`MORTISE_{failure.status.upper()}`: {text}"


class Demoted(Service):
    """The name moves to a promoted server, and the connection to the old server stays open (ElastiCache)"""

    def __init__(self, command):
        super().__init__(command)
        self.old, self.server = self.server, Server()
        self.network = Launched("proxy", self.old.socket)
        self.url = f"unix://{self.network.folder}/proxy.sock"
        self.server.command(f"REPLICAOF 127.0.0.1 {self.old.ports[0]}")

    def driver(self, url=None):
        """The first is connected to the old one when that is demoted."""
        made = super().driver(url)
        if len(self.drivers) == 1:
            rights.wait_until(lambda: "master_link_status:up" in self.server.command("INFO replication"))
            self.server.command("REPLICAOF NO ONE")
            self.old.command(f"REPLICAOF 127.0.0.1 {self.server.ports[0]}")
            self.network.send(f"redirect {self.server.socket}")
        return made

    def close(self):
        super().close()
        self.network.end()
        self.old.end()


class Discreet(Service):
    """`CONFIG`, `INFO` and `ROLE` are hidden (MemoryDB, Azure and Upstash hide the first and parts of the second)"""

    arguments = hidden("CONFIG", "INFO", "ROLE", "DEBUG", "MONITOR", "REPLICAOF", "SHUTDOWN")


class Scriptless(Service):
    """`EVAL` is forbidden (OCI Cache with shards)"""

    arguments = hidden("EVAL", "EVALSHA", "SCRIPT")


class Twemproxy(Service):
    """The proxy twemproxy 0.5.0, which Debian calls nutcracker, in front of a server"""

    def __init__(self, command):
        super().__init__(command)
        self.network = Launched("twemproxy", self.server.socket)
        self.url = f"unix://{self.network.folder}/proxy.sock"

    def close(self):
        super().close()
        self.network.end()


class Unkillable(Service):
    """`CLIENT KILL` is forbidden (Memorystore)"""

    cost = "as without the right `client\\|kill`"
    arguments = ["--user", "app", "on", ">TOKEN", "~*", "&*", "+@all", "-client",
                 "+client|id", "+client|setname"]

    def __init__(self, command):
        super().__init__(command)
        self.url = self.server.url.replace("unix://", "unix://app:TOKEN@")


class Expiring(Unkillable):
    """A password expires while locks are held (IAM and Entra tokens)"""

    arguments = ["--user", "app", "on", ">TOKEN", "~*", "&*", "+@all"]

    def expire(self):
        self.server.command("ACL SETUSER app resetpass >LATER")

    def disconnect(self):
        for kind in "normal", "pubsub":
            self.server.command(f"CLIENT KILL TYPE {kind}")

    def renew(self):
        self.server.command("ACL SETUSER app >TOKEN")

    @classmethod
    def seen(cls, command):
        setup = cls(command)
        try:
            return setup.outlive()
        finally:
            setup.close()

    def outlive(self):
        holder = self.driver()
        for name in "x", "y":
            make(holder, "lock", name)
        do(holder, "x", "try")
        self.expire()
        do(holder, "x", "extend", lease_ms=900_000)  # an open connection stays open
        do(holder, "y", "try")
        do(holder, "y", "unlock")
        self.disconnect()
        refusals = set()
        for attempt in (lambda: do(holder, "y", "acquire", timeout_ms=3000), self.driver):
            try:
                attempt()
                sys.exit("a password that has expired lets somebody in")
            except Refused as problem:
                refusals.add(text_of(problem))
        if do(holder, "x", "is_held").value != 1:
            sys.exit("a hold ends with the password, before its lease")
        self.renew()
        do(holder, "y", "acquire", timeout_ms=PATIENCE_MS)
        do(holder, "x", "extend", lease_ms=900_000)
        do(holder, "x", "unlock")
        return ("everything until the connection ends, then existing holds until their leases end; "
                "everything again after the password is corrected", "; ".join(sorted(refusals)))


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--driver", required=True)
    options.add_argument("--page", required=True, help="the page with the table")
    given = options.parse_args()
    shapes = [Demoted, Discreet, Scriptless, Twemproxy, Unkillable, Expiring]
    with futures.ThreadPoolExecutor(max_workers=TRIED_AT_A_TIME) as tried:
        seen = list(tried.map(lambda shape: shape.seen(given.driver), shapes))
    rows = [f"| {shape.__doc__} | {works} | {refusals} |" for shape, (works, refusals) in zip(shapes, seen)]
    table = "\n".join(["| where | what works | error of the rest, or cost |", "|---|---|---|"] + rows) + "\n"
    print(table)
    if table not in pathlib.Path(given.page).read_text("utf-8"):
        sys.exit(f"{given.page} does not have this table")


if __name__ == "__main__":
    main()
