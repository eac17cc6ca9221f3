#!/usr/bin/python3
"""prometheus.py TOOLS LIBRARY: Prometheus can read the statistics, and the dashboard queries
existing names. TOOLS is the folder of Debian's promtool, LIBRARY the shared library; needs
support/with_server.

A client does some of everything that is counted, with labels that need escaping. Then promtool
finds no fault in its text. All names on the page are there and no other. Prometheus parses each
query of the dashboard, and finds its names and labels.
"""
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DOC = pathlib.Path(__file__).resolve().parents[3] / "docs"
LABELS = {"le", "job"}  # a histogram's, and Prometheus' own


HANDLE, SIZE, TEXT, STATUS = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_int32
# What each function gives, and takes.
FUNCTIONS = {
    "mortise_client_new": (HANDLE, [TEXT, SIZE, HANDLE, HANDLE]),
    "mortise_lock_new": (HANDLE, [HANDLE, TEXT, SIZE, HANDLE, HANDLE]),
    "mortise_lock_try": (STATUS, [HANDLE, HANDLE]),
    "mortise_lock_unlock": (STATUS, [HANDLE, HANDLE]),
    "mortise_client_stats": (HANDLE, [HANDLE, HANDLE]),
    "mortise_stats_prometheus": (TEXT, [HANDLE]),
}


def load(path):
    library = ctypes.CDLL(path)
    for name, (gives, takes) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = gives, takes
    return library


def statistics(mortise):
    """The text of a client that has done everything that is counted."""
    url = (os.environ["MORTISE_TEST_URL"] + "?metrics_name=name").encode()
    client = mortise.mortise_client_new(url, len(url), None, None)
    name = b'a "name"\n\\ \xff'
    holder, other = (mortise.mortise_lock_new(client, name, len(name), None, None) for _ in range(2))
    came_to = [mortise.mortise_lock_try(holder, None), mortise.mortise_lock_try(other, None),
               mortise.mortise_lock_unlock(holder, None)]
    if came_to != [0, 1, 0]:  # OK, NOT_ACQUIRED, OK
        sys.exit(f"the locks came to {came_to}")
    return mortise.mortise_stats_prometheus(mortise.mortise_client_stats(client, None)).decode("utf-8")


def names_on_page():
    """By name, its labels."""
    rows = re.findall(r"^\| `(mortise_\w+)` \| \w+ \| (.*?) \|", (DOC / "statistics.md").read_text("utf-8"),
                      re.M)
    return {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}


def check_text(tools, text, known):
    checked = subprocess.run([tools / "promtool", "check", "metrics"], input=text, encoding="utf-8",
                             capture_output=True, check=False)
    if checked.returncode != 0 or checked.stderr:
        sys.exit(f"promtool: {checked.stdout}{checked.stderr}")
    types = set(re.findall(r"^# TYPE (\w+)", text, re.M))
    if types != set(known):
        sys.exit(f"only in the text or on the page: {sorted(types ^ set(known))}")


def queries():
    board = json.loads((DOC / "grafana_dashboard.json").read_text("utf-8"))
    for panel in board["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$__rate_interval", "5m")


def check_dashboard(tools, known):
    """As a file of rules, which promtool parses."""
    queried = set()
    with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as rules:
        print("groups:\n- name: dashboard\n  rules:", file=rules)
        for number, (title, query) in enumerate(queries()):
            print(f"  - record: query:{number}\n    expr: {json.dumps(query)}", file=rules)
            names = {re.sub(r"_(bucket|sum|count)$", "", name)
                     for name in re.findall(r"\bmortise_\w+", query)}
            queried |= names
            labels = set().union(*(known.get(name, set()) for name in names)) | LABELS
            used = set(re.findall(r"(\w+)=~?\"", query))
            for group in re.findall(r"by \((.*?)\)", query):
                used |= set(group.split(", "))
            if not names <= set(known) or not used <= labels:
                sys.exit(f"{title}: {query} asks for what is not there")
        rules.flush()
        checked = subprocess.run([tools / "promtool", "check", "rules", rules.name],
                                 encoding="utf-8", capture_output=True, check=False)
        if checked.returncode != 0:
            sys.exit(f"promtool: {checked.stdout}{checked.stderr}")
    if queried != set(known):
        sys.exit(f"the dashboard shows nothing of {sorted(set(known) - queried)}")


def main():
    tools, library = pathlib.Path(sys.argv[1]), sys.argv[2]
    known = names_on_page()
    check_text(tools, statistics(load(library)), known)
    check_dashboard(tools, known)


if __name__ == "__main__":
    main()
