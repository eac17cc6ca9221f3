"""The last result of each planted defect, in tests/evidence/results."""
import datetime
import json
import threading


class Results:
    def __init__(self, root, names):
        self.path = root / "tests/evidence/results/mutants.json"
        self.names = names  # of all mutants
        self.mutex = threading.Lock()

    def note(self, name, result):
        """Written at once, so that an interrupted run counts."""
        with self.mutex:
            known = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}
            results = known.get("results", {})
            results[name] = {"result": result.lower(), "day": datetime.date.today().isoformat()}
            results = {one: results[one] for one in sorted(self.names) if one in results}
            text = json.dumps({"planted": len(self.names), "results": results}, indent=1)
            self.path.write_text(text + "\n", "utf-8")
