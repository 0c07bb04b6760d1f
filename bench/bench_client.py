"""Our client against Pulsar's own on a real Pulsar, and against `confluent-kafka` on a real Kafka."""

import functools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import servers
from bench.benchmark import Benchmark, Contest, NotMeasured, shared, told
from bench.client_load import ClientLoad
from bench.client_memory import resident_mib_after
from bench.confluent_peer import ConfluentPeer
from bench.pulsar_client_peer import PulsarClientPeer
from tallystick.connect.client import Client
from tests.kafka.server import Kafka, running_kafka
from tests.maven import missing
from tests.pulsar.standalone import Pulsar, running_pulsar

_MESSAGES, _QUICK_MESSAGES = 300_000, 30_000
_MANY, _QUICK_MANY = 1_000_000, 100_000


def _required() -> None:
    reason = missing()
    if reason is not None:
        raise NotMeasured(reason)


@functools.cache
def _pulsar() -> Pulsar:
    _required()
    return shared.enter_context(running_pulsar())


@functools.cache
def _kafka() -> Kafka:
    _required()
    return shared.enter_context(running_kafka())


@functools.cache
def _on_pulsar(*, of_class: bool = False) -> ClientLoad:
    load = ClientLoad(Client(_pulsar().service_url), of_class=of_class)
    shared.callback(load.close)
    return load


@functools.cache
def _on_kafka() -> ClientLoad:
    load = ClientLoad(Client(f"kafka://{_kafka().servers}", registry=servers.ours().url))
    shared.callback(load.close)
    return load


@functools.cache
def _pulsar_peer() -> PulsarClientPeer:
    peer = PulsarClientPeer(_pulsar().service_url)
    shared.callback(peer.close)
    return peer


@functools.cache
def _kafka_peer() -> ConfluentPeer:
    return ConfluentPeer(_kafka().servers, servers.ours().url)


def _contest(
    ours: Callable[[], Callable[[int], float]], peer: Callable[[], Callable[[int], float]], messages: int
) -> Contest:
    return Contest(partial(ours(), messages), partial(peer(), messages))


def _memory(messages: int) -> Contest:
    """The memory of a process that has sent and received so many, and ten times as many."""
    folder = shared.enter_context(TemporaryDirectory(prefix="tallystick-bench-"))
    server = shared.enter_context(servers.serving(Path(folder)))
    work = partial(resident_mib_after, server.pulsar_url)
    return Contest(partial(work, messages), tenfold=partial(work, 10 * messages))


def _rate(
    row: str,
    ours: Callable[[], Callable[[int], float]],
    peer: Callable[[], Callable[[int], float]],
    **more: Any,
) -> Benchmark:
    return Benchmark(
        row=row,
        prepare=partial(_contest, ours, peer, _MESSAGES),
        prepare_quick=partial(_contest, ours, peer, _QUICK_MESSAGES),
        measure=told,
        unit="messages/s",
        is_rate=True,
        least_rounds=3,
        **more,
    )


_PULSAR_CLIENT = "pulsar-client with AvroSchema"
_CONFLUENT = "confluent-kafka with its Avro (de)serializer"

BENCHMARKS = [
    _rate(
        "client_pulsar_send",
        lambda: _on_pulsar(of_class=True).send,
        lambda: _pulsar_peer().send,
        peer_name=_PULSAR_CLIENT,
        goal=4.0,
        note="records of 15 fields, instances of a class on both sides, encoded and sent in batches",
    ),
    _rate(
        "client_pulsar_send_mappings",
        lambda: _on_pulsar().send,
        lambda: _pulsar_peer().send,
        peer_name=_PULSAR_CLIENT,
        goal=4.0,
        note="the same records as dictionaries on our side",
    ),
    _rate(
        "client_pulsar_consume",
        lambda: _on_pulsar(of_class=True).consume,
        lambda: _pulsar_peer().consume,
        peer_name=_PULSAR_CLIENT,
        goal=3.0,
        note="from a backlog, decoded into instances of a class on both sides, each acknowledged",
    ),
    _rate(
        "client_pulsar_consume_mappings",
        lambda: _on_pulsar().consume,
        lambda: _pulsar_peer().consume,
        peer_name=_PULSAR_CLIENT,
        goal=3.0,
        note="the same, decoded into dictionaries on our side",
    ),
    _rate(
        "client_pulsar_consume_resolved",
        lambda: _on_pulsar().consume_resolved,
        lambda: _pulsar_peer().consume,
        peer_name=_PULSAR_CLIENT,
        note="the same, read with a newer schema than they were written with; the peer reads its own",
    ),
    _rate(
        "client_pulsar_switching",
        lambda: _on_pulsar().send_switching,
        lambda: _on_pulsar().send,
        peer_name="ours with one schema",
        goal=0.9,
        note="another schema every 100 messages",
    ),
    _rate(
        "client_kafka_send",
        lambda: _on_kafka().send,
        lambda: _kafka_peer().send,
        peer_name=_CONFLUENT,
        goal=1.1,
        note="dictionaries of 15 fields, encoded, framed and sent, idempotent on both sides",
    ),
    _rate(
        "client_kafka_consume",
        lambda: _on_kafka().consume,
        lambda: _kafka_peer().consume,
        peer_name=_CONFLUENT,
        goal=3.0,
        note="from a backlog, decoded; the time from the first message on",
    ),
    Benchmark(
        row="client_memory",
        prepare=partial(_memory, _MANY),
        prepare_quick=partial(_memory, _QUICK_MANY),
        measure=told,
        unit="MiB",
        note="resident memory of a process that sent and received 1,000,000 messages; growth: 10,000,000",
    ),
]
