"""Bytes that are encoded already."""

import pytest

from tallystick.errors import InvalidRecord, SchemaSerializationError
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.key_value import KeyValueEncoding
from tallystick.serde import (
    INT64,
    STRING,
    AutoProduceBytes,
    AvroSchema,
    EncodeData,
    KeyValueSchema,
    RegistrySettings,
    Schema,
)
from tallystick.serde.schema import SchemaIdBytes
from tallystick.wire.pulsar.schemas import KeyValueIds
from tests.unit.serde.classes import Point
from tests.unit.serde.externals import NumberedJson

POINT = AvroSchema(Point)
PAYLOAD = POINT.to_payload(Point(1, 2))


def test_bytes_that_fit_pass_as_they_are() -> None:
    schema = AutoProduceBytes(POINT)
    assert schema.definition == POINT.definition
    assert schema.encode("t", PAYLOAD) == EncodeData(PAYLOAD)
    assert schema.decode("t", PAYLOAD, None) == PAYLOAD


def test_bytes_that_do_not_fit_have_findings() -> None:
    with pytest.raises(InvalidRecord) as refused:
        AutoProduceBytes(POINT).encode("t", b"")
    assert [finding.rule for finding in refused.value.findings] == ["AVRO_PAYLOAD_UNREADABLE"]


def test_values_that_are_no_bytes_have_a_finding() -> None:
    with pytest.raises(InvalidRecord, match="not a Point") as refused:
        AutoProduceBytes(POINT).encode("t", Point(1, 2))  # type: ignore[arg-type]
    assert [finding.rule for finding in refused.value.findings] == ["AUTO_PRODUCE_VALUE_NOT_BYTES"]


def test_it_follows_the_topics_schema() -> None:
    schema = AutoProduceBytes()
    assert schema.definition.type in types.CLIENT_SIDE
    with pytest.raises(SchemaSerializationError, match="has not been told the topic's schema"):
        schema.encode("t", PAYLOAD)
    schema.bind(POINT.definition)
    assert schema.definition == POINT.definition
    assert schema.encode("t", PAYLOAD) == EncodeData(PAYLOAD)
    with pytest.raises(InvalidRecord):
        schema.encode("t", b"")


def test_a_topic_without_a_schema_takes_all_bytes() -> None:
    schema = AutoProduceBytes()
    schema.bind(None)
    assert schema.definition.type == types.BYTES
    assert schema.encode("t", b"any") == EncodeData(b"any")


def test_a_schema_that_was_given_stays() -> None:
    schema = AutoProduceBytes(POINT)
    schema.bind(INT64.definition)
    assert schema.definition == POINT.definition


def test_pairs() -> None:
    inline = KeyValueSchema(STRING, POINT)
    payload = inline.encode("t", ("k", Point(1, 2))).data or b""
    for schema in (AutoProduceBytes(inline), AutoProduceBytes()):
        schema.bind(inline.definition)
        assert schema.encode("t", payload) == EncodeData(payload)
        with pytest.raises(InvalidRecord, match="is not a pair"):
            schema.encode("t", b"any")
    separated = AutoProduceBytes(KeyValueSchema(STRING, POINT, KeyValueEncoding.SEPARATED))
    assert separated.encode("t", PAYLOAD) == EncodeData(PAYLOAD)


def test_external_schemas_check_by_their_own_id() -> None:
    schema = AutoProduceBytes(NumberedJson(b"\x05"))
    assert schema.encode("t", b"[1]") == EncodeData(b"[1]", b"\x05")
    assert schema.schema_id_for("t") == b"\x05"
    with pytest.raises(SchemaSerializationError, match="no JSON"):
        schema.encode("t", b"[")


def test_external_pairs_have_two_ids() -> None:
    inner = KeyValueSchema(NumberedJson(b"\x01"), NumberedJson(b"\x02"))
    payload = inner.encode("t", ("k", 1)).data or b""
    assert AutoProduceBytes(inner).encode("t", payload) == EncodeData(payload, KeyValueIds(b"\x01", b"\x02"))


def test_external_schemas_must_tell_their_id() -> None:
    class Silent(Schema[bytes]):
        def encode(self, topic: str, value: bytes) -> EncodeData:
            return EncodeData(value, b"\x01")

        def decode(self, topic: str, data: bytes, schema_id: SchemaIdBytes | None) -> bytes:
            return data

    with pytest.raises(SchemaSerializationError, match=r"topic t: Silent .* give it a method schema_id_for\(topic\)"):
        AutoProduceBytes(Silent()).encode("t", b"any")
    with pytest.raises(SchemaSerializationError):
        AutoProduceBytes().schema_id_for("t")


@pytest.mark.parametrize(
    "definition",
    [
        SchemaDefinition(types.EXTERNAL),
        KeyValueSchema(STRING, NumberedJson(b"\x01")).definition,
    ],
    ids=["external", "pair"],
)
def test_a_third_partys_topic_needs_a_schema(definition: SchemaDefinition) -> None:
    with pytest.raises(SchemaSerializationError, match=r"give it that registry's schema: AutoProduceBytes\(schema\)"):
        AutoProduceBytes().bind(definition)


def test_the_schema_inside_is_told_what_happens() -> None:
    inner = NumberedJson(b"\x01")
    schema = AutoProduceBytes(inner)
    schema.configure(RegistrySettings())
    schema.close()
    assert inner.seen == ["configure", "close"]
    AutoProduceBytes().configure(RegistrySettings())
    AutoProduceBytes().close()
