"""What goes wrong ends in time, with an error that says what it was."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tallystick import (
    AvroSchema,
    Client,
    Closed,
    InvalidArgument,
    QueueFull,
    RegistryClient,
    Unavailable,
    Unsupported,
)
from tallystick.rest.connection import Retries
from tests.contracts import orders
from tests.contracts.clusters import PULSARS, Cluster, with_port
from tests.contracts.orders import WAIT_S, ids, order, received
from tests.contracts.proxy import proxied
from tests.ports import free_port

FIRST, SECOND = AvroSchema(orders.FIRST), AvroSchema(orders.SECOND)
HELD = AvroSchema(orders.avro(orders.ID, orders.ITEM, {"name": "held_up", "type": "int", "default": 0}))


def test_a_closed_producer_says_so(client: Client, topic: str) -> None:
    producer = client.producer(topic, FIRST)
    producer.close()
    producer.close()
    for send in (producer.send, producer.send_async):
        with pytest.raises(Closed, match=topic):
            send(order(1))
    with pytest.raises(Closed):
        producer.new_message().value(order(1)).send()


def test_a_closed_consumer_says_so(client: Client, topic: str) -> None:
    with client.producer(topic, FIRST) as producer:
        producer.send(order(1))
    consumer = client.consumer(topic, "s", FIRST, start="earliest")
    message = consumer.receive(WAIT_S)
    consumer.close()
    consumer.close()
    calls: list[Callable[[], object]] = [
        lambda: consumer.receive(WAIT_S),
        lambda: consumer.receive_async().result(WAIT_S),
        lambda: consumer.acknowledge(message),
        lambda: consumer.reject(message),
        lambda: consumer.seek("earliest"),
        consumer.last_positions,
        consumer.unsubscribe,
    ]
    for call in calls:
        with pytest.raises(Closed, match=topic):
            call()


def test_a_closed_client_closes_what_it_opened(cluster: Cluster, topic: str) -> None:
    client = cluster.client()
    producer = client.producer(topic, FIRST)
    consumer = client.consumer(topic, "s", FIRST)
    client.close()
    client.close()
    for call in (lambda: producer.send(order(1)), consumer.receive, lambda: client.producer(topic, FIRST)):
        with pytest.raises(Closed):
            call()


def test_closing_sends_what_waits_for_company(client: Client, topic: str) -> None:
    with client.producer(topic, FIRST, batch_delay_s=20) as producer:
        pending = [producer.send_async(order(number)) for number in range(3)]
    assert all(each.done() for each in pending)
    with client.reader(topic, FIRST) as reader:
        assert ids(received(reader, 3)) == [0, 1, 2]


def test_closing_while_a_schema_registers_fails_what_waits_for_it(cluster: Cluster, topic: str) -> None:
    with cluster.with_schemas_behind_proxy() as (behind, proxy), behind.client() as client:
        producer = client.producer(topic, FIRST)
        producer.send(order(0))
        proxy.hold(b"held_up")
        pending = [producer.send_async(order(1), schema=HELD)]
        assert proxy.is_holding.wait(WAIT_S)
        pending += [producer.send_async(order(number)) for number in (2, 3)]
        closing = producer.close_async()
        for each in pending:
            with pytest.raises(Closed, match=topic):
                each.result(WAIT_S)
        proxy.release()
        closing.result(WAIT_S)
        assert producer.pending == 0
    with cluster.client() as client, client.reader(topic, FIRST) as reader:
        assert ids(received(reader, 1)) == [0]


def _elsewhere(cluster: Cluster) -> Cluster:
    """Where nobody listens."""
    return replace(cluster, url=with_port(cluster.url, free_port()))


OPENING: dict[str, Callable[[Client, str], object]] = {
    "producer": lambda client, topic: client.producer(topic),
    "consumer": lambda client, topic: client.consumer(topic, "s"),
    "reader": lambda client, topic: client.reader(topic),
    "partitions": lambda client, topic: client.partitions(topic),
}


@pytest.mark.parametrize("what", OPENING)
def test_a_broker_that_is_not_there_is_named_in_time(cluster: Cluster, topic: str, what: str) -> None:
    nowhere = _elsewhere(cluster)
    with nowhere.client(timeout_s=0.5) as client:
        began = time.monotonic()
        with pytest.raises(Unavailable, match=str(nowhere.port)):
            OPENING[what](client, topic)
        assert time.monotonic() - began < WAIT_S


def test_a_broker_that_says_nothing_is_left_in_time(cluster: Cluster, topic: str) -> None:
    with cluster.behind_proxy() as (behind, proxy):
        proxy.hold(b"")
        with behind.client(timeout_s=0.5) as client:
            began = time.monotonic()
            with pytest.raises(Unavailable):
                client.producer(topic)
            assert time.monotonic() - began < WAIT_S


def test_messages_that_nobody_takes_fail_in_time(cluster: Cluster, topic: str) -> None:
    with cluster.behind_proxy() as (behind, proxy), behind.client() as client:
        producer = client.producer(topic, FIRST, send_timeout_s=1.0)
        producer.send(order(0))
        proxy.close()
        pending = [producer.send_async(order(number)) for number in range(1, 4)]
        with pytest.raises(Unavailable, match=topic):
            producer.send(order(4))
        for each in pending:
            with pytest.raises(Unavailable, match=topic):
                each.result(WAIT_S)
        producer.flush()
        assert producer.pending == 0
        producer.close()


def test_no_more_is_taken_than_may_be_on_its_way(cluster: Cluster, topic: str) -> None:
    async def fill() -> None:
        async with behind.client() as client:
            producer = await client.producer_async(topic, FIRST, max_pending=5)
            await producer.send_async(order(0))
            proxy.hold(b"")
            pending = [producer.send_async(order(number)) for number in range(1, 6)]
            with pytest.raises(QueueFull, match="max_pending"):
                producer.send_async(order(6))
            proxy.release()
            for each in pending:
                await each
            await producer.send_async(order(7))
            await producer.flush_async()
            assert producer.pending == 0

    with cluster.behind_proxy() as (behind, proxy):
        asyncio.run(asyncio.wait_for(fill(), WAIT_S * 2))
    with cluster.client() as client, client.reader(topic, FIRST) as reader:
        assert ids(received(reader, 7)) == [0, 1, 2, 3, 4, 5, 7]


def test_a_registry_that_is_not_there_is_named_in_time(cluster: Cluster, topic: str) -> None:
    port = free_port()
    with cluster.client(registry=f"http://127.0.0.1:{port}") as client:

        def send() -> Any:
            with client.producer(topic, FIRST, send_timeout_s=1.0) as producer:
                producer.send(order(1))

        began = time.monotonic()
        with pytest.raises(Unavailable, match=str(port)):
            send()
        assert time.monotonic() - began < WAIT_S


def test_a_registry_that_says_nothing_is_left_in_time(cluster: Cluster, topic: str) -> None:
    with proxied(_port(cluster.registry), is_framed=False) as proxy:
        proxy.hold(b"")
        url = with_port(cluster.registry, proxy.port)
        with (
            RegistryClient(url, timeout_s=0.5, retries=Retries(1)) as registry,
            cluster.client(registry=registry) as client,
            pytest.raises(Unavailable),
        ):
            client.producer(topic, FIRST, send_timeout_s=1.0).send(order(1))


def test_a_registry_that_goes_away_fails_messages_with_new_schemas_alone(cluster: Cluster, topic: str) -> None:
    with proxied(_port(cluster.registry), is_framed=False) as proxy:
        registry = RegistryClient(with_port(cluster.registry, proxy.port), timeout_s=0.5, retries=Retries(1))
        with (
            registry,
            cluster.client(registry=registry) as client,
            client.producer(topic, FIRST, send_timeout_s=1.0) as producer,
        ):
            producer.send(order(0))
            proxy.close()
            with pytest.raises(Unavailable, match=topic):
                producer.send(order(1), schema=SECOND)
            producer.send(order(2))
            producer.flush()
            assert producer.pending == 0
    with cluster.client(registry=cluster.registry) as client, client.reader(topic, FIRST) as reader:
        assert ids(received(reader, 2)) == [0, 2]


def _port(url: str) -> int:
    return int(url.rpartition(":")[2])


def test_settings_that_are_none_are_refused_by_name(client: Client, topic: str) -> None:
    with pytest.raises(InvalidArgument, match="batch_mesages"):
        client.producer(topic, FIRST, batch_mesages=1)
    with pytest.raises(InvalidArgument, match="subscription_type"):
        client.consumer(topic, "s", FIRST, subscription_type="shared")
    with pytest.raises(ValueError, match="sometimes"):
        client.producer(topic, FIRST, multi_schema="sometimes")


@pytest.mark.parametrize("url", ["127.0.0.1:6650", "http://127.0.0.1:6650", "pulsar://", "kafka://h:1/topic", ""])
def test_what_is_no_url_of_a_cluster_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgument, match="url"):
        Client(url)


@pytest.mark.parametrize("cluster", PULSARS, indirect=True)
def test_ids_in_headers_are_kafkas_alone(cluster: Cluster) -> None:
    with pytest.raises(Unsupported, match="payload"):
        cluster.client(framing="header")
