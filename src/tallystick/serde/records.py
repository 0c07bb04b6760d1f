"""What a definition calls its record: subjects are named after it, and frames say which message of Protobuf they hold."""

import json

from tallystick.formats import parse
from tallystick.formats.avro.types import AvroSchema, Named
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.protobuf.types import ProtobufSchema
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition


def record_name(definition: SchemaDefinition, references: References = NO_REFERENCES) -> str | None:
    """The full name of an Avro record or a Protobuf message, the title of a JSON Schema; None where there is none."""
    schema = parse(definition, references, is_lenient=True)
    match schema:
        case AvroSchema(root=Named(name=name)):
            return name
        case ProtobufSchema(root=name):
            return name
        case JsonSchema():
            text = json.loads(definition.text)
            return text.get("title") if isinstance(text, dict) else None
    return None


def message_path(definition: SchemaDefinition, references: References = NO_REFERENCES) -> tuple[int, ...] | None:
    """Where the message stands in a `.proto` text, as Confluent's frames say it; None for other types."""
    schema = parse(definition, references, is_lenient=True)
    if isinstance(schema, ProtobufSchema) and schema.root is not None and not schema.is_native:
        return schema.index_of(schema.root)
    return None
