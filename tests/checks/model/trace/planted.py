"""Changes that are planted into the trace of one lock. Each changes one event or two, at the first
place where it can. The model has to refuse all divergences. The harmless changes are none, and the
model has to accept these."""
import copy


def nothing(events):
    return bool(events)


def the_trace_ends_early(events):
    del events[len(events) // 2:]
    return bool(events)


class Changes:
    def __init__(self):
        self.divergences = []
        self.harmless = [nothing, the_trace_ends_early]

    def divergence(self, change):
        self.divergences.append(change)
        return change

    def no_divergence(self, change):
        self.harmless.append(change)
        return change


def plant(change, events):
    """The changed events; None if the trace has no place for the change."""
    changed = copy.deepcopy(events)
    return changed if change(changed) else None


def where(events, condition):
    """The index of the first event that fits; None without one."""
    return next((i for i, event in enumerate(events) if condition(event, i)), None)


def change_first(events, condition, **fields):
    i = where(events, lambda event, _: condition(event))
    if i is not None:
        events[i].update(fields)
    return i is not None
