"""Which broker has a topic, how many partitions it has, and which schemas."""

from typing import Any

from tallystick.errors import NotFound, TallystickError, Unavailable, VersionNotFound
from tallystick.model.definition import SchemaDefinition
from tallystick.model.subject import Version
from tallystick.transports.pulsar.backoff import patiently
from tallystick.transports.pulsar.connection import Connection
from tallystick.transports.pulsar.pool import Pool, Target
from tallystick.transports.pulsar.settings import address_of
from tallystick.transports.pulsar.topics import TopicName
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.pulsar_pb2 import CommandLookupTopicResponse
from tallystick.wire.pulsar.schemas import definition_of, version_bytes, version_of

_MOST_REDIRECTS = 20


class Lookup:
    """Questions that any broker of the cluster answers."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._schemas: dict[tuple[str, Version], SchemaDefinition | None] = {}

    async def connection_of(self, topic: TopicName) -> Connection:
        """A connection to the broker that has the topic. One try: raises what went wrong."""
        target, is_authoritative = Target(self._pool.service), False
        for _ in range(_MOST_REDIRECTS):
            answer = await self._ask_at(
                target, pb.CommandLookupTopic(topic=str(topic), authoritative=is_authoritative), topic
            )
            url = answer.brokerServiceUrlTls if self._pool.service.is_tls else answer.brokerServiceUrl
            if not url:
                raise Unavailable(f"topic {topic}: its broker offers no address for {self._pool.service}")
            broker = address_of(url)
            through_proxy = Target(self._pool.service, broker.logical)
            target = through_proxy if answer.proxy_through_service_url else Target(broker)
            if answer.response == CommandLookupTopicResponse.Connect:
                return await self._pool.get(target)
            is_authoritative = answer.authoritative
        raise Unavailable(f"topic {topic}: its brokers have pointed at each other {_MOST_REDIRECTS} times")

    async def partitions(self, topic: TopicName, *, may_create: bool = True) -> int:
        """0 for a topic without any, and for a partition. Raises `NotFound` for one that is not there and not made."""
        if topic.partition >= 0:
            return 0
        asked = pb.CommandPartitionedTopicMetadata(topic=str(topic), metadata_auto_creation_enabled=may_create)
        return int((await self._patiently(asked, topic)).partitions)

    async def topics(self, namespace: str) -> list[str]:
        """The whole names of a namespace's topics; of those with partitions, of each partition."""
        asked = pb.CommandGetTopicsOfNamespace(namespace=namespace, mode=pb.CommandGetTopicsOfNamespace.PERSISTENT)
        return sorted((await self._patiently(asked, namespace)).topics)

    async def schema(self, topic: TopicName, version: Version) -> SchemaDefinition | None:
        """The schema of a version; None where that is bytes. It never changes, so it is asked for once."""
        whole = topic.of_partition(-1)
        if (str(whole), version) not in self._schemas:
            asked = pb.CommandGetSchema(topic=str(whole), schema_version=version_bytes(version))
            try:
                answer = await self._patiently(asked, whole)
            except NotFound as e:
                raise VersionNotFound(version) from e
            self._schemas[str(whole), version] = definition_of(answer.schema)
        return self._schemas[str(whole), version]

    async def latest(self, topic: TopicName) -> tuple[Version, SchemaDefinition] | None:
        """The latest schema with its version; None where the topic has none."""
        whole = topic.of_partition(-1)
        try:
            answer = await self._patiently(pb.CommandGetSchema(topic=str(whole)), whole)
        except NotFound:
            return None
        definition = definition_of(answer.schema)
        return None if definition is None else (version_of(answer.schema_version), definition)

    async def _patiently(self, content: Any, topic: TopicName | str) -> Any:
        settings = self._pool.settings
        return await patiently(lambda: self._ask(content, topic), settings.url, settings.operation_timeout_s)

    async def _ask(self, content: Any, topic: TopicName | str) -> Any:
        return await self._ask_at(Target(self._pool.service), content, topic)

    async def _ask_at(self, target: Target, content: Any, topic: TopicName | str) -> Any:
        try:
            connection = await self._pool.get(target)
        except TallystickError as e:
            if e.transient:
                self._pool.next_service()
            raise
        return await connection.ask(content, str(topic))
