"""What the clients of a scenario connect to, and how: its servers, and a proxy or a Sentinel before them."""
import atexit
import collections
import functools
import pathlib
import re
import subprocess
import tempfile
import threading

from cluster import Cluster
from coverage import options_in
from launched import PROGRAMS, Launched
from server import Server

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs"
# Each language runs each scenario in the first.
KINDS = ("direct", "proxy", "rights", "namespace", "tls", "shard", "redlock", "sentinel", "cluster")
# Of a deployment with several servers wherever others have one.
SHARDS = ("a", "b", "c")
# How a scenario asks how many wait.
WAITERS = re.compile(r'LLEN "?((\w+:)?\{mortise:[^}]*\}):r?q"?')
# The formats of locks that a quorum of servers can have.
QUORUM_PROTOCOLS = {"queued", "token"}
# The login in place of the pages' locker with PASSWORD: words that occur nowhere else.
USER, PASSWORD = "locker-77u", "password-77p"
# The namespace of the pages, and of the clients in the deployment of this name.
NAMESPACE = "billing"
# A lock's name, as scenarios have it where its key is its name; there is no space in a pattern.
NAME = "the?lock"
DEFAULT_NAME = "the lock"
# Commands whose effect outlasts a cleaning of the server.
LASTING = ("CONFIG SET", "ACL ", "CLIENT PAUSE", "CLIENT UNPAUSE", "REPLICAOF", "SAVE")


def rule_on(page):
    """The words of the page's ACL SETUSER, from the user's name on."""
    return with_marks(re.search(r"^ACL SETUSER (locker .*)$", (PAGES / page).read_text("utf-8"), re.M)[1]).split()


def further_rules_on(page):
    """The page's other rules, for servers that know these rights. Other servers return an error."""
    rules = re.findall(r"^ACL SETUSER locker .*$", (PAGES / page).read_text("utf-8"), re.M)[1:]
    return [with_marks(rule) for rule in rules]


def with_marks(rule, user=USER, password=PASSWORD):
    return rule.replace("locker", user, 1).replace(">PASSWORD", ">" + password, 1)


def rule_of_tenant(namespace, user, password):
    """The words of the page's ACL SETUSER for a user of one namespace, from the user's name on."""
    rule = re.search(rf"^ACL SETUSER {NAMESPACE} (.*)$", (PAGES / "security.md").read_text("utf-8"), re.M)[1]
    return with_marks("locker " + rule.replace(NAMESPACE, namespace), user, password).split()


def further_rules_of_tenant(kind, user):
    """What the pages allow a user of this deployment besides."""
    pages = {"cluster": ["cluster.md"], "redlock": ["redlock.md"]}.get(kind, [])
    yield from (" ".join(["ACL SETUSER", user, *rule_on(page)[1:]]) for page in pages)
    if kind == "sentinel":
        yield f"ACL SETUSER {user} +wait"  # its URL has acks=all


def rights_for(scenario, kind="rights"):
    """The rights that a page gives a user, those for other programs' formats only where they are
    used, and the scenario's own `rights`."""
    if kind == "namespace":
        return rule_of_tenant(NAMESPACE, USER, PASSWORD) + scenario.get("rights", [])
    words = rule_on("server.md")
    if any("protocol" in given for given in options_in(scenario)):
        words += [word.replace("NAME", NAME) for word in rule_on("protocols.md")[1:]]
    return words + scenario.get("rights", [])


def fits(kind, scenario):
    """Whether this deployment has the subject of the scenario. A quorum has mutexes and read-write
    locks, one of other programs' formats, and no order of waiters."""
    if kind in scenario.get("not_on", []):
        return False
    if kind == "namespace":
        # In other formats the names of locks are keys, and the namespace would have to be in them.
        return not any("protocol" in given for given in options_in(scenario))
    if kind == "cluster":
        return not any("network" in step or "control" in step or is_of_server(step) or "write" in step
                       for step in scenario["steps"])
    if kind != "redlock":
        return True
    return (not any(step.get("new") == "semaphore" for step in scenario["steps"]) and
            all(given.get("protocol", "queued") in QUORUM_PROTOCOLS for given in options_in(scenario)))


def shard_of(name):
    """The number of the shard that a lock's name belongs to, by the program of the page."""
    program = {}
    exec(re.search(r"^```python\n(.*?)^```$", (PAGES / "sharding.md").read_text("utf-8"), re.M | re.S)[1],
         program)
    return SHARDS.index(program["shard_of"](name, dict.fromkeys(SHARDS, 1)))


def name_in(command):
    """The name of the lock that a command for redis-cli is about, as bytes; None for none."""
    if found := re.search(r"\{mortise:(.*?)\}", command):
        return found[1].encode("latin-1").decode("unicode_escape").encode("latin-1")
    return DEFAULT_NAME.encode() if DEFAULT_NAME in command else None


def together(answers):
    """What several servers that were asked the same have answered: the same, numbers that are added, or
    lines, those of `key:number` added as well."""
    if len(set(answers)) == 1:
        return answers[0]
    if all(re.fullmatch(r"-?\d+", answer) for answer in answers):
        return str(sum(int(answer) for answer in answers))
    sums, lines = {}, []
    for line in "\n".join(answers).split("\n"):
        if found := re.fullmatch(r"(\w+):(\d+)\s*", line):
            sums[found[1]] = sums.get(found[1], 0) + int(found[2])
        else:
            lines.append(line)
    return "\n".join(lines + [f"{key}:{number}" for key, number in sums.items()])


def agreed(answers):
    """What most servers of a quorum have answered: the middle one of numbers."""
    if all(re.fullmatch(r"-?\d+", answer) for answer in answers):
        return sorted(answers, key=int)[len(answers) // 2]
    return max(answers, key=answers.count)


@functools.cache
def certificates():
    """A folder with certificates for all TLS servers of this process: making them takes 0.15 s of CPU."""
    folder = tempfile.TemporaryDirectory(prefix="mortise-certificates-")
    atexit.register(folder.cleanup)
    subprocess.run([PROGRAMS / "certificates", folder.name], check=True)
    return folder.name


class Infrastructure:
    """The processes and files of a deployment. An idle one is reused after it was cleaned."""
    idle = collections.defaultdict(list)
    lock = threading.Lock()

    @classmethod
    def take(cls, scenario, kind):
        """A new one where the scenario does more with it than use it."""
        rules = rights_for(scenario, kind) if has_user(kind) else []
        if has_lasting_effects(scenario):
            return cls(scenario, kind, rules)
        key = (kind, *rules)
        with cls.lock:
            found = cls.idle[key].pop() if cls.idle[key] else None
        found = found or cls(scenario, kind, rules)
        found.key = key
        return found

    def __init__(self, scenario, kind, rules):
        steps = scenario["steps"]
        self.kind = kind
        self.key = None
        self.shards = range(len(SHARDS) if kind in ("shard", "redlock") else 1)
        self.folder = None
        arguments = [f"tls={certificates()}"] if kind == "tls" else []
        if has_user(kind):
            self.folder = tempfile.TemporaryDirectory(prefix="mortise-rights-")
            users = pathlib.Path(self.folder.name, "users.acl")
            users.write_text("user default on nopass ~* &* +@all\n"
                             f"user {' '.join(rules)}\n", "ascii")
            arguments = ["--aclfile", str(users)]
        self.cluster = Cluster() if kind == "cluster" else None
        self.servers = {} if self.cluster else {
            name: [Server(*arguments) for _ in self.shards]
            for name in sorted({"first"} | {step["of"] for step in steps if is_of_server(step)})}
        for server in self.all_servers() if has_user(kind) else ():
            for rule in further_rules_on("server.md"):
                server.command(rule)
            server.command("ACL SAVE")  # for its next start
        self.networks = []
        if kind == "proxy" or any("network" in step for step in steps):
            self.networks = [Launched("proxy", self.place("first", shard)) for shard in self.shards]
        self.sentinel = self.start_sentinel() if kind == "sentinel" else None

    def start_sentinel(self):
        """It watches the place that the clients are to connect to."""
        sentinel = Server("sentinel")
        host, port = self.way_to(0).split(":")
        sentinel.command(f"SENTINEL MONITOR mymaster {host} {port} 1")
        return sentinel

    def give_back(self, is_reusable):
        if self.key and is_reusable and all(server.clean() for server in self.all_servers()):
            with self.lock:
                self.idle[self.key].append(self)
        else:
            self.end()

    def end(self):
        for one in [*self.networks, *self.all_servers(), *filter(None, [self.sentinel])]:
            one.end()
        if self.folder:
            self.folder.cleanup()

    @classmethod
    def end_idle(cls):
        for some in cls.idle.values():
            for one in some:
                one.end()

    def all_servers(self):
        if self.cluster:
            return self.cluster.servers
        return [server for shards in self.servers.values() for server in shards]

    def place(self, name, shard):
        """Where the server is to be connected to in this deployment."""
        server = self.servers[name][shard]
        if self.kind == "sentinel":
            return f"127.0.0.1:{server.ports[0]}"
        return f"127.0.0.1:{server.ports[1]}" if self.kind == "tls" else server.socket

    def way_to(self, shard):
        return f"127.0.0.1:{self.networks[shard].ports[0]}" if self.networks else self.place("first", shard)


class Deployment:
    """`direct`: a unix socket. `proxy`: TCP, through tests/support/proxy, as is every scenario that
    does something with the network. `rights`: as the user of the pages. `namespace`: as the user of a
    namespace, in it. `tls`: TLS. `shard`: of each
    server several, by their sockets. `redlock`: the same, as one quorum. `sentinel`: TCP, to the server
    that a Sentinel calls the master. `cluster`: one of three masters, for scenarios that do nothing with
    a server."""

    def __init__(self, scenario, kind="direct"):
        self.kind = kind
        self.secrets = {USER, PASSWORD} if has_user(kind) else set()
        self.users = {USER} if has_user(kind) else set()
        self.rights = scenario.get("rights", [])
        self.is_plain_key = any(given.get("protocol", "queued") != "queued" for given in options_in(scenario))
        self.infrastructure = Infrastructure.take(scenario, kind)
        self.shards = self.infrastructure.shards
        self.cluster = self.infrastructure.cluster
        self.servers = self.infrastructure.servers
        self.networks = self.infrastructure.networks
        self.sentinel = self.infrastructure.sentinel
        self.url = self.url_as(f"{USER}:{PASSWORD}" if has_user(kind) else "")

    def all_servers(self):
        return self.infrastructure.all_servers()

    def url_as(self, login):
        """Its URL, for its own user, or another, or user and password, if one is given."""
        if login is None:
            return self.url
        if self.cluster:
            return self.cluster.url_as(login)
        urls = [self.url_of(shard, login) for shard in self.shards]
        return urls[0] if len(urls) == 1 else f"{self.kind}:" + ",".join(urls)

    def url_of(self, shard, login):
        if self.sentinel:
            return f"redis+sentinel://{login}{'@' if login else ''}127.0.0.1:{self.sentinel.ports[0]}/mymaster?acks=all"
        place = self.infrastructure.way_to(shard)
        scheme = "unix" if place.startswith("/") else "rediss" if self.kind == "tls" else "redis"
        query = {"tls": f"?tls_ca_file={self.signers()}" if self.kind == "tls" else "",
                 "namespace": f"?namespace={NAMESPACE}",
                 "shard": f"?shard={SHARDS[shard]}",
                 "redlock": "" if shard else "?quarantine=0"}.get(self.kind, "")
        return f"{scheme}://{login}{'@' if login else ''}{place}{query}"

    def signers(self):
        """A file with the certificates of the servers' own authorities."""
        all_of_them = pathlib.Path(self.server_folder({}), "signers.pem")
        all_of_them.write_text("".join(pathlib.Path(server.folder, "ca.pem").read_text("ascii")
                                       for server in self.all_servers()), "ascii")
        return all_of_them

    def server_folder(self, step):
        servers = self.cluster.servers if self.cluster else self.servers[step.get("of", "first")]
        return servers[0].folder

    def write(self, step):
        self.servers[step.get("of", "first")][0].write(step["write"], step["text"])

    def control(self, step):
        for server in self.servers[step.get("of", "first")]:
            server.control(step["control"], step.get("in_ms", 0))

    def admit(self, step):
        """A user that has only one namespace, at all servers."""
        user = step["user"]
        self.users.add(user)
        rule = " ".join(rule_of_tenant(step["tenant"], user, step["password"]))
        further = [*further_rules_of_tenant(self.kind, user),
                   *(f"ACL SETUSER {user} {right}" for right in self.rights),
                   *(other.replace(USER, user, 1) for other in further_rules_on("server.md"))]
        for server in self.all_servers():
            if (effect := server.command(f"ACL SETUSER {rule}")) != "OK":
                raise RuntimeError(f"{rule!r}: {effect}")
            for one in further:
                server.command(one)

    def command(self, step):
        """The reply of the step's server. In a command `{first}` is that server's host and port. Of
        several servers it is the one that answers for the lock of the command, or all; of a quorum
        all."""
        if self.kind == "namespace":
            step = {**step, "server": re.sub(r"\{?mortise:", rf"{NAMESPACE}:\g<0>", step["server"])}
        if self.cluster:
            return together(self.cluster.answers(step["server"], name_in(step["server"]),
                                                 DEFAULT_NAME if self.is_plain_key else f"{{mortise:{DEFAULT_NAME}}}"))
        if self.kind == "redlock":
            return agreed([self.command_of(step, shard) for shard in self.shards])
        name = name_in(step["server"])
        asked = [shard_of(name)] if name is not None and len(self.shards) > 1 else self.shards
        return together([self.command_of(step, shard) for shard in asked])

    def command_of(self, step, shard):
        text = step["server"]
        if self.kind == "redlock" and (found := WAITERS.fullmatch(text)):
            # A waiter has no place in a queue, but is subscribed.
            reply = self.servers[step.get("of", "first")][shard].command(
                f'PUBSUB NUMSUB "{found[2] or ""}mortise:free:{found[1]}"')
            return reply.split("\n")[-1]
        for name, servers in self.servers.items():
            text = text.replace(f"{{{name}}}", f"127.0.0.1 {servers[shard].ports[0]}")
        return self.servers[step.get("of", "first")][shard].command(text)

    def command_network(self, command):
        """The commands of tests/support/proxy. It is redirected to a server by its name here."""
        command, *names = command.split()
        for shard, network in enumerate(self.networks):
            network.send(" ".join([command, *(self.infrastructure.place(name, shard) if command == "redirect" else name
                                              for name in names)]))

    def refused(self):
        """What servers have refused their users because of a missing right; a wrong password is none."""
        if not self.users:
            return set()
        entry = r"^reason\n(.*)\ncontext\n.*\nobject\n(.*)\nusername\n(.*)$"
        return {found for server in self.all_servers()
                for reason, found, user in re.findall(entry, server.command("ACL LOG 128"), re.M)
                if reason != "auth" and user in self.users}

    def end(self, is_reusable=False):
        """Where nothing is wrong with its servers, another run may use them."""
        self.infrastructure.give_back(is_reusable)


def has_user(kind):
    """Whether its clients log in as the user of a page."""
    return kind in ("rights", "namespace")


def is_of_server(step):
    return "of" in step and ("server" in step or "control" in step)


def has_lasting_effects(scenario):
    """Whether it leaves more at its servers than clients and what these have stored."""
    return any({"control", "network", "write"} & set(step) or is_of_server(step) or
               step.get("server", "").startswith(LASTING) for step in scenario["steps"])


atexit.register(Infrastructure.end_idle)
