"""Divergences of a mutex in a cluster, as defects of a move, a failover or a client would cause."""
from planted import Changes, where

CHANGES = Changes()
divergence = CHANGES.divergence
harmless = CHANGES.no_divergence


def where_moved(events, condition):
    """The first fitting command of the lock at another server than its command before."""
    server = None
    for i, event in enumerate(events):
        if 'key' not in event:
            continue
        if server not in (None, event['server']) and condition(event):
            return i
        server = event['server']
    return None


def change_moved(events, condition, change):
    i = where_moved(events, condition)
    if i is not None:
        change(events[i])
    return i is not None


# ---- the servers ---------------------------------------------------------------------------------

@divergence
def the_counter_of_the_slot_stays_behind(events):
    def change(event):
        event['fence_before'] -= 1
        event['fence'] -= 1
    return change_moved(events, lambda e: e['event'] == 'acquire', change)


@divergence
def a_lock_stays_behind(events):
    def change(event):
        event.update(reply=[1, event['fence'] + 1, event['server_us'], event['ttl'], 0],
                     value=event['owner'], left=event['ttl'], fence=event['fence'] + 1)
    return change_moved(events, lambda e: e['event'] == 'acquire' and e['reply'][0] == 0, change)


@divergence
def a_queue_stays_behind(events):
    return change_moved(events, lambda e: e['event'] == 'acquire' and len(e['queue']) > 1,
                        lambda e: e.update(queue=e['queue'][-1:]))


@divergence
def a_lease_is_longer_after_a_move(events):
    def change(event):
        event['left'] += 1
    return change_moved(events, lambda e: e['event'] == 'acquire' and e['reply'][0] == 0, change)


@divergence
def a_new_server_has_no_grace_period(events):
    i = where(events, lambda e, _: e['event'] == 'restart')
    if i is not None:
        del events[i]
    return i is not None


@divergence
def a_new_server_knows_no_renewal(events):
    return change_moved(events, lambda e: e['event'] == 'renew' and e['reply'][0] == 1,
                        lambda e: e.update(reply=[0]))


# ---- the clients ---------------------------------------------------------------------------------

@divergence
def a_hold_lasts_longer_after_a_move(events):
    i = where_moved(events, lambda e: e['event'] == 'renew' and e['reply'][0] == 1)
    later = where(events, lambda e, n: i is not None and n > i and e['event'] == 'prolong')
    if later is not None:
        events[later]['deadline_ms'] += 100000
    return later is not None


# ---- no divergences ------------------------------------------------------------------------------

@harmless
def the_servers_have_other_numbers(events):
    for event in events:
        if 'server' in event:
            event['server'] += 1
    return True
