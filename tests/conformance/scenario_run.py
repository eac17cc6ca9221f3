"""One run of one scenario: its steps, and their expected results. README.md has their form."""
import contextlib
import json
import pathlib
import time

import coverage
from deployment import Deployment
from driver import PATIENCE_S, Driver, Unresponsive, sleep_ms
from driver_pool import DriverPool, needs_own_process
from run_secrets import Secrets, Revealed, secrets_of

HEADER = pathlib.Path(__file__).resolve().parents[2] / "capi/include/mortise/mortise.h"
# Why a hold was lost.
REASONS = coverage.reasons_of(coverage.read(HEADER))
# What a health check finds, by its number.
SEVERITIES = ["ok", "unknown", "warn", "bad"]
# The checks of a step for the value of its answer.
OF_VALUE = {"equals", "at_least", "at_most", "same_as", "above", "remember"}


# The drivers of all runs that name no other pool.
POOL = DriverPool()


class Failed(Exception):
    """A step did not go as in the scenario. `number` is the step's; 0 before the first."""

    def __init__(self, text, number=0):
        super().__init__(text)
        self.number = number


def run_scenario(scenario, commands, patience_s=PATIENCE_S, deployment="direct", pool=POOL,
                 is_mutated=False):
    """Runs it with the commands of its drivers; None, or the failure."""
    try:
        ScenarioRun(scenario, commands, patience_s, deployment, pool, is_mutated).run()
    except Failed as problem:
        return problem
    return None


class ScenarioRun:
    """One run of one scenario, with a command for each driver. A mutated scenario fails as a rule,
    and that is no fault of its drivers and servers."""

    def __init__(self, scenario, commands, patience_s, deployment, pool, is_mutated):
        self.scenario = scenario
        own = secrets_of(scenario)
        self.deployment = Deployment(scenario, deployment)
        self.secrets = Secrets(own | self.deployment.secrets)
        self.drivers = {}
        self.commands = commands
        self.patience_s = patience_s
        self.pool = pool
        self.is_mutated = is_mutated
        self.remembered = {}
        self.started = {}   # name of a call in the background: (its number, when it began)
        self.kept = {}  # texts of answers by name
        self.open_calls = {}  # name of a call whose answer was not awaited: its number
        self.outcomes = {}  # name of such a call: the status that it ended with

    def run(self):
        number, step, is_reusable = 0, None, False
        try:
            self.open()
            for number, step in enumerate(steps_of(self.scenario), 1):
                self.step(step)
            step = None
            for server in self.deployment.all_servers() if self.secrets.forms else ():
                self.secrets.check_server(server.command, server.url)
            if refused := not self.scenario.get("is_refused") and self.deployment.refused():
                raise Failed(f"a right is missing for {', '.join(sorted(refused))}")
            is_reusable = True
            self.give_back_drivers()
        except (Failed, Unresponsive, Revealed) as problem:
            is_reusable = self.is_mutated and isinstance(problem, Failed)
            place = (f"step {number} {json.dumps(step, ensure_ascii=False)}" if step else
                     "the end" if number else "opening")
            raise Failed(f"{place}: {problem}", number) from None
        finally:
            if is_reusable:
                with contextlib.suppress(Revealed, Unresponsive):
                    self.give_back_drivers()
            for driver in self.drivers.values():
                driver.end()
            self.deployment.end(is_reusable)

    def give_back_drivers(self):
        names = [name for name in self.drivers if not needs_own_process(self.scenario, name)]
        self.pool.give_back([self.drivers.pop(name) for name in names])

    def start_driver(self, name, command):
        if not needs_own_process(self.scenario, name):
            return self.pool.take(name, command, self.patience_s, self.secrets)
        environment = {"MORTISE_URL": self.deployment.url, **self.scenario.get("environment", {})}
        return Driver(name, command, environment, self.patience_s, self.secrets)

    def open(self):
        for name, command in self.commands.items():
            self.drivers[name] = self.start_driver(name, command)
            if self.scenario.get("opens_clients", True):
                # No scenario is about opening the driver's client, because a server may be slow to
                # answer.
                self.step({"at": name, "new": "client", "as": "client", "eventually": True,
                           "options": self.scenario.get("client_options", {})})

    def step(self, step):
        if any(self.outcomes[call] != outcome for call, outcome in step.get("when", {}).items()):
            return
        if "server" in step:
            self.until(step, lambda: check_reply(step, self.deployment.command(step), self.remembered))
        elif "tenant" in step:
            self.deployment.admit(step)
        elif "control" in step:
            self.deployment.control(step)
        elif "network" in step:
            self.deployment.command_network(step["network"])
        elif "write" in step:
            self.deployment.write(step)
        elif "sleep_ms" in step:
            sleep_ms(step["sleep_ms"])
        elif "is_pretended" in step:
            self.remembered[step.get("remember")] = 0
        else:
            self.step_of(self.drivers[step["at"]], step)

    def step_of(self, driver, step):
        if "signal" in step:
            driver.signal(step["signal"])
        elif "ends" in step:
            driver.end_by_itself()
        elif "start" in step:
            self.start(driver, step)
        elif "await" in step:
            number, began = self.started[step["await"]]
            answer = driver.await_call(number)
            self.outcomes[step["await"]] = answer.status
            self.check(step, answer, began)
        elif "notice" in step:
            self.check(step, driver.await_notice(step["on"], step["notice"]))
        elif "tell" in step:
            self.open_calls[step["as"]] = driver.send(["call", step["on"], step["tell"]], arguments_of(step))
        elif "hear" in step:
            self.check(step, driver.answer(self.open_calls[step["hear"]]))
        elif "health" in step:
            check_last_health(lambda of: driver.call(step["health"], "last_health", {"of": of}))
        elif "no_notice" in step:
            if driver.has_notice(step["on"], step["no_notice"]):
                raise Failed(f"{driver.name} gives notice of {step['no_notice']}")
        else:
            self.until(step, lambda: self.call(driver, step))

    def start(self, driver, step):
        began = time.monotonic()
        number, answer = driver.start(step["on"], step["start"], arguments_of(step))
        self.started[step.get("as", step["start"])] = (number, began)
        check_status(step, answer)

    def call(self, driver, step):
        began = time.monotonic()
        if "new" in step:
            answer = driver.new(step["new"], step["as"], self.arguments_of_new(step))
        else:
            given = arguments_of(step)
            # The id of a hold that an earlier step kept, or a wrong one.
            given.update({"id": self.kept.get(step["id"], step["id"])} if "id" in step else {})
            answer = driver.call(step["on"], step["do"], given)
        self.check(step, answer, began)
        if "keep" in step:
            self.kept[step["keep"]] = answer.text

    def until(self, step, attempt):
        """Makes an attempt, and if what it shows may become so `eventually`, again and again."""
        deadline = time.monotonic() + (self.patience_s if step.get("eventually") else 0)
        while True:
            try:
                return attempt()
            except Failed:
                if time.monotonic() >= deadline:
                    raise
            sleep_ms(50)

    def arguments_of_new(self, step):
        given = arguments_of(step)
        if step["new"] == "client":
            given.setdefault("url", self.deployment.url_as(step.get("login")))
            if given["url"] is None:
                del given["url"]
        else:
            given.setdefault("client", "client")
        if step["new"] in ("lock", "rw", "semaphore", "election"):
            given["name"] = step.get("name", "the lock")
        if "members" in step:
            given["members"] = step["members"]
        for key, value in step.get("options", {}).items():
            given["opt." + key] = value.replace("{folder}", self.deployment.server_folder(step))
        return given

    def check(self, step, answer, began=None):
        if began is not None:
            check_time(step, (time.monotonic() - began) * 1000)
        check_status(step, answer)
        if "says" in step and step["says"] not in answer.text:
            raise Failed(f"{answer.text!r} does not say {step['says']!r}")
        if "reason" in step and answer.reason != REASONS[step["reason"]]:
            raise Failed(f"the reason is {answer.reason}, not {step['reason']}")
        for key in ("retryable", "ambiguous"):
            if key in step and getattr(answer, key) is not step[key]:
                raise Failed(f"{key} is {getattr(answer, key)}, not {step[key]}: {answer.text}")
        check_value(step, answer.value, self.remembered)


def check_last_health(ask):
    """The JSON text of the last result is the same as its single findings; of several servers, as
    the first of each name."""
    answer = ask("json")
    health = json.loads(answer.text)
    if not health["findings"] or len(health["findings"]) != answer.value:
        raise Failed(f"{answer.value} findings are not those of {answer.text}")
    for finding in {one["name"]: one for one in reversed(health["findings"])}.values():
        one = ask(finding["name"])
        texts = [finding[key] for key in ("severity", "server", "value", "consequence", "remedy")]
        if one.text.split("\n") != texts:
            raise Failed(f"{one.text!r} is not {texts}")
        if SEVERITIES.index(finding["severity"]) != one.value:
            raise Failed(f"{finding['name']} is {finding['severity']} and {one.value}")
    if SEVERITIES.index(health["worst"]) != max(SEVERITIES.index(one["severity"]) for one in health["findings"]):
        raise Failed(f"{health['worst']} is not the worst of {answer.text}")


def arguments_of(step):
    known = ("is_on", "task", "timeout_ms", "weight", "permits", "lease_ms", "url", "client", "of", "gives", "user",
             "password", "owner", "value", "level", "interval_ms", "pattern",
             "most_keys", "id", "lock", "window_ms", "listens")
    return {key: step[key] for key in known if key in step}


def check_status(step, answer):
    expected = step.get("expect", "ok")
    if answer.status not in (expected if isinstance(expected, list) else [expected]):
        raise Failed(f"{answer.status}, not {expected}: {answer.text}")


def check_time(step, took_ms):
    """A lower bound is exact, because the call began later and ended earlier than the runner
    measured."""
    if took_ms < step.get("takes_at_least_ms", 0):
        raise Failed(f"it took {took_ms:.1f} ms only")
    if took_ms > step.get("takes_at_most_ms", took_ms):
        raise Failed(f"it took {took_ms:.0f} ms")


def check_value(step, value, remembered):
    if value is None and OF_VALUE & set(step):
        raise Failed("the answer has no value")
    for key, holds in (("equals", lambda limit: value == limit),
                       ("at_least", lambda limit: value >= limit),
                       ("at_most", lambda limit: value <= limit)):
        if key in step and not holds(step[key]):
            raise Failed(f"{value} is not {key} {step[key]}")
    for key, holds in (("same_as", lambda other: value == other),
                       ("above", lambda other: value > other)):
        if key in step and not holds(remembered[step[key]]):
            raise Failed(f"{value} is not {key} {step[key]} ({remembered[step[key]]})")
    if "remember" in step:
        remembered[step["remember"]] = value


def check_reply(step, reply, remembered):
    """The answer of the server is a number, or a text that equals another or contains it."""
    is_number = reply.lstrip("-").isdigit()
    if step.get("says", "") not in reply:
        raise Failed(f"the server says {reply!r}, without {step['says']!r}")
    if "equals" in step and reply != str(step["equals"]):
        raise Failed(f"the server says {reply!r}, not {step['equals']!r}")
    rest = {key: value for key, value in step.items() if key != "equals"}
    check_value(rest, int(reply) if is_number else None, remembered)


def steps_of(scenario):
    """Its steps; one with a `count` is as many, whose `as` and `name` end in 1, 2, …"""
    for step in scenario["steps"]:
        for number in range(1, step.get("count", 0) + 1):
            yield {**step, "as": f"{step['as']}{number}", "name": f"{step['name']}{number}"}
        if "count" not in step:
            yield step
