"""Client: a cluster by its URL."""

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar, cast, overload

from tallystick.connect import clusters, following
from tallystick.connect.external import as_external
from tallystick.errors import InvalidArgument, Unsupported
from tallystick.messaging.consumer import Consumer
from tallystick.messaging.dead_letters import DeadLetters
from tallystick.messaging.engine import Engine
from tallystick.messaging.explaining import READS, WRITES, explaining
from tallystick.messaging.interceptors import ConsumerInterceptor, ProducerInterceptor
from tallystick.messaging.outbox import Outbox
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Transport
from tallystick.messaging.producer import Producer
from tallystick.messaging.schema_uses import SchemaUses
from tallystick.messaging.settings import (
    EARLIEST,
    ConsumerSettings,
    DeadLetter,
    Framing,
    MultiSchema,
    ProducerSettings,
    StartAt,
)
from tallystick.messaging.stamping import WITHOUT_SCHEMA, ClusterStamps, FrameStamps
from tallystick.messaging.writers import ClusterWriters, FrameWriters
from tallystick.model.definition import SchemaDefinition
from tallystick.model.naming import KafkaNaming
from tallystick.model.schema_type import CLIENT_SIDE
from tallystick.model.subject import Version
from tallystick.rest import Credentials, RegistryClient
from tallystick.serde.auto_consume import AutoConsume
from tallystick.serde.auto_produce import AutoProduceBytes
from tallystick.serde.primitive import BYTES
from tallystick.serde.schema import RegistrySettings, Schema
from tallystick.serde.subjects import Naming

T = TypeVar("T")
P = TypeVar("P", Producer[Any], Consumer[Any])


class Client:
    """Producers and consumers on one cluster: `pulsar://…`, `pulsar+ssl://…` or `kafka://…`.

    `registry` is the URL of a schema registry, or a `RegistryClient`; it never gets the cluster's credentials. On
    Pulsar, and with the embedded broker, the cluster keeps the schemas itself; with a registry it is told of EXTERNAL
    schemas alone (PIP-420). Kafka keeps none: messages with a schema need a registry. `framing` says where messages
    carry the id of their schema, `naming` how Kafka's subjects are named, and `options` goes to Kafka's client library
    as it is.

    Threads may share a client. What waits has a sister with `_async` whose answer can be awaited in any event loop.
    """

    def __init__(
        self,
        url: str,
        *,
        registry: "str | RegistryClient | None" = None,
        credentials: Credentials | None = None,
        registry_credentials: Credentials | None = None,
        framing: Framing | str = Framing.TRANSPORT,
        naming: KafkaNaming | str = KafkaNaming.TOPIC_NAME,
        options: Mapping[str, Any] | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        self._framing, self._naming = Framing(framing), Naming(KafkaNaming(naming))
        self._cluster = clusters.of(url, credentials, options or {}, timeout_s)
        if self._framing is Framing.HEADER and self._cluster.keeps_schemas:
            raise Unsupported("only Kafka's messages have headers for schema ids; use framing='payload'")
        self.url = self._cluster.url
        self._owns_registry = isinstance(registry, str)
        self._registry = (
            RegistryClient(registry, credentials=registry_credentials) if isinstance(registry, str) else registry
        )
        self._is_framed = self._framing is not Framing.TRANSPORT or not self._cluster.keeps_schemas
        self._engine = Engine()
        self._transport: Transport | None = None
        self._opening = asyncio.Lock()
        self._uses = SchemaUses(RegistrySettings(self._registry))
        self._open: set[Producer[Any] | Consumer[Any]] = set()
        self._closing: Pending[None] | None = None

    def __repr__(self) -> str:
        return f"<Client {self.url}>"

    @overload
    def producer(self, topic: str, **settings: Any) -> Producer[bytes]: ...

    @overload
    def producer(self, topic: str, schema: Schema[T], **settings: Any) -> Producer[T]: ...

    def producer(self, topic: str, schema: Schema[Any] = BYTES, **settings: Any) -> Producer[Any]:
        """A producer, with its schema registered. Takes the settings of `producer_async`.

        Raises `IncompatibleSchema` with findings, `Unavailable`, `Unauthenticated`, `Forbidden`, `Busy`.
        """
        return self.producer_async(topic, schema, **settings).result()

    def producer_async(
        self,
        topic: str,
        schema: Schema[T],
        *,
        multi_schema: MultiSchema | str = MultiSchema.AUTO,
        interceptors: Sequence[ProducerInterceptor] = (),
        **settings: Any,
    ) -> Pending[Producer[T]]:
        """`settings` are those of `ProducerSettings`."""
        chosen = _settings(ProducerSettings, settings)
        return self._engine.run(
            self._open_producer(
                topic, schema, chosen, multi_schema=MultiSchema(multi_schema), interceptors=interceptors
            )
        )

    @overload
    def consumer(self, topics: str | Sequence[str], subscription: str, **settings: Any) -> Consumer[Any]: ...

    @overload
    def consumer(
        self, topics: str | Sequence[str], subscription: str, schema: Schema[T], **settings: Any
    ) -> Consumer[T]: ...

    def consumer(
        self, topics: str | Sequence[str], subscription: str, schema: Schema[Any] | None = None, **settings: Any
    ) -> Consumer[Any]:
        """A consumer of a subscription, which keeps its place. Without a schema it takes what comes (`AutoConsume`)."""
        return self.consumer_async(topics, subscription, schema or AutoConsume(), **settings).result()

    def consumer_async(
        self,
        topics: str | Sequence[str],
        subscription: str | None,
        schema: Schema[T],
        *,
        dead_letter: DeadLetter | None = None,
        interceptors: Sequence[ConsumerInterceptor] = (),
        **settings: Any,
    ) -> Pending[Consumer[T]]:
        """`settings` are those of `ConsumerSettings`."""
        named = [topics] if isinstance(topics, str) else list(topics)
        chosen = _settings(ConsumerSettings, {"topics": named, "subscription": subscription, **settings})
        return self._engine.run(
            self._open_consumer(schema, chosen, dead_letter or DeadLetter(), interceptors=interceptors)
        )

    @overload
    def reader(self, topics: str | Sequence[str], **settings: Any) -> Consumer[Any]: ...

    @overload
    def reader(self, topics: str | Sequence[str], schema: Schema[T], **settings: Any) -> Consumer[T]: ...

    def reader(
        self,
        topics: str | Sequence[str],
        schema: Schema[Any] | None = None,
        *,
        start: StartAt = EARLIEST,
        **settings: Any,
    ) -> Consumer[Any]:
        """A consumer without a subscription: it starts where it is told each time."""
        return self.consumer_async(topics, None, schema or AutoConsume(), start=start, **settings).result()

    def schema(self, topic: str, version: int | None = None) -> SchemaDefinition | None:
        """The schema that the cluster keeps for a topic, the latest or a version of it; None where it keeps none.

        Raises `VersionNotFound` for a version that is not there.
        """
        return self._engine.run(self._schema(topic, version)).result()

    def partitions(self, topic: str) -> int:
        """0 for a topic without any."""
        return self._engine.run(self._partitions(topic)).result()

    def close(self) -> None:
        """Closes the producers and consumers that are still open."""
        self.close_async().result()
        self._engine.close()

    def close_async(self) -> Pending[None]:
        if self._closing is None:
            self._closing = self._engine.run(self._close())
        return self._closing

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close_async()
        await asyncio.to_thread(self._engine.close)

    async def _connected(self) -> Transport:
        async with self._opening:
            if self._transport is None:
                self._transport = await self._cluster.open()
            return self._transport

    async def _open_producer(
        self,
        topic: str,
        schema: Schema[T],
        settings: ProducerSettings,
        *,
        multi_schema: MultiSchema = MultiSchema.AUTO,
        interceptors: Sequence[ProducerInterceptor] = (),
    ) -> Producer[T]:
        transport = await self._connected()
        if isinstance(schema, AutoProduceBytes) and schema.definition.type in CLIENT_SIDE:
            kept = None if self._is_framed else await transport.latest_schema(topic)
            followed = await following.bound(schema, topic, kept, self._registry, self._naming)
            schema = cast("Schema[T]", followed)
        schema = self._adapted(schema)
        async with explaining([topic], self._told(schema), transport.latest_schema, WRITES):
            outlet = await transport.open_outlet(topic, settings, self._told(schema))
        stamps = (
            FrameStamps(topic, self._registry, self._framing, self._naming)
            if self._is_framed
            else ClusterStamps(topic, outlet, transport.latest_schema)
        )
        outbox = Outbox(self._engine, outlet, stamps, self._uses, topic, settings.send_timeout_s)
        try:
            await outbox.know(schema)
        except BaseException:
            await outlet.close()
            raise
        producer = Producer(
            topic,
            schema,
            self._engine,
            outlet,
            outbox,
            settings,
            adapt=self._adapted,
            multi_schema=multi_schema,
            interceptors=interceptors,
        )
        return self._kept(producer)

    async def _open_consumer(
        self,
        schema: Schema[T],
        settings: ConsumerSettings,
        dead_letter: DeadLetter,
        *,
        interceptors: Sequence[ConsumerInterceptor] = (),
    ) -> Consumer[T]:
        transport = await self._connected()
        schema = self._adapted(schema)
        writers = (
            FrameWriters(schema, self._registry, self._framing, self._naming)
            if self._is_framed
            else ClusterWriters(schema)
        )
        letters = DeadLetters(dead_letter, settings.subscription, self._dead_letter_producer)
        await self._uses.begin(schema)
        consumer = Consumer(
            schema, self._engine, settings, writers, self._uses, dead_letters=letters, interceptors=interceptors
        )
        try:
            async with explaining(settings.topics, self._told(schema), transport.latest_schema, READS):
                consumer.start(await transport.open_inlet(settings, self._told(schema), consumer.deliver))
        except BaseException:
            await self._uses.end(schema)
            raise
        return self._kept(consumer)

    async def _dead_letter_producer(self, topic: str) -> Producer[bytes]:
        # One at a time, as they are rare and whoever sends one waits for it.
        return await self._open_producer(topic, BYTES, ProducerSettings(batch_messages=1))

    def _kept(self, opened: P) -> P:
        """Closed with the client, unless it is closed before."""
        self._open.add(opened)
        opened.closed.add_done_callback(lambda _: self._open.discard(opened))
        return opened

    def _adapted(self, schema: Schema[T]) -> Schema[T]:
        """Native schemas of a client with a third-party registry are that registry's."""
        if self._is_framed or self._registry is None:
            return schema
        return as_external(schema, self._registry, naming=self._naming.strategy)

    def _told(self, schema: Schema[Any]) -> SchemaDefinition | None:
        """What the cluster is told of a schema; None: bytes."""
        is_silent = schema.definition.type in WITHOUT_SCHEMA or schema.definition.type in CLIENT_SIDE
        return None if self._is_framed or is_silent else schema.definition

    async def _schema(self, topic: str, version: int | None) -> SchemaDefinition | None:
        transport = await self._connected()
        if version is None:
            return await transport.latest_schema(topic)
        return await transport.schema(topic, Version(version))

    async def _partitions(self, topic: str) -> int:
        return await (await self._connected()).partitions(topic)

    async def _close(self) -> None:
        for opened in list(self._open):
            await opened.close_async()
        if self._transport is not None:
            await self._transport.close()
        if self._owns_registry and self._registry is not None:
            await asyncio.to_thread(self._registry.close)


S = TypeVar("S", ProducerSettings, ConsumerSettings)


def _settings(kind: type[S], chosen: Mapping[str, Any]) -> S:
    try:
        return kind(**chosen)
    except TypeError as e:
        known = ", ".join(kind.__dataclass_fields__)
        raise InvalidArgument("settings", f"{e}; there are {known}") from e
