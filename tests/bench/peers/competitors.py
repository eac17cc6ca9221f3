"""The compared locks: the source of each, how its competitor is built and started, and its
settings. Packages of a registry are installed into build/peers, in pinned versions."""
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[2]
LIBRARY = TOP / "build/release"
BUILD = TOP / "build/peers"
REDIS_PY = "redis==8.1.0"
PYTHON_REDIS_LOCK = "python-redis-lock==4.0.1"
POTTERY = "pottery==3.0.1"
AIOREDLOCK = "aioredlock==0.7.3"


@dataclasses.dataclass
class Competitor:
    name: str
    language: str
    version: str
    settings: str  # a line of the page
    command: list
    environment: dict = dataclasses.field(default_factory=dict)
    options: str = ""  # after the server's address
    workloads: tuple = ()  # only these; empty: all
    is_renewed: bool = True  # so it can hold many locks

    @property
    def warm_up_s(self):
        """A JVM is still slow after a second, because it compiles what it runs."""
        return 10 if self.language == "Java" else 1

    def runs(self, workload):
        return not self.workloads or workload in self.workloads


def run(*command, folder=TOP, **environment):
    """Returns the fault of its build; None without one."""
    done = subprocess.run(list(map(str, command)), cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, **environment})
    if done.returncode != 0:
        raise RuntimeError(f"{pathlib.Path(command[0]).name}: {done.stdout.strip()[-300:]}")
    return done.stdout


def build_go_mortise():
    run("go", "build", "-o", BUILD / "go_mortise", ".", folder=HERE / "go/mortise", CGO_ENABLED="1",
        PKG_CONFIG_PATH=str(LIBRARY / "go"), CGO_LDFLAGS=f"-L{LIBRARY} -Wl,-rpath,{LIBRARY}",
        GOFLAGS="-mod=readonly -buildvcs=false")


def build_go_others():
    run("go", "build", "-o", BUILD / "go_others", ".", folder=HERE / "go/others", CGO_ENABLED="0",
        GOFLAGS="-mod=readonly -buildvcs=false")


def compile_java(competitor, *jars):
    run("javac", "-d", BUILD / "java", "-cp", ":".join(map(str, jars)), HERE / "java/Contention.java",
        HERE / f"java/{competitor}.java")


def build_java_mortise():
    compile_java("MortiseCompetitor", LIBRARY / "java/mortise.jar")


def build_redisson():
    run("mvn", "-B", "-q", "-f", HERE / "java/pom.xml", f"-Dtarget.folder={BUILD}/redisson", "package")
    compile_java("RedissonPeer", BUILD / "redisson/dependency/*")


def python_packages(name):
    """Each has a folder of its own, because their requirements differ."""
    return BUILD / f"python_{name}"


def build_python(name, *packages):
    def build():
        target = python_packages(name)
        complete = target / "complete"
        if complete.exists() and complete.read_text("utf-8").split() == [*packages]:
            return
        shutil.rmtree(target, ignore_errors=True)
        run("/usr/bin/python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
            "--root-user-action=ignore", "--target", target, *packages)
        complete.write_text("\n".join(packages), "utf-8")
    return build


def build_node():
    target = BUILD / "node"
    target.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "node" / name, target)
    run("npm", "ci", "--no-audit", "--no-fund", folder=target)


BUILDERS = {"mortise-go": build_go_mortise, "mortise-java": build_java_mortise,
            "redisson": build_redisson, "rueidislock": build_go_others, "redsync": build_go_others,
            "bsm-redislock": build_go_others, "redis-py": build_python("redis-py", REDIS_PY),
            "python-redis-lock": build_python("python-redis-lock", PYTHON_REDIS_LOCK, REDIS_PY),
            "pottery": build_python("pottery", POTTERY, REDIS_PY),
            "aioredlock": build_python("aioredlock", AIOREDLOCK), "node-redlock": build_node}
# What --only takes besides the name of one lock: the locks that a Python program can use, and C's.
GROUPS = {"python": ["mortise-c", "mortise-python", "mortise-asyncio", "redis-py",
                     "python-redis-lock", "pottery", "aioredlock"]}
# Those that only a group or --only measures.
EXTRA = ["mortise-asyncio", "python-redis-lock", "pottery", "aioredlock"]


def mortise_version():
    header = (TOP / "capi/include/mortise/mortise.h").read_text("utf-8")
    return ".".join(re.search(rf"define MORTISE_VERSION_{part} (\d+)", header)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def go_version(module):
    return re.search(rf"{re.escape(module)} v(\S+)", (HERE / "go/others/go.mod").read_text("utf-8"))[1]


def java(main, *jars):
    return ["java", "-cp", ":".join(map(str, (BUILD / "java", *jars))), main]


def python(library, packages):
    return {"command": ["/usr/bin/python3", "-B", HERE / "python/competitor.py", library],
            "environment": {"PYTHONPATH": str(packages)}}


def mortise_competitors():
    version = mortise_version()
    defaults = "defaults: leases of 15 s, renewed; "
    return {
        "mortise-c": Competitor("Mortise", "C", version, defaults + "a thread and a handle for each waiter",
                          [LIBRARY / "bench_peers_c"]),
        "mortise-go": Competitor("Mortise", "Go", version,
                           defaults + "a goroutine and a handle for each waiter",
                           [BUILD / "go_mortise"]),
        "mortise-java": Competitor("Mortise", "Java", version,
                             defaults + "a thread for each waiter, one lock object",
                             java("MortiseCompetitor", LIBRARY / "java/mortise.jar")),
        "mortise-python": Competitor("Mortise", "Python", version,
                                     defaults + "a thread and a lock object for each waiter",
                                     **python("mortise", LIBRARY / "python")),
        "mortise-asyncio": Competitor("Mortise", "Python, asyncio", version,
                                      defaults + "a task and a lock object for each waiter",
                                      **python("mortise-asyncio", LIBRARY / "python")),
    }


def strict_competitors():
    """Mortise without passes to waiters of the same process, in the workloads that have others."""
    return {f"{key}-strict": dataclasses.replace(
        competitor, name="Mortise, strict", settings="`fair=strict`; else as above",
        options="?fair=strict", workloads=("crowd_0ms", "crowd_1ms"))
        for key, competitor in mortise_competitors().items()}


def other_competitors():
    redisson = re.search(r"<artifactId>redisson</artifactId>\s*<version>(\S+?)<",
                         (HERE / "java/pom.xml").read_text("utf-8"))[1]
    node = json.loads((HERE / "node/package.json").read_text("utf-8"))["dependencies"]
    others = BUILD / "go_others"
    return {
        "redisson": Competitor("Redisson", "Java", redisson,
                         "`getLock(name).lock()`: a lease of 30 s, renewed; a thread for each waiter",
                         java("RedissonPeer", BUILD / "redisson/dependency/*")),
        "rueidislock": Competitor("rueidislock", "Go", go_version("github.com/redis/rueidis"),
                            "`KeyMajority: 1`, `NoLoopTracking: true`; its lease of 5 s, renewed",
                            [others, "rueidislock"]),
        "redsync": Competitor("redsync", "Go", go_version("github.com/go-redsync/redsync/v4"),
                        "`NewMutex(name)`: 8 s, not renewed; 32 tries every 50 to 250 ms, and again",
                        [others, "redsync"], is_renewed=False),
        "bsm-redislock": Competitor("bsm/redislock", "Go", go_version("github.com/bsm/redislock"),
                              "its example with retries: 1 s, not renewed; a try every 100 ms, three "
                              "times, and again", [others, "bsm"], is_renewed=False),
        "redis-py": Competitor("redis-py", "Python", REDIS_PY.partition("==")[2],
                         "`client.lock(name)`: never expires; a try every 100 ms; a thread for each "
                         "waiter", **python("redis-py", python_packages("redis-py")), is_renewed=False),
        "python-redis-lock": Competitor(
            "python-redis-lock", "Python", PYTHON_REDIS_LOCK.partition("==")[2],
            "`Lock(client, name)`: never expires; waits in BLPOP; a thread for each waiter",
            **python("python-redis-lock", python_packages("python-redis-lock")), is_renewed=False),
        "pottery": Competitor(
            "pottery", "Python", POTTERY.partition("==")[2],
            "`Redlock(key=name, masters={client})`: 10 s, not renewed; a try every 0 to 200 ms; a "
            "thread for each waiter", **python("pottery", python_packages("pottery")), is_renewed=False),
        "aioredlock": Competitor(
            "aioredlock", "Python, asyncio", AIOREDLOCK.partition("==")[2],
            "`lock(name)`: 10 s, renewed; 3 tries every 100 to 300 ms, and again; a task for each "
            "waiter", **python("aioredlock", python_packages("aioredlock"))),
        "node-redlock": Competitor("node-redlock", "JavaScript", node["redlock"],
                             f"ioredis {node['ioredis']}; `acquire([name], 5000)`, not renewed; 10 "
                             "tries every 200 to 400 ms, and again",
                             ["node", HERE / "node/competitor.js"],
                             {"NODE_PATH": str(BUILD / "node/node_modules")}, is_renewed=False),
    }


def all_competitors():
    return {**mortise_competitors(), **other_competitors()}


def chosen(only, more=None):
    """Those that --only names, by themselves or as a group. Without it all but the extra ones."""
    every = {**all_competitors(), **(more or {})}
    if not only:
        return {key: one for key, one in every.items() if key.removesuffix("-strict") not in EXTRA}
    names = {name for word in only for name in GROUPS.get(word, [word])}
    return {key: one for key, one in every.items() if key in names}


def build(competitors):
    """Those that can be built, and of the others why not."""
    BUILD.mkdir(parents=True, exist_ok=True)
    done, failed = {}, {}
    for key in competitors:
        builder = BUILDERS.get(key.removesuffix("-strict"))
        if builder and builder not in done:
            try:
                builder()
                done[builder] = None
            except (RuntimeError, OSError) as problem:
                done[builder] = str(problem)
        if builder and done[builder]:
            failed[key] = done[builder]
    return {key: competitor for key, competitor in competitors.items() if key not in failed}, failed
