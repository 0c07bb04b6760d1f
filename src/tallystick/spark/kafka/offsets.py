"""What the driver asks of a Kafka cluster itself."""

import re
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from tallystick.errors import Unsupported
from tallystick.spark.cluster import Cluster
from tallystick.spark.kafka.places import Topics, names
from tallystick.spark.kafka.settings import rdkafka_options, servers_of

if TYPE_CHECKING:
    from tallystick.transports.kafka import KafkaSettings

T = TypeVar("T")
_TIMEOUT_S = 30.0
_TURN_S = 0.2
_OF_KAFKA = re.compile(r"__(consumer_offsets|transaction_state|share_group_state|cluster_metadata)")
"""Topics that Kafka keeps for itself; patterns do not mean them."""


def ends(cluster: Cluster, topics: Topics, *, timeout_s: float = _TIMEOUT_S) -> dict[str, dict[int, int]]:
    """The offsets after the last records of this moment, by topic and partition: an `ending` for `read`.

    Of a transaction that is still open nothing counts. Raises `TopicNotFound`, and what keeps the cluster from
    answering.
    """
    return Questions(cluster, timeout_s).ends(topics)


def library_settings(cluster: Cluster, timeout_s: float = _TIMEOUT_S) -> "KafkaSettings":
    """Raises `Unsupported` where Kafka's client library is missing."""
    try:
        from tallystick.transports.kafka import KafkaSettings
    except ImportError as e:
        raise Unsupported("Kafka's client library is not installed; pip install 'tallystick[kafka]'") from e
    return KafkaSettings(servers=servers_of(cluster), options=rdkafka_options(cluster), operation_timeout_s=timeout_s)


class Questions:
    """Blocks, no longer than its time-out for each."""

    def __init__(self, cluster: Cluster, timeout_s: float = _TIMEOUT_S) -> None:
        self._settings = library_settings(cluster, timeout_s)
        from confluent_kafka.admin import AdminClient

        from tallystick.transports.kafka.clients import Watch, made
        from tallystick.transports.kafka.settings import admin_config

        self._timeout_s = timeout_s
        self._watch = Watch(self._settings.servers)
        self._client = made(AdminClient, admin_config(self._settings), self._settings.options, self._watch)

    def partitions(self, topics: Topics) -> dict[str, list[int]]:
        """Asking makes no topic; raises `TopicNotFound`."""
        from confluent_kafka import TopicCollection

        wanted = self._fitting(topics) if isinstance(topics, re.Pattern) else names(topics)
        if not wanted:
            return {}
        asked = self._client.describe_topics(TopicCollection(wanted), request_timeout=self._timeout_s)
        described = {topic: self._result(answer, topic) for topic, answer in asked.items()}
        return {topic: sorted(each.id for each in described[topic].partitions) for topic in wanted}

    def ends(self, topics: Topics) -> dict[str, dict[int, int]]:
        from confluent_kafka import IsolationLevel, TopicPartition
        from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

        found = self.partitions(topics)
        is_dirty = self._settings.options.get("isolation.level") == "read_uncommitted"
        level = IsolationLevel.READ_UNCOMMITTED if is_dirty else IsolationLevel.READ_COMMITTED
        places = [TopicPartition(topic, number) for topic, numbers in found.items() for number in numbers]
        if not places:
            return {}
        latest: dict[TopicPartition, OffsetSpec] = dict.fromkeys(places, OffsetSpec.latest())  # type: ignore
        answers = self._client.list_offsets(latest, isolation_level=level, request_timeout=self._timeout_s)
        offsets: dict[str, dict[int, int]] = {topic: {} for topic in found}
        for place, answer in answers.items():
            offsets[place.topic][place.partition] = self._result(answer, place.topic).offset
        return offsets

    def _fitting(self, pattern: re.Pattern[str]) -> list[str]:
        from confluent_kafka import KafkaException

        from tallystick.transports.kafka.clients import failure_of

        try:
            listed = self._client.list_topics(timeout=self._timeout_s).topics
        except KafkaException as e:
            self._watch.require_hope()
            raise failure_of(e, pattern.pattern, self._settings) from e
        return sorted(name for name in listed if pattern.fullmatch(name) and not _OF_KAFKA.fullmatch(name))

    def _result(self, asked: "Future[T]", topic: str) -> T:
        from confluent_kafka import KafkaException

        from tallystick.transports.kafka.clients import failure_of

        while True:
            try:
                return asked.result(_TURN_S)
            except TimeoutError:
                self._client.poll(0)
                self._watch.require_hope()
            except KafkaException as e:
                raise failure_of(e, topic, self._settings) from e
