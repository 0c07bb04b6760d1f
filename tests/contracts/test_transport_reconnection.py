"""Order and completeness across lost connections and a broker that dies."""

import random
from pathlib import Path

import pytest

from tallystick import AutoConsume, AvroSchema, Client
from tests.concurrency.brokers import broker_on
from tests.contracts import orders
from tests.contracts.clusters import Cluster
from tests.contracts.orders import WAIT_S, order, received

FIRST, SECOND, THIRD = AvroSchema(orders.FIRST), AvroSchema(orders.SECOND), AvroSchema(orders.THIRD)
SENT = 200
SEED = 20_240_229


def _read_all(client: Client, topic: str, count: int) -> list[int]:
    """Orders in the order of their first appearance: what was sent twice may come twice."""
    seen: dict[int, None] = {}
    with client.reader(topic, AutoConsume()) as reader:
        while len(seen) < count:
            seen[reader.receive(WAIT_S).value["id"]] = None
    return list(seen)


def _cuts(seed: int) -> set[int]:
    return set(random.Random(seed).sample(range(10, SENT - 10), 4))


def test_order_holds_and_nothing_is_lost_while_connections_are_cut(cluster: Cluster, topic: str) -> None:
    cuts = _cuts(SEED)
    with cluster.behind_proxy() as (behind, proxy), behind.client() as client:
        with client.producer(topic, FIRST, batch_messages=7) as producer:
            pending = []
            for number in range(SENT):
                pending.append(producer.send_async(order(number), schema=SECOND if number % 10 > 6 else None))
                if number in cuts:
                    producer.flush_async()
                    proxy.cut()
            producer.flush()
            for each in pending:
                each.result(WAIT_S)
            assert producer.pending == 0
        assert proxy.cuts >= len(cuts)
    with cluster.client() as client:
        assert _read_all(client, topic, SENT) == list(range(SENT))


def test_a_schema_that_registers_while_the_connection_is_cut_keeps_the_order(cluster: Cluster, topic: str) -> None:
    with (
        cluster.with_schemas_behind_proxy() as (behind, proxy),
        behind.client() as client,
        client.producer(topic, FIRST) as producer,
    ):
        producer.send(order(0))
        proxy.hold(b"note")
        pending = [producer.send_async(order(1), schema=SECOND)]
        assert proxy.is_holding.wait(WAIT_S)
        pending += [producer.send_async(order(number)) for number in range(2, 10)]
        proxy.cut()
        proxy.release()
        producer.flush()
        for each in pending:
            each.result(WAIT_S)
    with cluster.client() as client:
        assert _read_all(client, topic, 10) == list(range(10))


def test_a_consumer_misses_nothing_while_connections_are_cut(cluster: Cluster, topic: str) -> None:
    cuts = _cuts(SEED + 1)
    with cluster.client() as direct, direct.producer(topic, FIRST, batch_messages=7) as producer:
        for number in range(SENT):
            producer.send_async(order(number))
        producer.flush()
    with cluster.behind_proxy() as (behind, proxy), behind.client() as client:
        with client.consumer(topic, "s", FIRST, start="earliest", queue_size=20) as consumer:
            seen: dict[int, None] = {}
            while len(seen) < SENT:
                message = consumer.receive(WAIT_S)
                seen[message.value["id"]] = None
                consumer.acknowledge(message)
                if len(seen) in cuts:
                    cuts.discard(len(seen))
                    proxy.cut()
            assert list(seen) == list(range(SENT))
        assert proxy.cuts >= 4


def test_a_reader_goes_on_where_it_was(cluster: Cluster, topic: str) -> None:
    with cluster.client() as direct, direct.producer(topic, FIRST) as producer:
        for number in range(20):
            producer.send_async(order(number))
        producer.flush()
        with (
            cluster.behind_proxy() as (behind, proxy),
            behind.client() as client,
            client.reader(topic, FIRST, queue_size=4) as reader,
        ):
            first = [message.value["id"] for message in received(reader, 10)]
            proxy.cut()
            rest = [message.value["id"] for message in received(reader, 10)]
    assert first + rest == list(range(20))


@pytest.mark.parametrize("seed", [1, 2])
def test_order_holds_over_a_broker_that_is_killed(tmp_path: Path, seed: int) -> None:
    kills = sorted(random.Random(seed).sample(range(20, SENT - 20), 2))
    with broker_on(tmp_path / "data") as broker, Client(broker.url) as client:
        with client.producer("orders", FIRST, batch_messages=7) as producer:
            pending = []
            for number in range(SENT):
                # The third version appears after the first kill: it is registered while the broker is away.
                schema = THIRD if number > kills[0] and number % 3 == 0 else SECOND if number % 5 == 0 else None
                pending.append(producer.send_async(order(number), schema=schema))
                if number in kills:
                    broker.die()
                    producer.flush_async()
                    broker.start()
            producer.flush()
            for each in pending:
                each.result(WAIT_S)
            assert producer.pending == 0
        assert _read_all(client, "orders", SENT) == list(range(SENT))


def test_a_subscription_keeps_its_place_over_a_broker_that_is_killed(tmp_path: Path) -> None:
    with broker_on(tmp_path / "data") as broker, Client(broker.url) as client:
        with client.producer("orders", FIRST) as producer:
            for number in range(20):
                producer.send_async(order(number))
            producer.flush()
        with client.consumer("orders", "s", FIRST, start="earliest") as consumer:
            for message in received(consumer, 10):
                consumer.acknowledge_async(message).result(WAIT_S)
            broker.die()
            broker.start()
            seen: dict[int, None] = {}
            while len(seen) < 10:
                seen[consumer.receive(WAIT_S).value["id"]] = None
    assert list(seen) == list(range(10, 20))
