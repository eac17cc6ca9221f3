"""Defects that are planted into a recorded history, and changes that are none. Each function takes
the operations of a history in the order of calls, and returns them with one change. The choice is
the same each time."""
import copy

US = 1000
SECOND = 1_000_000_000
NOBODY = 1000  # the process of planted operations

SAFETY = {}  # name: (function, a part of the violation that each judge reports)
LIVENESS = {}
ALLOWED = {}  # what looks like a defect, and is none


def defect(kind, *reasons):
    def note(function):
        kind[function.__name__.replace("_", " ")] = (function, reasons)
        return function
    return note


def owner_of(one):
    return one["process"], one["client"], one["owner"]


class Hold:
    """One hold: its operations, from the grant on."""

    def __init__(self, grant):
        self.grant = grant
        self.operations = [grant]
        self.name = grant["name"]
        self.owner = owner_of(grant)

    def first(self, op, **fields):
        return next((one for one in self.operations if one["op"] == op
                     and all(one.get(key) == value for key, value in fields.items())), None)

    @property
    def release(self):
        """The unlock that ends it with an answer, if it did not end in another way."""
        unlocks = [one for one in self.operations if one["op"] == "unlock"]
        return unlocks[-1] if unlocks and unlocks[-1]["status"] == "ok" else None

    @property
    def loss(self):
        return next((one for one in self.operations if one.get("status") == "lost"), None)

    @property
    def lease_end(self):
        return max(one["lease_end_ns"] for one in self.operations)

    def is_reentered(self):
        return sum(one["op"] == "try" and one["status"] == "ok" for one in self.operations[1:]) == 1


def holds_of(operations, kind, mode=None):
    """In the order of grants. Those of a multi are not needed."""
    found, current = [], {}
    for one in operations:
        if one["kind"] != kind:
            continue
        is_grant = one["op"] in ("acquire", "try") and one["status"] == "ok"
        last = current.get(owner_of(one))
        if is_grant and (last is None or last.grant["hold"] != one["hold"]):
            current[owner_of(one)] = Hold(one)
            found.append(current[owner_of(one)])
        elif last is not None and last.grant["hold"] == one["hold"]:
            last.operations.append(one)
    found.sort(key=lambda hold: hold.grant["return_ns"])
    return [hold for hold in found if "multi" not in hold.grant
            and mode in (None, hold.grant.get("mode"))]


def pairs(operations, kind, first=None, second=None):
    """Two holds of one name by different owners, the second granted next after the first began."""
    names = {}
    for hold in holds_of(operations, kind):
        names.setdefault(hold.name, []).append(hold)
    for holds in names.values():
        for one, other in zip(holds, holds[1:]):
            if one.owner != other.owner and first in (None, one.grant.get("mode")) \
                    and second in (None, other.grant.get("mode")):
                yield one, other


def pick(candidates):
    """The one in the middle, so that something comes before and after it."""
    candidates = list(candidates)
    return candidates[len(candidates) // 2]


def planted(one, **fields):
    return {**copy.deepcopy(one), **fields}


def put(operations, *more):
    return sorted([*operations, *more], key=lambda one: one["call_ns"])


def without_writes(operations, hold):
    """The register would notice another token."""
    writes = [id(one) for one in hold.operations if one["op"] == "write"]
    return [one for one in operations if id(one) not in writes]


def grant_at(hold, return_ns):
    hold.grant.update(call_ns=min(hold.grant["call_ns"], return_ns - US), return_ns=return_ns)


def granted_before_release(operations, kind, first=None, second=None):
    holder, intruder = pick((one, other) for one, other in pairs(operations, kind, first, second)
                            if one.release and not one.loss and other.release
                            and one.release["call_ns"] - one.grant["return_ns"] > 10 * US
                            and one.release["call_ns"] < other.grant["return_ns"])
    grant_at(intruder, holder.release["call_ns"] - US)
    return put(operations)


# ---- exclusion -----------------------------------------------------------------------------------

@defect(SAFETY, "overlaps", '"mutex')
def a_mutex_is_granted_before_its_release(operations):
    return granted_before_release(operations, "mutex")


@defect(SAFETY, "overlaps", '"mutex')
def a_second_owner_reports_the_mutex_as_held(operations):
    holder, later = pick((one, other) for one, other in pairs(operations, "mutex")
                         if one.release and later_than(other, one))
    at = later.grant["return_ns"] + US
    report = planted(holder.first("is_held", held=True) or holder.grant, op="is_held", held=True,
                     call_ns=at, return_ns=at, lease_end_ns=at + SECOND)
    holder.release.update(call_ns=at + US, return_ns=at + 2 * US)
    return put(operations, report)


def later_than(later, hold):
    return later.grant["return_ns"] > hold.release["return_ns"]


@defect(SAFETY, "overlaps", '"mutex')
def the_mutex_of_a_stopped_owner_is_granted_before_its_lease_end(operations):
    holder, intruder = pick((one, other) for one, other in pairs(operations, "mutex")
                            if one.loss and one.loss["return_ns"] > one.lease_end
                            and other.grant["return_ns"] > one.lease_end)
    grant_at(intruder, holder.lease_end - US)
    return put(operations)


@defect(SAFETY, "overlaps", '"rw')
def a_reader_enters_while_a_writer_holds(operations):
    return granted_before_release(operations, "rw", "write", "read")


@defect(SAFETY, "overlaps", '"rw')
def a_writer_enters_while_a_reader_holds(operations):
    return granted_before_release(operations, "rw", "read", "write")


@defect(SAFETY, "overlaps", '"rw')
def two_writers_hold(operations):
    return granted_before_release(operations, "rw", "write", "write")


@defect(SAFETY, "overlaps", '"rw')
def a_reader_is_upgraded_while_another_reads(operations):
    hold = pick(hold for hold in holds_of(operations, "rw", "read")
                if hold.first("upgrade", status="ok") and not hold.loss)
    upgrade = hold.first("upgrade", status="ok")
    reader = planted(hold.grant, process=NOBODY, hold=1)
    end = upgrade["return_ns"] + US
    return put(operations, planted(reader, call_ns=reader["call_ns"], op="acquire"),
               planted(reader, op="unlock", call_ns=end, return_ns=end + US))


@defect(SAFETY, "overlaps", '"rw')
def a_writer_enters_while_a_downgraded_one_reads(operations):
    hold = pick(hold for hold in holds_of(operations, "rw", "write")
                if hold.first("downgrade", status="ok") and hold.release and not hold.loss)
    at = hold.first("downgrade", status="ok")["return_ns"]
    hold.release.update(call_ns=max(hold.release["call_ns"], at + 4 * US),
                        return_ns=max(hold.release["return_ns"], at + 5 * US))
    writer = planted(hold.grant, process=NOBODY, hold=1, token=hold.grant["token"] + 1)
    return put(operations, planted(writer, call_ns=at + US, return_ns=at + 2 * US),
               planted(writer, op="unlock", call_ns=at + 3 * US, return_ns=at + 3 * US))


@defect(SAFETY, "overlaps", '"semaphore')
def a_semaphore_has_one_permit_too_many(operations):
    hold = pick(hold for hold in holds_of(operations, "semaphore")
                if hold.grant["permits"] == hold.grant["capacity"] and hold.release)
    at = hold.grant["return_ns"]
    more = planted(hold.grant, process=NOBODY, hold=1, permits=1, token=hold.grant["token"] + 1)
    end = hold.release["call_ns"] - US
    return put(operations, planted(more, call_ns=at + US, return_ns=at + 2 * US),
               planted(more, op="unlock", call_ns=end, return_ns=end))


@defect(SAFETY, "overlaps", '"reentrant')
def an_inner_unlock_releases_a_reentrant_lock(operations):
    def inner(hold):
        return hold.first("unlock", status="ok")

    holder, intruder = pick((one, other) for one, other in pairs(operations, "reentrant")
                            if one.is_reentered() and one.release and not one.loss
                            and inner(one) is not one.release and later_than(other, one))
    grant_at(intruder, (inner(holder)["return_ns"] + holder.release["call_ns"]) // 2)
    return put(operations)


# ---- tokens --------------------------------------------------------------------------------------

def with_token(operations, hold, token):
    for one in hold.operations:
        one["token"] = token
    return without_writes(operations, hold)


@defect(SAFETY, "has a higher token", '"mutex')
def a_token_falls(operations):
    earlier, later = pick(pairs(operations, "mutex"))
    return with_token(operations, later, earlier.grant["token"] - 1)


@defect(SAFETY, "has the same token", '"mutex')
def two_grants_have_one_token(operations):
    earlier, later = pick(pairs(operations, "mutex"))
    return with_token(operations, later, earlier.grant["token"])


@defect(SAFETY, "has another token", "report of a hold")
def a_token_changes_during_a_hold(operations):
    hold = pick(hold for hold in holds_of(operations, "mutex") if hold.first("is_held", held=True))
    hold.first("is_held", held=True)["token"] += 1
    return operations


@defect(SAFETY, "has a higher token", '"rw')
def a_token_of_a_reader_is_below_that_of_an_earlier_writer(operations):
    writer, reader = pick((one, other) for one, other in pairs(operations, "rw", "write", "read")
                          if not one.first("downgrade") and not other.first("upgrade"))
    return with_token(operations, reader, writer.grant["token"] - 1)


@defect(SAFETY, "has a higher token", '"rw')
def a_token_of_a_writer_is_below_that_of_an_earlier_reader(operations):
    reader, writer = pick((one, other) for one, other in pairs(operations, "rw", "read", "write")
                          if not one.first("upgrade") and not other.first("downgrade"))
    return with_token(operations, writer, reader.grant["token"])


@defect(SAFETY, "has a higher token", '"rw')
def an_upgrade_keeps_its_token(operations):
    hold = pick(hold for hold in holds_of(operations, "rw", "read")
                if hold.first("upgrade", status="ok") and not hold.loss)
    return with_token(operations, hold, hold.grant["token"])


@defect(SAFETY, "has a higher token", '"semaphore')
def a_token_of_all_permits_is_below_that_of_an_earlier_hold(operations):
    earlier, whole = pick((one, other) for one, other in pairs(operations, "semaphore")
                          if other.grant["permits"] == other.grant["capacity"])
    return with_token(operations, whole, earlier.grant["token"] - 1)


@defect(SAFETY, "enters with another token", '"reentrant')
def a_reentry_has_another_token(operations):
    hold = pick(hold for hold in holds_of(operations, "reentrant") if hold.is_reentered())
    hold.first("try", status="ok", call_ns=max(
        one["call_ns"] for one in hold.operations if one["op"] == "try"))["token"] += 1
    return operations


# ---- the end of a hold ---------------------------------------------------------------------------

def report_after(hold, at):
    return planted(hold.grant, op="is_held", held=True, call_ns=at, return_ns=at,
                   lease_end_ns=at + SECOND)


@defect(SAFETY, "is held without a hold", "report of a hold")
def a_hold_is_held_after_its_loss(operations):
    hold = pick(hold for hold in holds_of(operations, "mutex") if hold.loss)
    return put(operations, report_after(hold, hold.loss["return_ns"] + US))


@defect(SAFETY, "is held without a hold", "report of a hold")
def a_hold_is_held_after_its_release(operations):
    hold = pick(hold for hold in holds_of(operations, "mutex") if hold.release)
    return put(operations, report_after(hold, hold.release["return_ns"] + US))


@defect(SAFETY, "is held after its lease end", "report of a hold")
def a_hold_is_held_after_its_lease_end(operations):
    hold = pick(hold for hold in holds_of(operations, "mutex") if hold.first("is_held", held=True))
    report = hold.first("is_held", held=True)
    report["lease_end_ns"] = report["call_ns"] - 2 * US
    return operations


@defect(SAFETY, "is held in another mode", "report of a hold")
def a_reader_is_reported_as_a_writer(operations):
    hold = pick(hold for hold in holds_of(operations, "rw", "read")
                if not hold.first("upgrade") and hold.first("is_held", held=True))
    hold.first("is_held", held=True)["mode"] = "write"
    return operations


@defect(SAFETY, "unlocks without a hold", ": end with")
def a_release_succeeds_twice(operations):
    hold = pick(hold for hold in holds_of(operations, "mutex") if hold.release)
    at = hold.release["return_ns"] + US
    return put(operations, planted(hold.release, call_ns=at, return_ns=at))


@defect(SAFETY, "is held without a hold", "report of a hold")
def a_hold_has_no_grant(operations):
    hold = pick(hold for hold in holds_of(operations, "mutex") if hold.first("is_held", held=True))
    return [one for one in operations if one is not hold.grant]


# ---- the register --------------------------------------------------------------------------------

@defect(SAFETY, "is accepted after", "(register)")
def a_stale_token_is_accepted(operations):
    write = pick(one for one in operations if one["op"] == "write" and not one["accepted"])
    write.update(accepted=True, highest=0)
    return operations


@defect(SAFETY, "is accepted after", "(register)")
def a_late_writer_is_accepted(operations):
    earlier, later = pick((one, other) for one, other in pairs(operations, "mutex")
                          if one.first("write") and other.first("write")
                          and one.first("write")["call_ns"] < other.first("write")["call_ns"])
    at = later.first("write")["return_ns"] + US
    return put(operations, planted(earlier.first("write"), call_ns=at, return_ns=at))


@defect(SAFETY, "is refused because", "(register)")
def a_rightful_write_is_refused(operations):
    write = pick(one for one in operations if one["op"] == "write" and one["accepted"])
    write.update(accepted=False, highest=write["token"])
    return operations


@defect(SAFETY, "had already seen", "(register)")
def the_register_forgets_a_token(operations):
    earlier, later = pick((one, other) for one, other in pairs(operations, "mutex")
                          if one.first("write") and other.first("write")
                          and one.grant["token"] + 1 < other.grant["token"]
                          and one.first("write")["call_ns"] < other.first("write")["call_ns"])
    at = later.first("write")["return_ns"] + US
    return put(operations, planted(earlier.first("write"), accepted=False,
                                   highest=earlier.grant["token"] + 1, call_ns=at, return_ns=at))


# ---- multis --------------------------------------------------------------------------------------

def multi_call(operations):
    return pick(one for one in operations if "multi" in one and one["op"] == "acquire"
                and one["status"] == "ok")


@defect(SAFETY, "multi", "multi")
def a_multi_acquires_one_of_two_members(operations):
    member = multi_call(operations)
    hold = member["hold"]
    return [one for one in operations
            if owner_of(one) != owner_of(member) or one["hold"] != hold]


@defect(SAFETY, "multi", "multi")
def a_multi_acquires_one_member_and_times_out(operations):
    multi_call(operations).update(status="timed_out")
    return operations


# ---- liveness ------------------------------------------------------------------------------------

def last_of(operations):
    """The last hold of a mutex, and a moment at which all has ended."""
    hold = holds_of(operations, "mutex")[-1]
    highest = max(one["token"] for one in operations)
    end = max(max(one["return_ns"], one["lease_end_ns"]) for one in operations) + US
    return planted(hold.grant, op="acquire", hold=1, token=highest + 1), end


@defect(LIVENESS, "", "")
def a_wakeup_is_lost(operations):
    grant, end = last_of(operations)
    return put(operations, planted(grant, process=NOBODY, status="timed_out", call_ns=end,
                                   return_ns=end + 20 * SECOND))


@defect(LIVENESS, "", "")
def a_grant_comes_late(operations):
    grant, end = last_of(operations)
    return put(operations, planted(grant, process=NOBODY, call_ns=end,
                                   return_ns=end + 20 * SECOND,
                                   lease_end_ns=end + 21 * SECOND))


@defect(LIVENESS, "", "")
def a_waiter_starves(operations):
    grant, end = last_of(operations)
    rest = [planted(grant, process=NOBODY, status="timed_out", call_ns=end,
                    return_ns=end + 40 * SECOND)]
    for number in range(40):
        at = end + US + number * SECOND
        hold = planted(grant, process=NOBODY + 1 + number % 2, hold=number, call_ns=at,
                       return_ns=at + US, lease_end_ns=at + 2 * SECOND,
                       token=grant["token"] + number)
        rest += [hold, planted(hold, op="unlock", call_ns=at + SECOND - 2 * US,
                               return_ns=at + SECOND - US)]
    return put(operations, *rest)


# ---- no defects ----------------------------------------------------------------------------------

@defect(ALLOWED)
def an_unlock_without_an_answer_takes_effect(operations):
    holder, _ = pick((one, other) for one, other in pairs(operations, "mutex")
                     if one.release and later_than(other, one))
    holder.release["status"] = "unknown"
    return operations


@defect(ALLOWED)
def a_release_takes_effect_and_is_reported_as_a_loss(operations):
    """Its reply was lost, or the process was stopped until its lease had ended."""
    holder, _ = pick((one, other) for one, other in pairs(operations, "mutex")
                     if one.release and later_than(other, one)
                     and one.lease_end > other.grant["return_ns"])
    holder.release.update(status="lost", lease_end_ns=0, return_ns=holder.lease_end + US)
    return operations


@defect(ALLOWED)
def a_grant_is_over_when_its_owner_knows_of_it(operations):
    """Its process was stopped, and the lock has another holder since."""
    _, holder = pick((one, other) for one, other in pairs(operations, "mutex")
                     if one.release and other.release
                     and other.release["call_ns"] - other.grant["return_ns"] > 10 * US
                     and other.grant["token"] - one.grant["token"] > 1)
    at = holder.grant["return_ns"] + US
    late = planted(holder.grant, process=NOBODY, hold=1, token=holder.grant["token"] - 1,
                   call_ns=holder.grant["call_ns"] - SECOND, return_ns=at, lease_end_ns=0)
    return put(operations, late, planted(late, op="is_held", held=False, call_ns=at, return_ns=at),
               planted(late, op="unlock", status="lost", call_ns=at, return_ns=at + US))


@defect(ALLOWED)
def a_killed_owner_had_just_released(operations):
    holder, _ = pick((one, other) for one, other in pairs(operations, "mutex")
                     if one.release and later_than(other, one))
    return [one for one in operations if one is not holder.release]


@defect(ALLOWED)
def a_killed_owner_had_written(operations):
    """The register refuses a token because of a write without a line."""
    refusal = pick(one for one in operations if one["op"] == "write" and not one["accepted"])
    return [one for one in operations if not (
        one["op"] == "write" and one["accepted"] and one["token"] == refusal["highest"])]


@defect(ALLOWED)
def a_hold_is_in_doubt_and_then_held(operations):
    hold = pick(hold for hold in holds_of(operations, "mutex") if hold.first("is_held", held=True))
    report = hold.first("is_held", held=True)
    doubt = planted(report, held=False, call_ns=report["call_ns"] - 1,
                    return_ns=report["call_ns"] - 1)
    return put(operations, doubt)


@defect(ALLOWED)
def a_reader_enters_during_a_downgrade_that_is_lost(operations):
    hold = pick(hold for hold in holds_of(operations, "rw", "write")
                if hold.first("downgrade", status="ok") and not hold.loss)
    downgrade = hold.first("downgrade", status="ok")
    after = [id(one) for one in hold.operations if one["call_ns"] > downgrade["call_ns"]]
    downgrade.update(status="lost", lease_end_ns=0, mode="write",
                     return_ns=downgrade["call_ns"] + 10 * US)
    at = downgrade["call_ns"] + US
    reader = planted(hold.grant, process=NOBODY, hold=1, mode="read",
                     token=hold.grant["token"] + 1)
    return put([one for one in operations if id(one) not in after],
               planted(reader, call_ns=at, return_ns=at + US),
               planted(reader, op="unlock", call_ns=at + 2 * US, return_ns=at + 3 * US))


def late_owner(operations, mode):
    """The grant of an owner, whose process then stops, and the time at which it resumes. Its lease
    is over by then, and the lock has another writer."""
    last, other = pick((one, other) for one, other in pairs(operations, "rw")
                       if one.grant["mode"] == other.grant["mode"] == "write" and one.release
                       and other.grant["return_ns"] - one.release["return_ns"] > 10 * US
                       and other.grant["token"] - one.grant["token"] > 2)
    begin = last.release["return_ns"] + US
    grant = planted(other.grant, process=NOBODY, hold=1, mode=mode, call_ns=begin,
                    return_ns=begin + US, lease_end_ns=begin + 5 * US,
                    token=other.grant["token"] - (1 if mode == "write" else 2))
    return grant, other.grant["return_ns"] + US


@defect(ALLOWED)
def a_downgrade_after_the_lease_end_is_lost(operations):
    grant, at = late_owner(operations, "write")
    return put(operations, grant, planted(grant, op="downgrade", status="lost", lease_end_ns=0,
                                          call_ns=at, return_ns=at + US))


@defect(ALLOWED)
def an_upgrade_is_over_when_its_owner_knows_of_it(operations):
    reader, at = late_owner(operations, "read")
    upgrade = planted(reader, op="upgrade", mode="write", token=reader["token"] + 1,
                      call_ns=reader["return_ns"] + US, return_ns=at, lease_end_ns=0)
    return put(operations, reader, upgrade,
               planted(upgrade, op="is_held", held=False, call_ns=at, return_ns=at),
               planted(upgrade, op="unlock", status="lost", call_ns=at, return_ns=at + US))
