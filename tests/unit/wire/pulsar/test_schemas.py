"""Schemas, versions and ids: ours to the wire's and back."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InvalidArgument, InvalidSchema, Unsupported
from tallystick.formats import parse
from tallystick.model import schema_type as types
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.subject import Version
from tallystick.wire.pulsar import key_value, schema_types, schemas
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.schemas import KeyValueIds
from tests.unit.wire.known import cases, known

AVRO = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'


def wired(number: pb.Schema.Type, data: bytes = b"", **properties: str) -> pb.Schema:
    pairs = [pb.KeyValue(key=key, value=value) for key, value in properties.items()]
    return pb.Schema(name="orders", schema_data=data, type=number, properties=pairs)


@pytest.mark.parametrize(
    ("number", "kind"),
    [(pb.Schema.Avro, types.AVRO), (pb.Schema.Json, types.PULSAR_JSON), (pb.Schema.Protobuf, types.PULSAR_PROTOBUF)],
)
def test_a_schema_comes_back_with_its_properties(number: pb.Schema.Type, kind: SchemaType) -> None:
    schema = wired(number, AVRO.encode(), team="sales")
    definition = schemas.definition_of(schema)
    assert definition == SchemaDefinition(kind, AVRO)
    assert definition.properties == {"team": "sales"}
    assert schemas.wire_schema(definition, "orders") == schema


@pytest.mark.parametrize("number", [pb.Schema.NoSchema, pb.Schema.AutoConsume])
def test_no_schema_is_none(number: pb.Schema.Type) -> None:
    assert schemas.definition_of(wired(number, b"whatever")) is None


@pytest.mark.parametrize("number", sorted(set(pb.Schema.Type.values()) - {pb.Schema.AutoConsume}))
def test_every_number_has_a_type_and_every_type_its_number(number: pb.Schema.Type) -> None:
    assert schema_types.number_of(schema_types.type_numbered(number)) == number


@pytest.mark.parametrize("name", schema_types.NAMES)
def test_every_name_has_a_type_and_every_type_its_name(name: str) -> None:
    assert schema_types.name_of(schema_types.type_named(name.lower())) == name


def test_an_external_schema_is_its_type_alone() -> None:
    definition = schemas.definition_of(wired(pb.Schema.External, b"\xff not ours"))
    assert definition == SchemaDefinition(types.EXTERNAL)
    assert schemas.wire_schema(definition, "orders") == wired(pb.Schema.External)


def test_bytes_travel_as_no_schema() -> None:
    assert schemas.wire_schema(SchemaDefinition(types.BYTES), "orders") == wired(pb.Schema.NoSchema)


@pytest.mark.parametrize("kind", [types.JSON_SCHEMA, types.PROTOBUF, SchemaType("XML")])
def test_a_type_that_pulsar_lacks_is_unsupported(kind: SchemaType) -> None:
    assert not schema_types.is_known(kind)
    with pytest.raises(Unsupported, match=f"no schema type {kind}"):
        schemas.wire_schema(SchemaDefinition(kind, "{}"), "orders")


def test_a_schema_with_references_is_unsupported() -> None:
    definition = SchemaDefinition(types.AVRO, AVRO, (Reference("a", "b", 1),))
    with pytest.raises(Unsupported, match="references"):
        schemas.wire_schema(definition, "orders")


def test_schema_data_that_is_no_text_is_invalid() -> None:
    with pytest.raises(InvalidSchema, match="UTF-8"):
        schemas.definition_of(wired(pb.Schema.Avro, b"\xff"))


@pytest.mark.parametrize("case", cases("key_value_schemas"))
def test_a_pair_comes_back_in_each_form(case: dict[str, Any]) -> None:
    data, properties = bytes.fromhex(case["data"]), case["properties"]
    definition = schemas.definition_of(wired(pb.Schema.KeyValueSchema, data, **properties))
    assert definition is not None
    assert json.loads(definition.text) == case["definition"]
    parse(definition)
    assert key_value.from_json(json.dumps(case["json"], separators=(",", ":")), properties)
    written, told = key_value.to_json(definition.text)
    assert json.loads(written) == case["json"]
    back = schemas.wire_schema(definition, "orders")
    assert back.schema_data == data
    assert {pair.key: pair.value for pair in back.properties} == _normal({**told, **properties})


def _normal(properties: dict[str, str]) -> dict[str, str]:
    """The properties of a half are a JSON text; ours has spaces in it."""
    inner = ("key.schema.properties", "value.schema.properties")
    return {**properties, **{name: json.dumps(json.loads(properties[name])) for name in inner}}


def test_a_half_of_minus_one_bytes_has_no_schema() -> None:
    absent = b"\xff\xff\xff\xff"
    assert key_value.from_bytes(absent * 2, {}) == key_value.from_bytes(bytes(8), {})


@pytest.mark.parametrize(
    ("data", "properties", "reason"),
    [
        (b"", {}, "length of the key"),
        (b"\x00\x00\x00\x00\x00", {}, "length of the value"),
        (b"\x00\x00\x00\x05{}", {}, "says it has 5 bytes, but 2 follow"),
        (b"\xff\xff\xff\xfe\x00\x00\x00\x00", {}, "says it has -2 bytes"),
        (bytes(9), {}, "1 bytes are left over"),
        (b"\x00\x00\x00\x01\xff\x00\x00\x00\x00", {"key.schema.type": "AVRO"}, "UTF-8"),
        (b"\x00\x00\x00\x02{}\x00\x00\x00\x00", {}, "set the property key.schema.type"),
        (bytes(8), {"key.schema.type": "XML"}, "not a schema type"),
        (bytes(8), {"value.schema.properties": "[]"}, "value.schema.properties is a JSON object"),
    ],
)
def test_a_pair_that_cannot_be_read_is_told_why(data: bytes, properties: dict[str, str], reason: str) -> None:
    with pytest.raises(InvalidSchema, match=reason):
        key_value.from_bytes(data, properties)


@given(st.binary(max_size=40), st.sampled_from(sorted(set(pb.Schema.Type.values()))))
def test_strange_schema_data_raises_invalid_schema_and_nothing_else(data: bytes, number: pb.Schema.Type) -> None:
    with suppress(InvalidSchema):
        schemas.definition_of(wired(number, data))


@pytest.mark.parametrize("case", known("schema_versions"), ids=lambda case: str(case["version"]))
def test_versions_count_from_zero_on_the_wire(case: dict[str, Any]) -> None:
    version, data = Version(case["version"]), bytes.fromhex(case["bytes"])
    assert schemas.version_bytes(version) == data
    assert schemas.version_of(data) == version


@pytest.mark.parametrize("data", [b"", b"\x00" * 7, b"\x00" * 9, b"\xff" * 8])
def test_what_is_no_version_is_an_invalid_argument(data: bytes) -> None:
    with pytest.raises(InvalidArgument, match="schema version"):
        schemas.version_of(data)


@pytest.mark.parametrize("case", cases("schema_ids"))
def test_schema_ids(case: dict[str, Any]) -> None:
    data = bytes.fromhex(case["bytes"])
    expected = (
        bytes.fromhex(case["id"])
        if "id" in case
        else KeyValueIds(bytes.fromhex(case["key"]), bytes.fromhex(case["value"]))
    )
    assert schemas.read_schema_id(data) == expected
    assert (schemas.write_schema_id(expected) == data) is not case.get("is_only_read", False)


@given(st.binary(max_size=12) | st.builds(KeyValueIds, st.binary(max_size=9), st.binary(max_size=9)))
def test_what_is_written_as_an_id_is_read(schema_id: bytes | KeyValueIds) -> None:
    assert schemas.read_schema_id(schemas.write_schema_id(schema_id)) == schema_id


@pytest.mark.parametrize(
    ("data", "reason"),
    [("fe", "cut off"), ("fe00000002ff", "cut off"), ("fe0000000000000000ff", "1 bytes after key and value")],
)
def test_ids_of_a_pair_that_cannot_be_read_are_told_why(data: str, reason: str) -> None:
    with pytest.raises(MalformedFrame, match=reason):
        schemas.read_schema_id(bytes.fromhex(data))


@given(st.binary(max_size=20).map(lambda rest: b"\xfe" + rest))
def test_strange_ids_raise_malformed_frame_and_nothing_else(data: bytes) -> None:
    with suppress(MalformedFrame):
        assert isinstance(schemas.read_schema_id(data), KeyValueIds)
