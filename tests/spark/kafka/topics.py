"""Topics of a real Kafka: what is put into them, and what they hold."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, Producer, TopicPartition
from pyspark.sql import DataFrame, Row

from tallystick.spark.cluster import Cluster
from tests.kafka.driving import make_topic, new_name
from tests.kafka.server import Kafka

WAIT_S = 30.0
Headers = list[tuple[str, str | bytes | None]]


@dataclass(frozen=True)
class Put:
    """One record as Kafka takes it."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int = 0
    time_ms: int = 1_700_000_000_123


def cluster_of(kafka: Kafka, **settings: Any) -> Cluster:
    return Cluster(f"kafka://{kafka.servers}", **settings)


def new_topic(kafka: Kafka, partitions: int = 1, **config: str) -> str:
    """One that keeps records of all times."""
    return make_topic(kafka.servers, partitions, **{"retention.ms": "-1", **config})


def put(kafka: Kafka, topic: str, records: Iterable[Put]) -> None:
    producer = Producer({"bootstrap.servers": kafka.servers, "log_level": 0})
    for record in records:
        headers: Headers = list(record.headers)
        producer.produce(
            topic,
            record.value,
            record.key,
            partition=record.partition,
            headers=headers or None,
            timestamp=record.time_ms,
        )
    assert producer.flush(WAIT_S) == 0


def held(kafka: Kafka, topic: str, *, isolation: str = "read_committed") -> list[Put]:
    """All that a reader sees, by partition and offset."""
    config = {
        "bootstrap.servers": kafka.servers,
        "group.id": new_name("reader"),
        "enable.partition.eof": True,
        "isolation.level": isolation,
        "enable.auto.commit": False,
        "log_level": 0,
    }
    consumer = Consumer(config)
    try:
        found = sorted(consumer.list_topics(topic, timeout=WAIT_S).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in found])
        return [_as_put(message) for message in sorted(_until_the_end(consumer, len(found)), key=_place)]
    finally:
        consumer.close()


def _until_the_end(consumer: Consumer, partitions: int) -> list[Message]:
    messages: list[Message] = []
    while partitions:
        message = consumer.poll(WAIT_S)
        assert message is not None, "Kafka says nothing"
        if message.error() is None:
            messages.append(message)
        else:
            partitions -= 1
    return messages


def _place(message: Message) -> tuple[int, int]:
    partition, offset = message.partition(), message.offset()
    assert partition is not None
    assert offset is not None
    return partition, offset


def _as_put(message: Message) -> Put:
    partition = message.partition()
    assert partition is not None
    headers: Any = message.headers() or ()
    return Put(message.value(), message.key(), tuple(headers), partition, message.timestamp()[1])


def rows(frames: DataFrame) -> list[Row]:
    return frames.orderBy("topic", "partition", "position.entry").collect()
