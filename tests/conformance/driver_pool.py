"""Driver processes that several runs use, one after another. Starting a JVM takes 0.3 s of CPU."""
import atexit
import collections
import threading

from driver import Driver


class DriverPool:
    """Idle drivers by their command. Each has answered `reset`, and so holds nothing of an earlier run."""

    def __init__(self):
        self.idle = collections.defaultdict(list)
        self.lock = threading.Lock()
        atexit.register(self.end)

    def take(self, name, command, patience_s, secrets):
        """An idle driver, or a new one. MORTISE_URL is not in its environment."""
        with self.lock:
            driver = self.idle[command].pop() if self.idle[command] else None
        if driver is None:
            return Driver(name, command, {}, patience_s, secrets)
        driver.begin_run(name, patience_s, secrets)
        return driver

    def give_back(self, drivers):
        """Keeps drivers that reset in time, and ends the others. Raises Revealed if one reveals a
        secret, and Ended if one crashes."""
        kept = []
        try:
            resets = [(driver, driver.begin_reset()) for driver in drivers]
            for driver, number in resets:
                if driver.is_reset(number):
                    kept.append(driver)
        finally:
            for driver in drivers:
                if driver not in kept:
                    driver.end()
            with self.lock:
                for driver in kept:
                    self.idle[driver.command].append(driver)

    def end(self):
        with self.lock:
            drivers = [driver for some in self.idle.values() for driver in some]
            self.idle.clear()
        for driver in drivers:
            driver.end()


def needs_own_process(scenario, name):
    """Whether the scenario is about this driver's process: its environment, a signal, a fork or its end."""
    return "environment" in scenario or any(
        "signal" in step or "ends" in step or step.get("do") == "fork" or ("url" in step and step["url"] is None)
        for step in scenario["steps"] if step.get("at") == name)
