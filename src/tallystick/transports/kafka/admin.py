"""What is asked of the cluster itself."""

from concurrent.futures import Future
from typing import TypeVar

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    OffsetSpec,
)

from tallystick.errors import Busy
from tallystick.model.position import KafkaPosition, Position
from tallystick.transports.kafka.clients import Watch, failure_of, made
from tallystick.transports.kafka.settings import KafkaSettings, admin_config

T = TypeVar("T")
_TURN_S = 0.1


class Admin:
    """Blocks, no longer than the operation time-out."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._watch = Watch(settings.servers)
        is_dirty = settings.options.get("isolation.level") == "read_uncommitted"
        self._isolation = IsolationLevel.READ_UNCOMMITTED if is_dirty else IsolationLevel.READ_COMMITTED
        self._client = made(AdminClient, admin_config(settings), settings.options, self._watch)

    def partitions(self, topic: str) -> int:
        """0 for a topic that is not there; asking does not make it."""
        asked = self._client.describe_topics(TopicCollection([topic]), request_timeout=self._timeout_s)
        try:
            return len(self._answer(asked[topic]).partitions)
        except KafkaException as e:
            if e.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return 0
            raise failure_of(e, topic, self._settings) from e

    def last_positions(self, topic: str) -> dict[int, Position | None]:
        """Of every partition; None where it is empty.

        Not asked of the consumer: its connection is busy with fetching, and answers one after the other.
        """
        places = [TopicPartition(topic, number) for number in range(self.partitions(topic))]
        try:
            first = self._offsets(places, OffsetSpec.earliest())  # type: ignore[no-untyped-call]
            end = self._offsets(places, OffsetSpec.latest())  # type: ignore[no-untyped-call]
        except KafkaException as e:
            raise failure_of(e, topic, self._settings) from e
        return {
            number: KafkaPosition(number, end[number] - 1) if end[number] > first[number] else None for number in end
        }

    def delete_group(self, group: str, topic: str) -> None:
        """Raises `Busy` where it has members."""
        asked = self._client.delete_consumer_groups([group], request_timeout=self._timeout_s)
        try:
            self._answer(asked[group])
        except KafkaException as e:
            code = e.args[0].code()
            if code == KafkaError.NON_EMPTY_GROUP:
                told = f"the subscription {group} has other consumers; close them first"
                raise Busy("subscription", f"topic {topic} on Kafka at {self._settings.servers}: {told}") from e
            if code != KafkaError.GROUP_ID_NOT_FOUND:
                raise failure_of(e, topic, self._settings) from e

    def close(self) -> None:
        """Ends what others still wait for."""
        self._watch.close()

    def _offsets(self, places: list[TopicPartition], at: OffsetSpec) -> dict[int, int]:
        asked = self._client.list_offsets(
            dict.fromkeys(places, at), isolation_level=self._isolation, request_timeout=self._timeout_s
        )
        return {place.partition: self._answer(answer).offset for place, answer in asked.items()}

    @property
    def _timeout_s(self) -> float:
        return self._settings.operation_timeout_s

    def _answer(self, asked: "Future[T]") -> T:
        while True:
            try:
                return asked.result(_TURN_S)
            except TimeoutError:
                self._client.poll(0)
                self._watch.require_hope()
