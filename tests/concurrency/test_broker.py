"""Clients of every kind go on while their broker is killed: nothing acknowledged is lost, and the order holds.

The short form runs with the tests; `make soak` sets TALLYSTICK_SOAK for the full counts.
"""

import asyncio
import os
import random
import threading
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pulsar

from tallystick.broker.catalogue import Catalogue
from tallystick.broker.log.log import Log
from tallystick.broker.names import topic_name
from tallystick.broker.policies import TopicPolicies
from tests.concurrency.broker_clients import (
    Progress,
    Publishing,
    Subscribing,
    client,
    consume,
    delivery_of,
    follow,
    publish,
    run,
    subscribe,
    text_of,
    whole_log,
)
from tests.concurrency.broker_history import (
    Delivery,
    Message,
    comes_back,
    delivery_problems,
    in_key,
    in_partition,
    log_problems,
    redelivered,
)
from tests.concurrency.brokers import MortalBroker, broker_on
from tests.integration.servers import wait_until

SOAK = "TALLYSTICK_SOAK" in os.environ
KILLS, BETWEEN_KILLS = (50, 1500) if SOAK else (3, 500)
"""How often the broker is killed, and how many messages are acknowledged in between."""
PARTITIONS = 3
PLAIN, BATCHED, KEYED, PARTED, ONCE = (
    f"persistent://public/{name}"
    for name in ("default/plain", "default/batched", "default/keyed", "default/parted", "once/only")
)
TOPICS = {
    topic: [topic] if topic != PARTED else [f"{topic}-partition-{n}" for n in range(PARTITIONS)]
    for topic in (PLAIN, BATCHED, KEYED, PARTED, ONCE)
}
IN_ORDER, BY_KEY = pulsar.BatchingType.Default, pulsar.BatchingType.KeyBased
EXCLUSIVE, FAILOVER, SHARED, KEY_SHARED = (
    getattr(pulsar.ConsumerType, name) for name in ("Exclusive", "Failover", "Shared", "KeyShared")
)
PUBLISHING = [
    Publishing(PLAIN, "plain-1"),
    Publishing(PLAIN, "plain-2"),
    Publishing(BATCHED, "batched-1", IN_ORDER, pulsar.CompressionType.LZ4),
    Publishing(BATCHED, "batched-2", IN_ORDER),
    Publishing(KEYED, "keyed-1"),
    Publishing(KEYED, "keyed-2", BY_KEY),
    Publishing(PARTED, "parted-1"),
    Publishing(PARTED, "parted-2", BY_KEY),
    Publishing(ONCE, "once-1"),
    Publishing(ONCE, "once-2", IN_ORDER),
]
SUBSCRIBING = [
    Subscribing(PLAIN, "exclusive", EXCLUSIVE, is_cumulative=True),
    Subscribing(PLAIN, "failover", FAILOVER, 2),
    Subscribing(PLAIN, "shared", SHARED, 3, nacks=0.02),
    Subscribing(BATCHED, "exclusive", EXCLUSIVE),
    Subscribing(BATCHED, "failover", FAILOVER, 2, is_cumulative=True),
    Subscribing(BATCHED, "shared", SHARED, 3, acks_in_batches=True, nacks=0.02),
    Subscribing(KEYED, "key-shared", KEY_SHARED, 3),
    Subscribing(KEYED, "exclusive", EXCLUSIVE, acks_in_batches=True),
    Subscribing(PARTED, "failover", FAILOVER, 2),
    Subscribing(PARTED, "shared", SHARED, 3),
    Subscribing(PARTED, "key-shared", KEY_SHARED, 3),
    Subscribing(ONCE, "exclusive", EXCLUSIVE),
    Subscribing(ONCE, "shared", SHARED, 3),
]
READERS = [PLAIN, BATCHED]
ORDERS = {EXCLUSIVE: in_partition, FAILOVER: in_partition, SHARED: None, KEY_SHARED: in_key}


async def _lay_out(log: Log) -> None:
    catalogue = Catalogue(log)
    catalogue.load()
    await catalogue.create_namespace("public/once", TopicPolicies(deduplication=True))
    await catalogue.create_topic(topic_name(PARTED), PARTITIONS)


def _prepare(data: Path) -> None:
    log = Log.open(data / "broker.db")
    try:
        asyncio.run(_lay_out(log))
    finally:
        log.close()


def test_nothing_is_lost_or_out_of_order_through_kills(tmp_path: Path) -> None:
    progress = Progress(acked={str(how): set() for how in SUBSCRIBING})
    _prepare(tmp_path / "data")
    with broker_on(tmp_path / "data") as broker:
        log = _load_and_kill(broker, tmp_path, progress)
        broker.restart()
        again = _deliveries_after_restart(broker, tmp_path)
    _print_summary(progress)
    assert _log_problems(progress, log) == []
    assert _delivery_problems(progress, log) == []
    for how, deliveries in again.items():
        assert comes_back(deliveries, progress.acked[str(how)]) == [], str(how)


def _load_and_kill(broker: MortalBroker, folder: Path, progress: Progress) -> dict[str, list[Delivery]]:
    """Returns the topics' logs, once every subscription has acknowledged all of them."""
    choice, threads = random.Random(11), list[threading.Thread]()
    with ExitStack() as stack:
        clients = [stack.enter_context(client(broker.port, folder / f"client-{n}.log")) for n in range(5)]
        stack.push(partial(_end, clients, threads, progress))
        _start_consumers(clients[:3], progress, threads)
        for seed, publishing in enumerate(PUBLISHING):
            run(threads, progress, partial(publish, clients[3 + seed % 2], publishing, progress, seed))
        for _ in range(KILLS):
            _wait_for_more(progress, BETWEEN_KILLS)
            time.sleep(choice.random() * 0.7)
            broker.die()
            broker.start()
        _wait_for_more(progress, BETWEEN_KILLS)
        producing = threads[-len(PUBLISHING) :]
        progress.over.set()
        for thread in producing:
            thread.join()
        progress.draining.set()
        log = {topic: whole_log(clients[3], parts) for topic, parts in TOPICS.items()}
        _wait_until_settled(progress, log)
    assert progress.troubles == []
    return log


def _start_consumers(clients: list[Any], progress: Progress, threads: list[threading.Thread]) -> None:
    for how in SUBSCRIBING:
        for number in range(how.consumers):
            run(threads, progress, partial(consume, clients[number], how, number, progress))
    for topic in READERS:
        run(threads, progress, partial(follow, clients[0], topic, f"reader of {topic}", progress))


def _end(clients: list[Any], threads: list[threading.Thread], progress: Progress, kind: object, *_: object) -> None:
    progress.over.set()
    progress.closing.set()
    if kind is not None:
        for connection in clients:
            connection.shutdown()  # else producers would wait for a broker that is gone
    for thread in threads:
        thread.join(30)


def _wait_for_more(progress: Progress, count: int) -> None:
    before = progress.count_acknowledged()
    wait_until(lambda: progress.troubles or progress.count_acknowledged() >= before + count, 60)
    assert progress.troubles == []


def _wait_until_settled(progress: Progress, log: dict[str, list[Delivery]]) -> None:
    """All is acknowledged, and what was on its way a second time has arrived as well."""
    places = {topic: {delivery.place for delivery in entries} for topic, entries in log.items()}

    def is_settled() -> bool:
        return bool(progress.troubles) or (
            time.monotonic() - progress.heard > 1.5
            and all(places[how.topic] <= progress.acked[str(how)] for how in SUBSCRIBING)
        )

    limit = time.monotonic() + 60
    while not is_settled() and time.monotonic() < limit:
        time.sleep(0.05)


def _deliveries_after_restart(broker: MortalBroker, folder: Path) -> dict[Subscribing, list[Delivery]]:
    """What each subscription delivers up to some new messages, which come after all that is older."""
    with client(broker.port, folder / "later.log") as connection:
        new = {topic: _send_some(connection, topic) for topic in TOPICS}
        return {how: _until(connection, how, new[how.topic]) for how in SUBSCRIBING}


def _send_some(connection: Any, topic: str) -> set[Message]:
    producer = connection.create_producer(topic)
    messages = {Message("later", number, f"key-{number}") for number in range(30)}
    for message in sorted(messages):
        producer.send(text_of(message), partition_key=message.key)
    producer.close()
    return messages


def _until(connection: Any, how: Subscribing, last: set[Message]) -> list[Delivery]:
    consumer = subscribe(connection, how, "later")
    deliveries: list[Delivery] = []
    while not last <= {delivery.message for delivery in deliveries}:
        deliveries.append(delivery_of(consumer.receive(15_000), "later"))
    consumer.close()
    return deliveries


def _log_problems(progress: Progress, log: dict[str, list[Delivery]]) -> list[str]:
    found = []
    by_key = {how.name for how in PUBLISHING if how.batching == BY_KEY}
    for topic, entries in log.items():
        sent = progress.history.acknowledged[topic]
        found += log_problems(sent, entries, restarts=KILLS, is_deduplicating=topic == ONCE, by_key=by_key)
    return found


def _delivery_problems(progress: Progress, log: dict[str, list[Delivery]]) -> list[str]:
    found = []
    for how in SUBSCRIBING:
        # When consumers come back one after the other, the second may take over from the first.
        restarts = KILLS if how.kind == EXCLUSIVE else 2 * (KILLS + 1)
        given = progress.history.delivered[str(how)]
        problems = delivery_problems(given, log[how.topic], restarts=restarts, order=ORDERS[how.kind])
        found += [f"{how}: {problem}" for problem in problems]
    for topic in READERS:
        given = progress.history.delivered[f"reader of {topic}"]
        found += delivery_problems(given, log[topic], restarts=KILLS, order=in_partition)
    return found


def _print_summary(progress: Progress) -> None:
    delivered = progress.history.delivered.values()
    print(
        f"\n{KILLS} kills; {progress.count_acknowledged()} messages acknowledged to producers, "
        f"{sum(map(len, delivered))} delivered, {sum(map(redelivered, delivered))} of them again"
    )
