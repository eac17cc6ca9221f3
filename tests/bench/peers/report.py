"""The results of a run as the table of docs/performance.md."""
import pathlib
import statistics

TOP = pathlib.Path(__file__).resolve().parents[3]
PAGE = TOP / "docs/performance.md"
START, END = "<!-- measured: ./dev bench --peers --write -->\n", "<!-- end of what was measured -->\n"
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
    first = rounds[0]
    middle = {key: statistics.median(one[key] for one in rounds)
              for key, value in first.items()
              if isinstance(value, (int, float)) and all(one[key] is not None for one in rounds)}
    waits = {key: middle.get(key) for key in ("p50_us", "p99_us")}
    return {**middle, **waits,
            "fewest": min(one["fewest"] for one in rounds),
            "most": max(one["most"] for one in rounds),
            "overlaps": sum(one["overlaps"] for one in rounds),
            "errors": sum(one["errors"] for one in rounds),
            "error": next((one["error"] for one in rounds if one["error"]), "")}


def per_acquisition(result, key, scale=1):
    return digits(result[key] * scale / result["acquisitions"]) if result["acquisitions"] else "-"


def cells(result, has_others):
    rate = result["acquisitions"] / result["seconds"]
    return (digits(rate), digits(result["handoffs"] / result["seconds"]) if has_others else "-",
            duration(result["p50_us"]), duration(result["p99_us"]),
            f"{result['fewest']:,.0f}, {result['most']:,.0f}" if has_others else "-",
            per_acquisition(result, "server_cpu_s", 1e6) + " µs",
            per_acquisition(result, "commands"),
            per_acquisition(result, "client_cpu_s", 1e6) + " µs",
            f"{digits(result['peak_bytes'] / 1e6)} MB",
            str(result["overlaps"]) if has_others else "-", str(result["errors"]))


def row(*values):
    return "| " + " | ".join(values) + " |\n"


def rows(run):
    for key, workload in run["workloads"].items():
        for name, competitor in run["competitors"].items():
            result = merged(run["results"].get(f"{key} {name}", []))
            if result:
                yield row(workload["title"], title(competitor), *cells(result, workload["contenders"] > 1))
            else:
                why = run["problems"].get(f"{key} {name}", "not run")
                yield row(workload["title"], title(competitor), f"did not run: {why}",
                          *["-"] * (len(COLUMNS) - 3))
    for name, waited in run["killed"].items():
        duration_text = duration(waited * 1e6) if waited is not None else f"more than {run['killed_limit_s']} s"
        yield row(KILLED, title(run["competitors"][name]), "-", "-", duration_text, *["-"] * (len(COLUMNS) - 5))


def table(run):
    return row(*COLUMNS) + "|" + "---|" * len(COLUMNS) + "\n" + "".join(rows(run))


def settings(run):
    text = "| lock | version | settings |\n|---|---|---|\n"
    return text + "".join(row(title(competitor), competitor["version"], competitor["settings"])
                          for competitor in run["competitors"].values())


def facts(run):
    rounds, seconds = run["rounds"], digits(run["seconds"])
    text = (f"Measured on {run['date']}: {run['machine']}; {run['server']}. {run['languages']}. "
            f"{rounds} round{'' if rounds == 1 else 's'} of {seconds} s for each row, in turns.")
    if run["is_short"]:
        text += " A short run: look at the order of magnitude, not at the digits."
    return f"{text} {run['note']}"


def missing(run):
    """What could not be built, and which errors there were."""
    lines = [f"- {title(competitor)} {competitor['version']} did not run: {competitor['problem']}\n"
             for competitor in run["missing"]]
    errors = {}
    for name, competitor in run["competitors"].items():
        for key in run["workloads"]:
            result = merged(run["results"].get(f"{key} {name}", []))
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
    parts = [wrapped(facts(run)), settings(run), table(run), *missing(run)]
    return "\n".join(part for part in parts if part)


def write(run, page=PAGE):
    text = page.read_text("utf-8")
    before, _, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not end:
        raise RuntimeError(f"{page}: no place for what was measured")
    page.write_text(before + START + "\n" + section(run) + "\n" + END + after, "utf-8")
