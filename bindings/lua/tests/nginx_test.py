#!/usr/bin/env python3
"""nginx_test.py FOLDER SHARE LIB: the example for nginx, as it is, in the nginx that ./dev test has
put into FOLDER, with the module whose Lua is in SHARE and whose library is in LIB. Run under
tests/support/with_server."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

FOLDER, SHARE, LIB = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
EXAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples" / "nginx"
PATIENCE_S = 60

HOLDER = """
local lock = assert(require("mortise").open(os.getenv "MORTISE_URL")):lock "report"
local hold = assert(lock:acquire())
print "held"
io.flush()
for _ in io.lines() do
  print(assert(lock:query()).waiter_count)
  io.flush()
end
assert(hold:unlock())
"""


def library(name):
    return next((FOLDER / "usr/lib").glob("*/" + name)).parent


LUA = {
    "LUA_PATH": f"{SHARE}/?.lua;{SHARE}/?/init.lua;{FOLDER}/usr/share/lua/5.1/?.lua;;",
    "LUA_CPATH": f"{LIB}/?.so;;",
    "LD_LIBRARY_PATH": str(library("libluajit-5.1.so.2")),
    "MORTISE_URL": os.environ["MORTISE_TEST_URL"],
}


class Nginx:
    """The example's configuration, and what a test needs: a folder, a socket, the modules."""

    def __init__(self, *changes):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mortise-nginx."))
        for file in EXAMPLE.glob("*.lua"):
            shutil.copy(file, self.folder)
        text = (EXAMPLE / "nginx.conf").read_text()
        places = " ".join(f"{what}_temp_path {self.folder}/{what};" for what in
                          ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        changes = (("127.0.0.1:8080", f"unix:{self.folder}/socket"),
                   ("  server {", f"  access_log off; {places}\n  server {{"),
                   ('/?.lua;;"', f'/?.lua;{LUA["LUA_PATH"]}"; lua_package_cpath "{LUA["LUA_CPATH"]}"'),
                   *changes)
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        modules = "".join(f"load_module {FOLDER}/usr/lib/nginx/modules/{name}.so;\n"
                          for name in ("ndk_http_module", "ngx_http_lua_module"))
        user = "user root;\n" if os.geteuid() == 0 else ""
        config = self.folder / "nginx.conf"
        config.write_text(f"{modules}{user}daemon off;\npid {self.folder}/pid;\n{text}")
        self.process = subprocess.Popen(
            [FOLDER / "usr/sbin/nginx", "-e", "stderr", "-p", self.folder, "-c", config],
            env={**os.environ, **LUA})
        until(lambda: self.process.poll() is not None or self.listens())

    def listens(self):
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(str(self.folder / "socket")) == 0

    def connect(self, path="/count"):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE_S)
        connection.connect(str(self.folder / "socket"))
        connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        return connection

    def get(self, path="/count"):
        with self.connect(path) as connection:
            answer = b"".join(iter(lambda: connection.recv(4096), b"")).decode()
        head, _, body = answer.partition("\r\n\r\n")
        return int(head.split()[1]), body.strip()

    def count(self):
        return int((self.folder / "count").read_text())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        shutil.rmtree(self.folder)


class Holder:
    """Another program that holds the lock."""

    def __enter__(self):
        self.process = subprocess.Popen(["luajit", "-e", HOLDER], env={**os.environ, **LUA},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "held\n"
        return self

    def waiters(self):
        print("?", file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())

    def release(self):
        self.process.stdin.close()
        assert self.process.wait(PATIENCE_S) == 0

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def until(is_so):
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.01)


def at_once(nginx, clients, requests):
    """Requests of so many clients; returns the threads and the list of their answers."""
    answers = []

    def work():
        for _ in range(requests):
            answers.append(nginx.get())
    threads = [threading.Thread(target=work, daemon=True) for _ in range(clients)]
    for thread in threads:
        thread.start()
    return threads, answers


def requests_take_turns():
    with Nginx() as nginx:
        threads, answers = at_once(nginx, 8, 20)
        for thread in threads:
            thread.join()
        assert answers == [(200, "counted")] * 160, answers
        assert nginx.count() == 160, nginx.count()


def a_worker_goes_on_while_requests_wait():
    with Nginx(("worker_processes 2", "worker_processes 1")) as nginx, Holder() as holder:
        threads, answers = at_once(nginx, 8, 1)
        until(lambda: holder.waiters() == 1)  # a worker is one client, with one place
        assert nginx.get("/other")[0] == 404
        assert not answers, answers
        holder.release()
        for thread in threads:
            thread.join()
        assert answers == [(200, "counted")] * 8, answers


def what_a_request_waited_for_that_is_gone_is_given_back():
    with Nginx(("worker_processes 2", "worker_processes 1"),
               ("  server {", "  lua_check_client_abort on;\n  server {")) as nginx:
        with Holder() as holder:
            with nginx.connect():
                until(lambda: holder.waiters() == 1)
            assert nginx.get("/other")[0] == 404
            holder.release()
        assert nginx.get() == (200, "counted")
        assert nginx.count() == 1


def a_client_of_the_master_is_of_no_use():
    with Nginx(("init_worker_by_lua_block", "init_by_lua_block")) as nginx:
        status, body = nginx.get()
        assert status == 503 and body.endswith("(-9)"), body


for case in (requests_take_turns, a_worker_goes_on_while_requests_wait,
             what_a_request_waited_for_that_is_gone_is_given_back, a_client_of_the_master_is_of_no_use):
    case()
    print(case.__name__.replace("_", " "))
