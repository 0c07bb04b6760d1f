"""Which format a schema type has: ours and those of other installed packages."""

from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from tallystick.errors import InvalidSchema, UnknownSchemaType
from tallystick.formats.format import Format, Schema
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import CLIENT_SIDE, SchemaType


def parse(definition: SchemaDefinition, references: References = NO_REFERENCES, *, is_lenient: bool = False) -> Schema:
    """The schema that a definition describes, or `InvalidSchema` with the place of the fault.

    Leniently read are definitions that are registered already, and those of Pulsar's clients, whose brokers take more
    than the specifications do.
    """
    format_ = format_of(definition.type)
    schema = ((format_.parse_leniently if is_lenient else None) or format_.parse)(definition, references)
    assert isinstance(schema, Schema)
    return schema


def encoder_of(schema: Schema) -> Callable[[object], bytes]:
    """The format's `encode` for many values of one schema."""
    format_ = format_of(schema.definition.type)
    return partial(format_.encode, schema) if format_.encoder_of is None else format_.encoder_of(schema)


def decoder_of(schema: Schema, reader: Schema | None = None) -> Callable[[bytes], Any]:
    """The format's `decode` for many payloads of one schema, which are read as one reader's schema has it."""
    format_ = format_of(schema.definition.type)
    if format_.decoder_of is None:
        return partial(format_.decode, schema, reader=reader)
    return format_.decoder_of(schema, reader)


@cache
def format_of(schema_type: SchemaType) -> Format:
    if schema_type in CLIENT_SIDE:
        raise InvalidSchema(
            f"{schema_type} is a type that clients resolve; it cannot be stored",
            fix="send the schema that the client resolved it to",
        )
    installed = _installed()
    if schema_type not in installed:
        raise UnknownSchemaType(schema_type, list(installed))
    found = installed[schema_type].load()
    assert isinstance(found, Format)
    return found


def schema_types() -> list[SchemaType]:
    return sorted(_installed())


@cache
def _installed() -> dict[SchemaType, EntryPoint]:
    return {SchemaType(point.name): point for point in entry_points(group="tallystick.formats")}
