"""The events of one mutex at one server as numbers, for queued.h."""
import re

from replay import Unreadable, is_refusal

MODEL = 'queued_trace.pml'
# The rules of the server, of queued_rules.pml.
RULES = ['WITHOUT_' + rule for rule in (
    'TURN', 'MARK', 'LOOK_FOR_WAITERS', 'OWNER_CHECK', 'OWNER_CHECK_OF_RENEWALS', 'DRAWING',
    'SHORT_GRANT', 'SKIPPING_THE_DEAD', 'GRACE', 'END_OF_GRACE', 'LIFTED_FENCE', 'TURNS', 'LEASE')]
REPLIES = {'none': 0, 'granted': 1, 'queued': 2, 'not_free': 3, 'not_owner': 4, 'released': 5,
           'handed_over': 6, 'has_waiters': 7, 'canceled': 8}
EVENTS = ['', 'take_free', 'acquire', 'release', 'release_alone', 'cancel', 'renew', 'seed',
          'delete', 'refused', 'restart', 'listens', 'leaves', 'hold', 'prolong', 'end']
COMMANDS = set(EVENTS[1:10])
MODES = {'try': 0, 'wait': 1, 'again': 2}
NO_PLACE = 250
UNKNOWN = -1


class Translation:
    def __init__(self, header, events):
        self.owners = {}
        self.clients = {}
        self.rows = []
        self.before_ms = events[0]['ms'] if events else 0
        self.base = header['start_us']
        for event in events:
            row = self.row(event)
            if any(abs(number) >= 1 << 31 for number in row):
                raise Unreadable(f'a number of this event is too large: {event}')
            self.rows.append(row)

    def text(self):
        owners = [f'{self.client(owner.split(":")[1])} {owner.rsplit(":", 1)[1]}'
                  for owner in list(self.owners)]
        return '\n'.join([str(len(owners)), *owners, str(len(self.rows)),
                          *(' '.join(map(str, row)) for row in self.rows)]) + '\n'

    def client(self, name):
        return self.clients.setdefault(name, len(self.clients))

    def owner(self, text):
        """The number of an owner token. A secret may follow it, in a queue and in a grant."""
        token = re.match(r'.*:\d+', text)[0] if text else ''
        return self.owners.setdefault(token, len(self.owners) + 1) if token else 0

    def token(self, number):
        return number - self.base if number else 0

    def row(self, event):
        what = event['event']
        elapsed = event['ms'] - self.before_ms
        self.before_ms = event['ms']
        if what not in COMMANDS:
            return [EVENTS.index(what), elapsed, *self.report(event), 0] + [0] * 12 + [0, 0]
        is_refused = is_refusal(event)
        kind = 'refused' if is_refused else what
        reply = [0, 0, 0, 0, NO_PLACE, 0] if is_refused else self.reply(event)
        owner = self.owner(event.get('owner', ''))
        return [EVENTS.index(kind), elapsed, owner, *self.arguments(event),
                self.token(event['fence_before']), *reply, *self.keys(event),
                *self.messages(event)]

    def report(self, event):
        """What a client reports, or which client the server loses or gains."""
        what = event['event']
        if what in ('listens', 'leaves'):
            return [self.client(event['client']), 0, 0]
        if what == 'restart':
            return [0, 0, 0]
        return [self.owner(event['owner']), self.token(event.get('token', 0)),
                event['deadline_ms'] - event['ms'] if 'deadline_ms' in event else 0]

    def arguments(self, event):
        what = event['event']
        if what == 'seed':
            lowest = max(event['server_us'], int(event['lowest']))
            return [self.token(lowest), 1 if event['known'] == 'back' else 0]
        if what == 'acquire':
            return [event['ttl'], MODES[event['mode']]]
        return [event.get('ttl', 0), event.get('draw', 0)]

    def reply(self, event):
        what, reply = event['event'], event['reply']
        simple = {'release': ['not_owner', 'released', 'handed_over'],
                  'release_alone': ['not_owner', 'released', '', 'has_waiters'],
                  'delete': ['not_owner', 'released'],
                  'cancel': ['not_owner', 'canceled', 'released']}
        if what == 'seed':
            return [REPLIES['none'], 0, 0, 0, NO_PLACE, 0]
        if what in simple:
            return [REPLIES[simple[what][reply]], 0, 0, 0, NO_PLACE, 0]
        if what == 'take_free':
            if reply[0] is None:
                return [REPLIES['not_free'], 0, 0, 0, NO_PLACE, 0]
            return [REPLIES['granted'], self.token(reply[1]), event['ttl'], 1, NO_PLACE, 0]
        if reply[0] == 1:
            return [REPLIES['granted'], self.token(reply[1]), reply[3], 1, NO_PLACE, reply[4]]
        if what == 'renew':
            return [REPLIES['not_owner'], 0, 0, 0, NO_PLACE, len(reply) - 1]
        kind = 'not_free' if event['mode'] == 'try' else 'queued'
        has_left = reply[3] != -2
        return [REPLIES[kind], 0, reply[3] if has_left else 0, int(has_left),
                reply[4] if reply[4] >= 0 else NO_PLACE, 0]

    def keys(self, event):
        shared = [self.token(event['fence']), event['grace']]
        if 'key' not in event:
            return [UNKNOWN, 0, 0, 0, *shared, 0]
        value = event['value']
        queue = [self.owner(owner) for owner in event['queue']]
        return [self.owner(value.removesuffix('*')), int(value.endswith('*')), event['left'],
                event['queue_left'], *shared, len(queue), *queue]

    def messages(self, event):
        found = []
        for message in event['messages']:
            kind = message[0]
            # An owner token may contain spaces.
            *parts, owner = message.split(' ', {'G': 4, 'N': 2, 'W': 1}[kind])
            number = {'G': self.token, 'N': int, 'W': int}[kind](int(parts[1]) if parts[1:] else 0)
            found.append(('GNW'.index(kind) + 1, self.owner(owner), number))
        return [len(found), *(f[0] for f in found), *(f[1] for f in found), *(f[2] for f in found)]
