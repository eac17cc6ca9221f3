"""Replays traces of simulations by the rules of a model (docs/internals/models.md)."""
import json
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Unreadable(Exception):
    """A trace that is not in the format."""


class Replayer:
    """A compiled model. `of` is the module that translates its traces, and `rules` are names of
    rules to leave out."""

    def __init__(self, folder, of, rules=()):
        self.of = of
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        options = [f'-D{rule}' for rule in rules]
        self._run(['spin', '-a', *options, HERE.parent / of.MODEL])
        self._run(['gcc', '-O0', '-w', '-DSAFETY', '-DNOREDUCE', '-DVECTORSZ=4096', '-I', HERE,
                   '-o', 'replay', 'pan.c'])

    def _run(self, command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f'{command[0]}: {done.stdout}{done.stderr}')

    def judge(self, header, events):
        """'' if the model accepts the events of one lock, otherwise why not."""
        numbers = self.folder / 'trace'
        numbers.write_text(self.of.Translation(header, events).text())
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
    slots = {lock_of(event): event.get('slot') for event in events if 'key' in event}
    return header, {name: [event for event in events if concerns(event, name, slots[name])]
                    for name in sorted(slots)}


def concerns(event, name, slot):
    """Whether the event is one of this lock, or of its whole server or slot."""
    lock = lock_of(event)
    return event.get('slot') == slot if lock is None else lock == name


def lock_of(event):
    """The name of the event's lock; None if the event concerns all locks."""
    if 'name' in event:
        return event['name']
    if 'key' in event:
        return event['key'].split('}')[0].removeprefix('{mortise:').removesuffix('}')
    return None


def is_refusal(event):
    """Whether the server answered the command with an error."""
    reply = event.get('reply')
    return isinstance(reply, str) and reply.startswith('ERROR ')
