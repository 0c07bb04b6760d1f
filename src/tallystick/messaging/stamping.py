"""How a message tells its schema: the producer's side.

A schema is registered once; its stamp then makes payload, key and mark of each message.

| where the schema is kept | stamps | what travels |
|---|---|---|
| by the cluster (Pulsar) | `ClusterStamps` | the version in the topic's subject; an EXTERNAL schema's id as well |
| by a registry | `FrameStamps` | the id in a frame before the payload, or in a header (Kafka); primitives go bare |
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.messaging.explaining import WRITES, Latest, explaining
from tallystick.messaging.ports import NO_MARK, Mark, Outlet
from tallystick.messaging.settings import Framing
from tallystick.model import schema_type as types
from tallystick.model.definition import NO_REFERENCES, SchemaDefinition
from tallystick.model.key_value import KeyValueEncoding
from tallystick.model.subject import SchemaId
from tallystick.serde import records
from tallystick.serde.key_value import KeyValueSchema, is_external
from tallystick.serde.ports import SchemaLookup
from tallystick.serde.primitive import PRIMITIVES
from tallystick.serde.schema import EncodeData, Schema, SchemaIdBytes
from tallystick.serde.subjects import Naming
from tallystick.wire import confluent_frame, external_id
from tallystick.wire.confluent_frame import SchemaMark
from tallystick.wire.pulsar.schemas import KeyValueIds

Stamped = tuple[bytes | None, bytes | None, Mark]
"""Payload, key (None: the message's own) and mark."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the messages of one schema get."""

    mark: Mark = NO_MARK
    prefix: bytes = b""
    pack: Callable[[EncodeData], Stamped] | None = None
    """Where prefix and mark are not the same for all of them."""

    def apply(self, encoded: EncodeData) -> Stamped:
        if self.pack is not None:
            return self.pack(encoded)
        data = encoded.data
        return self.prefix + data if self.prefix and data is not None else data, encoded.key, self.mark


_LONGEST_ID = 4
WITHOUT_SCHEMA = (types.BYTES, types.NONE)
"""Messages of these say nothing of a schema."""
BARE = frozenset(primitive.definition.type for primitive in PRIMITIVES) | {types.NONE}
"""Types that nobody need keep: they have no frame, as Kafka's own serializers write them."""


class Stamps(Protocol):
    async def stamp(self, schema: Schema[Any]) -> Stamp:
        """Get or create. Raises what keeps the schema from being used; it is asked once for each schema."""


class ClusterStamps:
    """The cluster keeps the schemas: the broker registers them."""

    def __init__(self, topic: str, outlet: Outlet, latest: Latest) -> None:
        self._topic = topic
        self._outlet = outlet
        self._latest = latest

    async def stamp(self, schema: Schema[Any]) -> Stamp:
        definition = schema.definition
        if definition.type in WITHOUT_SCHEMA:
            return Stamp()
        async with explaining([self._topic], definition, self._latest, WRITES):
            version = await self._outlet.attach(definition)
        mark = Mark(version)
        # Batches compare marks: the same object for the same id makes that quick.
        marks: dict[SchemaIdBytes | None, Mark] = {None: mark}

        def pack(encoded: EncodeData) -> Stamped:
            mark = marks.get(encoded.schema_id)
            if mark is None:
                mark = marks[encoded.schema_id] = Mark(version, encoded.schema_id)
            return encoded.data, encoded.key, mark

        return Stamp(mark, pack=pack if is_external(schema) else None)


class FrameStamps:
    """A registry keeps the schemas, and messages carry their ids."""

    def __init__(self, topic: str, lookup: SchemaLookup | None, framing: Framing, naming: Naming) -> None:
        self._topic = topic
        self._lookup = lookup
        self._in_header = framing is Framing.HEADER
        self._naming = naming

    async def stamp(self, schema: Schema[Any]) -> Stamp:
        if isinstance(schema, KeyValueSchema):
            return await self._pair(schema)
        return await self._half(schema, is_key=False)

    async def _pair(self, schema: KeyValueSchema[Any, Any]) -> Stamp:
        if schema.encoding is not KeyValueEncoding.SEPARATED:
            raise Unsupported(
                f"topic {self._topic}: an INLINE pair is one payload, and a frame has the id of one schema only; "
                "use KeyValueSchema(…, encoding=KeyValueEncoding.SEPARATED)"
            )
        key, value = await self._half(schema.key, is_key=True), await self._half(schema.value, is_key=False)

        def pack(encoded: EncodeData) -> Stamped:
            ids = encoded.schema_id if isinstance(encoded.schema_id, KeyValueIds) else KeyValueIds(b"", b"")
            key_bytes, _, key_mark = key.apply(EncodeData(encoded.key, ids.key))
            payload, _, mark = value.apply(EncodeData(encoded.data, ids.value))
            return payload, key_bytes, Mark(headers=key_mark.headers + mark.headers) if self._in_header else NO_MARK

        return Stamp(pack=pack)

    async def _half(self, schema: Schema[Any], *, is_key: bool) -> Stamp:
        definition = schema.definition
        if definition.type in BARE:
            return Stamp()
        if definition.type == types.EXTERNAL:
            return self._external(schema, is_key=is_key)
        return await asyncio.to_thread(self._registered, definition, is_key=is_key)

    def _external(self, schema: Schema[Any], *, is_key: bool) -> Stamp:
        """Each message has the id that its schema gave it."""
        stamps: dict[SchemaIdBytes | None, Stamp] = {}
        is_protobuf = schema.kept_type == types.PROTOBUF

        def pack(encoded: EncodeData) -> Stamped:
            if encoded.data is None:
                return None, encoded.key, NO_MARK
            stamp = stamps.get(encoded.schema_id)
            if stamp is None:
                mark = _mark(encoded.schema_id, is_protobuf=is_protobuf)
                stamp = stamps[encoded.schema_id] = self._telling(mark, is_key=is_key)
            return stamp.apply(encoded)

        return Stamp(pack=pack)

    def _registered(self, definition: SchemaDefinition, *, is_key: bool) -> Stamp:
        lookup = self._required_lookup()
        namespace = self._naming.namespace_of(self._topic)
        references = lookup.referenced(definition, namespace) if definition.references else NO_REFERENCES
        name = records.record_name(definition, references) if self._naming.needs_record else None
        subject = self._naming.subject(self._topic, name, is_key=is_key)
        schema_id = lookup.register(str(subject), definition).id
        if schema_id is None:
            raise Unsupported(f"topic {self._topic}: the registry gives no ids, and a frame needs one")
        return self._telling(SchemaMark(schema_id, records.message_path(definition, references)), is_key=is_key)

    def _telling(self, mark: SchemaMark, *, is_key: bool) -> Stamp:
        told = confluent_frame.write(mark)
        if not self._in_header:
            return Stamp(prefix=told)
        return Stamp(Mark(headers=((confluent_frame.KEY_HEADER if is_key else confluent_frame.VALUE_HEADER, told),)))

    def _required_lookup(self) -> SchemaLookup:
        if self._lookup is None:
            raise InvalidArgument(
                "registry",
                f"topic {self._topic}: messages with a schema need the registry that keeps it; "
                "give the client registry='http://…', or send bytes",
            )
        return self._lookup


def _mark(schema_id: SchemaIdBytes | None, *, is_protobuf: bool) -> SchemaMark:
    """The id that a third-party schema gave; raises `Unsupported` where it is no number of four bytes."""
    if isinstance(schema_id, bytes) and 0 < len(schema_id) <= _LONGEST_ID and not is_protobuf:
        return SchemaMark(SchemaId(int.from_bytes(schema_id)))
    try:
        id_ = external_id.read(schema_id if isinstance(schema_id, bytes) else b"")
    except InvalidArgument as e:
        raise Unsupported("a frame holds the id of a schema in four bytes; this schema's id is another thing") from e
    return SchemaMark(id_.schema, id_.message if is_protobuf else None)
