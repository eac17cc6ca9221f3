"""The lists of mutants, how a mutant is planted, and the check that each can be."""
import fnmatch
import re
from dataclasses import dataclass, field
from pathlib import Path

from tokens import bodies_of, places_of, tokens_of

# The programs that TESTS lines name, with their sources. Those of GoogleTest take a filter.
GTEST_PROGRAMS = {
    "unit": "tests/unit/*.cpp",
    "safety": "tests/safety/*.cpp",
    "interop": "tests/interop/*.cpp",
    "simulation": "tests/simulation/[hl]*/*.cpp",
    **{name: f"tests/integration/{name}/*.cpp" for name in (
        "single", "tls", "local", "sentinel", "cluster", "redlock", "shard", "acks")},
}
OTHER_PROGRAMS = {
    "lock_simulation": "tests/simulation/lock/lock_simulation.cpp",
    "redlock_simulation": "tests/simulation/redlock/*.cpp",
    "cluster_simulation": "tests/simulation/cluster/*.cpp",
    "cxx20": "tests/capi/cxx/*.cpp",
}
TEST = re.compile(r"^TEST(_[FP])?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
INSTANCE = re.compile(r"^INSTANTIATE_TEST_SUITE_P\(\s*(\w+),\s*(\w+)", re.MULTILINE)


class Problem(Exception):
    """A mutant that cannot be planted or tested."""


@dataclass
class Mutant:
    name: str
    breaks: str
    source: str  # the list, for messages
    tests: list = field(default_factory=list)
    file: str = ""
    function: str = ""
    pattern: list = field(default_factory=list)
    replacement: list = field(default_factory=list)

    @property
    def is_lua(self):
        return self.file.endswith(".lua")


class Sources:
    """The files of a tree, each read and split into tokens once."""

    def __init__(self, root):
        self.root = root
        self.known = {}

    def read(self, file):
        if file not in self.known:
            try:
                text = (self.root / file).read_text()
            except OSError as error:
                raise Problem(f"FILE {file}: {error.strerror}") from error
            self.known[file] = text, tokens_of(text, file.endswith(".lua"))
        return self.known[file]


def parse(path):
    """The mutants of a list; tests/checks/mutants/README.md has its form."""
    mutants, mutant = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.name}:{number}"
        if heading := re.fullmatch(r"= (\w+): (.+)", line):
            mutant = Mutant(heading[1], heading[2], where)
            mutants.append(mutant)
        elif not line or line.startswith("#"):
            mutant = None
        elif mutant is None:
            raise Problem(f"{where}: not in a paragraph that begins with '= NAME: '")
        elif line.startswith("-"):
            mutant.pattern.append(line[1:])
        elif line.startswith("+"):
            mutant.replacement.append(line[1:])
        else:
            key, _, value = line.partition(" ")
            if key not in ("TESTS", "FILE", "IN") or not value:
                raise Problem(f"{where}: not a line of a mutant: {line}")
            if key == "TESTS":
                mutant.tests = value.split()
            elif key == "FILE":
                mutant.file = value
            else:
                mutant.function = value
    return mutants


def read_lists(paths):
    return [mutant for path in paths for mutant in parse(path)]


def place_of(mutant, sources):
    """The one place of a mutant in its file: where its text begins and ends."""
    text, source = sources.read(mutant.file)
    pattern = tokens_of("\n".join(mutant.pattern), mutant.is_lua)
    if not pattern:
        raise Problem("has no line that begins with '-'")
    spans = [(0, len(source))]
    where = mutant.file
    if mutant.function:
        spans = bodies_of(source, mutant.function, mutant.is_lua)
        where = f"{mutant.function} of {mutant.file}"
        if not spans:
            raise Problem(f"IN {mutant.function}: no such function in {mutant.file}")
    places = [(first, last) for first, last in places_of(source, pattern)
              if any(begin <= first and last <= end for begin, end in spans)]
    if len(places) != 1:
        raise Problem(f"its text is in {where} {len(places)} times")
    first, last = places[0]
    return source[first].begin, source[last - 1].end


def planted(mutant, sources):
    """The text of the mutant's file with the defect in it."""
    text, _ = sources.read(mutant.file)
    begin, end = place_of(mutant, sources)
    replacement = "\n".join(mutant.replacement)
    # A comment at the end of the replacement ends there.
    if ("--" if mutant.is_lua else "//") in replacement.rpartition("\n")[2]:
        replacement += "\n"
    return text[:begin] + replacement + text[end:]


class Tests:
    """The names of the tests in the sources, from their macros."""

    def __init__(self, root):
        self.root = root
        self.known = {}

    def files(self, program):
        """The files of a program of GoogleTest, each with the names of its tests."""
        if program in self.known:
            return self.known[program]
        texts = {path: path.read_text()
                 for path in sorted(self.root.glob(GTEST_PROGRAMS[program]))}
        instances = {}
        for text in texts.values():
            for prefix, suite in INSTANCE.findall(text):
                instances.setdefault(suite, []).append(prefix)
        names = {}
        for path, text in texts.items():
            names[path] = []
            for kind, suite, name in TEST.findall(text):
                prefixes = instances.get(suite, []) if kind == "_P" else [None]
                names[path] += [f"{prefix}/{suite}.{name}/" if prefix else f"{suite}.{name}"
                                for prefix in prefixes]
        self.known[program] = names
        return names

    def problem(self, entry):
        """Why an entry of a TESTS line names no test, or None."""
        program, _, rest = entry.partition(":")
        if program in GTEST_PROGRAMS:
            names = [name for file in self.files(program).values() for name in file]
            for pattern in rest.split(":") if rest else []:
                if not any(filter_fits(pattern, name) for name in names):
                    return f"TESTS {entry}: {program}_tests has no test {pattern}"
            return None
        if program == "capi":
            is_known = bool(rest) and (self.root / f"tests/capi/{rest}.c").exists()
        else:
            is_known = program in OTHER_PROGRAMS and any(
                self.root.glob(OTHER_PROGRAMS[program]))
        return None if is_known else f"TESTS {entry}: no such program"


def filter_fits(pattern, name):
    """Whether a filter takes a test. A name that ends in / has a parameter that is not known."""
    if not name.endswith("/"):
        return fnmatch.fnmatchcase(name, pattern)
    head, _, parameter = pattern.rpartition("/")
    return fnmatch.fnmatchcase(name + "0", pattern) or (
        "." not in parameter and fnmatch.fnmatchcase(name[:-1], head))


def problems_of(mutants, root):
    """A line for each mutant that cannot be planted, or whose tests are not there."""
    sources, tests = Sources(Path(root)), Tests(Path(root))
    seen, problems = set(), []
    for mutant in mutants:
        where = f"{mutant.source}: {mutant.name}"
        if mutant.name in seen:
            problems.append(f"{where}: another mutant has this name")
        seen.add(mutant.name)
        try:
            if planted(mutant, sources) == sources.read(mutant.file)[0]:
                problems.append(f"{where}: its replacement changes nothing")
        except Problem as problem:
            problems.append(f"{where}: {problem}")
        if not mutant.tests:
            problems.append(f"{where}: has no line TESTS")
        problems += [f"{where}: {problem}" for entry in mutant.tests
                     if (problem := tests.problem(entry))]
    return problems
