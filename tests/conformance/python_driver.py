"""The driver in Python: executes the runner's commands, one a line. README.md has the lines.

python_driver.py FOLDER: with the package in this folder. Calls are those that block. What is
started is a coroutine in an event loop of another thread.
"""
import asyncio
import ctypes
import functools
import gc
import os
import sys
import threading
import time
import traceback
import urllib.parse

sys.path.insert(0, sys.argv[1])

import mortise  # noqa: E402

READ, WRITE = "read_", "write_"
PLAIN_OF_QUERY = {"is_held", "is_mine", "holder_count", "permits", "permits_in_use", "waiter_count"}
# Of an entry or an event: the field in seconds, and its unit in C.
SECONDS = {
    "held_ms": ("held_for", 1e3), "time_left_ms": ("time_left", 1e3), "waited_ms": ("waited_for", 1e3),
    "waited_total_ms": ("waited_total", 1e3), "time_us": ("time", 1e6), "lasted_us": ("lasted", 1e6),
    "error_us": ("error", 1e6)}


class Handle:
    def __init__(self, name, kind, lock):
        self.name = name
        self.kind = kind
        self.lock = lock
        self.holds = []  # the newest last
        self.task = 0


class Run:
    """What the runner has made since the last reset."""

    def __init__(self):
        self.clients = {}
        self.handles = {}
        self.holds = {}
        self.made = []
        self.listeners = {}
        self.tasks = {}


run = Run()
output = threading.Lock()
loop = asyncio.new_event_loop()


def say(line):
    with output:
        print(line, flush=True)


def encode(text):
    raw = text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape")
    return urllib.parse.quote(raw, safe="")


def fields(status, token=None, value=None, text=None):
    parts = [mortise.Status(status).name.lower()]
    if token:
        parts.append(f"token={token}")
    if value is not None:
        parts.append(f"value={int(value)}")
    if text:
        parts.append(f"text={encode(text)}")
    return " ".join(parts)


def failed(error):
    """The answer for an exception. A wrong type is a wrong argument in C."""
    if not isinstance(error, mortise.Error):
        return fields(mortise.Status.INVALID_ARGUMENT, text=str(error)) + flags(error)
    token = " reason=%d" % error.reason if error.status == mortise.Status.LOST else ""
    return fields(error.status, text=str(error)) + token + flags(error)


def flags(error):
    if getattr(error, "status", -1) > 0:
        return ""
    printed = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return (f" retryable={int(getattr(error, 'retryable', False))}"
            f" ambiguous={int(getattr(error, 'ambiguous', False))}"
            f" printed={encode(printed + getattr(error, 'server_text', ''))}")


def options_of(given):
    return {key[4:]: value for key, value in given.items() if key.startswith("opt.")}


def name_of(given):
    """Any bytes, which are a text where they can be one."""
    raw = given["name"].encode("utf-8", "surrogateescape")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def seconds(given, key):
    return None if given.get(key) in (None, "-1") else int(given[key]) / 1000


def number(given, key, usual):
    return int(given.get(key, usual))


# ---- new --------------------------------------------------------------------------------------

def members_of(text):
    for member in text.split(","):
        name, _, mode = member.partition(":")
        lock = run.handles[name].lock
        if mode == "read":
            yield lock.reader()
        elif mode == "write":
            yield lock.writer()
        else:
            yield lock.permits(int(mode)) if mode else lock


def make(kind, given):
    client = run.clients[given["client"]]
    if kind == "multi":
        return client.multi(*members_of(given["members"]))
    if kind == "semaphore":
        return client.semaphore(name_of(given), number(given, "permits", 1), **options_of(given))
    makers = {"lock": client.lock, "rw": client.rw_lock, "election": client.election}
    return makers[kind](name_of(given), **options_of(given))


def new(kind, name, given):
    if kind == "client":
        if "listens" in given:
            run.listeners[name] = Reports(name)
        run.clients[name] = mortise.Client(given.get("url"), listener=run.listeners.get(name),
                                           **options_of(given))
        run.made.append(run.clients[name])
    else:
        lock = make(kind, given)
        run.made.append(lock)
        run.handles[name] = Handle(name, kind, lock)
    return fields(mortise.Status.OK)


# ---- clients ----------------------------------------------------------------------------------

def of_health(found, of):
    if of is None:
        return fields(mortise.Status.OK, value=found.worst)
    if of == "json":
        return fields(mortise.Status.OK, value=len(found.findings), text=found.json)
    for one in found.findings:
        if one.name == of:
            return fields(mortise.Status.OK, value=one.severity, text="\n".join([
                one.severity.name.lower(), one.server, one.value, one.consequence, one.remedy]))
    return fields(mortise.Status.OK)


def of_stats(counted, of):
    if of is None:
        assert len(counted.as_dict()) > 0
        return fields(mortise.Status.OK, value=len(counted.samples), text=counted.json)
    for one in counted.samples:
        if {one.name, *(f"{key}={value}" for key, value in one.labels.items())} == set(of.split(" ")):
            return fields(mortise.Status.OK, value=one.value, text=one.type)
    return fields(mortise.Status.OK)


def of_rows(taken, rows, of):
    if of is None:
        return fields(mortise.Status.OK, value=taken.answered, text=taken.json)
    if of == "unheard":
        return fields(mortise.Status.OK, value=taken.silent + taken.truncated)
    if of in SECONDS:
        field, unit = SECONDS[of]
        found = [round(getattr(one, field) * unit) for one in rows]
    else:
        found = [getattr(one, of) for one in rows]
    return fields(mortise.Status.OK, value=sum(one for one in found if isinstance(one, int)),
                  text="\n".join(one for one in found if isinstance(one, str)))


def of_listing(taken, of):
    return of_rows(taken, taken.entries, of)


def notify(made_in, line):
    """Prints a notice of an object that was made in this run. After a reset there is none."""
    if made_in is run:
        say(f"notice {line}")


def watch_log(client, on, given):
    made_in = run

    def report(record):
        notify(made_in, f"{on} {record.subject.name.lower()} value={int(record.level)} "
                        f"reason={int(record.reason)} text={encode(record.text)}")

    level = given.get("level")
    if level is None:
        client.watch_log(None)
    else:
        client.watch_log(report, mortise.LogLevel(int(level)))


def watch_stats(client, on, given):
    made_in = run
    if "interval_ms" not in given:
        client.watch_stats(None)
    else:
        client.watch_stats(lambda counted: notify(made_in, f"{on} stats value={len(counted.samples)}"),
                           int(given["interval_ms"]) / 1000)


class Reports(mortise.Listener):
    """Prints the waits and the holds of a client while it is on."""

    def __init__(self, client):
        self.client, self.made_in, self.is_on = client, run, False

    def begin_wait(self, name, kind):
        return WaitReports(self, name, kind)


class WaitReports(mortise.WaitListener, mortise.HoldListener):
    """One wait, and its hold."""

    def __init__(self, reports, name, kind):
        self.reports, self.name, self.kind = reports, name, kind
        self.notify("wait_began")

    def granted(self, token):
        self.notify("hold_began", token)
        return self

    def failed(self, error):
        self.notify("wait_failed", error=error)

    def changed(self, kind, token):
        self.kind = kind
        self.notify("hold_changed", token)

    def ended(self, error):
        self.notify("hold_ended", error=error)

    def notify(self, what, token=0, error=None):
        if not self.reports.is_on:
            return
        status = mortise.Status.OK if error is None else error.status
        name = self.name if isinstance(self.name, str) else os.fsdecode(self.name)
        text = f"{self.kind.value} {name} {mortise.Status(status).name.lower()}"
        notify(self.reports.made_in, f"{self.reports.client} {what} token={token} "
                                     f"reason={int(getattr(error, 'reason', 0))} text={encode(text)}")


def fork(client):
    child = os.fork()
    if child == 0:
        try:
            client.ping()
            os._exit(0)
        except mortise.Error as error:
            os._exit(-error.status)
    _, status = os.waitpid(child, 0)
    return fields(-os.waitstatus_to_exitcode(status))


def call_client(on, method, given):
    client, of = run.clients[on], given.get("of")
    if method in ("check_health", "last_health"):
        return of_health(getattr(client, method)(), of)
    if method == "stats":
        return of_stats(client.stats(), of)
    if method == "list_locks":
        return of_listing(client.list_locks(int(given["timeout_ms"]) / 1000), of)
    if method == "scan_locks":
        return of_listing(client.scan_locks(given.get("pattern", ""), number(given, "most_keys", 1000),
                                            int(given["timeout_ms"]) / 1000), of)
    if method == "list_history":
        taken = client.list_history(given["lock"], number(given, "window_ms", 60000) / 1000,
                                    int(given["timeout_ms"]) / 1000)
        return of_rows(taken, taken.events, of)
    if method == "fork":
        return fork(client)
    {
        "set_credentials": lambda: client.set_credentials(given["user"], given["password"]),
        "watch_log": lambda: watch_log(client, on, given),
        "watch_stats": lambda: watch_stats(client, on, given),
        "watch_locks": lambda: setattr(run.listeners[on], "is_on", given["is_on"] == "1"),
        "ping": client.ping,
        "free": client.close,
    }[method]()
    return fields(mortise.Status.OK)


# ---- locks ------------------------------------------------------------------------------------

def split(method):
    """The mode and the rest of a method, such as `read_try`."""
    for mode in (READ, WRITE):
        if method.startswith(mode):
            return mode, method[len(mode):]
    return "", method


def acquirable(handle, mode, given):
    if mode:
        return handle.lock.reader() if mode == READ else handle.lock.writer()
    if handle.kind == "semaphore" and "weight" in given:
        return handle.lock.permits(int(given["weight"]))
    return handle.lock


def keep(handle, hold, given):
    if hold is None:
        return fields(mortise.Status.NOT_ACQUIRED)
    handle.holds.append(hold)
    if "gives" in given:
        run.holds[given["gives"]] = hold
    return fields(mortise.Status.OK, token=hold.token)


def with_token(handle):
    return fields(mortise.Status.OK, token=getattr(handle.lock, "token", None))


def query(handle, of):
    info = handle.lock.query()
    if of == "label":
        return fields(mortise.Status.OK, value=info.waiter_count, text=info.holders[0].label)
    if of == "value":
        value = info.holders[0].value if info.holders else ""
        return fields(mortise.Status.OK, value=len(value.encode()), text=value)
    if of == "retained":
        return fields(mortise.Status.OK, value=sum(one.is_retained for one in info.holders))
    assert of in PLAIN_OF_QUERY, of
    return fields(mortise.Status.OK, value=getattr(info, of))


def watch(handle):
    made_in, on = run, handle.name

    def report(notice):
        kind = "lost" if notice.is_loss else "contended" if notice.is_contended else "at_risk"
        notify(made_in, f"{on} {kind} token={notice.token} reason={int(notice.reason)} "
                        f"text={encode(notice.message)}")

    handle.lock.watch(report)


def observe(handle, given):
    made_in, on = run, handle.name

    def report(leader):
        if leader is None:
            notify(made_in, f"{on} no_leader")
        else:
            notify(made_in, f"{on} leader text={encode(leader.value)}")

    if "interval_ms" in given:
        handle.lock.observe(report, int(given["interval_ms"]) / 1000)
    else:
        handle.lock.observe(None)


def force_release(handle, given):
    owner = given.get("owner")
    if owner is None:
        holders = handle.lock.query().holders
        owner = holders[0].owner if holders else ""
    handle.lock.force_release(owner)


def look(handle, method):
    """A fact by the local clock, or None for another method."""
    lock = handle.lock
    facts = {
        "is_held": lambda: lock.is_held, "is_leader": lambda: lock.is_leader, "is_reading": lambda: lock.reader().is_held,
        "is_writing": lambda: lock.writer().is_held, "member_count": lambda: len(lock),
        "valid_ms": lambda: round(lock.valid_for * 1000), "deadline_ns": lambda: lock.deadline_ns,
        "token": lambda: lock.token,
    }
    return facts[method]() if method in facts else None


def newest(handle):
    if not handle.holds:
        raise mortise.NotOwner("no hold, so there is nothing to call")
    return handle.holds[-1]


def call_handle(handle, method, given):
    fact = look(handle, method)
    if fact is not None:
        return fields(mortise.Status.OK, value=fact)
    if method == "set_task":
        handle.task = int(given["task"])
        return fields(mortise.Status.OK)
    mode, rest = split(method)
    lock = handle.lock
    if rest == "try":
        return keep(handle, acquirable(handle, mode, given).try_acquire(), given)
    if rest == "acquire":
        hold = acquirable(handle, mode, given).acquire(timeout=seconds(given, "timeout_ms"))
        return keep(handle, hold, given)
    if method == "campaign":
        return keep(handle, lock.campaign(timeout=seconds(given, "timeout_ms")), given)
    if method == "query":
        return query(handle, given.get("of", "waiter_count"))
    if method == "name":
        return fields(mortise.Status.OK, text=lock.name)
    if method == "cancel":
        return fields(mortise.Status.OK if lock.cancel() else mortise.Status.NOT_WAITING)
    if method in ("upgrade", "downgrade"):
        getattr(newest(handle), method)()
        return with_token(handle)
    if method == "export":
        return fields(mortise.Status.OK, text=lock.export(seconds(given, "lease_ms")))
    if method == "adopt":
        return keep(handle, lock.adopt(given["id"]), given)
    {
        "unlock": lambda: acquirable(handle, mode, {}).release(),
        "release": lambda: lock.release(),
        "resign": lambda: lock.resign(),
        "observe": lambda: observe(handle, given),
        "extend": lambda: lock.extend(seconds(given, "lease_ms")),
        "progress": lambda: lock.progress(),
        "set_value": lambda: lock.set_value(given["value"]),
        "interrupt": lambda: lock.interrupt(given.get("is_on", "1") == "1"),
        "resize": lambda: lock.resize(int(given["permits"])),
        "force_release": lambda: force_release(handle, given),
        "watch": lambda: watch(handle),
        "free": lambda: lock.close(),
    }[rest]()
    return fields(mortise.Status.OK) if rest == "free" else with_token(handle)


def call_hold(hold, method, given):
    if method == "token":
        return fields(mortise.Status.OK, value=hold.token)
    if method == "is_held":
        return fields(mortise.Status.OK, token=hold.token, value=hold.is_held)
    if method == "valid_ms":
        return fields(mortise.Status.OK, token=hold.token, value=round(hold.valid_for * 1000))
    if method == "export":
        return fields(mortise.Status.OK, text=hold.export(seconds(given, "lease_ms")))
    if method == "extend":
        hold.extend(seconds(given, "lease_ms"))
    elif method == "set_value":
        hold.set_value(given["value"])
    else:
        {"unlock": hold.release, "progress": hold.progress, "upgrade": getattr(hold, "upgrade", None),
         "downgrade": getattr(hold, "downgrade", None)}[method]()
    return fields(mortise.Status.OK, token=hold.token)


def call(on, method, given):
    if on in run.holds:
        return call_hold(run.holds[on], method, given)
    if on in run.clients:
        return call_client(on, method, given)
    return call_handle(run.handles[on], method, given)


# ---- coroutines -------------------------------------------------------------------------------

async def awaited(handle, method, given):
    mode, rest = split(method)
    lock = acquirable(handle, mode, given)
    if rest == "try":
        return keep(handle, await lock.try_acquire_async(), given)
    if rest == "acquire":
        return keep(handle, await lock.acquire_async(timeout=seconds(given, "timeout_ms")), given)
    if method == "campaign":
        return keep(handle, await lock.campaign_async(timeout=seconds(given, "timeout_ms")), given)
    if method == "query":
        blocking = functools.partial(query, handle, given.get("of", "waiter_count"))
        return await loop.run_in_executor(None, blocking)
    if method in ("upgrade", "downgrade"):
        await getattr(newest(handle), f"{method}_async")()
    elif rest == "set_value":
        await handle.lock.set_value_async(given["value"])
    elif rest == "extend":
        await handle.lock.extend_async(seconds(given, "lease_ms"))
    elif rest == "resign":
        await handle.lock.resign_async()
    else:
        await lock.release_async()
    return with_token(handle)


async def report(line_id, handle, method, given):
    try:
        answer = await awaited(handle, method, given)
    except (mortise.Error, TypeError) as error:
        answer = failed(error)
    say(f"done {line_id} {answer}")


class Task:
    """A task that makes its calls one after the other."""

    def __init__(self):
        self.calls = asyncio.Queue()
        self.task = loop.create_task(self.work())

    async def work(self):
        while (waiting := await self.calls.get()) is not None:
            await waiting


tasks = set()


async def begin(line_id, handle, method, given):
    """Returns when the call is with the C library, unless its task still makes another."""
    waiting = report(line_id, handle, method, given)
    if handle.task:
        if handle.task not in run.tasks:
            run.tasks[handle.task] = Task()
        run.tasks[handle.task].calls.put_nowait(waiting)
    else:
        task = loop.create_task(waiting)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.sleep(0)


def start(line_id, on, method, given):
    begun = begin(line_id, run.handles[on], method, given)
    asyncio.run_coroutine_threadsafe(begun, loop).result()
    return fields(mortise.Status.OK)


# ---- lines ------------------------------------------------------------------------------------

def reset():
    """Frees everything, so that the next run finds a driver as if it had just started."""
    global run
    old, run = run, Run()
    while old.made:
        old.made.pop().close()
    for task in old.tasks.values():
        loop.call_soon_threadsafe(task.calls.put_nowait, None)
    gc.collect()
    return fields(mortise.Status.OK)


def perform(line_id, words, given):
    if words[0] == "new":
        return new(words[1], words[2], given)
    if words[0] == "call":
        return call(words[1], words[2], given)
    if words[0] == "start":
        return start(line_id, words[1], words[2], given)
    if words[0] == "reset":
        return reset()
    assert words[0] == "pump", words
    time.sleep(int(given["timeout_ms"]) / 1000)
    return fields(mortise.Status.OK)


def main():
    threading.Thread(target=loop.run_forever, daemon=True).start()
    for line in sys.stdin:
        line_id, *words = line.split()
        given = dict(word.split("=", 1) for word in words if "=" in word)
        given = {key: urllib.parse.unquote(value, errors="surrogateescape")
                 for key, value in given.items()}
        try:
            answer = perform(line_id, [word for word in words if "=" not in word], given)
        except (mortise.Error, TypeError, ValueError) as error:
            answer = failed(error)
        say(f"{line_id} {answer}")
    # As a program that is done, and frees nothing. The end of the interpreter would.
    sys.stdout.flush()
    ctypes.CDLL(None).exit(0)


main()
