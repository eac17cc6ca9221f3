"""Divergences of the mutex of a quorum, as defects of a script or of a client would cause."""
from planted import Changes, change_first, where

CHANGES = Changes()
divergence = CHANGES.divergence
harmless = CHANGES.no_divergence


def is_voted(event):
    return event['event'] == 'take' and isinstance(event['reply'], list) and event['reply'][0] == 1


def is_refused_vote(event):
    return event['event'] == 'take' and isinstance(event['reply'], list) and event['reply'][0] == 0


def is_renewed(event):
    return event['event'] == 'renew' and event['reply'][0] == 1


def grant(event):
    """Makes a vote of a refusal."""
    event.update(reply=[1, event['proposal'], event['us'], event['ttl'], 0], value=event['owner'],
                 ends_ms=event['us'] // 1000 + event['ttl'], ballot=event['proposal'])
    return True


# ---- the scripts ---------------------------------------------------------------------------------

@divergence
def a_server_votes_for_two_owners(events):
    i = where(events, lambda e, _: is_refused_vote(e) and e['reply'][3] >= 0)
    return i is not None and grant(events[i])


@divergence
def a_server_votes_for_a_low_proposal(events):
    i = where(events, lambda e, _: is_refused_vote(e) and e['reply'][3] == -2)
    return i is not None and grant(events[i])


@divergence
def a_server_votes_in_its_quarantine(events):
    i = where(events, lambda e, _: e['event'] == 'take' and isinstance(e['reply'], str) and
              e['reply'].startswith('ERROR QUARANTINE '))
    return i is not None and grant(events[i])


@divergence
def a_restart_starts_no_quarantine(events):
    return change_first(events, lambda e: e['event'] == 'member' and e['reply'] > 0,
                        reply=0, quarantine=0)


@divergence
def a_quarantine_is_one_ms_short(events):
    i = where(events, lambda e, _: e['event'] == 'member' and e['reply'] > 0)
    if i is not None:
        events[i]['quarantine'] -= 1000
    return i is not None


@divergence
def a_handshake_does_not_lift_the_fence_counter(events):
    i = where(events, lambda e, i: e['event'] == 'seed' and i > 50)
    if i is not None:
        events[i]['fence'] -= 1
    return i is not None


@divergence
def a_vote_has_an_earlier_ballot(events):
    i = where(events, lambda e, _: is_voted(e))
    if i is not None:
        events[i]['ballot'] -= 1
    return i is not None


@divergence
def a_vote_is_one_ms_short(events):
    i = where(events, lambda e, _: is_voted(e))
    if i is not None:
        events[i]['ends_ms'] -= 1
    return i is not None


@divergence
def a_renewal_keeps_the_ballot(events):
    i = where(events, lambda e, i: is_renewed(e) and e['ballot'] == e['proposal'] and
              ballot_before(events, i) not in (None, e['proposal']))
    if i is not None:
        events[i]['ballot'] = ballot_before(events, i)
    return i is not None


def ballot_before(events, i):
    return next((e['ballot'] for e in reversed(events[:i])
                 if e.get('server') == events[i]['server'] and 'ballot' in e), None)


@divergence
def a_renewal_does_not_prolong(events):
    i = where(events, lambda e, _: is_renewed(e))
    if i is not None:
        events[i]['ends_ms'] -= 1
    return i is not None


@divergence
def a_renewal_takes_a_vote_back(events):
    i = where(events, lambda e, _: e['event'] == 'release' and e['reply'] == 1)
    if i is None:
        return False
    event = events[i]
    ttl = 100
    events.insert(i + 1, {**event, 'event': 'renew', 'ttl': ttl, 'value': event['owner'],
                          'reply': [1, event['proposal'], event['us'], ttl, 0],
                          'ends_ms': event['us'] // 1000 + ttl})
    return True


@divergence
def a_release_takes_a_later_vote(events):
    i = where(events, lambda e, _: e['event'] == 'release' and e['reply'] == 0 and
              e['value'] == e['owner'])
    if i is not None:
        events[i].update(reply=1, value='', ends_ms=0)
    return i is not None


@divergence
def a_release_takes_the_vote_of_another_owner(events):
    i = where(events, lambda e, _: e['event'] == 'release' and e['reply'] == 0 and
              e['value'] not in ('', e['owner']))
    if i is not None:
        events[i].update(reply=1, value='', ends_ms=0)
    return i is not None


@divergence
def a_release_is_ignored(events):
    i = where(events, lambda e, _: e['event'] == 'release' and e['reply'] == 1)
    if i is not None:
        events[i].update(reply=0, value=events[i]['owner'], ends_ms=events[i]['us'] // 1000 + 1)
    return i is not None


@divergence
def a_command_is_missing(events):
    i = where(events, lambda e, _: e['event'] == 'release' and e['reply'] == 1)
    if i is not None:
        del events[i]
    return i is not None


@divergence
def a_restart_is_missing(events):
    i = where(events, lambda e, _: e['event'] == 'restart' and e['with'] == 'nothing')
    if i is not None:
        del events[i]
    return i is not None


@divergence
def a_server_answers_for_another(events):
    i = where(events, lambda e, _: is_voted(e))
    if i is not None:
        events[i]['server'] = 1 - min(events[i]['server'], 1)
    return i is not None


# ---- the clients ---------------------------------------------------------------------------------

@divergence
def a_token_repeats(events):
    holds = [event for event in events if event['event'] == 'hold']
    if len(holds) < 2:
        return False
    holds[1]['token'] = holds[0]['token']
    return True


@divergence
def a_minority_is_enough(events):
    """The hold begins after the first vote."""
    i = where(events, lambda e, i: is_voted(e) and i > 0 and
              e['owner'] not in [before.get('owner') for before in events[:i]] and
              any(later['event'] == 'hold' and later['owner'] == e['owner'] for later in events))
    if i is None:
        return False
    hold = next(e for e in events if e['event'] == 'hold' and e['owner'] == events[i]['owner'])
    events.remove(hold)
    events.insert(i + 1, hold)
    return True


@divergence
def a_token_is_above_all_votes(events):
    i = where(events, lambda e, _: e['event'] == 'hold')
    if i is not None:
        events[i]['token'] += 1000000
    return i is not None


@divergence
def two_clients_hold(events):
    i = where(events, lambda e, i: e['event'] == 'end' and
              any(later['event'] == 'hold' for later in events[i:]))
    if i is not None:
        del events[i]
    return i is not None


def later(deadlines, ms):
    return [deadline + ms for deadline in deadlines]


@divergence
def a_deadline_counts_from_the_reply(events):
    i = where(events, lambda e, _: e['event'] == 'hold')
    if i is not None:
        events[i]['deadlines_ms'] = later(events[i]['deadlines_ms'], 100000)
    return i is not None


@divergence
def a_renewal_prolongs_too_much(events):
    i = where(events, lambda e, _: e['event'] == 'prolong')
    if i is not None:
        events[i]['deadlines_ms'] = later(events[i]['deadlines_ms'], 100000)
    return i is not None


@divergence
def a_hold_outlives_its_deadline(events):
    i = where(events, lambda e, i: e['event'] == 'end')
    if i is None:
        return False
    start = next(event for event in reversed(events[:i]) if event['event'] in ('hold', 'prolong'))
    start['deadlines_ms'] = later(events[i]['deadlines_ms'], -1)
    return True


# ---- no divergences ------------------------------------------------------------------------------

@harmless
def a_hold_ends_before_its_deadline(events):
    i = where(events, lambda e, i: e['event'] == 'prolong')
    if i is not None:
        events[i]['deadlines_ms'] = later(events[i]['deadlines_ms'], -1)
    return i is not None


@harmless
def a_command_is_refused(events):
    i = where(events, lambda e, _: e['event'] == 'release')
    if i is not None:
        events.insert(i + 1, {**events[i], 'owner': 'm1:nobody:1.1::100', 'reply': 'ERROR OOM'})
    return i is not None
