"""A Kafka cluster."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicCollection
from confluent_kafka.admin import AdminClient

from tallystick.errors import Closed
from tallystick.messaging.ports import Deliver
from tallystick.messaging.settings import ConsumerSettings, ProducerSettings
from tallystick.model.definition import SchemaDefinition
from tallystick.transports.kafka.claims import Claims
from tallystick.transports.kafka.clients import Watch, failure_of, made, reached_partitions
from tallystick.transports.kafka.commits import Commits
from tallystick.transports.kafka.inlet import KafkaInlet
from tallystick.transports.kafka.outlet import KafkaOutlet
from tallystick.transports.kafka.settings import (
    KafkaSettings,
    admin_config,
    consumer_config,
    is_incremental,
    producer_config,
)
from tallystick.transports.kafka.starting import require_place

T = TypeVar("T")


class KafkaTransport:
    """Producers and consumers of one cluster. They know nothing of schemas: payloads and headers come as they are."""

    keeps_schemas = False

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._open: list[KafkaOutlet | KafkaInlet] = []
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="tallystick-kafka")
        self._is_closed = False

    async def open_outlet(
        self, topic: str, settings: ProducerSettings, definition: SchemaDefinition | None
    ) -> KafkaOutlet:
        self._require_open()
        config = producer_config(self._settings, settings)
        watch = Watch(self._settings.servers)
        producer = made(Producer, config, self._settings.options, watch)
        await self._in_thread(lambda: reached_partitions(producer, topic, self._settings, watch))
        outlet = KafkaOutlet(producer, topic, self._settings.servers, str(config["client.id"]), settings)
        self._open.append(outlet)
        return outlet

    async def open_inlet(
        self, settings: ConsumerSettings, definition: SchemaDefinition | None, deliver: Deliver
    ) -> KafkaInlet:
        self._require_open()
        require_place(settings.start, settings.topics)
        config = consumer_config(self._settings, settings)
        watch = Watch(self._settings.servers)
        claims, commits = Claims(), None
        if settings.subscription is not None:
            timeout_s = self._settings.operation_timeout_s
            commits = Commits(claims, watch, settings.acknowledge_delay_s, timeout_s, self._settings.servers)
            config["on_commit"] = commits.answered
        consumer = made(Consumer, config, self._settings.options, watch)
        inlet = KafkaInlet(
            consumer,
            claims,
            commits,
            self._settings,
            settings,
            watch,
            deliver,
            self._delete_group,
            is_incremental=is_incremental(config),
        )
        self._open.append(inlet)
        await inlet.open()
        return inlet

    async def latest_schema(self, topic: str) -> SchemaDefinition | None:
        return None

    async def partitions(self, topic: str) -> int:
        """0 for a topic that is not there; asking does not make it."""
        self._require_open()
        return await self._in_thread(lambda: self._partitions(topic))

    async def close(self) -> None:
        self._is_closed = True
        opened, self._open = self._open, []
        await asyncio.gather(*(each.close() for each in opened))
        self._threads.shutdown()

    def _partitions(self, topic: str) -> int:
        admin = self._admin()
        asked = admin.describe_topics(TopicCollection([topic]), request_timeout=self._settings.operation_timeout_s)
        try:
            return len(asked[topic].result().partitions)
        except KafkaException as e:
            if e.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return 0
            raise failure_of(e, topic, self._settings) from e

    async def _delete_group(self, group: str) -> None:
        await self._in_thread(lambda: self._deleted(group))

    def _deleted(self, group: str) -> None:
        admin = self._admin()
        asked = admin.delete_consumer_groups([group], request_timeout=self._settings.operation_timeout_s)
        try:
            asked[group].result()
        except KafkaException as e:
            if e.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
                raise failure_of(e, f"(group {group})", self._settings) from e

    def _admin(self) -> AdminClient:
        watch = Watch(self._settings.servers)
        return made(AdminClient, admin_config(self._settings), self._settings.options, watch)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _require_open(self) -> None:
        if self._is_closed:
            raise Closed(f"the connection to Kafka at {self._settings.servers} is closed")
