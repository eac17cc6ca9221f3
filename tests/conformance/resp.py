"""A command to a server over a connection of its own, as redis-cli sends and prints it. Starting redis-cli
takes 10 ms of CPU, and a scenario repeats commands until their reply is the expected one."""
import re
import socket

ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "a": "\a"}


def unquoted(text):
    """The bytes of a word in double quotes: `\\xHH` is a byte."""
    def byte_of(found):
        escaped = found[1]
        return chr(int(escaped[1:], 16)) if len(escaped) == 3 else ESCAPES.get(escaped, escaped)
    raw = text.encode().decode("latin-1")  # UTF-8, byte by byte
    return re.sub(r"\\(x[0-9a-fA-F]{2}|.)", byte_of, raw).encode("latin-1")


def words_of(command):
    """The arguments of a line, as bytes. Those in double quotes may have spaces and escapes."""
    found = re.findall(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|(\S+)', command)
    return [unquoted(double) if not single and not plain else (single or plain).encode()
            for double, single, plain in found]


def read_reply(stream):
    """The reply as redis-cli prints it without a terminal."""
    line = stream.readline()
    if not line:
        raise ConnectionError("the server has closed the connection")
    kind, rest = line[:1], line[1:].rstrip(b"\r\n")
    if kind in (b"*", b"~", b">"):
        return b"\n".join(read_reply(stream) for _ in range(max(0, int(rest))))
    if kind == b"$":
        return stream.read(int(rest) + 2)[:-2] if int(rest) >= 0 else b""
    return rest


def ask(address, *commands):
    """The replies of the server at a unix socket's path, or a (host, port). Those that a server does not
    give, because it is down or dies, are empty."""
    replies = []
    try:
        with (socket.socket(socket.AF_UNIX) if isinstance(address, str) else socket.socket()) as connection:
            connection.connect(address)
            stream = connection.makefile("rb")
            for command in commands:
                words = words_of(command)
                connection.sendall(b"*%d\r\n" % len(words) +
                                   b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
                text = read_reply(stream).decode(errors="replace").replace("\r\n", "\n")
                replies.append(text.rstrip("\n"))
    except OSError:
        pass
    return replies + [""] * (len(commands) - len(replies))
