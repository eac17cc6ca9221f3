"""What the clients of a scenario connect to, and how: its servers, and what stands before them."""
import pathlib
import re

from coverage import options_in
from launched import Launched
from server import Server

PAGES = pathlib.Path(__file__).resolve().parents[2] / "capi/doc"
# The first plays each scenario in all languages.
KINDS = ("direct", "proxy", "rights")
# A lock's name, as scenarios have it where its key is its name; there is no space in a pattern.
NAME = "the?lock"


def rule_on(page):
    """The words of the page's ACL SETUSER, from the user's name on."""
    return re.search(r"^ACL SETUSER (locker .*)$", (PAGES / page).read_text("utf-8"), re.M)[1].split()


def rights_for(scenario):
    """What a page says that a user needs; that for other programs' formats only where it is used."""
    words = rule_on("server.md")
    if any("protocol" in given for given in options_in(scenario)):
        words += [word.replace("NAME", NAME) for word in rule_on("protocols.md")[1:]]
    return words


class Deployment:
    """`direct`: a unix socket. `proxy`: TCP, by way of tests/support/proxy, as is every scenario that
    does something with the network. `rights`: as the user of the pages."""

    def __init__(self, scenario, kind="direct"):
        steps = scenario["steps"]
        self.kind = kind
        arguments = ["--user", *rights_for(scenario)] if kind == "rights" else []
        self.servers = {name: Server(*arguments)
                        for name in sorted({"first"} | {step["of"] for step in steps if is_of_server(step)})}
        self.network = None
        if kind == "proxy" or any("network" in step for step in steps):
            self.network = Launched("proxy", self.servers["first"].socket)
        user = "locker:PASSWORD@" if kind == "rights" else ""
        self.url = (f"redis://{user}127.0.0.1:{self.network.ports[0]}" if self.network else
                    f"unix://{user}{self.servers['first'].socket}")

    def server(self, step):
        return self.servers[step.get("of", "first")]

    def command(self, step):
        """What the step's server answers; in a command `{first}` is that server's host and port."""
        text = step["server"]
        for name, server in self.servers.items():
            text = text.replace(f"{{{name}}}", f"127.0.0.1 {server.ports[0]}")
        return self.server(step).command(text)

    def tell_network(self, command):
        """What tests/support/proxy can do; it is redirected to a server by its name here."""
        command, *names = command.split()
        self.network.tell(" ".join([command, *(self.servers[name].socket if command == "redirect" else name
                                               for name in names)]))

    def refused(self):
        """What servers have refused to the user of the pages because of a missing right."""
        if self.kind != "rights":
            return set()
        return {found for server in self.servers.values()
                for found in re.findall(r"^object\n(.*)$", server.command("ACL LOG 128"), re.M)}

    def end(self):
        for one in [self.network, *self.servers.values()]:
            if one:
                one.end()


def is_of_server(step):
    return "of" in step and ("server" in step or "control" in step)
