"""The events of one mutex at a quorum as numbers, for votes.h."""
from replay import Unreadable, is_refusal

MODEL = 'votes_trace.pml'
# Rules of ballot_rules.pml and votes_trace.pml, to leave out. No trace shows two others: no
# proposal is the very end of a quarantine, and no renewal passes the request of an earlier vote.
RULES = ['ANY_PROPOSAL_WILL_DO', 'WITHOUT_FENCE', 'WITHOUT_LIFTED_FENCE', 'WITHOUT_QUARANTINE',
         'WITHOUT_QUARANTINE_AFTER_RESTART', 'WITHOUT_END_OF_QUARANTINE',
         'WITHOUT_PROPOSAL_OF_RENEWAL', 'WITHOUT_PROPOSAL_OF_RELEASE', 'WITHOUT_OWNER_CHECK']
EVENTS = ['', 'take', 'renew', 'release', 'seed', 'member', 'refused', 'restart', 'snapshot',
          'hold', 'prolong', 'end']
VOTES = ('take', 'renew', 'release')
REPLIES = {'none': 0, 'voted': 1, 'not_free': 2, 'too_low': 3, 'quarantined': 4, 'renewed': 5,
           'not_owner': 6, 'released': 7, 'kept': 8, 'member': 9}
RESTARTS = ['data', 'snapshot', 'nothing']
MOST_SERVERS = 5
UNKNOWN = -1
EARLY = -1000000000
# A server has run for longer than any quarantine.
LONG_S = 1000000


class Translation:
    def __init__(self, header, events):
        self.header = header
        self.owners = {}
        self.rows = [self.row(event) for event in events]
        for row, event in zip(self.rows, events):
            if any(abs(number) >= 1 << 31 for number in row):
                raise Unreadable(f'a number of this event is too large: {event}')

    def text(self):
        return '\n'.join([f'{self.header["servers"]} {self.header["quarantine_ms"]}',
                          str(len(self.rows)),
                          *(' '.join(map(str, row)) for row in self.rows)]) + '\n'

    def owner(self, token):
        return self.owners.setdefault(token, len(self.owners) + 1) if token else 0

    def time_us(self, number):
        """A client that knows no server's clock proposes a small number, before all times."""
        return max(number - self.header['start_us'], EARLY) if number else 0

    def time_ms(self, number):
        return number - self.header['start_us'] // 1000 if number else 0

    def row(self, event):
        what = event['event']
        if 'server' not in event:
            until = [self.time_ms(number) for number in event.get('deadlines_ms', ())]
            return [EVENTS.index(what), 0, 0, self.owner(event['owner']),
                    self.time_us(event.get('token', 0)), 0,
                    *until, *[0] * (MOST_SERVERS - len(until)), *[0] * 8]
        is_refused = is_refusal(event) and not event['reply'].startswith('ERROR QUARANTINE ')
        return [EVENTS.index('refused' if is_refused else what), event['server'],
                self.time_us(event['us']), self.owner(event.get('owner', '')),
                *self.arguments(event), *[0] * MOST_SERVERS,
                *([0] * 3 if is_refused else self.reply(event)), *self.keys(event)]

    def arguments(self, event):
        what = event['event']
        if what == 'seed':
            return [self.time_us(max(event['us'], event['lowest'])), 0]
        if what == 'member':
            return [0, min(event['uptime_s'], LONG_S)]
        if what == 'restart':
            return [0, RESTARTS.index(event['with'])]
        return [self.time_us(event.get('proposal', 0)), event.get('ttl', 0)]

    def reply(self, event):
        what, reply = event['event'], event.get('reply')
        if what == 'member':
            return [REPLIES['member'], reply, 0]
        if what == 'release':
            return [REPLIES['released' if reply == 1 else 'kept'], 0, 0]
        if what not in VOTES:
            return [REPLIES['none'], 0, 0]
        if isinstance(reply, str):
            return [REPLIES['quarantined'], int(reply.split(' ')[2]), 0]
        if reply[0] == 1:
            return [REPLIES['voted' if what == 'take' else 'renewed'], self.time_us(reply[1]),
                    reply[3]]
        if what == 'renew':
            return [REPLIES['not_owner'], len(reply) - 1, 0]
        return [REPLIES['too_low' if reply[3] == -2 else 'not_free'], self.time_us(reply[1]),
                reply[3]]

    def keys(self, event):
        if 'fence' not in event:
            return [UNKNOWN, 0, 0, 0, 0]
        shared = [self.time_us(event['fence']), self.time_us(event['quarantine'])]
        if event['event'] not in VOTES:
            return [UNKNOWN, 0, 0, *shared]
        return [self.owner(event['value']), self.time_ms(event['ends_ms']),
                self.time_us(event['ballot']), *shared]
