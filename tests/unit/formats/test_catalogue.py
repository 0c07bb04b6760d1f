"""Which format a schema type has."""

import pytest

from tallystick.errors import InvalidSchema, UnknownSchemaType
from tallystick.formats import format_of, parse, schema_types
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import CLIENT_SIDE, SchemaType


def test_every_named_type_has_a_format() -> None:
    named = {value for name, value in vars(types).items() if name.isupper() and isinstance(value, str)}
    assert named == set(schema_types())
    assert schema_types() == sorted(schema_types())


@pytest.mark.parametrize("kind", sorted(CLIENT_SIDE))
def test_types_of_clients_cannot_be_stored(kind: SchemaType) -> None:
    with pytest.raises(InvalidSchema, match="cannot be stored") as refused:
        parse(SchemaDefinition(kind))
    assert refused.value.fix


@pytest.mark.parametrize("kind", ["", "XML", "avro", " AVRO"])
def test_unknown_type_is_named(kind: str) -> None:
    with pytest.raises(UnknownSchemaType, match="known are") as refused:
        format_of(SchemaType(kind))
    assert refused.value.schema_type == kind


def test_primitives_share_a_format_and_others_do_not() -> None:
    assert format_of(types.STRING) is format_of(types.EXTERNAL)
    assert format_of(types.AVRO) is not format_of(types.PULSAR_JSON)
