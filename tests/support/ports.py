"""Ports of 127.0.0.1 that stay a test's own while nothing listens on them."""
import random
import socket
import sys


def first_ephemeral_port():
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as ports:
            return int(ports.read().split()[0])
    except OSError:
        return 32768


class Ports:
    """No connection gets one of them by chance, because they are below those that the kernel gives.
    No other test gets one, because each is claimed by a name."""
    LOWEST = 10000

    def __init__(self):
        self.highest = max(first_ephemeral_port(), self.LOWEST + 1000)
        self.claims = []

    def claims_all(self, ports):
        """False if any of them is in use."""
        claims = []
        try:
            for port in ports:
                claims.append(socket.socket(socket.AF_UNIX))
                claims[-1].bind(f"\0mortise-test-port-{port}")
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            for claim in claims:
                claim.close()
            return False
        self.claims += claims
        return True

    def new(self):
        for _ in range(10 * self.highest):
            port = random.randrange(self.LOWEST, self.highest)
            if self.claims_all([port]):
                return str(port)
        sys.exit(f"no port from {self.LOWEST} to {self.highest} is free")
