#!/usr/bin/env python3
"""What a user of the server can still do without each of the rights of docs/server.md.

    rights.py --driver build/release/conformance_driver --page docs/server.md

Prints a table of the rights and the results of removing each, from this run. On servers whose user
lacks it, drivers of tests/conformance try everything. It fails unless the table is on the page, and
also if no call misses a right, which is then superfluous.
"""
import argparse
import os
import pathlib
import re
import sys
import time
from concurrent import futures

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "conformance"))
from driver import Driver, sleep_ms  # noqa: E402
from server import Server  # noqa: E402

TRIED_AT_A_TIME = 4
LEASE = {"opt.lease": "10m", "opt.command_timeout": "2s"}
PATIENCE_MS = 20_000

# Effects that are no failure, and so invisible in a status. That the right is used is visible.
SLOWER = {
    "info": "a waiter keeps its place for 2 s instead of 5 s after a server change",
    "script|load": "each client sends the text of a script at its first use",
    "lrem": "a waiter that gives up keeps its place in the queue, and its grant delays the next "
            "waiters by up to 2 s",
    "client|kill": "commands of a broken connection that the network delays are executed when they "
                   "arrive: a lock can stay held for a lease, a renewal can undo an upgrade",
    "publish": "a waiter is not notified, and polls for its grant: within 2 s and in order for the "
               "first eight of a queue, later for the others",
    "pubsub|numsub": "a dead waiter of a read-write lock or a semaphore is skipped within 5 s instead "
                     "of 2 s",
}

# Tried by each client, and not missed: the page's further rules are about them.
NOT_NEEDED = {"delifeq", "delex"}


class Refused(Exception):
    """A step did not return ok."""

    def __init__(self, status, text=""):
        super().__init__(status, text)
        self.status, self.text = status, text


class Setup:
    """A server, and drivers that log in as the user of the page."""

    def __init__(self, rule):
        self.server = Server()
        effect = self.server.command(rule)
        if effect != "OK":
            raise RuntimeError(f"{rule!r}: {effect}")
        self.server.command("ACL LOG RESET")
        self.url = self.server.url.replace("unix://", "unix://locker:PASSWORD@")
        self.rule = rule
        self.command = ""
        self.drivers = []

    def close(self):
        for driver in self.drivers:
            driver.end()
        self.server.end()

    def driver(self, url=None):
        made = Driver(str(len(self.drivers)), self.command, dict(os.environ))
        self.drivers.append(made)
        need(made.new("client", "client", {"url": url or self.url, **LEASE}))
        return made

    def refused_commands(self):
        """The rights that the server has missed; before 7.0 it names the command without its form."""
        log = self.server.command("ACL LOG 128")
        return set(re.findall(r"^object\n(.*)$", log, re.M)) - NOT_NEEDED


def need(answer):
    if answer.status != "ok":
        raise Refused(answer.status, answer.text)
    return answer


def make(driver, kind, name, **more):
    need(driver.new(kind, name, {"client": "client", "name": name, **more}))
    return name


def do(driver, handle, method, **more):
    return need(driver.call(handle, method, more))


def hand_over(setup, kind, take, give, **more):
    """One holds, another waits, a third only tries; then the waiter gets it."""
    permits = {"permits": 1} if kind == "semaphore" else {}
    holder, waiter = setup.driver(), setup.driver()
    for driver in (holder, waiter):
        make(driver, kind, "x", **permits)
    do(holder, "x", f"{take}try", **more)
    number, answer = waiter.start("x", f"{take}acquire", {"timeout_ms": PATIENCE_MS, **more})
    need(answer)
    wait_for_waiter(setup)
    newcomer = setup.driver()
    make(newcomer, kind, "x", **permits)
    answer = newcomer.call("x", f"{take}try", more)
    if answer.status != "not_acquired":
        raise Refused(answer.status, answer.text)
    do(holder, "x", give)
    need(waiter.await_call(number))
    do(waiter, "x", give)


def wait_until(is_so):
    """Or until it is plain that it cannot be seen here, long before the waiter gives up."""
    deadline = time.monotonic() + PATIENCE_MS / 4000
    while not is_so() and time.monotonic() < deadline:
        sleep_ms(20)


def wait_for_waiter(setup):
    wait_until(lambda: "1" in setup.server.command(
        'EVAL "local n=0 for _,k in ipairs(redis.call(\'KEYS\',\'*q\')) do '
        'n=n+redis.call(\'LLEN\',k) end return n" 0'))


# ---- the attempts, each on a server of its own --------------------------------------------------

def connect(setup):
    setup.driver()


def other_database(setup):
    setup.driver(setup.url + "?db=5")


def ping(setup):
    do(setup.driver(), "client", "ping")


def lock_and_unlock(setup):
    driver = setup.driver()
    make(driver, "lock", "x")
    do(driver, "x", "try")
    do(driver, "x", "unlock")


def extend(setup):
    driver = setup.driver()
    make(driver, "lock", "x")
    do(driver, "x", "try")
    do(driver, "x", "extend", lease_ms=900_000)


def wait(setup):
    hand_over(setup, "lock", "", "unlock")


def give_up(setup):
    """A wait ends with its timeout; a wait after it looks at its place."""
    holder, waiter = setup.driver(), setup.driver()
    for driver in (holder, waiter):
        make(driver, "lock", "x")
    do(holder, "x", "try")
    answer = waiter.call("x", "acquire", {"timeout_ms": 300})
    if answer.status != "timed_out":
        raise Refused(answer.status, answer.text)
    number, answer = waiter.start("x", "acquire", {"timeout_ms": PATIENCE_MS})
    need(answer)
    wait_until(lambda: "cmdstat_lpos" in setup.server.command("INFO commandstats"))
    do(holder, "x", "unlock")
    need(waiter.await_call(number))


def other_kind(setup):
    """A read-write lock where a mutex of this name is held."""
    holder, reader = setup.driver(), setup.driver()
    make(holder, "lock", "x")
    make(reader, "rw", "x")
    do(holder, "x", "try")
    answer = reader.call("x", "read_try", {})
    if answer.status != "refused":
        raise Refused(answer.status, answer.text)


def read_and_write(setup):
    driver = setup.driver()
    make(driver, "rw", "x")
    do(driver, "x", "read_try")
    do(driver, "x", "upgrade")
    do(driver, "x", "downgrade")
    do(driver, "x", "read_unlock")
    hand_over(setup, "rw", "write_", "write_unlock")


def take_permits(setup):
    driver = setup.driver()
    make(driver, "semaphore", "s", permits=3)
    do(driver, "s", "try", weight=2)
    do(driver, "s", "resize", permits=4)
    do(driver, "s", "release")
    hand_over(setup, "semaphore", "", "release", weight=1)


def query(setup):
    driver = setup.driver()
    make(driver, "lock", "x")
    do(driver, "x", "try")
    do(driver, "x", "query")
    make(driver, "rw", "r")
    do(driver, "r", "read_try")
    do(driver, "r", "query")


def reconnect(setup):
    driver = setup.driver()
    make(driver, "lock", "x")
    do(driver, "x", "try")
    setup.server.command("CLIENT KILL TYPE normal SKIPME yes")
    setup.server.command("CLIENT KILL TYPE pubsub")
    for _ in range(100):
        answer = driver.call("x", "extend", {"lease_ms": 900_000})
        if answer.status == "ok":
            break
        sleep_ms(20)
    need(answer)


TRIED = {
    "to connect": connect,
    "other database": other_database,
    "`ping`": ping,
    "mutex": lock_and_unlock,
    "`extend`, renewal": extend,
    "waiting for a mutex": wait,
    "giving up a wait": give_up,
    "detecting another kind of lock": other_kind,
    "read-write lock": read_and_write,
    "semaphore": take_permits,
    "query": query,
    "reconnect": reconnect,
}


def try_all(command, rule):
    """({what does not work: its Refused}, {commands that the server refused})"""
    failed, refused = {}, set()
    for what, attempt in TRIED.items():
        setup = Setup(rule)
        setup.command = command
        try:
            attempt(setup)
        except Refused as problem:
            failed[what] = problem
        finally:
            refused |= setup.refused_commands()
            setup.close()
        if what in failed and attempt is connect:
            return {"nothing": failed[what]}, refused
    return failed, refused


def named(failed):
    """The rights that the messages name; `none` is no answer."""
    found = [re.search(r"lacks (?:the|a) right (.*?);", problem.text) for problem in failed.values()]
    return ", ".join(sorted({f"`{right[1]}`" if right else "none" for right in found}))


def describe(right, failed, refused):
    """The row of the table; None if no call missed the right."""
    name = right.replace("|", "\\|")
    if failed:
        by_status = {}
        for what, problem in failed.items():
            by_status.setdefault(problem.status.upper(), []).append(what)
        if "nothing" in failed:
            effect = f"nothing: `MORTISE_{failed['nothing'].status.upper()}`"
        else:
            effect = "; ".join(f"no {', '.join(some)}: `MORTISE_{status}`"
                             for status, some in by_status.items())
    elif {right, right.split("|")[0]} & refused and right in SLOWER:
        effect = SLOWER[right]
    else:
        return None
    return f"| `+{name}` | {effect} | {named(failed).replace('|', chr(92) + '|') or '–'} |"


def is_on(page, row):
    """Whether the page has this row. Servers since 7.2 name the missing one of the page's rights,
    so theirs may be some of those."""
    begin, names = row.removesuffix(" |").rsplit(" | ", 1)
    written = re.search("^" + re.escape(begin) + r" \| (.*) \|$", page, re.M)
    return written and set(re.findall(r"\+[^ `]+", names)) <= set(re.findall(r"\+[^ `]+", written[1]))


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--driver", required=True)
    options.add_argument("--page", required=True, help="the page with the ACL SETUSER line and the table")
    options.add_argument("--only", nargs="*", help="only these rights")
    given = options.parse_args()
    page = pathlib.Path(given.page).read_text("utf-8")
    rule = re.search(r"^ACL SETUSER locker .*$", page, re.M).group(0)
    failed, refused = try_all(given.driver, rule)
    if failed or refused:
        sys.exit(f"with all rights: {failed}, refused: {refused}")
    rights = given.only or [word[1:] for word in rule.split() if word.startswith("+")]

    def row_of(right):
        return describe(right, *try_all(given.driver, rule.replace(f" +{right} ", " ", 1)
                                        if f" +{right} " in rule else rule.removesuffix(f" +{right}")))

    with futures.ThreadPoolExecutor(max_workers=TRIED_AT_A_TIME) as tried:
        rows = list(tried.map(row_of, rights))
    idle = [right for right, row in zip(rights, rows) if row is None]
    if idle:
        sys.exit(f"nothing that was tried misses +{', +'.join(idle)}: try more here, or take it from the rule")
    nameless = [right for right, row in zip(rights, rows) if row.endswith("none |")]
    if nameless:
        sys.exit(f"messages do not name +{', +'.join(nameless)}")
    print("\n".join(["| right | without it | right that the message names |", "|---|---|---|"] + rows) + "\n")
    other = [row for row in rows if not given.only and not is_on(page, row)]
    if other:
        sys.exit(f"{given.page} has not:\n" + "\n".join(other))


if __name__ == "__main__":
    main()
