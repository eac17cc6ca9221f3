#!/usr/bin/python3 -B
"""What tests/support/server promises to tests of several servers that come and go."""
import os
import pathlib
import socket
import ssl
import subprocess
import unittest
from unittest import mock

LAUNCHER = pathlib.Path(__file__).with_name("server")


class Launched:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([LAUNCHER, *arguments], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.read_line()

    def read_line(self):
        self.pid, self.folder, *self.ports = self.process.stdout.readline().split() or (0, None)

    def control(self, command):
        print(command, file=self.process.stdin, flush=True)
        self.read_line()

    def end(self):
        return self.process.communicate()[1]


def ask(port, words):
    """The first line of a server's reply; an OSError without a listener."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(words.encode() + b"\r\n")
        return connection.makefile().readline().strip()


class Promises(unittest.TestCase):
    def test_a_server_comes_back_at_the_same_place(self):
        server = Launched("--port", "free")
        self.addCleanup(server.end)
        place = server.folder, server.ports
        for end in ("kill", "stop"):
            self.assertEqual("+OK", ask(server.ports[0], "SET key value"))
            self.assertTrue(pathlib.Path(f"/proc/{server.pid}").exists())
            server.control(end)
            self.assertEqual("0", server.pid)
            self.assertRaises(ConnectionRefusedError, ask, server.ports[0], "PING")
            server.control("start")
            self.assertEqual(place, (server.folder, server.ports))
            self.assertEqual(":0", ask(server.ports[0], "EXISTS key"))

    def test_a_server_speaks_tls_where_it_is_asked_to(self):
        server = Launched("tls")
        self.addCleanup(server.end)
        trust = ssl.create_default_context(cafile=f"{server.folder}/ca.pem")
        trust.load_cert_chain(f"{server.folder}/client.pem", f"{server.folder}/client.key")
        with socket.create_connection(("127.0.0.1", server.ports[0]), timeout=20) as plain:
            with trust.wrap_socket(plain, server_hostname="localhost") as connection:
                connection.sendall(b"PING\r\n")
                self.assertEqual(b"+PONG\r\n", connection.recv(64))

    def test_a_paused_server_is_silent_and_goes_on(self):
        server = Launched("--port", "free")
        self.addCleanup(server.end)
        server.control("pause")
        state = pathlib.Path(f"/proc/{server.pid}/stat").read_text(encoding="utf-8")
        self.assertEqual("T", state.rsplit(") ", 1)[1][0])
        server.control("resume")
        self.assertEqual("+PONG", ask(server.ports[0], "PING"))

    def test_a_server_has_the_arguments_of_its_test(self):
        first = Launched("--port", "free")
        self.addCleanup(first.end)
        second = Launched("--port", "free", "--replicaof", "127.0.0.1", first.ports[0],
                          "--requirepass", "secret")
        self.addCleanup(second.end)
        self.assertNotEqual(first.folder, second.folder)
        self.assertTrue(ask(second.ports[0], "PING").startswith("-NOAUTH"))

    def test_it_says_why_a_server_does_not_start(self):
        server = Launched("--nonsense", "on")
        self.assertIn("nonsense", server.end())
        self.assertEqual(1, server.process.returncode)

    def test_it_names_a_folder_that_cannot_be_made_with_the_reason(self):
        for place, reason in (("/none", "No such file or directory"),
                              ("/" + "long" * 20, "set a shorter TMPDIR")):
            with mock.patch.dict(os.environ, TMPDIR=place):
                words = Launched().end()
            self.assertIn(place, words)
            self.assertIn(reason, words)
            self.assertNotIn("Traceback", words)

    def test_it_names_a_library_for_the_clock_that_is_not_built(self):
        self.assertIn("/none.so is not built", Launched("clock=/none.so").end())


if __name__ == "__main__":
    unittest.main()
