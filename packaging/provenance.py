"""The provenance of a release: an in-toto statement with the predicate SLSA Provenance 1.0. It has no
date and no name of a machine, so that two builds with the same tools write the same statement."""

import json
import pathlib
import re
import shutil
import subprocess
import urllib.parse

from artifact import ROOT, VERSION
from spdx import digest

REPOSITORY = "https://github.com/mortise/mortise"
# The programs whose results are published. A program that is not installed made nothing.
TOOLS = ("cc1plus", "ld", "cmake", "ninja", "dpkg-buildpackage", "dh", "javac", "javadoc", "go", "doxygen",
         "llvm-objcopy", "python3")
PINNED = ("packaging/zig.txt", "packaging/site/sphinx.txt")


def output(*command):
    """What a command prints. Empty if it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def source():
    """The commit. Changed sources have none, and neither has a folder without Git."""
    found = {"name": "source", "uri": f"git+{REPOSITORY}@refs/tags/v{VERSION}"}
    is_repository = output("git", "rev-parse", "--show-toplevel") == str(ROOT)
    commit = is_repository and output("git", "rev-parse", "--verify", "HEAD")
    if commit and not output("git", "status", "--porcelain"):
        return {**found, "digest": {"gitCommit": commit}}
    return {**found, "annotations": {"state": "changed since the commit" if commit else "no commit"}}


def debian_package(name, version, architecture):
    name, version = (urllib.parse.quote(part, safe="") for part in (name, version))
    return f"pkg:deb/debian/{name}@{version}?arch={architecture}"


def tools():
    for name in TOOLS:
        found = output("gcc", f"-print-prog-name={name}") if name == "cc1plus" else shutil.which(name)
        path = pathlib.Path(found or name).resolve()
        if path.is_file():
            yield {"name": name, "digest": {"sha256": digest(path)}, "annotations": version(path)}


def version(path):
    package = output("dpkg-query", "--search", str(path)).partition(":")[0]
    if not package:
        return {"version": (output(path, "version") or output(path, "--version")).partition("\n")[0]}
    described = output("dpkg-query", "--show", "--showformat", "${Package} ${Version} ${Architecture}\n", package)
    return {"package": debian_package(*described.partition("\n")[0].split())}


def pinned():
    """The programs of PyPI. packaging/pip requires one of these hashes."""
    for path in PINNED:
        lines = (ROOT / path).read_text().replace("\\\n", " ")
        for name, number, hashes in re.findall(r"^([\w.-]+)==(\S+)(.*)", lines, re.M):
            yield {"name": name, "uri": f"pkg:pypi/{name.lower()}@{number}",
                   "annotations": {"one of": re.findall(r"sha256:\w{64}", hashes)}}


def build_dependencies(buildinfo):
    """All packages that Debian's packages were built with."""
    if buildinfo is None:
        return
    text = buildinfo.read_text()
    architecture = re.search(r"^Build-Architecture: (\S+)", text, re.M)[1]
    installed = re.search(r"^Installed-Build-Depends:\n((?: .*\n)+)", text, re.M)[1]
    for name, version in re.findall(r"^ (\S+) \(= (.+?)\)", installed, re.M):
        yield {"uri": debian_package(name.partition(":")[0], version, architecture)}


def statement(files, buildinfo):
    """The text for these files."""
    made = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": path.name, "digest": {"sha256": digest(path)}} for path in files],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{REPOSITORY}/blob/v{VERSION}/packaging/RELEASING.md#the-provenance",
                "externalParameters": {"command": "./dev release FOLDER"},
                "resolvedDependencies": [source(), *pinned(), *tools(), *build_dependencies(buildinfo)],
            },
            "runDetails": {"builder": {"id": f"{REPOSITORY}/blob/v{VERSION}/packaging/RELEASING.md"}},
        },
    }
    return json.dumps(made, indent=1) + "\n"
