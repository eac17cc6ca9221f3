"""A cluster of three masters for a scenario. A new one needs seconds to come up, so an idle one is reused
after it was cleaned."""
import binascii
import time

from server import Server

MASTERS = 3
SLOTS = 16384
ARGUMENTS = ("--cluster-enabled", "yes", "--cluster-port", "free", "--cluster-node-timeout", "5000")


def slot_of(key):
    """CRC-16/XMODEM of the hash tag, or of the whole key without one."""
    begin, end = key.find(b"{"), key.find(b"}", key.find(b"{") + 1)
    return binascii.crc_hqx(key[begin + 1:end] if 0 <= begin < end - 1 else key, 0) % SLOTS


def tag_of(slot):
    """The least number whose slot it is."""
    number = 0
    while slot_of(b"%d" % number) != slot:
        number += 1
    return "{%d}" % number


class Cluster:
    def __init__(self):
        self.servers = [Server(*ARGUMENTS) for _ in range(MASTERS)]
        for number, server in enumerate(self.servers):
            first, last = (SLOTS * part // MASTERS for part in (number, number + 1))
            server.command(f"CLUSTER SET-CONFIG-EPOCH {number + 1}")
            server.command(f"CLUSTER ADDSLOTSRANGE {first} {last - 1}")
            for other in self.servers:
                if other is not server:
                    server.command(f"CLUSTER MEET 127.0.0.1 {other.ports[0]} {other.ports[1]}")
        while not all(self.is_whole(server) for server in self.servers):
            time.sleep(0.01)

    @staticmethod
    def is_whole(server):
        info = server.command("CLUSTER INFO")
        return "cluster_state:ok" in info and f"cluster_slots_ok:{SLOTS}" in info

    def url_as(self, login):
        places = ",".join(f"127.0.0.1:{server.ports[0]}" for server in self.servers)
        return f"redis+cluster://{login}{'@' if login else ''}{places}"

    def answers(self, text, name, key):
        """Of the server that has the lock, where the command is about one, or of all. The fence counter
        is that of the slot of this key."""
        is_of_fence = "mortise:fence" in text
        text = text.replace("mortise:fence", "mortise:fence" + tag_of(slot_of(key.encode())))
        if name is None and not is_of_fence:
            return [server.command(text) for server in self.servers]
        reply = self.servers[0].command(text)
        if reply.startswith("MOVED "):
            port = reply.rsplit(":", 1)[1]
            reply = next(server for server in self.servers if server.ports[0] == port).command(text)
        return [reply]
