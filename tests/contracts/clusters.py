"""The clusters that the contract of the client library runs over: one row for each."""

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tallystick import Client, JsonSchema, PulsarJsonSchema, Schema
from tests.contracts import orders
from tests.contracts.proxy import Proxy, proxied
from tests.integration.servers import serving
from tests.kafka.server import Kafka
from tests.ports import free_port
from tests.pulsar.servers import Both
from tests.shared import folder_of_run, shared_servers


@dataclass(frozen=True, slots=True)
class Served:
    """Where our own server listens: the embedded broker, and the registry that all rows have beside them."""

    pulsar: str
    http: str
    confluent: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster, with a registry beside it."""

    url: str
    registry: str
    """By Confluent's API, for clients that want the schemas of a third-party registry."""
    openschema: str
    """The same by OpenSchema's."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What a client of this cluster needs to have its schemas kept at all."""
    divide: Callable[[str, int], None] = lambda topic, partitions: None
    """Makes a topic with so many partitions."""
    other_type: Callable[[], Schema[Any]] = lambda: PulsarJsonSchema(orders.FIRST)
    """An order of another type than Avro, which the cluster's schemas may have."""

    @property
    def port(self) -> int:
        return _port(self.url)

    def client(self, **settings: Any) -> Client:
        return Client(self.url, **{**self.settings, **settings})

    def topic(self, name: str = "t", *, partitions: int | None = None) -> str:
        """A name that nobody else uses; a topic is made by its first user, unless it has partitions."""
        topic = f"{name}-{secrets.token_hex(4)}"
        if partitions is not None:
            self.divide(topic, partitions)
        return topic

    @contextmanager
    def behind_proxy(self) -> Iterator[tuple["Cluster", Proxy]]:
        """The same cluster, by connections that can be cut."""
        with proxied(self.port) as proxy:
            yield replace(self, url=with_port(self.url, proxy.port)), proxy

    @contextmanager
    def with_schemas_behind_proxy(self) -> Iterator[tuple["Cluster", Proxy]]:
        """The same cluster, where registrations of schemas can be held up."""
        if "registry" not in self.settings:
            with self.behind_proxy() as both:
                yield both
            return
        with proxied(_port(self.settings["registry"]), is_framed=False) as proxy:
            registry = with_port(self.settings["registry"], proxy.port)
            yield replace(self, settings={**self.settings, "registry": registry}), proxy


def _port(url: str) -> int:
    return int(url.rpartition(":")[2])


def with_port(url: str, port: int) -> str:
    return re.sub(r":\d+$", f":{port}", url)


def embedded(request: pytest.FixtureRequest) -> Cluster:
    served: Served = request.getfixturevalue("served")
    return Cluster(served.pulsar, served.confluent, served.http, divide=_dividing_pulsar(served.http))


def pulsar(request: pytest.FixtureRequest) -> Cluster:
    both: Both = request.getfixturevalue("both")
    served: Served = request.getfixturevalue("served")
    return Cluster(
        both.pulsar.service_url, served.confluent, served.http, divide=_dividing_pulsar(both.pulsar.admin_url)
    )


def kafka(request: pytest.FixtureRequest) -> Cluster:
    server: Kafka = request.getfixturevalue("kafka")
    served: Served = request.getfixturevalue("served")
    return Cluster(
        f"kafka://{server.servers}",
        served.confluent,
        served.http,
        settings={"registry": served.confluent},
        divide=_dividing_kafka(server.servers),
        other_type=lambda: JsonSchema(orders.JSON_SCHEMA),
    )


CLUSTERS: dict[str, Callable[[pytest.FixtureRequest], Cluster]] = {
    "embedded": embedded,
    "pulsar": pulsar,
    "kafka": kafka,
}
JVM = {"pulsar", "kafka"}
ROWS = [pytest.param(name, marks=pytest.mark.jvm if name in JVM else ()) for name in CLUSTERS]
PULSARS = ROWS[:2]
"""For what only Pulsar has."""
KAFKA = ROWS[2:]


def _dividing_pulsar(admin_url: str) -> Callable[[str, int], None]:
    def divide(topic: str, partitions: int) -> None:
        path = f"{admin_url}/admin/v2/persistent/public/default/{topic}/partitions"
        httpx.put(path, json=partitions, timeout=30).raise_for_status()

    return divide


def _dividing_kafka(servers: str) -> Callable[[str, int], None]:
    def divide(topic: str, partitions: int) -> None:
        admin = AdminClient({"bootstrap.servers": servers})
        for made in admin.create_topics([NewTopic(topic, partitions, 1)], request_timeout=30).values():
            made.result(30)

    return divide


@contextmanager
def shared_server(paths: pytest.TempPathFactory, worker_id: str) -> Iterator[Served]:
    """`tally serve` in a process of its own, one for all workers of a run."""
    folder = folder_of_run(paths, worker_id, "contracts")
    with shared_servers(folder, lambda: _running(folder / "data"), lambda known: Served(**known)) as served:
        yield served


@contextmanager
def _running(data: Path) -> Iterator[Served]:
    broker = f"127.0.0.1:{free_port()}"
    with serving(data, f"--pulsar={broker}", "--log-level=warning") as server:
        yield Served(f"pulsar://{broker}", server.url, server.confluent_url)
