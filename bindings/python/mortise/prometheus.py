"""The statistics of clients as a collector of the package prometheus_client.

    from prometheus_client import REGISTRY

    from mortise.prometheus import ClientCollector

    REGISTRY.register(ClientCollector(client))

Names, labels and values are those of `Client.stats`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from mortise.client import Client
from mortise.errors import Closed

__all__ = ["ClientCollector"]


class ClientCollector(Collector):
    """Reads the counters of one client, or of several, at each scrape.

    A registry accepts each name once, so the clients of a program share a collector. A mapping
    gives each client a name, which its samples have as the label `client`. A closed client has no
    samples.
    """

    def __init__(self, clients: Client | Mapping[str, Client]) -> None:
        named = {"": clients} if isinstance(clients, Client) else clients
        if not isinstance(named, Mapping) or not all(
                isinstance(name, str) and isinstance(client, Client)
                for name, client in named.items()):
            raise TypeError("clients: give a Client, or a mapping of names to clients")
        self._clients = dict(named)

    def collect(self) -> Iterable[Metric]:
        """All counters at this moment, without a request to a server."""
        families: dict[str, Metric] = {}
        for name, client in self._clients.items():
            try:
                text = client.stats().prometheus
            except Closed:
                continue
            for family in text_string_to_metric_families(text):
                if name:
                    family.samples = [sample._replace(labels={**sample.labels, "client": name})
                                      for sample in family.samples]
                if family.name in families:
                    families[family.name].samples += family.samples
                else:
                    families[family.name] = family
        return families.values()
