"""What Pulsar's brokers take from Java's clients, and the specification refuses."""

import json
from typing import Any

import pytest

from tallystick.compat import reading
from tallystick.errors import InvalidRecord, InvalidSchema
from tallystick.finding import Direction
from tallystick.formats import Schema, format_of, parse
from tallystick.formats.avro.types import AvroSchema, Record
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, PULSAR_JSON, PULSAR_PROTOBUF
from tests.unit.formats.avro.schemas import enum, record


def lenient(raw: Any) -> AvroSchema:
    schema = parse(SchemaDefinition(AVRO, json.dumps(raw)), is_lenient=True)
    assert isinstance(schema, AvroSchema)
    return schema


def defaults(schema: AvroSchema) -> dict[str, str | None]:
    assert isinstance(schema.root, Record)
    return {field.name: field.default for field in schema.root.fields}


NAMES = [
    record("Inner", ("a", "int"), namespace="com.acme.Outer$"),
    record("com.acme.Outer$Inner", ("a", "int")),
    record("R", ("$a", "int"), ("ä", "int", 0)),
    record("R", ("a", enum("E$", "A", "B$2", "Ü", default="B$2"))),
    record("R", ("a", "int"), aliases=["Old$R"]),
    record("R", ("a", record("In$ner", ("b", "int"))), ("c", "In$ner")),
]


@pytest.mark.parametrize("raw", NAMES, ids=map(str, range(len(NAMES))))
def test_names_may_hold_a_dollar_and_any_letter(raw: Any) -> None:
    assert isinstance(lenient(raw).root, Record)
    with pytest.raises(InvalidSchema):
        parse(SchemaDefinition(AVRO, json.dumps(raw)))


@pytest.mark.parametrize("name", ["a-b", "1a", "a b", "", "a..b", "."])
def test_other_names_are_refused_all_the_same(name: str) -> None:
    with pytest.raises(InvalidSchema, match="letters, digits, underscores and dollars"):
        lenient(record(name, ("a", "int")))


@pytest.mark.parametrize("kind", [PULSAR_JSON, PULSAR_PROTOBUF])
def test_pulsar_s_own_types_are_always_read_so(kind: Any) -> None:
    parse(SchemaDefinition(kind, json.dumps(NAMES[0])))


def test_values_of_such_types_come_back_from_their_bytes() -> None:
    schema = lenient(
        record(
            "com.acme.Outer$Inner",
            ("a$", enum("E$", "A", "B$2", default="A")),
            ("self", ["null", "com.acme.Outer$Inner"], None),
            ("ß", "long", None),
        )
    )
    value = {"a$": "B$2", "self": {"a$": "A", "self": None, "ß": 1}, "ß": 2}
    format_ = format_of(AVRO)
    assert format_.decode(schema, format_.encode(schema, value)) == value


def test_an_unknown_symbol_becomes_the_default_of_the_reader() -> None:
    writer, reader = (lenient(enum("E$", *symbols, default="A$")) for symbols in (("A$", "B$"), ("A$",)))
    format_ = format_of(AVRO)
    assert format_.decode(writer, format_.encode(writer, "B$"), reader) == "A$"


def test_a_default_of_another_type_is_none() -> None:
    schema = lenient(record("R", ("a", "long", None), ("b", "int", 1), ("c", ["int", "null"], "x"), ("d", "string", 0)))
    assert defaults(schema) == {"a": None, "b": "1", "c": None, "d": None}
    with pytest.raises(InvalidRecord):
        format_of(AVRO).encode(schema, {"b": 1})


def test_a_default_that_needs_one_that_is_none_is_none() -> None:
    inner = record("In", ("x", "long", None), ("y", "int", 3))
    schema = lenient(record("R", ("a", inner, {}), ("b", "In", {"x": 1})))
    assert defaults(schema) == {"a": None, "b": '{"x": 1}'}
    format_ = format_of(AVRO)
    empty = lenient(record("R", ("a", inner)))
    found = format_.decode(empty, format_.encode(empty, {"a": {"x": 5, "y": 6}}), schema)
    assert found == {"a": {"x": 5, "y": 6}, "b": {"x": 1, "y": 3}}


def test_a_default_that_is_none_helps_no_reader() -> None:
    old, new = lenient(record("R", ("a", "int"))), lenient(record("R", ("a", "int"), ("b", "long", "no number")))
    assert [f.rule for f in reading.findings(old, new, Direction.BACKWARD)] == ["AVRO_FIELD_ADDED_NEEDS_DEFAULT"]
    assert reading.findings(old, new, Direction.FORWARD) == []


def test_the_text_stays_as_it_was() -> None:
    one, other = (lenient(record("R", ("a", "long", default))) for default in (None, "x"))
    normal_form = format_of(AVRO).normal_form
    assert normal_form(one) != normal_form(other)


def test_both_readings_of_a_plain_text_are_one_type() -> None:
    definition = SchemaDefinition(AVRO, json.dumps(record("R", ("a", "int", 1), ("b", ["null", "R"], None))))
    strict: Schema = parse(definition)
    assert isinstance(strict, AvroSchema)
    leniently = parse(definition, is_lenient=True)
    assert isinstance(leniently, AvroSchema)
    assert strict.root is leniently.root
