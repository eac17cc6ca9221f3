"""Divergences of the mutex of one server, as defects of a script or of a client would cause."""
from planted import Changes, change_first, where

CHANGES = Changes()
divergence = CHANGES.divergence
harmless = CHANGES.no_divergence


def is_handover(event):
    return event['event'] in ('release', 'cancel') and event['reply'] == 2 and event['value'] != ''


def owner_of(value):
    return value.removesuffix('*')


def client_of(owner):
    return owner.split(':')[1]


# ---- the scripts ---------------------------------------------------------------------------------

@divergence
def a_grant_goes_to_the_second_waiter(events):
    i = where(events, lambda e, _: is_handover(e) and len(e['queue']) > 1)
    if i is None:
        return False
    event = events[i]
    first, second = owner_of(event['value']), event['queue'][0]
    event['value'] = event['value'].replace(first, second)
    event['queue'][0] = first
    event['messages'] = [text.replace(first, '?').replace(second, first).replace('?', second)
                         for text in event['messages']]
    return True


@divergence
def a_grant_goes_to_a_dead_client(events):
    i = where(events, lambda e, _: is_handover(e) and e['grace'] == 0 and
              any(text.startswith('G ') for text in e['messages']))
    if i is None:
        return False
    dead = client_of(owner_of(events[i]['value']))
    events.insert(i, {'ns': events[i]['ns'], 'ms': events[i]['ms'], 'event': 'leaves',
                      'client': dead})
    return True


@divergence
def a_grant_has_a_whole_lease(events):
    i = where(events, lambda e, _: is_handover(e))
    if i is not None:
        events[i]['left'] += 10000
    return i is not None


@divergence
def a_grant_has_no_message(events):
    i = where(events, lambda e, _: is_handover(e) and e['messages'])
    if i is not None:
        events[i]['messages'] = events[i]['messages'][1:]
    return i is not None


@divergence
def a_release_is_ignored(events):
    i = where(events, lambda e, _: e['event'] == 'release' and e['reply'] == 2)
    if i is None:
        return False
    event = events[i]
    event.update(reply=0, value=event['owner'] + '*', messages=[], fence=event['fence_before'],
                 queue=[owner_of(event['value']), *event['queue']])
    return True


@divergence
def a_release_frees_the_lock_of_another_owner(events):
    i = where(events, lambda e, _: e['event'] == 'acquire' and e['reply'][0] == 0 and e['queue'])
    if i is not None:
        events.insert(i + 1, {**events[i], 'event': 'release_alone', 'reply': 1, 'value': '',
                              'left': 0, 'messages': [], 'fence_before': events[i]['fence']})
    return i is not None


@divergence
def a_release_without_waiters_overlooks_waiters(events):
    return change_first(events, lambda e: e['event'] == 'release_alone' and e['reply'] == 3,
                        reply=1, value='', left=0)


@divergence
def a_lock_with_waiters_has_no_mark(events):
    i = where(events, lambda e, _: e['event'] == 'acquire' and e['value'].endswith('*') and
              len(e['queue']) == 1)
    if i is not None:
        events[i].update(value=events[i]['value'][:-1], left=events[i]['left'] - 1000)
    return i is not None


@divergence
def a_marked_lock_ends_with_its_lease(events):
    i = where(events, lambda e, _: e['event'] == 'acquire' and e['value'].endswith('*'))
    if i is not None:
        events[i]['left'] -= 1000
    return i is not None


@divergence
def a_holder_is_not_asked_to_give_way(events):
    i = where(events, lambda e, _: any(text.startswith('W ') for text in e.get('messages', ())))
    if i is not None:
        events[i]['messages'] = []
    return i is not None


@divergence
def a_waiter_is_queued_twice(events):
    i = where(events, lambda e, _: e['event'] == 'acquire' and e['mode'] == 'again' and
              len(e['queue']) == 1)
    if i is not None:
        events[i]['queue'] *= 2
    return i is not None


@divergence
def a_waiter_loses_its_place(events):
    i = where(events, lambda e, _: e['event'] in ('release', 'renew') and len(e['queue']) > 0)
    if i is not None:
        events[i]['queue'].pop(0)
    return i is not None


@divergence
def a_waiter_that_gives_up_stays_queued(events):
    i = where(events, lambda e, _: e['event'] == 'cancel' and e['reply'] == 1)
    if i is not None:
        events[i]['queue'].append(events[i]['owner'])
    return i is not None


@divergence
def a_newcomer_takes_a_lock_that_exists(events):
    return change_first(events, lambda e: e['event'] == 'take_free' and e['reply'][0] is None and
                        e['value'] != '', reply=['OK', 0])


@divergence
def a_renewal_takes_a_released_lock_back(events):
    i = where(events, lambda e, _: e['event'] == 'release_alone' and e['reply'] == 1)
    if i is None:
        return False
    event = events[i]
    events.insert(i + 1, {**event, 'event': 'renew', 'ttl': 100, 'draw': 0,
                          'reply': [1, 0, event['server_us'], 100, 0], 'value': event['owner'],
                          'left': 100})
    return True


@divergence
def a_renewal_is_one_ms_short(events):
    i = where(events, lambda e, _: e['event'] == 'renew' and e['reply'][0] == 1)
    if i is not None:
        events[i]['left'] -= 1
    return i is not None


@divergence
def a_reply_hides_the_waiters(events):
    i = where(events, lambda e, _: e['event'] == 'renew' and e['reply'][-1] == 1 and
              e['reply'][0] == 1)
    if i is not None:
        events[i]['reply'][-1] = 0
    return i is not None


@divergence
def a_restart_starts_no_grace_period(events):
    return change_first(events, lambda e: e['event'] == 'seed' and e['grace'] > 2000, grace=0)


@divergence
def the_fence_counter_falls(events):
    i = where(events, lambda e, i: e['event'] == 'acquire' and i > 50)
    if i is not None:
        events[i]['fence_before'] -= 1
        events[i]['fence'] -= 1
    return i is not None


@divergence
def a_handover_draws_no_token(events):
    i = where(events, lambda e, _: is_handover(e) and e['fence'] == e['fence_before'] + 1)
    if i is not None:
        events[i]['fence'] -= 1
    return i is not None


@divergence
def a_command_is_missing(events):
    i = where(events, is_a_change)
    if i is not None:
        del events[i]
    return i is not None


def is_a_change(event, _):
    return event['event'] == 'release' and event['reply'] in (1, 2)


@divergence
def two_commands_change_places(events):
    i = where(events, lambda e, i: is_a_change(e, i) and i + 1 < len(events) and
              events[i + 1]['event'] == 'acquire')
    if i is None:
        return False
    first, second = events[i], events[i + 1]
    first['ms'], second['ms'] = second['ms'], first['ms']
    events[i], events[i + 1] = second, first
    return True


# ---- the clients ---------------------------------------------------------------------------------

@divergence
def a_token_repeats(events):
    holds = [event for event in events if event['event'] == 'hold']
    if len(holds) < 2:
        return False
    holds[1]['token'] = holds[0]['token']
    return True


@divergence
def a_token_was_never_drawn(events):
    i = where(events, lambda e, _: e['event'] == 'hold')
    if i is not None:
        events[i]['token'] += 1000000
    return i is not None


@divergence
def a_waiter_holds_without_a_grant(events):
    i = where(events, lambda e, i: e['event'] == 'acquire' and e['reply'][0] == 0 and
              e['mode'] != 'try' and
              not any(later['event'] == 'end' for later in events[i + 1:i + 2]))
    if i is None:
        return False
    event = events[i]
    events.insert(i + 1, {'ns': event['ns'], 'ms': event['ms'], 'event': 'hold',
                          'owner': event['owner'], 'token': event['fence'],
                          'deadline_ms': event['ms'] + 1})
    return True


@divergence
def two_clients_hold(events):
    i = where(events, lambda e, i: e['event'] == 'end' and
              any(later['event'] == 'hold' for later in events[i:]))
    if i is not None:
        del events[i]
    return i is not None


@divergence
def a_deadline_counts_from_the_reply(events):
    i = where(events, lambda e, _: e['event'] == 'hold')
    if i is not None:
        events[i]['deadline_ms'] += 100000
    return i is not None


@divergence
def a_renewal_prolongs_too_much(events):
    i = where(events, lambda e, _: e['event'] == 'prolong')
    if i is not None:
        events[i]['deadline_ms'] += 100000
    return i is not None


@divergence
def a_hold_outlives_its_deadline(events):
    i = where(events, lambda e, i: e['event'] == 'end')
    if i is None:
        return False
    start = next(event for event in reversed(events[:i]) if event['event'] in ('hold', 'prolong'))
    start['deadline_ms'] = start['ms']
    events[i]['ms'] = max(events[i]['ms'], start['ms'] + 1)
    return True


# ---- no divergences ------------------------------------------------------------------------------

@harmless
def a_hold_ends_before_its_deadline(events):
    i = where(events, lambda e, i: e['event'] == 'prolong')
    if i is not None:
        events[i]['deadline_ms'] -= 1
    return i is not None


@harmless
def a_command_is_refused(events):
    events.append({**events[-1], 'event': 'cancel', 'owner': 'm1:nobody:1.1::100',
                   'reply': 'ERROR OOM', 'messages': [], 'fence_before': events[-1].get('fence')})
    return events[-2]['event'] in ('release', 'cancel', 'acquire', 'renew')
