"""starting.py kill|stop: the lock holder process is killed or stopped right after it started the
command. The launcher does not know of the command yet, and has to end it all the same."""
import os
import pathlib
import signal
import subprocess
import sys
import time

NAME = os.environ["name"]
ROUNDS = {"kill": 20, "stop": 3}


def child_of(process, until_s):
    while time.monotonic() < until_s:
        try:
            children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()
        except OSError:
            return None
        if children:
            return int(children[0])
    return None


def runs(process):
    try:
        state = pathlib.Path(f"/proc/{process}/status").read_text("ascii")
    except OSError:
        return False
    return "\nState:\tZ" not in state


def one_round(number, fault):
    """Whether the lock holder process was met while it started the command."""
    launcher = subprocess.Popen(
        ["mortise", "exec", "--lease", "2s", "--grace", "200ms", f"{NAME} {number}", "--", "sleep", "1000"],
        stderr=subprocess.DEVNULL)
    until_s = time.monotonic() + 60
    holder = child_of(launcher.pid, until_s)
    command = child_of(holder, until_s)
    os.kill(holder, signal.SIGKILL if fault == "kill" else signal.SIGSTOP)
    code = launcher.wait(60)
    if runs(command):
        os.kill(command, signal.SIGKILL)
        sys.exit(f"round {number}: the launcher ended with {code}, and the command continues")
    if code != 79:
        sys.exit(f"round {number}: the launcher ended with {code}, not 79")


HOW = sys.argv[1]
for round_number in range(ROUNDS[HOW]):
    one_round(round_number, HOW)
