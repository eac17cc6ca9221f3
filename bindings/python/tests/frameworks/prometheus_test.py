"""The collector in a registry of prometheus_client."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

import mortise
from mortise.prometheus import ClientCollector
from support import URL, Case, main


def samples(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """The values of a text. Both programs write the same number in a form of their own."""
    found = {}
    for family in text_string_to_metric_families(text):
        for name, labels, value, *_ in family.samples:
            if "le" in labels:
                labels = {**labels, "le": str(float(labels["le"]))}
            found[name, frozenset(labels.items())] = value
    return found


class PrometheusTest(Case):
    def setUp(self) -> None:
        super().setUp()
        self.registry = CollectorRegistry(auto_describe=True)

    def text(self) -> str:
        return generate_latest(self.registry).decode()

    def test_a_scrape_has_what_the_client_has_counted(self) -> None:
        self.registry.register(ClientCollector(self.client))
        lock = self.client.lock(self.name)
        lock.acquire()
        labels = {"kind": "mutex", "outcome": "acquired"}
        counted = self.registry.get_sample_value("mortise_acquire_seconds_count", labels)
        self.assertEqual(counted, 1)
        lock.release()
        expected = self.client.stats().prometheus
        self.assertEqual(samples(self.text()), samples(expected))
        comments = [line for line in expected.splitlines() if line.startswith("#")]
        self.assertEqual([line for line in self.text().splitlines() if line.startswith("#")],
                         comments)

    def test_several_clients_have_a_label(self) -> None:
        other = self.new_client()
        self.registry.register(ClientCollector({"orders": self.client, "reports": other}))
        with self.client.lock(self.name):
            held = {name: self.registry.get_sample_value(
                        "mortise_holds", {"kind": "mutex", "client": name})
                    for name in ("orders", "reports")}
        self.assertEqual(held, {"orders": 1, "reports": None})
        self.assertEqual(self.text().count("# TYPE mortise_holds gauge"), 1)

    def test_a_closed_client_has_no_samples(self) -> None:
        client = mortise.Client(URL)
        self.registry.register(ClientCollector({"closed": client, "open": self.client}))
        client.close()
        self.assertNotIn('client="closed"', self.text())
        self.assertIn('client="open"', self.text())

    def test_anything_else_is_refused(self) -> None:
        bad: tuple[Any, ...] = (None, "client", {"name": 1}, {1: self.client}, [self.client])
        for clients in bad:
            with self.assertRaises(TypeError) as caught:
                ClientCollector(clients)
            self.assertIn("clients: give a Client", str(caught.exception))


main()
