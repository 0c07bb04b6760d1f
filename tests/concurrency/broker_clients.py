"""Producers and consumers that go on while their broker is killed, and write down what happens."""

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pulsar

from tests.concurrency.broker_history import Delivery, History, Message, Place

KEYS = [f"key-{n}" for n in range(12)]
_POLL_MS = 100
_MOST_HELD = 20
_NACK_MS = 300


@dataclass(frozen=True, slots=True)
class Publishing:
    """A producer, and how it sends."""

    topic: str
    name: str
    batching: Any = None
    """`BatchingType`; None: each message by itself."""
    compression: Any = pulsar.CompressionType.NONE


@dataclass(frozen=True, slots=True)
class Subscribing:
    """A subscription with its consumers, and how they acknowledge."""

    topic: str
    name: str
    kind: Any
    consumers: int = 1
    is_cumulative: bool = False
    acks_in_batches: bool = False
    nacks: float = 0.0

    def __str__(self) -> str:
        return f"{self.topic.rpartition('/')[2]}:{self.name}"


@dataclass(slots=True)
class Progress:
    history: History = field(default_factory=History)
    acked: dict[str, set[Place]] = field(default_factory=dict)
    """By subscription: what its consumers have acknowledged."""
    over: threading.Event = field(default_factory=threading.Event)
    """For producers."""
    draining: threading.Event = field(default_factory=threading.Event)
    """Consumers acknowledge what they get, at once."""
    closing: threading.Event = field(default_factory=threading.Event)
    heard: float = 0.0
    """When a consumer last got something."""
    troubles: list[BaseException] = field(default_factory=list)

    def count_acknowledged(self) -> int:
        return sum(map(len, self.history.acknowledged.values()))


@contextmanager
def client(port: int, log: Path) -> Iterator[Any]:
    made = pulsar.Client(f"pulsar://127.0.0.1:{port}", logger=pulsar.FileLogger(pulsar.LoggerLevel.Warn, str(log)))
    try:
        yield made
    finally:
        made.close()


def text_of(message: Message) -> bytes:
    return f"{message.producer} {message.number} {message.key}".encode()


def delivery_of(received: Any, consumer: str) -> Delivery:
    producer, number, key = received.data().decode().split()
    id_ = received.message_id()
    place = Place(received.topic_name(), id_.entry_id(), id_.batch_index())
    return Delivery(consumer, place, Message(producer, int(number), key))


def run(threads: list[threading.Thread], progress: Progress, work: Callable[[], None]) -> None:
    """A thread that fails is a failure of the test, not silence."""

    def watched() -> None:
        try:
            work()
        except BaseException as e:  # noqa: BLE001  # it is told by the test
            progress.troubles.append(e)

    thread = threading.Thread(target=watched, daemon=True)
    thread.start()
    threads.append(thread)


def publish(connection: Any, how: Publishing, progress: Progress, seed: int) -> None:
    choice = random.Random(seed)
    producer = connection.create_producer(
        how.topic,
        producer_name=how.name,
        send_timeout_millis=0,  # it tries for ever: what is not acknowledged at the end would be a riddle
        block_if_queue_full=True,
        batching_enabled=how.batching is not None,
        batching_type=how.batching or pulsar.BatchingType.Default,
        batching_max_messages=20,
        compression_type=how.compression,
    )
    acknowledged, number = progress.history.acknowledged[how.topic], 0
    while not progress.over.is_set():
        for _ in range(choice.randrange(1, 12)):
            message = Message(how.name, number, choice.choice(KEYS))
            told = partial(_told, acknowledged, message)
            producer.send_async(text_of(message), told, partition_key=message.key)
            number += 1
        time.sleep(choice.random() * 0.05)
    producer.flush()
    producer.close()


def _told(acknowledged: list[Message], message: Message, result: Any, id_: Any) -> None:
    if result == pulsar.Result.Ok:
        acknowledged.append(message)


def consume(connection: Any, how: Subscribing, number: int, progress: Progress) -> None:
    """Writes down before it acknowledges; acknowledges late, and in no order where it may."""
    choice, name = random.Random(number), f"{how}-{number}"
    delivered, acked = progress.history.delivered[str(how)], progress.acked[str(how)]
    consumer = subscribe(connection, how, name)
    held: list[tuple[Any, Place]] = []
    while not progress.closing.is_set():
        with suppress(pulsar.Timeout):
            received = consumer.receive(_POLL_MS)
            delivery = delivery_of(received, name)
            delivered.append(delivery)
            progress.heard = time.monotonic()
            held.append((received, delivery.place))
        if progress.draining.is_set() or len(held) > choice.randrange(_MOST_HELD):
            _settle(consumer, how, held, acked, 0 if progress.draining.is_set() else how.nacks, choice)
    consumer.close()


def subscribe(connection: Any, how: Subscribing, name: str) -> Any:
    return connection.subscribe(
        how.topic,
        how.name,
        consumer_type=how.kind,
        consumer_name=name,
        initial_position=pulsar.InitialPosition.Earliest,
        receiver_queue_size=100,
        batch_index_ack_enabled=how.acks_in_batches,
        negative_ack_redelivery_delay_ms=_NACK_MS,
    )


def _settle(
    consumer: Any,
    how: Subscribing,
    held: list[tuple[Any, Place]],
    acked: set[Place],
    nacks: float,
    choice: random.Random,
) -> None:
    if how.is_cumulative and held:
        consumer.acknowledge_cumulative(held[-1][0])
        acked.update(place for _, place in held)
    elif not how.is_cumulative:
        for received, place in choice.sample(held, len(held)):
            if choice.random() < nacks:
                consumer.negative_acknowledge(received)
            else:
                consumer.acknowledge(received)
                acked.add(place)
    held.clear()


def follow(connection: Any, topic: str, name: str, progress: Progress) -> None:
    """A reader that goes along."""
    reader = connection.create_reader(topic, pulsar.MessageId.earliest, reader_name=name)
    delivered = progress.history.delivered[name]
    while not progress.closing.is_set():
        with suppress(pulsar.Timeout):
            delivered.append(delivery_of(reader.read_next(_POLL_MS), name))
            progress.heard = time.monotonic()
    reader.close()


def whole_log(connection: Any, topics: Iterable[str]) -> list[Delivery]:
    """Everything in these topics, each from its beginning."""
    log: list[Delivery] = []
    for topic in topics:
        reader = connection.create_reader(topic, pulsar.MessageId.earliest)
        while reader.has_message_available():
            log.append(delivery_of(reader.read_next(10_000), "reader"))
        reader.close()
    return log
