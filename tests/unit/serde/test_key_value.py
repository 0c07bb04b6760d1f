"""Pairs of key and value."""

import json
from typing import Any

import pytest

from tallystick.errors import InvalidArgument, InvalidRecord, SchemaSerializationError
from tallystick.formats import format_of, parse
from tallystick.model import schema_type as types
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.key_value import KeyValue, KeyValueEncoding
from tallystick.serde import (
    INT64,
    STRING,
    AutoConsume,
    AvroSchema,
    KeyValueSchema,
    PulsarJsonSchema,
    RegistrySettings,
    Schema,
)
from tallystick.wire.pulsar.schemas import KeyValueIds
from tests.unit.serde.classes import Line, Point
from tests.unit.serde.externals import NumberedJson

INLINE, SEPARATED = KeyValueEncoding.INLINE, KeyValueEncoding.SEPARATED
PAIRS = [KeyValue("k", Line("a")), KeyValue(None, Line("a")), KeyValue("k", None), KeyValue(None, None)]


def pair(encoding: KeyValueEncoding = INLINE) -> KeyValueSchema[str, Line]:
    return KeyValueSchema(STRING, AvroSchema(Line), encoding)


@pytest.mark.parametrize("value", PAIRS, ids=str)
def test_inline_pairs_are_one_payload(value: KeyValue) -> None:
    schema = pair()
    encoded = schema.encode("t", value)
    assert (encoded.key, encoded.schema_id) == (None, None)
    assert schema.reader_of("t", schema.definition, None)(encoded.data or b"", b"a key of its own") == value
    assert schema.decode("t", encoded.data or b"", None) == value


def test_inline_pairs_are_framed_as_the_format_says() -> None:
    schema = KeyValueSchema(STRING, INT64)
    payload = format_of(types.KEY_VALUE).encode(parse(schema.definition), KeyValue("k", 5))
    assert schema.encode("t", ("k", 5)).data == payload


@pytest.mark.parametrize("value", PAIRS, ids=str)
def test_of_separated_pairs_the_key_travels_apart(value: KeyValue) -> None:
    schema = pair(SEPARATED)
    encoded = schema.encode("t", value)
    assert encoded.key == (None if value.key is None else b"k")
    assert (encoded.data is None) == (value.value is None)
    read: Any = schema.reader_of("t", schema.definition, None)
    assert read(encoded.data, encoded.key) == value


def test_the_definition_has_both_halves() -> None:
    schema = pair(SEPARATED)
    assert schema.definition.type == types.KEY_VALUE
    parsed: Any = parse(schema.definition)
    assert parsed.encoding is SEPARATED
    assert (parsed.key.definition, parsed.value.definition) == (STRING.definition, AvroSchema(Line).definition)


def test_references_of_both_halves_are_the_pairs() -> None:
    money = SchemaDefinition(types.AVRO, '{"type": "record", "name": "Money", "fields": []}')
    references = {Reference("Money", "money", 1): money}
    schema = KeyValueSchema(STRING, AvroSchema('"Money"', references=references))
    assert schema.definition.references == tuple(references)
    assert schema.decode("t", schema.encode("t", ("k", {})).data or b"", None) == KeyValue("k", {})


def test_the_halves_of_another_writer_are_resolved() -> None:
    grown = {
        "type": "record",
        "name": "Line",
        "fields": [{"name": "sku", "type": "string"}, {"name": "more", "type": "long", "default": 0}],
    }
    writer = KeyValueSchema(STRING, AvroSchema(grown), SEPARATED)
    encoded = writer.encode("t", ("k", {"sku": "a"}))
    read = pair(INLINE).reader_of("t", writer.definition, None)
    assert read(encoded.data or b"", encoded.key) == KeyValue("k", Line("a"))


def test_what_is_no_pair_has_a_finding() -> None:
    for wrong in ("text", ("k", "v", "w"), 5):
        with pytest.raises(InvalidRecord) as refused:
            pair().encode("t", wrong)  # type: ignore[arg-type]
        assert [finding.rule for finding in refused.value.findings] == ["KEY_VALUE_VALUE_NOT_A_PAIR"]


@pytest.mark.parametrize("encoding", [INLINE, SEPARATED])
def test_findings_name_the_half(encoding: KeyValueEncoding) -> None:
    with pytest.raises(InvalidRecord, match="in the value") as refused:
        pair(encoding).encode("t", ("k", {"sku": 5}))  # type: ignore[arg-type]
    assert [str(finding.new) for finding in refused.value.findings] == ["/value/sku"]
    with pytest.raises(InvalidRecord, match="in the key"):
        pair(encoding).encode("t", (5, None))  # type: ignore[arg-type]
    schema = KeyValueSchema(INT64, INT64, SEPARATED)
    with pytest.raises(InvalidRecord, match="in the key: the payload is not of type INT64"):
        schema.reader_of("t", None, None)(b"12345678", b"short")


def test_a_writer_that_wrote_no_pair_is_told() -> None:
    read = pair().reader_of("t", AvroSchema(Line).definition, None)
    with pytest.raises(InvalidRecord, match="type AVRO, and is read as a pair") as refused:
        read(b"", None)
    assert [finding.rule for finding in refused.value.findings] == ["READER_TYPE_DIFFERS"]


def test_a_writers_pair_that_makes_no_sense_is_told() -> None:
    read = pair().reader_of("t", SchemaDefinition(types.KEY_VALUE, "{}"), None)
    with pytest.raises(InvalidRecord, match="the key is missing"):
        read(b"", None)


def test_a_half_of_another_type_is_told_alone() -> None:
    writer = KeyValueSchema(STRING, PulsarJsonSchema(Line), SEPARATED)
    encoded = writer.encode("t", ("k", Line("a")))
    with pytest.raises(InvalidRecord, match=r"in the value: .*PULSAR_JSON.*AVRO"):
        pair().reader_of("t", writer.definition, None)(encoded.data or b"", encoded.key)


def test_pairs_within_pairs() -> None:
    schema = KeyValueSchema(KeyValueSchema(STRING, INT64), AvroSchema(Point))
    value = KeyValue(KeyValue("k", 1), Point(1, 2))
    assert schema.decode("t", schema.encode("t", value).data or b"", None) == value
    assert schema.reader_of("t", schema.definition, None)(schema.encode("t", value).data or b"", None) == value
    with pytest.raises(InvalidArgument, match="a pair within a pair is INLINE"):
        KeyValueSchema(KeyValueSchema(STRING, INT64, SEPARATED), INT64)


@pytest.mark.parametrize("encoding", [INLINE, SEPARATED])
def test_two_external_halves_have_two_ids(encoding: KeyValueEncoding) -> None:
    schema = KeyValueSchema(NumberedJson(b"\x01"), NumberedJson(b"\x02\x03"), encoding)
    encoded = schema.encode("t", ("k", [1]))
    assert encoded.schema_id == KeyValueIds(b"\x01", b"\x02\x03") == schema.schema_id_for("t")
    read = schema.reader_of("t", schema.definition, encoded.schema_id)
    assert read(encoded.data or b"", encoded.key) == KeyValue("k", [1])
    parsed: Any = parse(schema.definition)
    assert [half.definition for half in (parsed.key, parsed.value)] == [SchemaDefinition(types.EXTERNAL)] * 2


def test_a_half_that_is_not_there_has_no_id() -> None:
    schema = KeyValueSchema(NumberedJson(b"\x01"), NumberedJson(b"\x02"), SEPARATED)
    encoded = schema.encode("t", KeyValue("k", None))
    assert encoded.schema_id == KeyValueIds(b"\x01", b"")
    read: Any = schema.reader_of("t", None, encoded.schema_id)
    assert read(encoded.data, encoded.key) == KeyValue("k", None)


def test_ids_of_a_pair_may_come_as_one_id() -> None:
    schema = KeyValueSchema(NumberedJson(b"\x01"), NumberedJson(b"\x02\x03"))
    payload = schema.encode("t", ("k", 1)).data or b""
    by_the_letter = bytes.fromhex("00000001 01 00000002 0203")
    assert schema.decode("t", payload, by_the_letter) == KeyValue("k", 1)
    with pytest.raises(SchemaSerializationError, match="07 07, which is not a pair of ids"):
        schema.decode("t", payload, b"\x07\x07")


def test_a_primitive_goes_with_either() -> None:
    schema = KeyValueSchema(STRING, NumberedJson(b"\x02"), SEPARATED)
    encoded = schema.encode("t", ("k", [1]))
    assert encoded.schema_id == KeyValueIds(b"", b"\x02") == schema.schema_id_for("t")
    assert parse(schema.definition)
    read = schema.reader_of("t", schema.definition, encoded.schema_id)
    assert read(encoded.data or b"", encoded.key) == KeyValue("k", [1])


@pytest.mark.parametrize(
    ("key", "value", "argument"),
    [
        (AvroSchema(Point), NumberedJson(b"\x01"), "key"),
        (NumberedJson(b"\x01"), AvroSchema(Point), "value"),
        (KeyValueSchema(NumberedJson(b"\x01"), NumberedJson(b"\x01")), NumberedJson(b"\x01"), "key"),
    ],
)
def test_one_registry_keeps_both(key: Schema[Any], value: Schema[Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        KeyValueSchema(key, value)
    assert refused.value.argument == argument


def test_both_halves_are_told_what_happens() -> None:
    key, value = NumberedJson(b"\x01"), NumberedJson(b"\x02")
    schema = KeyValueSchema(key, value)
    schema.configure(RegistrySettings())
    schema.prepare("t", KeyValueIds(b"\x01", b""))
    schema.close()
    assert key.seen == ["configure", "prepare 01", "close"]
    assert value.seen == ["configure", "close"]


def test_the_value_is_closed_even_if_the_key_cannot_be() -> None:
    class Broken(NumberedJson):
        def close(self) -> None:
            raise SchemaSerializationError("no")

    value = NumberedJson(b"\x02")
    with pytest.raises(SchemaSerializationError):
        KeyValueSchema(Broken(b"\x01"), value).close()
    assert value.seen == ["close"]


def test_halves_that_follow_the_writer() -> None:
    writer = pair(SEPARATED)
    encoded = writer.encode("t", ("k", Line("a")))
    schema = KeyValueSchema(AutoConsume(), AutoConsume())
    assert schema.definition.type == "AUTO_CONSUME"
    read = schema.reader_of("t", writer.definition, None)
    value = {"sku": "a", "count": 1, "colour": "RED"}
    assert read(encoded.data or b"", encoded.key) == KeyValue("k", value)
    assert json.loads(writer.definition.text)["encoding"] == "SEPARATED"
