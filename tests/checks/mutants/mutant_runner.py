"""Plants mutants one after the other and runs the tests that have to notice them.

The project is built once, in build/mutants. A worker has a copy of the sources in
build/mutants/worker_N, in which it plants a mutant. Only the objects with the mutant's file are
compiled again, from that copy and into that folder, and linked with the other objects of the build.
No mutant is ever planted in the project or in its build.
"""
import json
import os
import queue
import re
import resource
import shlex
import shutil
import signal
import statistics
import subprocess
import threading
import time
from pathlib import Path

from lists import GTEST_PROGRAMS, Problem, Sources, Tests, filter_fits, planted

COPIED = ("src", "capi", "cli", "tests")
FLAGS = "-O1 -DNDEBUG -g0"
OPTIONS = ["-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release", "-D", "CMAKE_UNITY_BUILD=OFF",
           "-D", f"CMAKE_CXX_FLAGS_RELEASE={FLAGS}", "-D", f"CMAKE_C_FLAGS_RELEASE={FLAGS}",
           "-D", "MORTISE_JAVA=OFF", "-D", "MORTISE_LUA=OFF", "-D", "MORTISE_PYTHON=OFF"]
SEEDS = {"lock_simulation": 500, "redlock_simulation": 300, "cluster_simulation": 300}
BASELINE_SEEDS = 20  # the default run plays more of them
SIMULATION_SECONDS = 600
PASSED = re.compile(r"^\[       OK \] (\S+?)(?:, where .*)? \((\d+) ms\)", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] (\w[\w/]*\.[\w/]+)", re.MULTILINE)
BEGUN = re.compile(r"^\[ RUN      \] (\S+)", re.MULTILINE)
SEED = re.compile(r"^seed (\d+) \(([^)]*)\)", re.MULTILINE)
running = set()  # process groups, to be killed when the runner is interrupted
BASE_SECONDS = 10  # how long a test may take beyond some times of what it takes without a mutant


def target_of(entry):
    """The target of an entry of a TESTS line."""
    program, _, rest = entry.partition(":")
    if program in GTEST_PROGRAMS:
        return f"{program}_tests"
    return {"capi": f"capi_{rest}", "cxx20": "cxx20_tests"}.get(program, program)


def run(command, seconds=None, **options):
    """The exit code and the output of a command; None as the code when its time is over."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace",
                          start_new_session=True, **options) as process:
        running.add(process.pid)
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]
        finally:
            running.discard(process.pid)


class Build:
    """The build without a mutant: its compilations and links, and their commands."""

    def __init__(self, root, workers):
        self.root = root
        self.folder = root / "build/mutants"
        self.workers = workers
        self.compilations, self.objects_of, self.links = {}, {}, {}

    def make(self, targets):
        options = list(OPTIONS)
        if shutil.which("ld.gold"):
            options += [f"-DCMAKE_{kind}_LINKER_FLAGS=-fuse-ld=gold" for kind in ("EXE", "SHARED")]
        code, output = run(["cmake", "-S", self.root, "-B", self.folder, *options])
        if code == 0:
            code, output = run(["ninja", "-C", self.folder, f"-j{self.workers}", *targets])
        if code != 0:
            raise Problem("the build without a mutant fails:\n" + output[-4000:])
        self.read_compilations()
        self.read_dependencies()
        self.links = {target: self.read_link(target) for target in targets}

    def objects_with(self, mutant):
        """The objects that a mutant's file is part of."""
        path = (self.folder / "generated/protocol/scripts/scripts.cpp" if mutant.is_lua
                else self.root / mutant.file)
        return self.objects_of.get(str(path), set())

    def ninja(self, *arguments):
        return subprocess.run(["ninja", "-C", self.folder, "--quiet", *arguments], check=True,
                              capture_output=True, text=True).stdout

    def read_compilations(self):
        rules = [line.split(":")[0] for line in self.ninja("-t", "rules").splitlines()]
        compilers = [rule for rule in rules if "_COMPILER_" in rule]
        for entry in json.loads(self.ninja("-t", "compdb", *compilers)):
            self.compilations[entry["output"]] = shlex.split(entry["command"]), entry["file"]

    def read_dependencies(self):
        name = None
        for line in self.ninja("-t", "deps").splitlines():
            if line.startswith("    "):
                path = os.path.normpath(os.path.join(self.folder, line[4:]))  # ccache's are relative
                self.objects_of.setdefault(path, set()).add(name)
            elif line:
                name = line.partition(":")[0]

    def read_link(self, target):
        line = self.ninja("-t", "commands", "-s", target).strip()
        return shlex.split(line.split(" && ")[1])  # after ":", before what follows the link


class Baseline:
    """How long each test takes without a mutant; all have to pass."""

    def __init__(self, build, entries):
        self.milliseconds, self.seconds = {}, {}
        filters = {}
        for entry in entries:
            program, _, rest = entry.partition(":")
            if program in GTEST_PROGRAMS:
                filters.setdefault(program, []).append(rest or "*")
        jobs = [f"{program}:{':'.join(rests)}" for program, rests in filters.items()]
        jobs += [entry for entry in entries if entry.partition(":")[0] not in GTEST_PROGRAMS]
        problems = []
        run_all(jobs, build.workers, lambda _, job: self.measure(build, job, problems))
        if problems:
            raise Problem("tests fail without a mutant:\n" + "\n".join(problems))

    def measure(self, build, job, problems):
        start = time.monotonic()
        code, output = run_test(build, build.folder, job, 900, is_baseline=True)
        if code != 0:  # a busy machine may have disturbed it
            code, output = run_test(build, build.folder, job, 900, is_baseline=True)
        self.seconds[job] = time.monotonic() - start
        self.milliseconds |= {name: int(ms) for name, ms in PASSED.findall(output)}
        if code != 0:
            problems.append(f"{job[:60]}: {failing(job, output)}\n{output[-1500:]}")

    def limit(self, entry):
        """How long an entry may take with a mutant."""
        program, _, rest = entry.partition(":")
        if program in SEEDS:
            return SIMULATION_SECONDS
        if program not in GTEST_PROGRAMS:
            return BASE_SECONDS + 2 * self.seconds[entry]
        filters = (rest or "*").split(":")
        return BASE_SECONDS + 2 * sum(
            ms for name, ms in self.milliseconds.items()
            if any(filter_fits(pattern, name) for pattern in filters)) / 1000


def failing(entry, output):
    """The test that noticed a mutant, as the narrowest possible entry of a TESTS line."""
    program = entry.partition(":")[0]
    if program in GTEST_PROGRAMS:
        # One that has crashed or hangs is the last to have begun.
        names = FAILED.findall(output)[:1] or BEGUN.findall(output)[-1:] or ["*"]
        return f"{program}:{names[0]}"
    if program in SEEDS and (seed := SEED.search(output)):
        return f"{program}:{seed[2]}, seed {seed[1]}"
    return entry


def run_test(build, folder, entry, seconds, is_baseline=False):
    """Runs an entry of a TESTS line with the programs of a folder."""
    program, _, rest = entry.partition(":")
    command = [folder / target_of(entry)]
    if not command[0].exists():
        command = [build.folder / target_of(entry)]
    if program in GTEST_PROGRAMS:
        command.append(f"--gtest_filter={rest or '*'}")
    elif program in SEEDS:
        command += ["--seeds", str(BASELINE_SEEDS if is_baseline else SEEDS[program])]
        command += ["--kind", rest] if rest else []
    library = {"MORTISE_TEST_LIBRARY": str(folder / "libmortise.so")}
    return run(command, seconds, cwd=build.root, env={**os.environ, **library})


class Worker:
    """A copy of the sources, and the programs that are linked from it."""

    def __init__(self, build, number):
        self.build = build
        self.folder = build.folder / f"worker_{number}"
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in COPIED:
            shutil.copytree(build.root / name, self.folder / name, symlinks=True)
        shutil.copytree(build.folder / "generated", self.folder / "generated")
        self.moved = [(f"{build.root}/{name}", f"{self.folder}/{name}") for name in COPIED]
        self.moved.append((f"{build.folder}/generated", f"{self.folder}/generated"))

    def try_mutant(self, mutant, sources, tests, baseline):
        """The result of a mutant, and its text."""
        bench = self.folder / "programs"
        shutil.rmtree(bench, ignore_errors=True)
        bench.mkdir()
        file = self.folder / mutant.file
        original = file.read_text()
        self.compiled = {}
        self.seconds = {"compile": 0.0, "link": 0.0, "test": 0.0}
        try:
            file.write_text(planted(mutant, sources))
            changed = self.changed_objects(mutant)
            for entry in mutant.tests:
                if problem := self.link(entry, changed, tests):
                    if "static assertion failed" in problem:
                        return "caught", "a static assertion"
                    return "DOES NOT BUILD", problem
                if by := self.noticed(entry, bench, baseline.limit(entry)):
                    return "caught", by
            return "SURVIVED", " ".join(mutant.tests)
        finally:
            file.write_text(original)
            if mutant.is_lua:
                self.embed_scripts()

    def noticed(self, entry, bench, limit):
        start = time.monotonic()
        code, output = run_test(self.build, bench, entry, limit)
        self.seconds["test"] += time.monotonic() - start
        if code is None:
            return f"{failing(entry, output)}, which did not end in {limit:.0f} s"
        return failing(entry, output) if code != 0 else None

    def changed_objects(self, mutant):
        if mutant.is_lua:
            self.embed_scripts()
        return self.build.objects_with(mutant)

    def embed_scripts(self):
        scripts = self.folder / "src/protocol/scripts"
        files = ";".join(str(path) for path in sorted(scripts.rglob("*.lua"))
                         if path.relative_to(scripts).parts[0] != "lib")
        subprocess.run(["cmake", "-D", f"FILES={files}", "-D",
                        f"TO={self.folder}/generated/protocol/scripts", "-P",
                        scripts / "embed.cmake"], check=True)

    def link(self, entry, changed, tests):
        """Links what an entry runs; the compiler's message if that fails."""
        target = target_of(entry)
        command = list(self.build.links[target])
        library = next((part for part in command if part.startswith("libmortise.so.")), None)
        if library or target.startswith("capi_dlopen"):
            if problem := self.link_library(changed):
                return problem
            command = [part.replace(f"-rpath,{self.build.folder}",
                                    f"-rpath,{self.folder}/programs") for part in command]
            command = [f"{self.folder}/programs/{part}" if part == library else part
                       for part in command]
        return self.link_with(command, target, changed, entry, tests)

    def link_library(self, changed):
        programs = self.folder / "programs"
        if (programs / "libmortise.so").exists():
            return None
        name = os.path.basename(os.path.realpath(self.build.folder / "libmortise.so"))
        if name not in self.build.links:
            self.build.links[name] = self.build.read_link(name)
        problem = self.link_with(list(self.build.links[name]), name, changed)
        for link in ("libmortise.so", "libmortise.so." + name.split(".")[2]):
            (programs / link).symlink_to(name)
        return problem

    def link_with(self, command, target, changed, entry=None, tests=None):
        joined = self.joined(command, target, changed)
        replaced = []
        for part in command:
            if part not in changed:
                replaced.append(part)
                continue
            group = joined.get(part, (part,))
            if problem := self.compile(group, entry, tests):
                return problem
            if (output := self.compiled[group, self.kept_tests(part, entry)]) not in replaced:
                replaced.append(output)
        replaced[replaced.index("-o") + 1] = f"{self.folder}/programs/{target}"
        start = time.monotonic()
        code, output = run(replaced, cwd=self.build.folder)
        self.seconds["link"] += time.monotonic() - start
        return None if code == 0 else first_error(output)

    def joined(self, command, target, changed):
        """Objects of the library that are compiled as one file, as a header is in many of them."""
        if target in ("redlock_simulation", "cluster_simulation"):
            return {}  # they replace functions, which has to be where another file calls them
        groups = {}
        for part in command:
            if part in changed and "/Unity/" not in part:
                groups.setdefault(part.partition(".dir/")[0], []).append(part)
        return {part: tuple(group) for group in groups.values() if len(group) > 2
                for part in group}

    def kept_tests(self, name, entry):
        """Whose tests alone an object has: those of an entry, as it is one file of many."""
        return entry if "/Unity/" in self.build.compilations[name][1] else None

    def compile(self, group, entry, tests):
        """Compiles objects as one."""
        kept = self.kept_tests(group[0], entry)
        if (group, kept) in self.compiled:
            return None
        command, file = self.build.compilations[group[0]]
        output_file = self.folder / f"programs/{len(self.compiled)}.o"
        command = [self.move(part) for part in command]
        command[command.index("-o") + 1] = str(output_file)
        if kept:
            command[command.index("-c") + 1] = self.unity_of(file, entry, tests)
        elif len(group) > 1:
            command[command.index("-c") + 1] = self.join(group)
        if "-MF" in command:
            command[command.index("-MF") + 1] = "/dev/null"
        start = time.monotonic()
        code, output = run(command, cwd=self.build.folder)
        self.seconds["compile"] += time.monotonic() - start
        self.compiled[group, kept] = str(output_file)
        return None if code == 0 else first_error(output)

    def join(self, group):
        copy = self.folder / f"programs/{len(self.compiled)}.cpp"
        copy.write_text("".join(f'#include "{self.move(self.build.compilations[name][1])}"\n'
                                for name in group))
        return str(copy)

    def move(self, text):
        if text == f"-I{self.build.root}":
            return f"-I{self.folder}"
        for old, new in self.moved:
            if (text.removeprefix("-I") + "/").startswith(old + "/"):
                return text.replace(old, new)
        return text

    def unity_of(self, file, entry, tests):
        """A copy of CMake's file of many, with those tests only that an entry runs."""
        program, _, rest = entry.partition(":")
        files = tests.files(program) if program in GTEST_PROGRAMS else {}
        filters = (rest or "*").split(":")
        dropped_records = {str(path) for path, names in files.items() if names and not any(
            filter_fits(pattern, name) for pattern in filters for name in names)}
        text = re.sub(r'#include "([^"]+)"', lambda match: "" if match[1] in dropped_records else
                      f'#include "{self.move(match[1])}"', Path(self.build.folder / file).read_text())
        copy = self.folder / f"programs/{len(self.compiled)}.cpp"
        copy.write_text(text)
        return str(copy)


def first_error(output):
    lines = [line for line in output.splitlines() if "error" in line or "undefined" in line]
    return (lines or output.splitlines() or ["no message"])[0]


def run_all(jobs, workers, function):
    """Calls function(worker number, job) for each job, in so many threads."""
    waiting = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)

    def work(number):
        while True:
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            function(number, job)

    threads = [threading.Thread(target=work, args=(number,), daemon=True)
               for number in range(workers)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        for group in list(running):
            os.killpg(group, signal.SIGTERM)
        raise


def run_mutants(mutants, root, workers, note):
    """Runs all, and calls note(name, result) after each; true when each was caught."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A mutant that allocates without end fails before the machine does.
    most_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    workers = min(workers, len(mutants))
    entries = list(dict.fromkeys(entry for mutant in mutants for entry in mutant.tests))
    build = Build(root, workers)
    print("building without a mutant", flush=True)
    start = time.monotonic()
    build.make(list(dict.fromkeys(target_of(entry) for entry in entries)))
    strays = [f"{mutant.name}: {mutant.file}" for mutant in mutants
              if not build.objects_with(mutant)]
    if strays:
        raise Problem("no object of the build has the files of these mutants:\n" + "\n".join(strays))
    print(f"  {time.monotonic() - start:.0f} s\nrunning the tests without a mutant", flush=True)
    start = time.monotonic()
    baseline = Baseline(build, entries)
    print(f"  {time.monotonic() - start:.0f} s", flush=True)
    sources, tests = Sources(root), Tests(root)
    benches = [Worker(build, number) for number in range(workers)]
    results, seconds = {}, {}

    def try_one(number, mutant):
        worker = benches[number]
        start = time.monotonic()
        result, text = worker.try_mutant(mutant, sources, tests, baseline)
        seconds[mutant.name] = time.monotonic() - start
        results.setdefault(result, []).append(mutant.name)
        note(mutant.name, result)
        parts = " ".join(f"{name} {value:.1f}" for name, value in worker.seconds.items())
        print(f"{result:<9} {mutant.name}: {seconds[mutant.name]:.1f} s ({parts}), by {text}"
              if result == "caught" else
              f"{result:<9} {mutant.name}: {seconds[mutant.name]:.1f} s ({parts}), {text}",
              flush=True)

    run_all(mutants, workers, try_one)
    for bench in benches:
        shutil.rmtree(bench.folder)
    slowest = max(seconds, key=seconds.get)
    counts = [len(results.get(name, [])) for name in ("caught", "SURVIVED", "DOES NOT BUILD")]
    print(f"{counts[0]} caught, {counts[1]} survived, {counts[2]} do not build; "
          f"median {statistics.median(seconds.values()):.1f} s, "
          f"slowest {seconds[slowest]:.1f} s ({slowest})")
    return counts[0] == len(mutants)
