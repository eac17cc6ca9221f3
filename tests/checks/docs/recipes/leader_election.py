"""A leader that dies, is stopped past its lease or ends by SIGTERM is followed by the next
candidate, in any language. One that has lost the lead notices and becomes a candidate again.
Everybody can read the address of the leader, and candidates are notified of it."""
import re
from signal import SIGCONT, SIGSTOP, SIGTERM

from stage import Program, built, eventually, redis, run

LOCK = "{mortise:scheduler/leader}"
COMMANDS = {file.rpartition(".")[2]: built(file)
            for file in (
                "leader.go", "Leader.java", "leader.lua", "leader.py", "leader.c", "leader.cpp",
                "leader.sh")}


class Candidates:
    """A candidate of each language, which become leaders in this order."""

    def __init__(self, languages, query):
        self.waiting, self.last_token = [], 0
        for count, language in enumerate(languages):
            self.waiting.append(Program(COMMANDS[language], query=query))
            self.wait_for_queue(count)
            if count == 0:
                self.leader = self.next_leader()

    def wait_for_queue(self, length):
        eventually(f"{length} wait", lambda: redis("EXISTS", LOCK) == "1" and
                   redis("LLEN", LOCK + ":q") == str(length))

    def next_leader(self):
        leader = self.waiting.pop(0)
        token = int(leader.expect(r"^leads with token (\d+)$")[1])
        assert token > self.last_token, f"token {token} after {self.last_token}: {leader}"
        self.last_token = token
        leader.expect("^works$")
        self.leader = leader
        return leader


def a_stopped_leader_is_followed_and_steps_back():
    # A process that is stopped does not stop the lock holder process of mortise exec.
    programs = [language for language in COMMANDS if language != "sh"]
    candidates = Candidates(programs, "?lease=2s")
    for _ in programs:
        stopped = candidates.leader
        stopped.send(SIGSTOP)
        candidates.next_leader()
        stopped.send(SIGCONT)
        stopped.expect("^leads no more$")
        candidates.waiting.append(stopped)
        candidates.wait_for_queue(len(programs) - 1)


def a_killed_leader_is_followed():
    candidates = Candidates(COMMANDS, "?lease=2s")
    while candidates.waiting:
        candidates.leader.kill()
        candidates.next_leader()


def a_leader_that_ends_gives_the_lead_back():
    candidates = Candidates(["go", "java", "py", "sh", "lua"], "")
    for status in (0, 143, 0, 0):
        owner = redis("GET", LOCK)
        candidates.leader.send(SIGTERM)
        lines = candidates.leader.end(status)
        # Before the end of its lease, which is of 10 s.
        assert redis("GET", LOCK) != owner, "it kept the lead"
        own = [line for line in lines if not line.startswith("leader:")]
        assert own[-1] == "leads no more", lines
        candidates.next_leader()


def the_leader_is_shown_with_its_address():
    address = "10.0.0.5:8080"
    leader = Program(COMMANDS["go"], query=f"?value={address}")
    leader.expect("^works$")

    def is_shown():
        return any(address in line for line in Program(built("show.sh")).end())

    eventually("the address is shown", is_shown)
    candidates = [Program(command) for language, command in COMMANDS.items() if language != "sh"]
    for candidate in candidates:
        candidate.expect(f"^leader: {re.escape(address)}")
        candidate.kill()
    leader.send(SIGTERM)
    leader.end()
    assert not is_shown()


run(the_leader_is_shown_with_its_address, a_stopped_leader_is_followed_and_steps_back,
    a_killed_leader_is_followed, a_leader_that_ends_gives_the_lead_back)
