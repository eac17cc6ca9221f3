#!/usr/bin/python3 -B
"""What tests/support/proxy promises to tests of a network that breaks."""
import os
import pathlib
import signal
import socket
import subprocess
import time
import unittest

LAUNCHER = pathlib.Path(__file__).with_name("proxy")
PATIENCE_S = 20


class Network:
    """A proxy, and lines to and from it."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([LAUNCHER, *arguments], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.read_line()

    def read_line(self):
        kept, self.folder, port = self.process.stdout.readline().split()
        self.port = int(port)
        return int(kept)

    def control(self, command):
        print(command, file=self.process.stdin, flush=True)
        return self.read_line()

    def connect(self, is_tcp=True):
        connection = socket.socket(socket.AF_INET if is_tcp else socket.AF_UNIX)
        connection.settimeout(PATIENCE_S)
        try:
            connection.connect(("127.0.0.1", self.port) if is_tcp else f"{self.folder}/proxy.sock")
        except OSError:
            connection.close()
            raise
        return connection

    def end(self):
        self.process.communicate()


class Promises(unittest.TestCase):
    def setUp(self):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(PATIENCE_S)
        self.addCleanup(self.server.close)
        self.server_port = self.server.getsockname()[1]
        self.network = Network(f"127.0.0.1:{self.server_port}")
        self.addCleanup(self.network.end)

    def connect(self, server=None, is_tcp=True):
        """Both ends of a connection."""
        client = self.network.connect(is_tcp)
        other = (server or self.server).accept()[0]
        other.settimeout(PATIENCE_S)
        for end in client, other:
            self.addCleanup(end.close)
        return client, other

    def assert_passes(self, source, sink, chunk=b"word"):
        source.sendall(chunk)
        self.assertEqual(chunk, sink.recv(len(chunk), socket.MSG_WAITALL))

    def assert_silent(self, sink):
        """The proxy has done with what was before; nothing has come."""
        self.network.control("look")
        sink.setblocking(False)
        self.assertRaises(BlockingIOError, sink.recv, 1)
        sink.settimeout(PATIENCE_S)

    def assert_ended(self, sink):
        try:
            self.assertEqual(b"", sink.recv(1))
        except ConnectionResetError:
            pass

    def test_what_is_said_passes_at_either_door(self):
        for is_tcp in (True, False):
            client, server = self.connect(is_tcp=is_tcp)
            self.assert_passes(client, server)
            self.assert_passes(server, client)

    def test_more_than_the_kernel_takes_at_once_passes_in_order(self):
        client, server = self.connect()
        much = os.urandom(1 << 20) * 16
        client.setblocking(False)
        sent = received = 0
        while received < len(much):
            try:
                sent += client.send(much[sent:sent + (1 << 16)])
            except BlockingIOError:
                pass
            if received < sent:
                chunk = server.recv(min(1 << 14, sent - received))
                self.assertEqual(much[received:received + len(chunk)], chunk)
                received += len(chunk)

    def test_the_end_of_either_side_is_the_end_of_the_other_after_what_was_said(self):
        for of in (0, 1):
            ends = self.connect()
            ends[of].sendall(b"last")
            ends[of].close()
            self.assertEqual(b"last", ends[1 - of].recv(4, socket.MSG_WAITALL))
            self.assert_ended(ends[1 - of])

    def test_a_cut_ends_all_and_new_ones_are_taken(self):
        pairs = [self.connect(), self.connect(is_tcp=False)]
        self.network.control("cut")
        for pair in pairs:
            for end in pair:
                self.assert_ended(end)
        self.assert_passes(*self.connect())

    def test_new_ones_are_refused_until_they_are_accepted(self):
        client, _ = self.connect()
        for _ in range(2):
            self.network.control("refuse")
            self.assert_ended(client)
            for is_tcp in (True, False):
                self.assertRaises(ConnectionRefusedError, self.network.connect, is_tcp)
        port = self.network.port
        self.network.control("accept")
        self.assertEqual(port, self.network.port)
        for is_tcp in (True, False):
            self.assert_passes(*self.connect(is_tcp=is_tcp))

    def test_forgotten_connections_are_silent_for_ever_and_new_ones_pass(self):
        client, server = self.connect()
        self.network.control("forget")
        client.sendall(b"to")
        server.sendall(b"fro")
        self.assert_passes(*self.connect())
        self.network.control("thaw")
        for sink in client, server:
            self.assert_silent(sink)

    def test_a_frozen_network_takes_connections_and_keeps_all_until_it_thaws(self):
        client, server = self.connect()
        self.network.control("freeze")
        later, server_of_later = self.connect()
        client.sendall(b"to")
        server.sendall(b"fro")
        later.sendall(b"later")
        later.close()
        while self.network.control("look") < 3:
            time.sleep(0.001)
        for sink in client, server, server_of_later:
            self.assert_silent(sink)
        self.assertEqual(3, self.network.control("look"))
        self.network.control("thaw")
        self.assertEqual(b"to", server.recv(2, socket.MSG_WAITALL))
        self.assertEqual(b"fro", client.recv(3, socket.MSG_WAITALL))
        self.assertEqual(b"later", server_of_later.recv(5, socket.MSG_WAITALL))
        self.assert_ended(server_of_later)
        self.assertEqual(0, self.network.control("look"))

    def test_bytes_of_some_hosts_are_kept_and_the_others_go_on(self):
        network = Network(f"127.0.0.1:{self.server_port}", "127.0.0.3:0")
        self.addCleanup(network.end)
        ends = []
        for host in "127.0.0.4", "127.0.0.5":
            client = socket.create_connection(("127.0.0.3", network.port), PATIENCE_S, (host, 0))
            server = self.server.accept()[0]
            server.settimeout(PATIENCE_S)
            for end in client, server:
                self.addCleanup(end.close)
            ends.append((client, server))
        network.control("freeze from 127.0.0.4 127.0.0.6")
        ends[0][0].sendall(b"to")
        ends[0][1].sendall(b"fro")
        self.assert_passes(*ends[1])
        while network.control("look") < 3:
            time.sleep(0.001)
        for sink in ends[0]:
            self.assert_silent(sink)
        network.control("freeze from 127.0.0.5")
        self.assertEqual(b"to", ends[0][1].recv(2, socket.MSG_WAITALL))
        self.assertEqual(b"fro", ends[0][0].recv(3, socket.MSG_WAITALL))
        network.control("thaw")
        self.assert_passes(*ends[1])

    def test_answers_alone_are_kept(self):
        client, server = self.connect()
        self.network.control("freeze answers")
        self.assert_passes(client, server)
        server.sendall(b"answer")
        while self.network.control("look") < 6:
            time.sleep(0.001)
        self.assert_silent(client)
        self.network.control("thaw")
        self.assertEqual(b"answer", client.recv(6, socket.MSG_WAITALL))

    def test_what_was_kept_is_lost_with_a_cut(self):
        client, server = self.connect()
        self.network.control("freeze answers")
        server.sendall(b"answer")
        while self.network.control("look") < 6:
            time.sleep(0.001)
        self.assertEqual(0, self.network.control("cut"))
        self.network.control("thaw")
        self.assert_ended(client)

    def test_a_delay_is_kept_in_either_direction(self):
        client, server = self.connect()
        self.network.control("delay 50")
        for source, sink in ((client, server), (server, client)):
            began = time.monotonic()
            self.assert_passes(source, sink)
            self.assertGreaterEqual(time.monotonic() - began, 0.05)
        self.network.control("delay 60000")
        client.sendall(b"slow")
        self.assert_silent(server)

    def test_new_connections_are_redirected_and_old_ones_stay(self):
        old = self.connect()
        path = f"{self.network.folder}/other.sock"
        other = socket.socket(socket.AF_UNIX)
        self.addCleanup(other.close)
        other.bind(path)
        other.listen()
        other.settimeout(PATIENCE_S)
        self.network.control(f"redirect {path}")
        self.assert_passes(*old)
        self.assert_passes(*self.connect(other))

    def test_where_no_server_is_connections_end(self):
        self.server.close()
        for place in f"127.0.0.1:{self.server_port}", f"{self.network.folder}/nobody.sock":
            self.network.control(f"redirect {place}")
            with self.network.connect() as client:
                self.assert_ended(client)


class End(unittest.TestCase):
    def test_it_ends_with_what_started_it(self):
        """Although this test has the other end of the pipe."""
        reading, output = os.pipe()
        kept, writing = os.pipe()
        with subprocess.Popen(["sh", "-c", f'"{LAUNCHER}" /nowhere <&{kept} >&{output} & wait'],
                              pass_fds=(kept, output)) as shell:
            os.close(output)
            with os.fdopen(reading) as line:
                folder = line.readline().split()[1]
                self.assertTrue(os.path.exists(f"{folder}/proxy.sock"))
                shell.send_signal(signal.SIGKILL)
                self.assertEqual("", line.readline())  # no process has that end any longer
            deadline = time.monotonic() + PATIENCE_S
            while os.path.exists(folder) and time.monotonic() < deadline:
                time.sleep(0.005)
            self.assertFalse(os.path.exists(folder))
        for end in kept, writing:
            os.close(end)


if __name__ == "__main__":
    unittest.main()
