"""AutoProduceBytes: bytes that are encoded already, checked before they are sent."""

from typing import Any, Final

from tallystick.errors import InvalidRecord, SchemaSerializationError
from tallystick.finding import Finding, Place
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.serde.auto_consume import AutoConsume
from tallystick.serde.key_value import is_external
from tallystick.serde.primitive import BYTES
from tallystick.serde.schema import EncodeData, Read, RegistrySettings, Schema, SchemaIdBytes

AUTO_PRODUCE: Final = SchemaType("AUTO_PRODUCE")
NOT_BYTES = "AUTO_PRODUCE_VALUE_NOT_BYTES"


class AutoProduceBytes(Schema[bytes]):
    """Takes bytes, checks that its schema can read them, and passes them on as they are.

    Without a schema it follows the topic's latest one, which it is bound to when a producer opens; so it serves one
    producer. A schema of a third-party registry must tell its id (`Schema.schema_id_for`).
    """

    definition = SchemaDefinition(AUTO_PRODUCE)

    def __init__(self, schema: Schema[Any] | None = None) -> None:
        self.schema = schema
        self._read: Read[Any] | None = None
        if schema is not None:
            self.definition = schema.definition
            self._read = None if is_external(schema) else schema.reader_of("", None, None)

    @property
    def kept_type(self) -> SchemaType | None:
        return None if self.schema is None else self.schema.kept_type

    def bind(self, definition: SchemaDefinition | None, references: References = NO_REFERENCES) -> None:
        """Follows the topic's latest schema from now on; None: it has none, and all bytes pass.

        Where a schema was given, that one stays.
        """
        if self.schema is not None:
            return
        self.definition = BYTES.definition if definition is None else definition
        try:
            self._read = AutoConsume().reader_of("", definition, None, references)
        except SchemaSerializationError as e:
            raise SchemaSerializationError(
                "a third-party registry keeps the schema of the topic, so AutoProduceBytes() cannot know it; "
                "give it that registry's schema: AutoProduceBytes(schema)"
            ) from e

    def encode(self, topic: str, value: bytes) -> EncodeData:
        if not isinstance(value, bytes):
            raise _not_bytes(value)
        if self._read is not None:
            self._read(value, None)
            return EncodeData(value)
        if self.schema is None:
            raise SchemaSerializationError(
                f"topic {topic}: AutoProduceBytes() has not been told the topic's schema; open a producer with it, "
                "or give it a schema: AutoProduceBytes(schema)"
            )
        schema_id = self.schema.schema_id_for(topic)
        self.schema.decode(topic, value, schema_id)
        return EncodeData(value, schema_id)

    def decode(self, topic: str, data: bytes, schema_id: SchemaIdBytes | None) -> bytes:
        return data

    def close(self) -> None:
        if self.schema is not None:
            self.schema.close()

    def configure(self, settings: RegistrySettings) -> None:
        if self.schema is not None:
            self.schema.configure(settings)

    def schema_id_for(self, topic: str) -> SchemaIdBytes:
        return super().schema_id_for(topic) if self.schema is None else self.schema.schema_id_for(topic)


def _not_bytes(value: object) -> InvalidRecord:
    message = f"AutoProduceBytes takes bytes that are encoded already, not a {type(value).__name__}"
    fix = "encode the value first, or send it with its schema instead of AutoProduceBytes"
    return InvalidRecord(message, [Finding(rule=NOT_BYTES, message=message, fix=fix, old=Place(""), new=Place(""))])
