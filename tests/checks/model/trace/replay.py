"""Replays traces of simulations by the rules of a model (docs/internals/models.md)."""
import json
import os
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODEL = HERE.parent / 'queued_trace.pml'
REPLIES = {'none': 0, 'granted': 1, 'queued': 2, 'not_free': 3, 'not_owner': 4, 'released': 5,
           'handed_over': 6, 'has_waiters': 7, 'canceled': 8}
EVENTS = ['', 'take_free', 'acquire', 'release', 'release_alone', 'cancel', 'renew', 'seed',
          'delete', 'refused', 'restart', 'listens', 'leaves', 'hold', 'prolong', 'end']
COMMANDS = set(EVENTS[1:10])
MODES = {'try': 0, 'wait': 1, 'again': 2}
NO_PLACE = 250
UNKNOWN = -1


class Unreadable(Exception):
    """A trace that is not in the format."""


class Replayer:
    """The compiled model queued_trace.pml. `rules` are names of rules to leave out."""

    def __init__(self, folder, rules=()):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        options = [f'-D{rule}' for rule in rules]
        self._run(['spin', '-a', *options, MODEL])
        self._run(['gcc', '-O0', '-w', '-DSAFETY', '-DNOREDUCE', '-DVECTORSZ=4096', '-I', HERE,
                   '-o', 'replay', 'pan.c'])

    def _run(self, command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f'{command[0]}: {done.stdout}{done.stderr}')

    def judge(self, events):
        """'' if the model accepts the events of one lock, otherwise why not."""
        numbers = self.folder / 'trace'
        numbers.write_text(Translation(events).text())
        done = subprocess.run([self.folder / 'replay', '-m1000000'], cwd=self.folder, text=True,
                              capture_output=True, check=False,
                              env={**os.environ, 'REPLAY_TRACE': str(numbers)})
        result = done.stdout.strip().splitlines()
        if done.returncode == 0 and result and result[-1].startswith('accepted: '):
            return ''
        if done.returncode == 1 and result and result[-1].startswith('refused '):
            return result[-1]
        raise RuntimeError(f'replay: {done.returncode} {done.stdout} {done.stderr}')


def load(path):
    """The header of a trace, and its events by lock, each in the order in which they happened."""
    lines = Path(path).read_text().splitlines()
    header = json.loads(lines[0])
    if header.get('format') != 'mortise-trace-1':
        raise Unreadable(f'{path}: the format is {header.get("format")}, expected mortise-trace-1')
    events = [json.loads(line) for line in lines[1:]]
    # The end of a hold is noticed late by a client that was paused.
    events.sort(key=lambda event: event['ns'])
    names = {lock_of(event) for event in events} - {None}
    return header, {name: [dict(event, base=header['start_us']) for event in events
                           if lock_of(event) in (name, None)] for name in sorted(names)}


def lock_of(event):
    """The name of the event's lock; None if the event concerns all locks."""
    if 'name' in event:
        return event['name']
    if 'key' in event:
        return event['key'].split('}')[0].removeprefix('{mortise:').removesuffix('}')
    return None


class Translation:
    """The events of one lock as numbers, for replay.h."""

    def __init__(self, events):
        self.owners = {}
        self.clients = {}
        self.rows = []
        self.before_ms = events[0]['ms'] if events else 0
        self.base = events[0]['base'] if events else 0
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
        is_refused = isinstance(event['reply'], str) and event['reply'].startswith('ERROR ')
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
