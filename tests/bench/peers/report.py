"""The results of a run as the tables of docs/performance.md."""
import gzip
import json
import pathlib
import statistics

TOP = pathlib.Path(__file__).resolve().parents[3]
PAGE = TOP / "docs/performance.md"
ROUNDS = pathlib.Path(__file__).resolve().parent / "results.json.gz"
START, END = "<!-- measured: ./dev bench --peers --write -->\n", "<!-- end of what was measured -->\n"
BETTER_START, BETTER_END = "<!-- better: ./dev bench --peers --write -->\n", "<!-- end of better -->\n"
HOLDS_COLUMNS = ("lock", "acquired/s", "client CPU", "server CPU", "commands/s", "memory", "expired")
COLUMNS = ("workload", "lock", "acquisitions/s", "handoffs/s", "wait p50", "wait p99",
           "fewest, most", "server CPU", "commands", "client CPU", "memory", "overlaps", "errors")
KILLED = "holder killed"


def title(competitor):
    return f"{competitor['name']} ({competitor['language']})"


def digits(value):
    """Three that count, with a comma between thousands."""
    size = abs(value)
    return f"{value:.2f}" if size < 10 else f"{value:.1f}" if size < 100 else f"{value:,.0f}"


def duration(us):
    """In a readable unit."""
    if us is None:
        return "-"
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{digits(us / size)} {unit}"
    return f"{us:.0f} µs"


def merged(rounds):
    """The median of the rounds; of what each waiter had and what went wrong, all of them."""
    if not rounds:
        return None
    middle = {key: statistics.median(one[key] for one in rounds)
              for key, value in rounds[0].items()
              if isinstance(value, (int, float)) and all(one[key] is not None for one in rounds)}
    rates = [one["acquisitions"] / one["seconds"] for one in rounds]
    waits = {key: middle.get(key) for key in ("p50_us", "p99_us")}
    return {**middle, **waits, "rates": (min(rates), max(rates)),
            "fewest": min(one["fewest"] for one in rounds),
            "most": max(one["most"] for one in rounds),
            "overlaps": sum(one["overlaps"] for one in rounds),
            "errors": sum(one["errors"] for one in rounds),
            "error": next((one["error"] for one in rounds if one["error"]), "")}


def spread(low, high):
    return f" ({digits(low)} to {digits(high)})" if digits(low) != digits(high) else ""


def per_acquisition(result, key, scale=1):
    return digits(result[key] * scale / result["acquisitions"]) if result["acquisitions"] else "-"


def cells(result, has_others):
    rate = result["acquisitions"] / result["seconds"]
    return (digits(rate) + spread(*result["rates"]),
            digits(result["handoffs"] / result["seconds"]) if has_others else "-",
            duration(result["p50_us"]), duration(result["p99_us"]),
            f"{result['fewest']:,.0f}, {result['most']:,.0f}" if has_others else "-",
            per_acquisition(result, "server_cpu_s", 1e6) + " µs",
            per_acquisition(result, "commands"),
            per_acquisition(result, "client_cpu_s", 1e6) + " µs",
            f"{digits(result['peak_bytes'] / 1e6)} MB",
            str(result["overlaps"]) if has_others else "-", str(result["errors"]))


def row(*values):
    return "| " + " | ".join(values) + " |\n"


def result_of(run, workload, name):
    return merged(run["results"].get(f"{workload} {name}", []))


def failed(run, row_key):
    """Why a row has no figures."""
    problems = run["problems"].get(row_key, [])
    return f"did not run: {problems[0]}" if problems else ""


def rows(run):
    for key, workload in run["workloads"].items():
        for name, competitor in run["competitors"].items():
            result = result_of(run, key, name)
            if result:
                yield row(workload["title"], title(competitor), *cells(result, workload["waiters"] > 1))
            elif why := failed(run, f"{key} {name}"):
                yield row(workload["title"], title(competitor), why, *["-"] * (len(COLUMNS) - 3))
    for name, competitor in run["competitors"].items():
        if name in run["killed"]:
            yield row(KILLED, title(competitor), "-", "-", killed_text(run, name),
                      *["-"] * (len(COLUMNS) - 5))
        elif why := run["killed_problems"].get(name):
            yield row(KILLED, title(competitor), f"did not run: {why}", *["-"] * (len(COLUMNS) - 3))


def killed_text(run, name):
    waited_s = run["killed"][name]
    return f"more than {run['killed_limit_s']} s" if waited_s is None else duration(waited_s * 1e6)


def headed(columns, lines):
    return row(*columns) + "|" + "---|" * len(columns) + "\n" + lines


def table(run):
    return headed(COLUMNS, "".join(rows(run)))


def percent(share):
    return f"{share * 100:.1f} %"


def holds(run):
    """The table of many locks that one client holds."""
    lines = ""
    for name, competitor in run["competitors"].items():
        rounds = run["results"].get(f"holds {name}", [])
        if rounds:
            rates = [one["count"] / one["acquired_s"] for one in rounds]
            middle = {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}
            lines += row(title(competitor), digits(statistics.median(rates)) + spread(min(rates), max(rates)),
                         percent(middle["client_share"]), percent(middle["server_share"]),
                         digits(middle["commands"]), f"{digits(middle['peak_bytes'] / 1e6)} MB",
                         f"{sum(one['expired'] for one in rounds):,}")
        elif why := failed(run, f"holds {name}"):
            lines += row(title(competitor), why, *["-"] * (len(HOLDS_COLUMNS) - 2))
    return "100,000 locks held by one process:\n\n" + headed(HOLDS_COLUMNS, lines) if lines else ""


def settings(run):
    text = "| lock | version | settings |\n|---|---|---|\n"
    return text + "".join(row(title(competitor), competitor["version"], competitor["settings"])
                          for competitor in run["competitors"].values())


def facts(run):
    counts = [len(rounds) for rounds in run["results"].values() if rounds] or [0]
    rounds = f"{max(counts)} round{'' if max(counts) == 1 else 's'}"
    if min(counts) != max(counts):
        rounds = f"{min(counts)} to {rounds}"
    long = [f"{digits(run['seconds'] * one['times'])} s for \"{one['title']}\""
            for one in run["workloads"].values() if one["times"] > 1]
    text = (f"Measured on {run['date']}: {run['machine']}; {run['server']}. {run['languages']}. "
            f"{rounds} of {digits(run['seconds'])} s for each row, in turns"
            + "".join(f"; {one}" for one in long) + ". A rate is the median of the rounds, with the lowest "
            "and the highest.")
    if run["is_short"]:
        text += " A short run: look at the order of magnitude, not at the digits."
    return f"{text} {run['note']}"


def missing(run):
    """What could not be built, which rounds failed, and which errors there were."""
    lines = [f"- {title(competitor)} {competitor['version']} did not run: {competitor['problem']}\n"
             for competitor in run["missing"]]
    errors = {}
    for name, competitor in run["competitors"].items():
        for key, workload in run["workloads"].items():
            problems = run["problems"].get(f"{key} {name}", [])
            result = result_of(run, key, name)
            if result and problems:
                lines.append(f"- {title(competitor)}, {workload['title']}: {len(problems)} of "
                             f"{len(problems) + len(run['results'][f'{key} {name}'])} rounds failed: "
                             f"{problems[0]}\n")
            if result and result["error"]:
                errors.setdefault(f"- {title(competitor)}: `{result['error'][:90]}`\n", None)
    return [
        "".join(lines),
        "Errors, once for each lock and text:\n\n" + "".join(errors) if errors else "",
    ]


def wrapped(text, width=100):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    return "\n".join([*lines, line]) + "\n"


def section(run):
    parts = [wrapped(facts(run)), settings(run), table(run), holds(run), *missing(run)]
    return "\n".join(part for part in parts if part)


def replaced(text, start, end, content):
    before, _, rest = text.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise RuntimeError(f"{PAGE}: no place for what was measured, between {start.strip()} and {end.strip()}")
    return f"{before}{start}\n{content}\n{end}{after}"


def write(run, better, page=PAGE, figures=ROUNDS):
    """`better` is the table of what other locks do better."""
    text = replaced(page.read_text("utf-8"), START, END, section(run))
    page.write_text(replaced(text, BETTER_START, BETTER_END, better), "utf-8")
    figures.write_bytes(gzip.compress(json.dumps(run, indent=0, sort_keys=True).encode(), mtime=0))
