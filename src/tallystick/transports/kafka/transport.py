"""A Kafka cluster."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from confluent_kafka import Consumer, Producer

from tallystick.errors import Closed
from tallystick.messaging.ports import Deliver
from tallystick.messaging.settings import ConsumerSettings, ProducerSettings
from tallystick.model.definition import SchemaDefinition
from tallystick.model.subject import Version
from tallystick.transports.kafka.admin import Admin
from tallystick.transports.kafka.claims import Claims
from tallystick.transports.kafka.clients import Watch, made, reached_partitions
from tallystick.transports.kafka.commits import Commits
from tallystick.transports.kafka.inlet import KafkaInlet
from tallystick.transports.kafka.outlet import KafkaOutlet
from tallystick.transports.kafka.settings import (
    KafkaSettings,
    consumer_config,
    is_incremental,
    producer_config,
)
from tallystick.transports.kafka.starting import require_place

T = TypeVar("T")
Opened = TypeVar("Opened", KafkaOutlet, KafkaInlet)


class KafkaTransport:
    """Producers and consumers of one cluster. They know nothing of schemas: payloads and headers come as they are."""

    keeps_schemas = False

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._open: list[KafkaOutlet | KafkaInlet] = []
        self._admin: Admin | None = None
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="tallystick-kafka")
        self._is_closed = False

    async def open_outlet(
        self, topic: str, settings: ProducerSettings, definition: SchemaDefinition | None
    ) -> KafkaOutlet:
        self._require_open()
        config = producer_config(self._settings, settings)
        watch = Watch(self._settings.servers)
        producer = made(Producer, config, self._settings.options, watch)
        try:
            await self._in_thread(lambda: reached_partitions(producer, topic, self._settings, watch))
        finally:
            # Whoever does not wait to the end leaves a thread that does.
            watch.close()
        return self._kept(KafkaOutlet(producer, topic, self._settings.servers, str(config["client.id"]), settings))

    async def open_inlet(
        self, settings: ConsumerSettings, definition: SchemaDefinition | None, deliver: Deliver
    ) -> KafkaInlet:
        self._require_open()
        require_place(settings.start, settings.topics)
        config = consumer_config(self._settings, settings)
        watch, claims, commits = Watch(self._settings.servers), Claims(), None
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
            self._ask_cluster,
            is_incremental=is_incremental(config),
        )
        await self._kept(inlet).open()
        return inlet

    async def latest_schema(self, topic: str) -> SchemaDefinition | None:
        return None

    async def schema(self, topic: str, version: Version) -> SchemaDefinition | None:
        return None

    async def partitions(self, topic: str) -> int:
        """0 for a topic that is not there; asking does not make it."""
        return await self._ask_cluster(lambda admin: admin.partitions(topic))

    async def close(self) -> None:
        self._is_closed = True
        opened, self._open = self._open, []
        await asyncio.gather(*(each.close() for each in opened))
        if self._admin is not None:
            self._admin.close()
            self._admin = None
        self._threads.shutdown()

    async def _ask_cluster(self, work: Callable[[Admin], T]) -> T:
        admin = self._opened_admin()
        return await self._in_thread(lambda: work(admin))

    def _opened_admin(self) -> Admin:
        self._require_open()
        if self._admin is None:
            self._admin = Admin(self._settings)
        return self._admin

    def _kept(self, opened: Opened) -> Opened:
        self._open = [each for each in self._open if not each.is_closed]
        self._open.append(opened)
        return opened

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _require_open(self) -> None:
        if self._is_closed:
            raise Closed(f"the connection to Kafka at {self._settings.servers} is closed")
