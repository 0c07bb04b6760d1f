"""AutoConsume: messages as values of their writers' schemas."""

from typing import Any, Final

from tallystick.errors import InvalidArgument, InvalidSchema, NotFound, SchemaSerializationError, Unsupported
from tallystick.formats import decoder_of, parse
from tallystick.formats.key_value import KeyValueSchema as ParsedPair
from tallystick.model import schema_type as types
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.serde import pairs, records
from tallystick.serde.native import refusing_writer
from tallystick.serde.ports import SchemaLookup
from tallystick.serde.primitive import as_it_came
from tallystick.serde.schema import EncodeData, Read, RegistrySettings, Schema, SchemaIdBytes
from tallystick.serde.subjects import Naming
from tallystick.wire import external_id

AUTO_CONSUME: Final = SchemaType("AUTO_CONSUME")

MOST_KEPT = 10_000
"""Schemas of third-party registries that are remembered."""

_NAMING = Naming()
_Found = tuple[SchemaDefinition, References]


class AutoConsume(Schema[Any]):
    """Reads every message by the schema that it was written with.

    Records are dicts, pairs are `KeyValue`, primitives are themselves, messages without a schema are bytes. The schemas
    of third-party registries are fetched by their ids from the registry of the client, where ids count in the
    namespace of the topic.
    """

    definition = SchemaDefinition(AUTO_CONSUME)

    def __init__(self) -> None:
        self._lookup: SchemaLookup | None = None
        self._found: dict[tuple[str, bytes], _Found] = {}

    def configure(self, settings: RegistrySettings) -> None:
        self._lookup = settings.lookup

    def encode(self, topic: str, value: Any) -> EncodeData:
        raise Unsupported(
            f"topic {topic}: AutoConsume only reads; send with the schema of the values, or with AutoProduceBytes()"
        )

    def decode(self, topic: str, data: bytes, schema_id: SchemaIdBytes | None) -> Any:
        return self.reader_of(topic, None, schema_id)(data, None)

    def prepare(self, topic: str, schema_id: SchemaIdBytes) -> None:
        for each in [schema_id] if isinstance(schema_id, bytes) else [schema_id.key, schema_id.value]:
            if each:
                self._fetched(topic, each)

    def reader_of(
        self,
        topic: str,
        writer: SchemaDefinition | None,
        schema_id: SchemaIdBytes | None,
        references: References = NO_REFERENCES,
    ) -> Read[Any]:
        if writer is not None and writer.type == types.KEY_VALUE:
            return self._pair_reader(topic, writer, schema_id, references)
        if writer is None and schema_id is None:
            return as_it_came
        if writer is None or writer.type == types.EXTERNAL:
            return _reader(*self._fetched(topic, schema_id))
        return _reader(writer, self._referenced(writer, references))

    def _pair_reader(
        self, topic: str, writer: SchemaDefinition, schema_id: SchemaIdBytes | None, references: References
    ) -> Read[Any]:
        try:
            written = parse(writer, self._referenced(writer, references), is_lenient=True)
        except InvalidSchema as e:
            return refusing_writer(e)
        assert isinstance(written, ParsedPair)
        key_id, value_id = pairs.ids_of(schema_id)
        return pairs.pair_reader(
            written.encoding,
            self.reader_of(topic, written.key.definition, key_id, references),
            self.reader_of(topic, written.value.definition, value_id, references),
        )

    def _referenced(self, writer: SchemaDefinition, references: References) -> References:
        if not writer.references or references or self._lookup is None:
            return references
        return self._lookup.referenced(writer)

    def _fetched(self, topic: str, schema_id: SchemaIdBytes | None) -> _Found:
        if not isinstance(schema_id, bytes):
            carried = (
                "no schema id" if schema_id is None else "the ids of a pair, and the topic has no KEY_VALUE schema"
            )
            raise SchemaSerializationError(
                f"topic {topic}: a third-party registry keeps the schemas, and the message carries {carried}; "
                "read with the schema that it was written with, or with BytesSchema()"
            )
        place = _NAMING.namespace_of(topic), schema_id
        if place not in self._found:
            if len(self._found) >= MOST_KEPT:
                self._found.clear()
            self._found[place] = self._fetch(topic, *place)
        return self._found[place]

    def _fetch(self, topic: str, namespace: str, schema_id: bytes) -> _Found:
        told = f"topic {topic}: the message carries schema id {schema_id.hex(' ')} of a third-party registry"
        if self._lookup is None:
            raise SchemaSerializationError(
                f"{told}, and this client has none to ask; give the client registry='http://…', the one that its "
                "producer used"
            )
        try:
            id_ = external_id.read(schema_id)
            definition = self._lookup.by_id(id_.schema, namespace)
            references = self._lookup.referenced(definition, namespace) if definition.references else NO_REFERENCES
            return records.with_message(definition, references, id_.message), references
        except (InvalidArgument, NotFound) as e:
            raise SchemaSerializationError(
                f"{told}, which the client's registry does not know: {e.message}; give the client the registry that "
                "its producer used, or read with the schema class that wrote it"
            ) from e


def _reader(definition: SchemaDefinition, references: References) -> Read[Any]:
    try:
        decode = decoder_of(parse(definition, references, is_lenient=True))
    except InvalidSchema as e:
        return refusing_writer(e)
    return lambda payload, key: decode(payload)
