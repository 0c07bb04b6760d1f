"""The messages of some topics from a place on, up to the last one that there is, or without end."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tallystick.model.position import KafkaPosition, Position, PulsarPosition
from tallystick.serde.auto_consume import AutoConsume
from tallystick.serde.primitive import BYTES

if TYPE_CHECKING:
    from tallystick.cli.topic_cluster import ClusterOptions
    from tallystick.connect.client import Client
    from tallystick.messaging.consumer import Consumer
    from tallystick.messaging.message import Message

AT_ONCE = 200
"""Messages that are given out together, where they are there already."""


class Reading:
    def __init__(
        self,
        client: "Client",
        cluster: "ClusterOptions",
        subscription: str | None,
        place: "str | datetime | Position",
    ) -> None:
        self._client = client
        self._subscription = subscription
        self._place = place
        self._timeout_s = cluster.timeout_s
        # Without a registry nobody can say what the frames of messages mean: they are bytes then.
        self._schema = BYTES if cluster.is_framed and cluster.registry is None else AutoConsume()

    def opened(self, topics: Sequence[str]) -> "Consumer[Any]":
        if isinstance(self._place, PulsarPosition | KafkaPosition):
            [topic] = topics
            return self._from_position(topic, self._place)
        return self._client.consumer_async(topics, self._subscription, self._schema, start=self._place).result()

    def _from_position(self, topic: str, position: Position) -> "Consumer[Any]":
        if isinstance(position, PulsarPosition) and position.partition >= 0:
            topic = f"{topic}-partition-{position.partition}"
        consumer = self._client.reader(topic, self._schema)
        try:
            consumer.seek(position)
        except BaseException:
            consumer.close()
            raise
        return consumer

    def endless(self, consumer: "Consumer[Any]") -> "Iterator[list[Message[Any]]]":
        """What comes, as it comes."""
        while True:
            yield consumer.receive_many(AT_ONCE, self._timeout_s)

    def to_the_end(self, consumer: "Consumer[Any]") -> "Iterator[list[Message[Any]]]":
        """Up to the last message that there is now; ends as well when none comes in time."""
        ends = {number: last for number, last in consumer.last_positions().items() if last is not None}
        if isinstance(self._place, PulsarPosition | KafkaPosition):
            # A position is one of a partition, and only that one is read.
            ends = {number: last for number, last in ends.items() if number == self._place.partition}
        while ends and (received := consumer.receive_many(AT_ONCE, self._timeout_s)):
            yield [message for message in received if is_wanted(message.position, ends)]


def is_wanted(position: Position, ends: dict[int, Position]) -> bool:
    """Whether a message is one of those before an end. A partition is done with its last one."""
    end = ends.get(position.partition)
    if end is None:
        return False
    if _order(position) >= _order(end):
        del ends[position.partition]
    return _order(position) <= _order(end)


def _order(position: Position) -> tuple[int, ...]:
    if isinstance(position, KafkaPosition):
        return (position.offset,)
    return position.ledger, position.entry, position.batch_index
