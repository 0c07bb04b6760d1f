"""Schemas of Pulsar's primitive types."""

import datetime as dt
from typing import Any

import pytest

from tallystick import serde
from tallystick.errors import InvalidRecord, InvalidSchema
from tallystick.model import schema_type as types
from tallystick.model.temporal import Instant, LocalDateTime, LocalTime
from tallystick.serde import NativeSchema, StringSchema
from tallystick.serde.primitive import PRIMITIVES, PrimitiveSchema

NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
VALUES: dict[str, Any] = {
    types.BYTES: b"\x00\xff",
    types.STRING: "Grüße",
    types.BOOLEAN: True,
    types.INT8: -128,
    types.INT16: 32767,
    types.INT32: -5,
    types.INT64: 2**40,
    types.FLOAT: 0.5,
    types.DOUBLE: 0.1,
    types.DATE: NOON,
    types.TIME: dt.time(1, 2, 3, 4000),
    types.TIMESTAMP: NOON,
    types.INSTANT: Instant(5, 7),
    types.LOCAL_DATE: dt.date(2026, 3, 1),
    types.LOCAL_TIME: LocalTime(12_345),
    types.LOCAL_DATE_TIME: LocalDateTime(dt.date(2026, 3, 1), LocalTime(5)),
}


@pytest.mark.parametrize("schema", PRIMITIVES, ids=lambda schema: schema.definition.type)
def test_values_survive(schema: NativeSchema[Any]) -> None:
    value = VALUES[schema.definition.type]
    encoded = schema.encode("t", value)
    assert encoded.schema_id is None
    assert schema.reader_of("t", schema.definition, None)(encoded.data or b"", None) == value


@pytest.mark.parametrize("schema", PRIMITIVES, ids=lambda schema: schema.definition.type)
def test_other_values_have_findings(schema: NativeSchema[Any]) -> None:
    with pytest.raises(InvalidRecord) as refused:
        schema.encode("t", object())
    assert [finding.rule for finding in refused.value.findings] == ["PRIMITIVE_VALUE_TYPE_WRONG"]


@pytest.mark.parametrize("schema", PRIMITIVES, ids=lambda schema: schema.definition.type)
def test_each_type_has_a_class_and_a_ready_instance(schema: PrimitiveSchema[Any]) -> None:
    name = schema.definition.type
    assert getattr(serde, name) is schema
    assert getattr(serde, f"{name.title().replace('_', '')}Schema") is type(schema)
    assert type(schema)().definition == schema.definition


def test_every_public_name_is_there() -> None:
    assert all(hasattr(serde, name) for name in serde.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        serde.Nothing  # noqa: B018


def test_half_a_character_has_a_finding() -> None:
    with pytest.raises(InvalidRecord) as refused:
        StringSchema().encode("t", "\ud800")
    assert [finding.rule for finding in refused.value.findings] == ["PRIMITIVE_VALUE_NOT_IN_CHARACTER_SET"]


def test_the_character_set_travels_with_the_schema() -> None:
    latin = StringSchema("ISO-8859-1")
    payload = latin.to_payload("Grüße")
    assert payload == "Grüße".encode("latin-1")
    assert latin.decode("t", payload, None) == "Grüße"


def test_texts_are_read_in_the_writers_character_set() -> None:
    latin, utf_8 = StringSchema("ISO-8859-1"), StringSchema()
    read = utf_8.reader_of("t", latin.definition, None)
    assert read(latin.to_payload("Grüße"), None) == "Grüße"


def test_unknown_character_sets_are_told() -> None:
    with pytest.raises(InvalidSchema, match="KOI8"):
        StringSchema("KOI8").to_payload("x")
