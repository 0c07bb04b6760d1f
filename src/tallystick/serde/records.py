"""What a definition calls its record: subjects are named after it, and frames say which message of a file it is."""

import json
from dataclasses import replace

from tallystick.errors import InvalidArgument, TallystickError
from tallystick.formats import parse
from tallystick.formats.avro.types import AvroSchema, Enum, Fixed, Record
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.protobuf.parse import MESSAGE_PROPERTY
from tallystick.formats.protobuf.types import ProtobufSchema
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import PROTOBUF


def record_name(definition: SchemaDefinition, references: References = NO_REFERENCES) -> str | None:
    """The full name of an Avro record or a Protobuf message, the title of a JSON Schema; None where there is none."""
    schema = parse(definition, references, is_lenient=True)
    match schema:
        case AvroSchema(root=Record(name=name) | Enum(name=name) | Fixed(name=name)):
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


def described(definition: SchemaDefinition) -> str:
    """A schema in a sentence: its type, and the name of its record where it has one that can be read alone."""
    try:
        name = record_name(definition)
    except TallystickError:
        name = None
    return definition.type if name is None else f"{definition.type} {name}"


def with_message(definition: SchemaDefinition, references: References, path: tuple[int, ...]) -> SchemaDefinition:
    """The definition, and for Protobuf which message of the file its records are. Raises `InvalidArgument`."""
    if definition.type != PROTOBUF:
        return definition
    schema = parse(definition, references, is_lenient=True)
    assert isinstance(schema, ProtobufSchema)
    try:
        message = schema.message_at(path)
    except KeyError as e:
        steps = ".".join(map(str, path))
        raise InvalidArgument("schema id", f"it names message {steps} of the file, which has no such message") from e
    return replace(definition, properties={**definition.properties, MESSAGE_PROPERTY: message})
