"""The results of all slices so far: tests/evidence/results/DEPLOYMENT.json, one sum for each
deployment. docs/internals/histories.md describes their fields."""
import datetime
import json
import os
import pathlib
import platform
import subprocess

import judges

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "results"
DEPLOYMENTS = ("one-server", "one-server-outside", "shards", "redlock", "sentinel",
               "sentinel-acks-1", "sentinel-acks-all", "cluster", "cluster-without-failovers",
               "cluster-acks-1", "cluster-acks-all")


def machine():
    """Processor, memory, kernel and server."""
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                if line.startswith("model name")), platform.machine())
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    server = os.environ.get("MORTISE_TEST_SERVER") or "redis-server"
    words = subprocess.run([server, "--version"], capture_output=True, text=True,
                           check=True).stdout.split()
    version = next(word.removeprefix("v=") for word in words if word.startswith("v="))
    kernel = ".".join(platform.release().split(".")[:2])
    return (f"{os.cpu_count()} processors ({cpu}), {memory_gib:.0f} GiB, "
            f"{platform.system()} {kernel}, {words[0]} {version}")


def commit():
    found = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=HERE, text=True,
                           capture_output=True, check=False)
    return found.stdout.strip() or "unknown"


def add_numbers(into, more):
    for key, number in more.items():
        into[key] = into.get(key, 0) + number


def path_of(deployment, folder=FOLDER):
    return folder / f"{deployment}.json"


def read(deployment, folder=FOLDER):
    path = path_of(deployment, folder)
    if path.exists():
        return json.loads(path.read_text("utf-8"))
    return {"deployment": deployment, "slices": 0, "seconds": 0}


# From here on a late grant says more about the machine than about the lock.
LONG_STALL_MS = 500


def judgment_of(result, judge):
    """One of ok, late, stalled, violation and unknown. Stalled is a slice that is late on a machine
    that did not run its processes for a long time."""
    found = result[judge]
    if found["judgment"] != "ok" or found["liveness"] == "ok":
        return found["judgment"]
    return "stalled" if result["stall_ms"] >= LONG_STALL_MS else "late"


def add(result, folder=FOLDER):
    """Adds the result.json of one slice, and writes the file as a whole."""
    path = path_of(result["deployment"], folder)
    total = read(result["deployment"], folder)
    total["exclusive"] = result["exclusive"]
    total["slices"] += 1
    total["seconds"] = round(total["seconds"] + result["seconds"], 1)
    checked = next((result[name] for name in judges.NAMES if "acquisitions" in result[name]), {})
    for key in ("acquisitions", "operations"):
        total[key] = total.get(key, 0) + checked.get(key, 0)
    add_numbers(total.setdefault("grants", {}), result["grants"])
    add_numbers(total.setdefault("faults", {}), result["faults"])
    total["faults"] = dict(sorted(total["faults"].items()))
    for name in judges.NAMES:
        add_numbers(total.setdefault(name, {}), {judgment_of(result, name): 1})
    # What a machine that stalls makes of them is no measure of the lock.
    is_stalled = result["stall_ms"] >= LONG_STALL_MS
    for key in () if is_stalled else ("longest_idle_ms", "longest_wait_ms", "most_passed"):
        total[key] = max([total.get(key, 0)] + [result[name].get(key, 0) for name in judges.NAMES])
    add_numbers(total.setdefault("registers", {}), result["registers"])
    total["leftovers"] = total.get("leftovers", 0) + len(result["leftovers"])
    today = datetime.date.today().isoformat()
    total.setdefault("first_day", today)
    total.update(last_day=today, machine=machine(), commit=commit())
    folder.mkdir(exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(total, indent=2) + "\n", "utf-8")
    new.rename(path)
