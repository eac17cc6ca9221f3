"""The results as a table of Markdown: a row for each fault, a column for each library."""

TITLES = {
    "long_section": "no fault, sections of 12 s",
    "holder_killed": "the holder is killed",
    "waiters_killed": "three of six waiters are killed",
    "holder_stopped": "the holder is stopped (SIGSTOP) beyond its lease, then continues",
    "holder_cut_off": "the holder's network is frozen in a section of 50 s",
    "subscribers_disconnected": "`CLIENT KILL TYPE pubsub`, ten times a second",
    "clients_disconnected": "all connections are killed (`CLIENT KILL`), twice a second",
    "scripts_flushed": "`SCRIPT FLUSH`, twenty times a second",
    "server_hangs": "the server hangs for 1 s, again and again",
    "memory_full": "the memory of the server is full for 5 s",
    "server_restarted": "the server is killed, and restarts with its data (AOF, always)",
    "server_restarted_empty": "the server is killed, and restarts empty",
}
# Leases that their library does not renew, by its documentation: a section beyond the lease is the fault
# of the program.
UNRENEWED = {"redsync", "bsm-redislock", "node-redlock"}


def is_outside(fault, lock):
    """Whether the library does not promise exclusion here."""
    if fault == "server_restarted_empty":
        return True
    return fault in ("long_section", "holder_cut_off") and lock in UNRENEWED


def is_bad(found):
    return "problem" not in found and (found["overlaps"] > 0 or found["unserved"] > 0
                                       or ("free_again_s" in found and found["free_again_s"] is None))


def count(number, noun):
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def parts(fault, lock, found):
    if found["overlaps"]:
        mark = ", not promised" if is_outside(fault, lock) else ""
        yield f"**{count(found['overlaps'], 'overlap')}**{mark}"
    if "free_again_s" in found:
        free = found["free_again_s"]
        yield "**not free again in 70 s**" if free is None else f"free after {free:.1f} s"
    elif not found["harms"]:
        yield "no effect"
    elif fault != "long_section":
        yield f"longest gap {found['longest_gap_s']:.1f} s"
        if found["unserved"]:
            yield f"**{count(found['unserved'], 'worker')} not served**"
    if found["failed_calls"]:
        yield count(found["failed_calls"], "failed call")


def text(fault, lock, found):
    if found is None:
        return "not run"
    if "problem" in found:
        return f"did not run: {found['problem']}"
    return "; ".join(parts(fault, lock, found)) or "as expected"


def locks_of(cells):
    return sorted({lock for row in cells.values() for lock in row},
                  key=lambda lock: (not lock.startswith("mortise"), lock))


def of(cells):
    locks = locks_of(cells)
    lines = ["| fault | " + " | ".join(locks) + " |", "|---" * (len(locks) + 1) + "|"]
    for fault, title in TITLES.items():
        if fault in cells:
            row = (text(fault, lock, cells[fault].get(lock)) for lock in locks)
            lines.append(f"| {title} | " + " | ".join(row) + " |")
    return "\n".join(lines)
