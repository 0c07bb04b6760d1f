"""How a message tells its schema: the consumer's side.

`find` is asked for every message and must be quick; `learn` fetches a writer's schema that is not known yet and makes
the function that reads its messages. What cannot be learned becomes a writer with an error: the message is delivered,
and its value raises.
"""

import asyncio
import json
import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, Protocol
from uuid import UUID

from tallystick.errors import InvalidRecord, NotFound, TallystickError
from tallystick.finding import Finding, Place
from tallystick.formats import parse
from tallystick.formats.protobuf.parse import MESSAGE_PROPERTY
from tallystick.formats.protobuf.types import ProtobufSchema
from tallystick.messaging.message import Writer
from tallystick.messaging.ports import Incoming, Inlet, Mark
from tallystick.messaging.settings import Framing
from tallystick.messaging.stamping import BARE
from tallystick.model import schema_type as types
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.key_value import KeyValue, KeyValueEncoding
from tallystick.model.subject import SchemaId
from tallystick.serde.key_value import KeyValueSchema
from tallystick.serde.ports import SchemaLookup
from tallystick.serde.schema import Read, Schema
from tallystick.serde.subjects import Naming
from tallystick.wire import confluent_frame, external_id
from tallystick.wire.confluent_frame import SchemaMark
from tallystick.wire.external_id import ExternalId

MOST_KEPT = 10_000
"""Writers that are remembered; bytes that are no frame could otherwise fill the memory."""
_AGAIN_AFTER_S = 30.0
"""A schema that was not there is asked for again."""


class Writers(Protocol):
    def find(self, incoming: Incoming) -> Writer | None: ...

    async def learn(self, incoming: Incoming, inlet: Inlet) -> Writer: ...


class _Kept:
    """Writers by what messages say of them; those with an error for a short while only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[Hashable, Writer] = {}
        self._wrong: dict[Hashable, tuple[float, Writer]] = {}

    def get(self, place: Hashable) -> Writer | None:
        found = self._known.get(place)
        if found is None and self._wrong and place in self._wrong:
            until, wrong = self._wrong[place]
            return wrong if self._clock() < until else None
        return found

    def keep(self, place: Hashable, writer: Writer) -> Writer:
        if writer.error is None:
            _make_room(self._known)
            self._known[place] = writer
        elif not writer.error.transient:
            _make_room(self._wrong)
            self._wrong[place] = self._clock() + _AGAIN_AFTER_S, writer
        return writer


def _make_room(kept: dict[Hashable, Any]) -> None:
    if len(kept) >= MOST_KEPT:
        kept.clear()


class ClusterWriters:
    """Messages carry the version in their topic's own subject, and the id of an EXTERNAL schema."""

    def __init__(self, schema: Schema[Any]) -> None:
        self._schema = schema
        self._kept = _Kept()
        self._last: tuple[str, Mark] | None = None
        self._last_writer: Writer | None = None

    def find(self, incoming: Incoming) -> Writer | None:
        # The messages of a batch share their mark.
        last = self._last
        if last is not None and incoming.mark is last[1] and incoming.topic == last[0]:
            return self._last_writer
        place = (incoming.topic, incoming.mark)
        found = self._kept.get(place)
        if found is not None:
            self._last, self._last_writer = place, found
        return found

    async def learn(self, incoming: Incoming, inlet: Inlet) -> Writer:
        return self._kept.keep((incoming.topic, incoming.mark), await self._learned(incoming, inlet))

    async def _learned(self, incoming: Incoming, inlet: Inlet) -> Writer:
        topic, mark, definition = incoming.topic, incoming.mark, None
        try:
            if mark.version is not None:
                definition = await inlet.writer(topic, mark.version)
            if mark.schema_id is not None:
                await asyncio.to_thread(self._schema.prepare, topic, mark.schema_id)
            read = self._schema.reader_of(topic, definition, mark.schema_id)
        except TallystickError as e:
            error = _unknown(f"version {mark.version}", e) if isinstance(e, NotFound) else e
            return Writer(unreadable, definition, mark.version, mark.schema_id, error)
        reads_keys = _has_key(self._schema.definition if definition is None else definition)
        return Writer(read, definition, mark.version, mark.schema_id, reads_keys=reads_keys)


class FrameWriters:
    """Messages carry the id of their schema in a frame before the payload, or in a header."""

    def __init__(self, schema: Schema[Any], lookup: SchemaLookup | None, framing: Framing, naming: Naming) -> None:
        self._schema = schema
        self._lookup = lookup
        self._in_header = framing is Framing.HEADER
        self._is_pair = isinstance(schema, KeyValueSchema)
        self._naming = naming
        self._kept = _Kept()
        self._plain = Writer(schema.reader_of("", None, None)) if _is_bare(schema) else None

    def find(self, incoming: Incoming) -> Writer | None:
        if self._plain is not None:
            return self._plain
        return self._kept.get(self._place(incoming))

    def _place(self, incoming: Incoming) -> Hashable:
        value = self._told(incoming, is_key=False)
        return (value, self._told(incoming, is_key=True)) if self._is_pair else value

    def _told(self, incoming: Incoming, *, is_key: bool) -> bytes:
        """The bytes that say which schema it is."""
        if self._in_header:
            name = confluent_frame.KEY_HEADER if is_key else confluent_frame.VALUE_HEADER
            return next((value for header, value in incoming.headers if header == name), b"")
        data = incoming.key if is_key else incoming.payload
        if data is None:
            return b""
        return data[:17] if data[:1] == b"\x01" else data[:5]

    async def learn(self, incoming: Incoming, inlet: Inlet) -> Writer:
        return self._kept.keep(self._place(incoming), await asyncio.to_thread(self._learned, incoming))

    def _learned(self, incoming: Incoming) -> Writer:
        try:
            if isinstance(self._schema, KeyValueSchema):
                return self._pair(incoming, self._schema)
            return self._half(incoming, self._schema, is_key=False)
        except TallystickError as e:
            return Writer(unreadable, error=e)

    def _pair(self, incoming: Incoming, schema: KeyValueSchema[Any, Any]) -> Writer:
        key = self._half(incoming, schema.key, is_key=True)
        value = self._half(incoming, schema.value, is_key=False)

        def read(payload: bytes | None, key_bytes: bytes | None) -> KeyValue:
            return KeyValue(
                None if key_bytes is None else key.read(key_bytes, None),
                None if payload is None else value.read(payload, None),
            )

        return replace(value, read=read, reads_keys=True)

    def _half(self, incoming: Incoming, schema: Schema[Any], *, is_key: bool) -> Writer:
        told = self._told(incoming, is_key=is_key)
        if not told or _is_bare(schema):
            # A tombstone, or a half that is bytes or a primitive to the reader: nothing to decode by.
            return Writer(schema.reader_of(incoming.topic, None, None))
        mark, start = confluent_frame.read(told)
        if schema.definition.type == types.EXTERNAL and isinstance(mark.schema, int):
            return self._external(incoming.topic, schema, mark.schema, told if self._in_header else None)
        definition = self._definition(incoming.topic, mark)
        schema_id = mark.schema if isinstance(mark.schema, int) else None
        if definition.type == types.PROTOBUF:
            read = self._protobuf(incoming.topic, schema, definition, told if self._in_header else None)
        else:
            references = self._references(incoming.topic, definition)
            inner = schema.reader_of(incoming.topic, definition, None, references)
            read = inner if self._in_header else _behind(inner, start)
        return Writer(read, definition, None, schema_id)

    def _external(self, topic: str, schema: Schema[Any], schema_id: SchemaId, header: bytes | None) -> Writer:
        """The schema finds the writer's by itself, in its own registry, by the id that the frame has."""
        is_protobuf = schema.kept_type == types.PROTOBUF
        schema.prepare(topic, _id_bytes(SchemaMark(schema_id)))
        readers: dict[tuple[int, ...] | None, Read[Any]] = {}

        def read(data: bytes, key: bytes | None) -> Any:
            mark, start = confluent_frame.read(header or data, is_protobuf=is_protobuf)
            if mark.message not in readers:
                readers[mark.message] = schema.reader_of(topic, None, _id_bytes(mark))
            return readers[mark.message](data if header else data[start:], key)

        return Writer(read, None, None, schema_id)

    def _references(self, topic: str, definition: SchemaDefinition) -> References:
        if not definition.references or self._lookup is None:
            return NO_REFERENCES
        return self._lookup.referenced(definition, self._naming.namespace_of(topic))

    def _definition(self, topic: str, mark: SchemaMark) -> SchemaDefinition:
        if self._lookup is None:
            raise _without_registry(mark)
        try:
            if isinstance(mark.schema, UUID):
                return self._lookup.by_guid(mark.schema)
            return self._lookup.by_id(mark.schema, self._naming.namespace_of(topic))
        except NotFound as e:
            raise _unknown(f"schema {mark.schema}", e) from e

    def _protobuf(
        self, topic: str, schema: Schema[Any], definition: SchemaDefinition, header: bytes | None
    ) -> Read[Any]:
        """Each message says which of the file's messages it is."""
        references = self._references(topic, definition)
        parsed = parse(definition, references, is_lenient=True)
        assert isinstance(parsed, ProtobufSchema)
        readers: dict[tuple[int, ...] | None, Read[Any]] = {}

        def read(data: bytes, key: bytes | None) -> Any:
            mark, start = confluent_frame.read(header or data, is_protobuf=True)
            if mark.message not in readers:
                named = replace(definition, properties={MESSAGE_PROPERTY: _message(parsed, mark)})
                readers[mark.message] = schema.reader_of(topic, named, None, references)
            return readers[mark.message](data if header else data[start:], key)

        return read


def _is_bare(schema: Schema[Any]) -> bool:
    """Whether the reader wants the bytes as they are: with the frame, or as a primitive, which has none."""
    return schema.definition.type in BARE


def _has_key(definition: SchemaDefinition) -> bool:
    """Whether the key of a message is half of its value."""
    if definition.type != types.KEY_VALUE:
        return False
    return bool(json.loads(definition.text).get("encoding") == KeyValueEncoding.SEPARATED)


def _id_bytes(mark: SchemaMark) -> bytes:
    """The id of a frame as schemas of third-party registries know it."""
    assert isinstance(mark.schema, int)
    if mark.message is None or mark.message == confluent_frame.FIRST_MESSAGE:
        return mark.schema.to_bytes(4)
    return external_id.write(ExternalId(mark.schema, mark.message))


def _behind(read: Read[Any], start: int) -> Read[Any]:
    return lambda payload, key: read(payload[start:], key)


def _message(schema: ProtobufSchema, mark: SchemaMark) -> str:
    try:
        return schema.message_at(mark.message or confluent_frame.FIRST_MESSAGE)
    except KeyError as e:
        reason = f"the frame says message {mark.message} of schema {mark.schema}, which has no such message"
        raise InvalidRecord(reason, [_finding("RECORD_MESSAGE_UNKNOWN", reason, "send it with the right path")]) from e


def unreadable(payload: bytes, key: bytes | None) -> Any:
    raise AssertionError("a writer with an error reads nothing")


def _unknown(what: str, cause: NotFound) -> InvalidRecord:
    reason = f"the message says {what}, which the registry does not have: {cause.message}"
    fix = "register the schema that it was written with, or read with the registry that its producer used"
    return InvalidRecord(reason, [_finding("RECORD_SCHEMA_UNKNOWN", reason, fix)])


def _without_registry(mark: SchemaMark) -> InvalidRecord:
    reason = f"the message says schema {mark.schema}, and this client has no registry to ask"
    return InvalidRecord(
        reason, [_finding("RECORD_SCHEMA_UNKNOWN", reason, "give the client registry='http://…', or read bytes")]
    )


def _finding(rule: str, message: str, fix: str) -> Finding:
    return Finding(rule=rule, message=message, fix=fix, old=Place(""), new=Place(""))
