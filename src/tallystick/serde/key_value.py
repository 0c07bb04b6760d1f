"""KeyValueSchema: two schemas in one, for the key and the value of a message."""

import json
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from tallystick.errors import InvalidArgument, InvalidRecord, InvalidSchema
from tallystick.formats import parse
from tallystick.formats.key_value import KeyValueSchema as ParsedPair
from tallystick.formats.key_value.codec import joined
from tallystick.formats.key_value.source import Half
from tallystick.model import schema_type as types
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.key_value import KeyValue, KeyValueEncoding
from tallystick.model.schema_type import CLIENT_SIDE
from tallystick.serde import pairs
from tallystick.serde.native import SAYS_NOTHING, NativeSchema, refusing_type, refusing_writer
from tallystick.serde.primitive import PrimitiveSchema
from tallystick.serde.schema import EncodeData, Read, RegistrySettings, Schema, SchemaIdBytes
from tallystick.wire.pulsar.schemas import KeyValueIds

K = TypeVar("K")
V = TypeVar("V")

_EncodeHalf = Callable[[str, Any], tuple[bytes | None, bytes]]
"""Topic and half → payload and schema id."""


class KeyValueSchema(Schema[KeyValue], Generic[K, V]):
    """Values are `KeyValue(key, value)`, or tuples of the two; None is a half that is not there.

    INLINE pairs are one payload. Of SEPARATED ones the key travels as the key of the message. Both halves are kept by
    the cluster, or both by a third-party registry, which then gives an id to each; a primitive goes with either.
    """

    def __init__(self, key: Schema[K], value: Schema[V], encoding: KeyValueEncoding = KeyValueEncoding.INLINE) -> None:
        _refuse_mix(key, value)
        self.key = key = key.as_key()
        self.value = value
        self.encoding = KeyValueEncoding(encoding)
        self._is_external = is_external(key) or is_external(value)
        self._encode_key, self._encode_value = _encoder("key", key), _encoder("value", value)
        self.references: References = {**_references(key), **_references(value)}
        self.definition = self._definition()

    def _definition(self) -> SchemaDefinition:
        for half in (self.key.definition, self.value.definition):
            if half.type in CLIENT_SIDE:
                return SchemaDefinition(half.type)
        halves = {"key": self.key.definition, "value": self.value.definition}
        parts = {
            name: {"type": half.type, "schema": half.text, "properties": dict(half.properties)}
            for name, half in halves.items()
        }
        text = json.dumps({"encoding": str(self.encoding), **parts}, ensure_ascii=False)
        references = dict.fromkeys(self.key.definition.references + self.value.definition.references)
        return SchemaDefinition(types.KEY_VALUE, text, tuple(references))

    def encode(self, topic: str, value: KeyValue | tuple[K | None, V | None]) -> EncodeData:
        key, inner = pairs.halves_of(value)
        key_payload, key_id = self._encode_key(topic, key)
        payload, value_id = self._encode_value(topic, inner)
        ids = KeyValueIds(key_id, value_id) if self._is_external else None
        if self.encoding is KeyValueEncoding.INLINE:
            return EncodeData(joined((key_payload, payload)), ids)
        return EncodeData(payload, ids, key_payload)

    def decode(self, topic: str, data: bytes, schema_id: SchemaIdBytes | None) -> KeyValue:
        """Of a SEPARATED pair this is the value alone."""
        return self.reader_of(topic, None, schema_id)(data, None)

    def reader_of(
        self,
        topic: str,
        writer: SchemaDefinition | None,
        schema_id: SchemaIdBytes | None,
        references: References = NO_REFERENCES,
    ) -> Read[KeyValue]:
        """Each half is read by its own schema, with the writer's half and its id; the writer's encoding counts."""
        if writer is None or writer.type in SAYS_NOTHING or writer == self.definition:
            return self._reader(topic, self.encoding, (None, None), schema_id)
        if writer.type != types.KEY_VALUE:
            return refusing_type(writer.type, "as a pair of key and value")
        try:
            written = parse(writer, references, is_lenient=True)
        except InvalidSchema as e:
            return refusing_writer(e)
        assert isinstance(written, ParsedPair)
        halves = written.key.definition, written.value.definition
        return self._reader(topic, written.encoding, halves, schema_id, references)

    def _reader(
        self,
        topic: str,
        encoding: KeyValueEncoding,
        writers: tuple[SchemaDefinition | None, SchemaDefinition | None],
        schema_id: SchemaIdBytes | None,
        references: References = NO_REFERENCES,
    ) -> Read[KeyValue]:
        key_id, value_id = pairs.ids_of(schema_id)
        return pairs.pair_reader(
            encoding,
            self.key.reader_of(topic, writers[0], key_id, references),
            self.value.reader_of(topic, writers[1], value_id, references),
        )

    def close(self) -> None:
        try:
            self.key.close()
        finally:
            self.value.close()

    def configure(self, settings: RegistrySettings) -> None:
        self.key.configure(settings)
        self.value.configure(settings)

    def prepare(self, topic: str, schema_id: SchemaIdBytes) -> None:
        for half, half_id in zip(self._halves(), pairs.ids_of(schema_id), strict=True):
            if half_id is not None:
                half.prepare(topic, half_id)

    def schema_id_for(self, topic: str) -> SchemaIdBytes:
        key, value = (half.schema_id_for(topic) if is_external(half) else pairs.NO_ID for half in self._halves())
        assert isinstance(key, bytes)
        assert isinstance(value, bytes)
        return KeyValueIds(key, value)

    def _halves(self) -> tuple[Schema[Any], Schema[Any]]:
        return self.key, self.value


def _encoder(half: Half, schema: Schema[Any]) -> _EncodeHalf:
    native = schema if isinstance(schema, NativeSchema) else None

    def encode(topic: str, value: Any) -> tuple[bytes | None, bytes]:
        if value is None:
            return None, pairs.NO_ID
        try:
            if native is not None:
                return native.to_payload(value), pairs.NO_ID
            encoded = schema.encode(topic, value)
        except InvalidRecord as e:
            raise pairs.in_half(half, e) from e
        assert not isinstance(encoded.schema_id, KeyValueIds)
        return encoded.data, encoded.schema_id or pairs.NO_ID

    return encode


def _refuse_mix(key: Schema[Any], value: Schema[Any]) -> None:
    halves = {"key": key, "value": value}
    for name, half in halves.items():
        if isinstance(half, KeyValueSchema) and (is_external(half) or half.encoding is not KeyValueEncoding.INLINE):
            raise InvalidArgument(name, "a pair within a pair is INLINE, and the cluster keeps its schemas")
    external = [name for name, half in halves.items() if is_external(half)]
    native = [n for n, half in halves.items() if not is_external(half) and not isinstance(half, PrimitiveSchema)]
    if external and native:
        other = halves[native[0]].definition.type
        raise InvalidArgument(
            native[0],
            f"a third-party registry keeps the schema of the {external[0]}, so it must keep that of the {native[0]} "
            f"too, which is {other}; make both with that registry's schemas, or neither",
        )


def is_external(schema: Schema[Any]) -> bool:
    if isinstance(schema, KeyValueSchema):
        return is_external(schema.key) or is_external(schema.value)
    return schema.definition.type == types.EXTERNAL


def _references(schema: Schema[Any]) -> References:
    return schema.references if isinstance(schema, NativeSchema | KeyValueSchema) else NO_REFERENCES
