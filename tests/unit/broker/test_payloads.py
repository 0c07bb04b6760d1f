"""What a policy asks of messages before they are taken."""

import base64
import json
from collections.abc import Sequence
from typing import Any

import pytest

from tallystick.broker.payloads import (
    CHECKS,
    PAYLOAD_UNREADABLE,
    SCHEMA_VERSION_UNKNOWN,
    WITHOUT_SCHEMA_VERSION,
    Opaque,
    check_payload,
    opaque,
)
from tallystick.compat.rules import catalogue
from tallystick.formats import Schema, format_of, parse
from tallystick.formats.key_value import KeyValueSchema, encode_parts
from tallystick.model.definition import SchemaDefinition
from tallystick.model.key_value import KeyValue
from tallystick.model.schema_type import AVRO, EXTERNAL, KEY_VALUE, PULSAR_JSON, PULSAR_PROTOBUF
from tallystick.model.settings import PayloadValidation
from tallystick.model.subject import Version
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.batches import join
from tallystick.wire.pulsar.compression import compress
from tallystick.wire.pulsar.schemas import version_bytes

ORDER_TEXT = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
ORDER = parse(SchemaDefinition(AVRO, ORDER_TEXT))
FIRST = version_bytes(Version(1))
UNREADABLE = "AVRO_PAYLOAD_UNREADABLE"
BAD = b"\xff"

OFF, REGISTERED, HALF, ALL = PayloadValidation


def order(number: int) -> bytes:
    return format_of(AVRO).encode(ORDER, {"id": number})


def metadata(**fields: Any) -> pb.MessageMetadata:
    return pb.MessageMetadata(
        **{"producer_name": "p", "sequence_id": 0, "publish_time": 0, "schema_version": FIRST, **fields}
    )


def rules(
    told: pb.MessageMetadata,
    payload: bytes,
    mode: PayloadValidation = ALL,
    *,
    entry: int = 0,
    schema: Schema = ORDER,
    needs_schema: bool = False,
) -> list[str]:
    def schema_of(version: bytes) -> Schema | None:
        return schema if version == FIRST else None

    found = check_payload(schema_of, told, memoryview(payload), entry, mode, needs_schema=needs_schema)
    assert all(finding.message and finding.fix for finding in found)
    return [finding.rule for finding in found]


def batch(*payloads: bytes | None, **fields: Any) -> tuple[pb.MessageMetadata, bytes]:
    """A batch of messages; None is a tombstone."""
    parts = [(pb.SingleMessageMetadata(payload_size=0, null_value=part is None), part or b"") for part in payloads]
    return metadata(num_messages_in_batch=len(payloads), **fields), join(parts)


@pytest.mark.parametrize(
    ("mode", "found"),
    [
        (OFF, []),
        (REGISTERED, [SCHEMA_VERSION_UNKNOWN]),
        (HALF, [SCHEMA_VERSION_UNKNOWN]),
        (ALL, [SCHEMA_VERSION_UNKNOWN]),
    ],
)
@pytest.mark.parametrize("version", [version_bytes(Version(2)), b"", b"x", b"\xff" * 8, b"0" * 99])
def test_a_version_that_the_topic_does_not_have(mode: PayloadValidation, found: list[str], version: bytes) -> None:
    expected = found if version else []
    assert rules(metadata(schema_version=version), order(1), mode, entry=1) == expected


@pytest.mark.parametrize("mode", [REGISTERED, HALF, ALL])
def test_a_message_without_a_version_passes_unless_validation_is_enforced(mode: PayloadValidation) -> None:
    told = metadata()
    told.ClearField("schema_version")
    assert rules(told, BAD, mode) == []
    assert rules(told, BAD, mode, needs_schema=True) == [WITHOUT_SCHEMA_VERSION]
    assert rules(told, BAD, OFF, needs_schema=True) == []


@pytest.mark.parametrize(("mode", "entry", "is_seen"), [(OFF, 0, False), (REGISTERED, 0, False), (HALF, 0, True)])
def test_a_payload_is_looked_into_where_the_mode_says_so(mode: PayloadValidation, entry: int, is_seen: bool) -> None:
    assert rules(metadata(), order(1), mode, entry=entry) == []
    assert rules(metadata(), BAD, mode, entry=entry) == ([UNREADABLE] if is_seen else [])


def test_half_looks_at_even_positions_and_leaves_the_rest_to_the_other_end() -> None:
    told, payload = batch(BAD, BAD, BAD)
    seen = {entry: _indexes(told, payload, HALF, entry) for entry in (0, 1)}
    assert seen == {0: [0, 2], 1: [1]}
    assert _indexes(told, payload, ALL, 1) == [0, 1, 2]
    assert [rules(metadata(), BAD, HALF, entry=entry) for entry in (6, 7)] == [[UNREADABLE], []]


def _indexes(told: pb.MessageMetadata, payload: bytes, mode: PayloadValidation, entry: int) -> Sequence[int]:
    found = check_payload(lambda _: ORDER, told, memoryview(payload), entry, mode)
    return [int(finding.message.split()[1]) for finding in found]


@pytest.mark.parametrize("kind", [pb.NONE, pb.LZ4, pb.ZLIB, pb.ZSTD, pb.SNAPPY])
def test_compressed_batches_are_read(kind: pb.CompressionType) -> None:
    told, payload = batch(order(1), BAD, None, order(2))
    told.compression, told.uncompressed_size = kind, len(payload)
    assert rules(told, compress(kind, payload)) == [UNREADABLE]


def test_a_batch_of_faults_is_told_in_a_few() -> None:
    assert len(rules(*batch(*[BAD] * 500))) == 10


def test_tombstones_pass() -> None:
    assert rules(metadata(null_value=True), b"") == []
    assert rules(*batch(None, order(1), None)) == []


@pytest.mark.parametrize(
    ("fields", "payload"),
    [
        ({"compression": pb.ZLIB, "uncompressed_size": 3}, b"no zlib"),
        ({"compression": pb.LZ4, "uncompressed_size": 2**31}, b"x"),
        ({"num_messages_in_batch": 2}, b"\x00\x00"),
        ({"num_messages_in_batch": 1}, b"\xff\xff\xff\xff"),
    ],
)
def test_what_cannot_be_taken_apart_is_a_finding(fields: dict[str, Any], payload: bytes) -> None:
    assert rules(metadata(**fields), payload) == [PAYLOAD_UNREADABLE]
    assert rules(metadata(**fields), payload, REGISTERED) == []


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"encryption_keys": [pb.EncryptionKeys(key="k", value=b"v")]}, Opaque.ENCRYPTED),
        ({"uuid": "u", "num_chunks_from_msg": 3, "chunk_id": 1}, Opaque.CHUNKED),
    ],
)
def test_what_the_broker_cannot_read_passes_but_its_version_counts(fields: dict[str, Any], why: Opaque) -> None:
    assert rules(metadata(**fields), BAD) == []
    assert rules(metadata(**fields, schema_version=b"other"), BAD) == [SCHEMA_VERSION_UNKNOWN]
    assert opaque(metadata(**fields)) is why
    assert opaque(metadata(num_chunks_from_msg=1)) is None


def pair(encoding: str) -> KeyValueSchema:
    halves = {"key": {"type": "INT32"}, "value": {"type": "AVRO", "schema": ORDER_TEXT}}
    schema = parse(SchemaDefinition(KEY_VALUE, json.dumps({"encoding": encoding, **halves})))
    assert isinstance(schema, KeyValueSchema)
    return schema


def test_pairs_in_one_payload() -> None:
    schema = pair("INLINE")
    payload = format_of(KEY_VALUE).encode(schema, KeyValue(1, {"id": 2}))
    assert rules(metadata(), payload, schema=schema) == []
    assert rules(metadata(), payload + b"x", schema=schema) == ["KEY_VALUE_PAYLOAD_UNREADABLE"]


def test_pairs_in_parts_have_their_key_in_the_metadata() -> None:
    schema = pair("SEPARATED")
    key, value = encode_parts(schema, KeyValue(7, {"id": 2}))
    assert key is not None
    assert value is not None

    def told(key: str, *, is_base64: bool = True, **fields: Any) -> pb.MessageMetadata:
        return metadata(partition_key=key, partition_key_b64_encoded=is_base64, **fields)

    encoded = base64.b64encode(key).decode()
    assert rules(told(encoded), value, schema=schema) == []
    assert rules(told("", null_partition_key=True), value, schema=schema) == []
    assert rules(told("AA=="), value, schema=schema) == ["PRIMITIVE_PAYLOAD_UNREADABLE"]
    assert rules(told("abcd", is_base64=False), value, schema=schema) == []
    assert rules(told(encoded), BAD, schema=schema) == [UNREADABLE]
    for broken in ("?", "é"):
        assert rules(told(broken), value, schema=schema) == [PAYLOAD_UNREADABLE]
    single = pb.SingleMessageMetadata(payload_size=0, partition_key=encoded, partition_key_b64_encoded=True)
    in_batch = join([(single, value)])
    assert rules(metadata(num_messages_in_batch=1), in_batch, schema=schema) == []


def test_json_is_read_as_json() -> None:
    schema = parse(SchemaDefinition(PULSAR_JSON, ORDER_TEXT))
    assert rules(metadata(), b'{"id": 1}', schema=schema) == []
    assert len(rules(metadata(), b'{"id": "one"}', schema=schema)) == 1


@pytest.mark.parametrize("definition", [SchemaDefinition(EXTERNAL), SchemaDefinition(PULSAR_PROTOBUF, ORDER_TEXT)])
def test_what_only_the_client_can_read_passes(definition: SchemaDefinition) -> None:
    assert rules(metadata(), BAD, schema=parse(definition)) == []


def test_checks_are_no_rules() -> None:
    assert set(CHECKS) == {SCHEMA_VERSION_UNKNOWN, WITHOUT_SCHEMA_VERSION, PAYLOAD_UNREADABLE}
    assert not set(CHECKS) & set(catalogue())
