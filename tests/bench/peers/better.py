"""In which figures another lock is better than Mortise, by more than two runs differ."""
from report import digits, duration, headed, killed_text, result_of, row, title

MARGIN = 1.1


def per_acquisition(key):
    return lambda result: result[key] * 1e6 / result["acquisitions"] if result["acquisitions"] else None


def rate(key):
    return lambda result: result[key] / result["seconds"]


# The figure, its value in a result, its text, whether it needs other waiters, and whether more is better.
FIGURES = (
    ("acquisitions/s", rate("acquisitions"), digits, False, True),
    ("handoffs/s", rate("handoffs"), digits, True, True),
    ("wait p50", lambda result: result["p50_us"], duration, False, False),
    ("wait p99", lambda result: result["p99_us"], duration, False, False),
    ("server CPU", per_acquisition("server_cpu_s"), duration, False, False),
    ("client CPU", per_acquisition("client_cpu_s"), duration, False, False),
    ("memory", lambda result: result["peak_bytes"] / 1e6, lambda mb: f"{digits(mb)} MB", False, False),
)


def comparison(ours, others, is_more_better):
    """The best of the others, if it is better than one of ours. Both are values by name."""
    others = {name: value for name, value in others.items() if value is not None}
    if not others:
        return None
    best = (max if is_more_better else min)(others, key=others.get)
    better = {name for name, value in ours.items() if value is not None and
              (value * MARGIN < others[best] if is_more_better else value > others[best] * MARGIN)}
    return (best, better) if better else None


def figure_rows(run, ours, others):
    for key, workload in run["workloads"].items():
        results = {name: result_of(run, key, name) for name in (*ours, *others)}
        for label, value_of, text_of, needs_waiters, is_more_better in FIGURES:
            if needs_waiters and workload["waiters"] == 1:
                continue
            values = {name: value_of(result) for name, result in results.items() if result}
            found = comparison({name: values[name] for name in ours if name in values},
                               {name: values[name] for name in others if name in values}, is_more_better)
            if found:
                best, better = found
                yield row(workload["title"], label,
                          f"{text_of(values[best])}, {title(run['competitors'][best])}",
                          *[text_of(values[name]) if name in better else "-" for name in ours])


def killed_row(run, ours, others):
    waited = {name: run["killed_limit_s"] if waited_s is None else waited_s
              for name, waited_s in run["killed"].items()}
    found = comparison({name: waited[name] for name in ours if name in waited},
                       {name: waited[name] for name in others if name in waited}, False)
    if not found:
        return ""
    best, better = found
    return row("holder killed", "wait", f"{killed_text(run, best)}, {title(run['competitors'][best])}",
               *[killed_text(run, name) if name in better else "-" for name in ours])


def table(run):
    """Of each figure the best other lock, and each of ours that it surpasses."""
    ours = [name for name, one in run["competitors"].items() if one["name"] == "Mortise"]
    others = [name for name, one in run["competitors"].items() if not one["name"].startswith("Mortise")]
    columns = ("workload", "figure", "best other lock", *[title(run["competitors"][name]) for name in ours])
    lines = "".join(figure_rows(run, ours, others)) + killed_row(run, ours, others)
    return headed(columns, lines) if lines else "None by more than a tenth.\n"
