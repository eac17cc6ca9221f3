"""What the clients of a scenario connect to, and how: its servers, and what stands before them."""
import pathlib
import re
import tempfile

from coverage import options_in
from launched import Launched
from server import Server

PAGES = pathlib.Path(__file__).resolve().parents[2] / "capi/doc"
# The first plays each scenario in all languages.
KINDS = ("direct", "proxy", "rights", "tls")
# Who logs in instead of the pages' locker with PASSWORD: words that nothing else says.
USER, PASSWORD = "locker-77u", "password-77p"
# A lock's name, as scenarios have it where its key is its name; there is no space in a pattern.
NAME = "the?lock"


def rule_on(page):
    """The words of the page's ACL SETUSER, from the user's name on."""
    return with_marks(re.search(r"^ACL SETUSER (locker .*)$", (PAGES / page).read_text("utf-8"), re.M)[1]).split()


def further_rules_on(page):
    """The page's other rules: for servers that know these rights, and errors elsewhere."""
    rules = re.findall(r"^ACL SETUSER locker .*$", (PAGES / page).read_text("utf-8"), re.M)[1:]
    return [with_marks(rule) for rule in rules]


def with_marks(rule):
    return rule.replace("locker", USER, 1).replace(">PASSWORD", ">" + PASSWORD, 1)


def rights_for(scenario):
    """What a page says that a user needs, that for other programs' formats only where it is used; and
    what the scenario's own `rights` say."""
    words = rule_on("server.md")
    if any("protocol" in given for given in options_in(scenario)):
        words += [word.replace("NAME", NAME) for word in rule_on("protocols.md")[1:]]
    return words + scenario.get("rights", [])


class Deployment:
    """`direct`: a unix socket. `proxy`: TCP, by way of tests/support/proxy, as is every scenario that
    does something with the network. `rights`: as the user of the pages. `tls`: TLS."""

    def __init__(self, scenario, kind="direct"):
        steps = scenario["steps"]
        self.kind = kind
        self.secrets = {USER, PASSWORD} if kind == "rights" else set()
        self.folder = tempfile.TemporaryDirectory(prefix="mortise-rights-")
        arguments = {"tls": ["tls"]}.get(kind, [])
        if kind == "rights":
            users = pathlib.Path(self.folder.name, "users.acl")
            users.write_text("user default on nopass ~* &* +@all\n"
                             f"user {' '.join(rights_for(scenario))}\n", "ascii")
            arguments = ["--aclfile", str(users)]
        self.servers = {name: Server(*arguments)
                        for name in sorted({"first"} | {step["of"] for step in steps if is_of_server(step)})}
        for server in self.servers.values() if kind == "rights" else ():
            for rule in further_rules_on("server.md"):
                server.command(rule)
            server.command("ACL SAVE")  # for its next start
        self.network = None
        if kind == "proxy" or any("network" in step for step in steps):
            self.network = Launched("proxy", self.place("first"))
        self.url = self.url_of(f"127.0.0.1:{self.network.ports[0]}" if self.network else self.place("first"))

    def place(self, name):
        """Where the server is to be connected to in this deployment."""
        server = self.servers[name]
        return f"127.0.0.1:{server.ports[1]}" if self.kind == "tls" else server.socket

    def url_of(self, place):
        scheme = "unix" if place.startswith("/") else "rediss" if self.kind == "tls" else "redis"
        user = f"{USER}:{PASSWORD}@" if self.kind == "rights" else ""
        return f"{scheme}://{user}{place}" + (f"?tls_ca_file={self.signers()}" if self.kind == "tls" else "")

    def signers(self):
        """A file with the certificates of who signs the servers' own."""
        together = pathlib.Path(self.servers["first"].folder, "signers.pem")
        together.write_text("".join(pathlib.Path(server.folder, "ca.pem").read_text("ascii")
                                    for server in self.servers.values()), "ascii")
        return together

    def url_as(self, login):
        """Its URL, for another user, or user and password, if one is given."""
        scheme, rest = self.url.split("://")
        return f"{scheme}://{login}@{rest.split('@')[-1]}" if login else self.url

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
        self.network.tell(" ".join([command, *(self.place(name) if command == "redirect" else name
                                               for name in names)]))

    def refused(self):
        """What servers have refused their user because of a missing right; a wrong password is none."""
        if self.kind != "rights":
            return set()
        entry = r"^reason\n(.*)\ncontext\n.*\nobject\n(.*)\nusername\n(.*)$"
        return {found for server in self.servers.values()
                for reason, found, user in re.findall(entry, server.command("ACL LOG 128"), re.M)
                if reason != "auth" and user == USER}

    def end(self):
        for one in [self.network, *self.servers.values()]:
            if one:
                one.end()
        self.folder.cleanup()


def is_of_server(step):
    return "of" in step and ("server" in step or "control" in step)
