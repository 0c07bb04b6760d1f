"""A clean restart: what was acknowledged does not come back, and what was not does, to the message."""

import random
from pathlib import Path
from typing import Any

import pulsar
import pytest

from tallystick.wire.pulsar import pulsar_pb2 as pb
from tests.concurrency.broker_clients import Subscribing, client, delivery_of, subscribe, text_of
from tests.concurrency.broker_history import Message, Place
from tests.concurrency.brokers import broker_on
from tests.pulsar.raw import Raw, connected, entry

KINDS = ["Exclusive", "Failover", "Shared", "KeyShared"]
SENT = 60
CASES = [
    Subscribing(f"{kind}-{'batches' if in_batches else 'singles'}", "s", getattr(pulsar.ConsumerType, kind), 1)
    for kind in KINDS
    for in_batches in (True, False)
]


def test_of_some_acknowledged_messages_exactly_the_others_come_back(tmp_path: Path) -> None:
    with broker_on(tmp_path / "data") as broker:
        with client(broker.port, tmp_path / "before.log") as connection:
            left = {how: _send_and_ack_some(connection, how, seed) for seed, how in enumerate(CASES)}
        broker.restart()
        with client(broker.port, tmp_path / "after.log") as connection:
            for how in CASES:
                assert _come_back(connection, how) == left[how], how.topic


def _send_and_ack_some(connection: Any, how: Subscribing, seed: int) -> set[Place]:
    """What is not acknowledged."""
    choice, consumer = random.Random(seed), _subscribe(connection, how)
    in_batches = how.topic.endswith("batches")
    producer = connection.create_producer(
        how.topic, batching_enabled=in_batches, batching_max_messages=10, batching_type=pulsar.BatchingType.KeyBased
    )
    for number in range(SENT):
        message = Message("p", number, f"key-{number % 5}")
        producer.send_async(text_of(message), lambda *told: None, partition_key=message.key)
    producer.flush()
    left = set()
    for received in [consumer.receive(10_000) for _ in range(SENT)]:
        if choice.random() < 0.6:
            consumer.acknowledge(received)
        else:
            left.add(delivery_of(received, "before").place)
    consumer.close()
    producer.close()
    return left


def _come_back(connection: Any, how: Subscribing) -> set[Place]:
    """What is delivered before a message that is new."""
    producer = connection.create_producer(how.topic)
    producer.send(text_of(Message("new", 0, "key-0")), partition_key="key-0")
    consumer, places = _subscribe(connection, how), set()
    while (delivery := delivery_of(consumer.receive(10_000), "after")).message.producer != "new":
        places.add(delivery.place)
    consumer.close()
    producer.close()
    return places


def _subscribe(connection: Any, how: Subscribing) -> Any:
    return subscribe(connection, Subscribing(how.topic, how.name, how.kind, acks_in_batches=True), "c")


@pytest.mark.parametrize("kind", pb.CommandSubscribe.SubType.keys())
def test_an_acknowledgement_that_was_answered_outlives_a_restart_under_the_client(tmp_path: Path, kind: str) -> None:
    with broker_on(tmp_path / "data") as broker:
        with connected(broker.url) as raw:
            ids = _take(raw, kind, send=6)
            ack = pb.CommandAck(
                consumer_id=1, ack_type=pb.CommandAck.Individual, message_id=[ids[n] for n in (0, 1, 4)]
            )
            assert not raw.request("ACK", ack).HasField("error")
            broker.restart()
        with connected(broker.url) as raw:
            assert [id_.entryId for id_ in _take(raw, kind, most=3)] == [2, 3, 5]


def _take(raw: Raw, kind: str, *, send: int = 0, most: int | None = None) -> list[Any]:
    subscribing = pb.CommandSubscribe(
        topic="t", subscription="s", subType=kind, consumer_id=1, initialPosition=pb.CommandSubscribe.Earliest
    )
    raw.request("SUBSCRIBE", subscribing)
    if send:
        raw.request("PRODUCER", pb.CommandProducer(topic="t", producer_id=1))
    for number in range(send):
        raw.command("SEND", pb.CommandSend(producer_id=1, sequence_id=number), entry(b"x", sequence=number))
    raw.command("FLOW", pb.CommandFlow(consumer_id=1, messagePermits=100))
    return [message.message_id for message in raw.pushes("MESSAGE", 10, send or most)]
