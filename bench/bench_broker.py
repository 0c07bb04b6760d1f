"""The embedded broker and a real Pulsar standalone, under the same load by the same client."""

import functools
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import servers
from bench.benchmark import Benchmark, Contest, Work, shared, told
from bench.broker_load import Client
from bench.servers import Server
from tests.maven import missing
from tests.pulsar.maven import VERSION
from tests.pulsar.standalone import Pulsar, running_pulsar

PULSAR = f"Pulsar {VERSION} standalone"
_SYNCED = {"journalSyncData": "true"}
"""Both sides answer when the message is on the disk."""
_MESSAGES, _QUICK_MESSAGES = 400_000, 40_000
_LOG, _QUICK_LOG = 1_000_000, 50_000
_SECONDS, _QUICK_SECONDS = 20.0, 3.0
_LONG_TOPIC = "long"


@functools.cache
def _pulsar() -> Pulsar | None:
    reason = missing()
    if reason is not None:
        print(f"Pulsar is not measured: {reason}", file=sys.stderr)
        return None
    return shared.enter_context(running_pulsar(settings=_SYNCED))


@functools.cache
def _clients() -> list[Client]:
    """Ours, and the peer's where it can be had."""
    peer = _pulsar()
    urls = [servers.ours_with_broker().pulsar_url, *([peer.service_url] if peer is not None else [])]
    clients = [Client(url) for url in urls]
    for client in clients:
        shared.callback(client.close)
    return clients


def _contest(works: list[Work]) -> Contest:
    return Contest(works[0], works[1] if len(works) > 1 else None)


def _load(figure: Callable[[Client, Any], float], amount: float) -> Contest:
    return _contest([partial(figure, client, amount) for client in _clients()])


def _growing(messages: int) -> Contest:
    """The time for a slice of messages on top of a topic, and on top of one ten times as long."""
    slices = []
    for size in (messages, 10 * messages):
        folder = shared.enter_context(TemporaryDirectory(prefix="tallystick-bench-"))
        server = shared.enter_context(servers.serving(Path(folder)))
        client = Client(server.pulsar_url)
        shared.callback(client.close)
        client.fill(_LONG_TOPIC, size)
        slices.append(partial(client.slice_us, _LONG_TOPIC, _QUICK_MESSAGES))
    return Contest(slices[0], tenfold=slices[1])


def _ready() -> Contest:
    return _contest([_starting, *([_starting_pulsar] if _pulsar() is not None else [])])


def _starting() -> float:
    with TemporaryDirectory(prefix="tallystick-bench-") as folder:
        start = time.perf_counter()
        with servers.serving(Path(folder)):
            return time.perf_counter() - start


def _starting_pulsar() -> float:
    with running_pulsar() as found:
        return found.started_in_s


def _memory(messages: int) -> Contest:
    for client in _clients():
        client.publish(messages)
        client.consume(messages)
    peer = _pulsar()
    both = [servers.ours_with_broker(), *([Server("", peer.pid)] if peer is not None else [])]
    return _contest([server.resident_mib for server in both])


def _row(row: str, prepare: Callable[[Any], Contest], amount: float, quick: float, **more: Any) -> Benchmark:
    return Benchmark(
        row=row,
        prepare=partial(prepare, amount),
        prepare_quick=partial(prepare, quick),
        measure=told,
        peer_name=more.pop("peer_name", PULSAR),
        **more,
    )


BENCHMARKS = [
    _row(
        "broker_publish",
        partial(_load, Client.publish),
        _MESSAGES,
        _QUICK_MESSAGES,
        unit="messages/s",
        is_rate=True,
        goal=1.0,
        least_rounds=3,
        note="Avro messages of 200 bytes in batches, 4 producers, synced to the disk on both sides",
    ),
    _row(
        "broker_publish_prepared",
        partial(_load, Client.publish_prepared),
        5 * _MESSAGES,
        5 * _QUICK_MESSAGES,
        unit="messages/s",
        is_rate=True,
        goal=1.0,
        least_rounds=3,
        note="the same messages in batches of 1,000 that are made once, 50 batches on their way",
    ),
    _row(
        "broker_consume",
        partial(_load, Client.consume),
        _MESSAGES,
        _QUICK_MESSAGES,
        unit="messages/s",
        is_rate=True,
        goal=1.0,
        least_rounds=3,
        note="the same messages from a backlog, 4 consumers one after the other",
    ),
    _row(
        "broker_publish_latency",
        partial(_load, Client.p99_publish_ms),
        _SECONDS,
        _QUICK_SECONDS,
        goal=1.0,
        least_rounds=3,
        note="p99 at 1,000 single messages a second, synced to the disk on both sides",
    ),
    _row(
        "broker_length_of_the_log",
        _growing,
        _LOG,
        _QUICK_LOG,
        unit="µs",
        peer_name=None,
        note="a message published and consumed on top of 1,000,000 others, and of 10,000,000",
    ),
    Benchmark(
        row="broker_ready",
        prepare=_ready,
        measure=told,
        unit="s",
        peer_name=PULSAR,
        note="from the start of the process; ours is to stay under 2 s",
    ),
    _row(
        "broker_memory",
        _memory,
        _MESSAGES,
        _QUICK_MESSAGES,
        unit="MiB",
        note="resident after the load; ours is to stay under 150 MiB",
    ),
]
