"""NativeSchema: a schema that the cluster's own registry keeps."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NoReturn, TypeVar

from tallystick.errors import InvalidRecord, InvalidSchema
from tallystick.finding import Finding, Place
from tallystick.formats import Schema as ParsedSchema
from tallystick.formats import decoder_of, encoder_of, is_same, parse
from tallystick.formats.primitive.parse import CHARSET_PROPERTY
from tallystick.formats.protobuf.parse import MESSAGE_PROPERTY
from tallystick.formats.pulsar_protobuf.descriptor import PARSING_INFO
from tallystick.model import schema_type as types
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.serde.conversion import Conversion
from tallystick.serde.ports import SchemaLookup
from tallystick.serde.schema import EncodeData, Read, RegistrySettings, Schema, SchemaIdBytes

T = TypeVar("T")

Decode = Callable[[bytes], Any]

TYPE_DIFFERS = "READER_TYPE_DIFFERS"
WRITER_UNREADABLE = "WRITER_SCHEMA_UNREADABLE"

MOST_READERS = 1000
"""Writers' schemas whose readers are kept."""

SAYS_NOTHING = (types.BYTES, types.NONE)
"""Of what was written."""
_READING_PROPERTIES = (CHARSET_PROPERTY, PARSING_INFO, MESSAGE_PROPERTY)
"""Those without which a payload would be read as something else."""


class NativeSchema(Schema[T]):
    """A definition with its codec. The text is parsed when the first value or message comes, and only once.

    `references` holds what the text refers to, directly or through others.
    """

    def __init__(
        self,
        definition: SchemaDefinition,
        *,
        references: References = NO_REFERENCES,
        conversion: Conversion[T] | None = None,
    ) -> None:
        self.definition = definition
        self.references = references
        self._conversion = conversion
        self._lookup: SchemaLookup | None = None
        self._readers: dict[object, Read[T]] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.definition.type}>"

    def configure(self, settings: RegistrySettings) -> None:
        self._lookup = settings.lookup

    @cached_property
    def parsed(self) -> ParsedSchema:
        """Raises `InvalidSchema` with the place of the fault."""
        return parse(self.definition, self.references)

    @cached_property
    def to_payload(self) -> Callable[[T], bytes]:
        """Value → payload; raises `InvalidRecord` with findings."""
        return self._encoder()

    @cached_property
    def from_payload(self) -> Read[T]:
        """The reader of what this schema itself wrote."""
        return self._converting(decoder_of(self.parsed))

    def _encoder(self) -> Callable[[T], bytes]:
        encode = encoder_of(self.parsed)
        return encode if self._conversion is None else self._conversion.before(encode)

    def encode(self, topic: str, value: T) -> EncodeData:
        return EncodeData(self.to_payload(value))

    def decode(self, topic: str, data: bytes, schema_id: SchemaIdBytes | None) -> T:
        return self.from_payload(data, None)

    def reader_of(
        self,
        topic: str,
        writer: SchemaDefinition | None,
        schema_id: SchemaIdBytes | None,
        references: References = NO_REFERENCES,
    ) -> Read[T]:
        """Resolves the writer's schema to this one. Messages whose writer told nothing are read as if it were this one.

        What cannot be read at all gives a reader that raises `InvalidRecord` for each message.
        """
        if writer is None or writer.type in SAYS_NOTHING:
            return self.from_payload
        if writer == self.definition and self._reads_alike(writer):
            return self.from_payload
        key = (writer, tuple(writer.properties.get(name) for name in _READING_PROPERTIES))
        found = self._readers.get(key)
        if found is None:
            found = self._reader(writer, references or self._referenced(writer))
            if len(self._readers) >= MOST_READERS:
                self._readers.clear()
            self._readers[key] = found
        return found

    def _reads_alike(self, writer: SchemaDefinition) -> bool:
        own = self.definition.properties
        return all(writer.properties.get(name) == own.get(name) for name in _READING_PROPERTIES)

    def _referenced(self, writer: SchemaDefinition) -> References:
        if not writer.references or self._lookup is None:
            return self.references
        return self._lookup.referenced(writer)

    def _reader(self, writer: SchemaDefinition, references: References) -> Read[T]:
        if writer.type != self.definition.type:
            return refusing_type(writer.type, f"with one of type {self.definition.type}")
        try:
            written = parse(writer, references, is_lenient=True)
        except InvalidSchema as e:
            return refusing_writer(e)
        return self._resolving(written)

    def _resolving(self, written: ParsedSchema) -> Read[T]:
        if is_same(written, self.parsed) and self._reads_alike(written.definition):
            return self.from_payload
        return self._converting(decoder_of(written, self.parsed))

    def _converting(self, decode: Decode) -> Read[T]:
        if self._conversion is None:
            return lambda payload, key: decode(payload)
        return self._conversion.after(decode)


def refusing(rule: str, message: str, fix: str) -> Read[Any]:
    """A reader of messages that cannot be read, each with the same reason."""
    finding = Finding(rule=rule, message=message, fix=fix, old=Place(""), new=Place(""))

    def read(payload: bytes, key: bytes | None) -> NoReturn:
        raise InvalidRecord(message, [finding])

    return read


def refusing_type(written: SchemaType, own: str) -> Read[Any]:
    """A reader of messages of another type than is read."""
    is_external = written == types.EXTERNAL
    fit = "the schema of the registry that keeps it" if is_external else f"a schema of type {written}"
    return refusing(
        TYPE_DIFFERS,
        f"the message was written with a schema of type {written}, and is read {own}",
        f"read it with AutoConsume(), or with {fit}",
    )


def refusing_writer(error: InvalidSchema) -> Read[Any]:
    """A reader of messages whose own schema makes no sense."""
    return refusing(
        WRITER_UNREADABLE,
        f"the schema that the message was written with cannot be read: {error.message}",
        "register that schema again as a whole, and what it refers to, or read with BytesSchema()",
    )
