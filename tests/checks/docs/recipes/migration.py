"""Each program and each of the other libraries exclude each other while the program has their
protocol. On `queued` it does not see them. With both locks it sees both."""
import os
import pathlib
import re

import redis as redis_py

from stage import URL, Program, built, eventually, redis, run

NAME = "nightly report"
COMMANDS = [built(file) for file in (
    "holder.go", "Holder.java", "holder.lua", "holder.py", "holder.c", "holder.cpp", "holder.sh")]
PAGE = pathlib.Path(os.environ["PAGE"]).read_text("utf-8")
SERVER = redis_py.Redis.from_url(URL)


def query_for(library):
    """The page's addition to the URL."""
    return re.search(rf"^\| {library}.* \| `redis://localhost(\?\S+)` \|", PAGE, re.M)[1]


class RedisPy:
    """The library itself."""
    query = query_for("redis-py")

    def __init__(self):
        self.lock = SERVER.lock(NAME, timeout=60)

    def take(self):
        return self.lock.acquire(blocking=False)

    def give(self):
        self.lock.release()


class Redsync:
    """What it writes with one pool: 16 random bytes in base64, and the time they last."""
    query = query_for("redsync")
    VALUE = "q83vEjRWeJCrze8SNFZ4kA=="

    def take(self):
        return bool(SERVER.set(NAME, self.VALUE, nx=True, px=60_000))

    def give(self):
        script = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0"
        assert SERVER.eval(script, 1, NAME, self.VALUE) == 1


class Redisson:
    """The writes of its `RLock`: a hash of owner and hold count, and its message to waiters."""
    query = query_for("Redisson")
    OWNER = "285475da-9152-4c83-822a-67ee2f116a79:52"

    def take(self):
        script = ("if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end "
                  "redis.call('HSET', KEYS[1], ARGV[1], 1) return redis.call('PEXPIRE', KEYS[1], 60000)")
        return SERVER.eval(script, 1, NAME, self.OWNER) == 1

    def give(self):
        assert SERVER.hget(NAME, self.OWNER) == b"1"
        SERVER.delete(NAME)
        SERVER.publish(f"redisson_lock__channel:{{{NAME}}}", 0)


def request_count():
    """How often anybody has asked for the lock."""
    return sum(SERVER.info("commandstats").get(f"cmdstat_{name}", {}).get("calls", 0)
               for name in ("eval", "evalsha", "set"))


def waiting(command, query=""):
    """A program that has asked for the lock, and not got it."""
    before = request_count()
    program = Program(command, query=query)
    eventually("it has sent a request", lambda: request_count() > before)
    assert program.lines == [], program
    return program


def they_exclude_each_other():
    for command in COMMANDS:
        for theirs in (RedisPy(), Redsync(), Redisson()):
            assert theirs.take()
            written = SERVER.type(NAME)
            ours = waiting(command, theirs.query)
            theirs.give()
            ours.expect("^holds$")

            assert SERVER.type(NAME) == written and not theirs.take()
            ours.write_line("")
            ours.end()
            assert redis("EXISTS", NAME) == "0"


def queued_is_another_key():
    theirs = RedisPy()
    assert theirs.take()
    for command in COMMANDS:
        ours = Program(command)
        ours.expect("^holds$")
        ours.write_line("")
        ours.end()
    theirs.give()


def both_locks_are_seen_by_both():
    theirs, both = RedisPy(), built("both.go")
    assert theirs.take()
    waits = waiting(both)
    assert not theirs.take()
    theirs.give()
    waits.expect("^holds$")
    assert not theirs.take()
    new = Program(COMMANDS[0])
    eventually("it waits for the new lock", lambda: redis("LLEN", f"{{mortise:{NAME}}}:q") == "1")
    assert new.lines == []
    waits.write_line("")
    waits.end()
    new.expect("^holds$")
    assert theirs.take()
    theirs.give()


run(they_exclude_each_other, queued_is_another_key, both_locks_are_seen_by_both)
