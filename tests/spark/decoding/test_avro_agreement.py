"""Avro on the JVM against our codec: the same value, or both refuse.

Where they part is in this table. Of a record that a writer wrote, a value is another one only where one side alone
has a logical type.

| what | our codec | the JVM |
|---|---|---|
| a record that holds itself, a root that may be null | reads | refused when planned: no such type |
| decimals over 38 digits, names that differ in case only | reads | refused when planned: no such type |
| an int or long with a logical type in a union of both | reads | refused when planned: Spark makes one number of them |
| a default of a later branch that Java takes for another | reads | refused when planned |
| time-millis, time-micros, uuid | times, UUIDs | the number or the text underneath: no such type |
| one side has a logical type, the other has none | as the writer means it | as the reader means it, like the rules |
| another logical type | as the writer means it | refused, like the rules |
| enum symbols and times below nought, decimals of no bytes or too long, UUIDs in other spellings | reads | refuses |
| texts that are no UTF-8, read as bytes | refuses | the bytes |
| ints over 32 bits, booleans other than 0 and 1: no writer writes them | reads | cuts off, false |
| a decimal of up to 18 digits in more than 8 bytes that is too long: no writer writes it | reads | cuts off |
| blocks whose size or count is wrong: no writer writes them | refuses | may go by the size |
"""

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tallystick.compat import reading
from tallystick.errors import Unsupported
from tallystick.finding import Direction
from tallystick.formats import parse
from tallystick.formats.avro.codec import encoder_of
from tallystick.formats.avro.types import AvroSchema, Fixed, Primitive, Union, every_type
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO
from tallystick.spark.decoding import avro, avro_seal
from tests.properties.avro_schemas import pair as random_pair
from tests.properties.avro_schemas import parsed
from tests.properties.avro_values import values
from tests.properties.test_avro_compiled import broken
from tests.spark.decoding.avro_agreement import REFUSED, Outcome, Pair, is_written_by_nobody, outcomes, planned

PAIRS = 120
SEED = 20
CHANGED_MEANING = {"AVRO_LOGICAL_TYPE_CHANGED", "AVRO_DECIMAL_CHANGED"}


def random_pairs(random: Random, count: int) -> list[Pair]:
    pairs: list[Pair] = []
    while len(pairs) < count:
        writer, reader = map(parsed, random_pair(random))
        if not may_be_null(reader):
            pairs.append(Pair(writer, reader, payloads(random, writer)))
    return pairs


def payloads(random: Random, writer: AvroSchema) -> list[bytes]:
    good = [encoder_of(writer)(value) for value in values(writer.root)[:8]]
    return [*good, *(broken(random, payload) for payload in good for _ in range(3)), random.randbytes(6)]


def may_be_null(schema: AvroSchema) -> bool:
    branches = schema.root.branches if isinstance(schema.root, Union) else (schema.root,)
    return any(branch.kind == "null" for branch in branches)


def logical_types(schema: AvroSchema) -> Counter[str]:
    types = (type_ for type_ in every_type(schema.root) if isinstance(type_, Primitive | Fixed))
    return Counter(f"{type_.kind} {type_.logical}" for type_ in types if type_.logical is not None)


def is_in_the_table(outcome: Outcome) -> bool:
    writer, reader = outcome.pair.writer, outcome.pair.reader
    if logical_types(writer) != logical_types(reader):
        # The codec goes by the writer's meaning; what the JVM gives is tested below.
        return outcome.codec is not REFUSED or has_blocks(writer)
    if CHANGED_MEANING & {finding.rule for finding in reading.findings(writer, reader, Direction.BACKWARD)}:
        return outcome.jvm is REFUSED
    if outcome.codec is REFUSED:
        is_text_read_as_bytes = "string" in kinds(writer) and "bytes" in kinds(reader)
        return (has_blocks(writer) or is_text_read_as_bytes) and is_written_by_nobody(writer, outcome.payload)
    return is_written_by_nobody(writer, outcome.payload)


def kinds(schema: AvroSchema) -> set[str]:
    return {type_.kind for type_ in every_type(schema.root)}


def has_blocks(schema: AvroSchema) -> bool:
    return bool(kinds(schema) & {"array", "map"})


def test_random_pairs_are_read_alike(spark: SparkSession) -> None:
    found = list(outcomes(spark, random_pairs(Random(SEED), PAIRS)))
    parted = [outcome for outcome in found if not outcome.is_same and not is_in_the_table(outcome)]
    assert parted == []
    assert sum(outcome.codec is not REFUSED and outcome.is_same for outcome in found) > PAIRS
    assert sum(outcome.codec is REFUSED for outcome in found) > PAIRS
    assert sum(not outcome.is_same for outcome in found) < len(found) / 20


def record(*fields: Any, name: str = "R") -> Any:
    parts = ({"name": field[0], "type": field[1], **({"default": field[2]} if field[2:] else {})} for field in fields)
    return {"type": "record", "name": name, "fields": list(parts)}


DATE = {"type": "int", "logicalType": "date"}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
UUIDS = {"type": "string", "logicalType": "uuid"}


def decimal(precision: int, scale: int) -> Any:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


def varint(number: int) -> bytes:
    bits = (number << 1) ^ (number >> 63)
    out = bytearray()
    while bits > 127:
        out.append(bits & 127 | 128)
        bits >>= 7
    return bytes([*out, bits])


TEXT = b"\x0aorder"
LIST = {"type": "array", "items": "int"}
A, B = record(("x", "int"), name="A"), record(("x", "int", 7), name="B")
ALIKE: list[tuple[str, Any, Any, list[bytes]]] = [
    (
        "texts that are no UTF-8",
        record(("a", "string")),
        None,
        [b"\x02\xff", b"\x02a", b"\x04\xc3\xa4", b"\x06\xed\xa0\x80"],
    ),
    (
        "deep texts that are no UTF-8",
        {"type": "map", "values": {"type": "array", "items": ["null", "string"]}},
        None,
        [b"\x02\x02k\x02\x02\x02\xff\x00\x00", b"\x02\x02\xff\x00\x00", b"\x02\x02k\x04\x00\x02\x02a\x00\x00"],
    ),
    ("bytes become text", "bytes", "string", [b"\x02\xff", b"\x02a"]),
    ("text becomes bytes", "string", "bytes", [TEXT, b"\x00", b"\x04a"]),
    (
        "symbols",
        {"type": "enum", "name": "E", "symbols": ["A", "B"]},
        {"type": "enum", "name": "E", "symbols": ["B"]},
        [b"\x00", b"\x02", b"\x04", b"\x80\x80\x80\x80\x08"],
    ),
    (
        "symbols with a default",
        {"type": "enum", "name": "E", "symbols": ["A", "B"]},
        {"type": "enum", "name": "E", "symbols": ["B", "C"], "default": "C"},
        [b"\x00", b"\x02", b"\x04"],
    ),
    (
        "branches that are not there",
        ["int", "string"],
        None,
        [b"\x00\x02", b"\x02\x02a", b"\x04\x02", b"\x01\x02", b"\x80\x80\x04"],
    ),
    ("branches by promotion", ["int", "float"], ["string", "double"], [b"\x00\x02", b"\x02\x00\x00\x80\x3f"]),
    (
        "numbers of a union",
        record(("a", ["null", "int", "long"])),
        None,
        [b"\x02\x02", b"\x04" + varint(2**40), b"\x00"],
    ),
    (
        "blocks with sizes",
        record(("a", LIST)),
        None,
        [b"\x03\x04\x02\x04\x00", b"\x02\x02\x01\x02\x06\x00", b"\x03\x04\x02"],
    ),
    (
        "blocks that are passed over",
        record(("a", LIST), ("b", "int")),
        record(("b", "int")),
        [b"\x03\x04\x02\x04\x00\x06", b"\x02\x02\x00\x06", b"\x03\x10\x02\x04\x00\x06"],
    ),
    (
        "keys twice",
        {"type": "map", "values": "int"},
        None,
        [b"\x04\x02k\x02\x02k\x04\x00", b"\x02\x02k\x02\x02\x02k\x06\x00"],
    ),
    (
        "dates out of range",
        record(("a", DATE), ("b", ["null", MILLIS])),
        None,
        [
            varint(2932896) + b"\x00",
            varint(2932897) + b"\x00",
            varint(-719162) + b"\x00",
            varint(-719163) + b"\x00",
            b"\x00\x02" + varint(253402300799999),
            b"\x00\x02" + varint(253402300800000),
            b"\x00\x02" + varint(-(2**62)),
        ],
    ),
    (
        "times out of range",
        {"type": "int", "logicalType": "time-millis"},
        None,
        [varint(86_399_999), varint(86_400_000)],
    ),
    (
        "local times",
        {"type": "long", "logicalType": "local-timestamp-millis"},
        None,
        [b"\x00", varint(2**60), varint(-62135596800000)],
    ),
    ("UUIDs", UUIDS, None, [b"\x48" + b"12345678-1234-5678-1234-567812345678", b"\x02a", b"\x00"]),
    (
        "defaults of logical types",
        record(),
        record(
            ("a", DATE, 7),
            ("b", decimal(6, 2), "\x04\xd2"),
            ("c", MICROS, 8),
            ("d", UUIDS, "12345678-1234-5678-1234-567812345678"),
        ),
        [b""],
    ),
    (
        "defaults of a second branch",
        record(),
        record(("a", ["null", "string"], "x"), ("b", ["string", "long"], 5)),
        [b""],
    ),
    ("records of a union by name", [A, B], [B, A], [b"\x00\x02", b"\x02\x02"]),
    ("a record that no branch is for", record(("x", "int"), name="C"), ["int", B], [b"\x02"]),
    ("a record of another name", A, B, [b"\x02"]),
    ("empty lists of other items", {"type": "array", "items": A}, {"type": "array", "items": "int"}, [b"\x00"]),
    ("numbers that go on in the next byte", record(), None, [b"", b"\x80", b"\x00", b"\x82", b"\x02", b"\x80\x80\x80"]),
    ("dollars in names", record(("a", record(("b", "int"), name="Inner")), name="Outer"), None, [b"\x02", b""]),
    ("null and nothing else", record(("a", ["null"]), ("b", "null")), None, [b"\x00", b"\x02"]),
]


def test_chosen_pairs_are_read_alike(spark: SparkSession) -> None:
    pairs = [Pair(parsed(w), parsed(w if r is None else r), payloads) for _, w, r, payloads in ALIKE]
    names = dict(zip(map(id, pairs), (name for name, *_ in ALIKE), strict=True))
    found = list(outcomes(spark, pairs))
    assert [(names[id(o.pair)], o.payload, o.codec, o.jvm) for o in found if not o.is_same] == []
    assert len(found) == sum(len(pair.payloads) for pair in pairs)


@pytest.mark.parametrize("length", [2**24 - 1, 2**29, 2**31 - 9, 2**31, 2**40, 2**62, -1, -(2**31)])
def test_lengths_that_a_payload_only_claims_are_refused(spark: SparkSession, length: int) -> None:
    claims = ["string", "bytes", LIST, {"type": "map", "values": "int"}, {"type": "array", "items": "string"}]
    pairs = [Pair(parsed(raw), parsed(raw), [varint(length), varint(length) + b"\x02\x02"]) for raw in claims]
    assert {outcome.jvm for outcome in outcomes(spark, pairs)} == {REFUSED}


def test_a_reader_may_give_numbers_a_meaning_or_ignore_it(spark: SparkSession) -> None:
    plain = {"long": MILLIS, "int": DATE, "string": UUIDS, "bytes": decimal(6, 2)}
    payload = {
        "long": b"\x02",
        "int": b"\x02",
        "string": b"\x48" + b"12345678-1234-5678-1234-567812345678",
        "bytes": b"\x02\x05",
    }
    both = [(a, b, kind) for kind, logical in plain.items() for a, b in ((kind, logical), (logical, kind))]
    pairs = [Pair(parsed(writer), parsed(reader), [payload[kind]]) for writer, reader, kind in both]
    expected = [outcome.jvm for outcome in outcomes(spark, [Pair(p.reader, p.reader, p.payloads) for p in pairs])]
    assert [outcome.jvm for outcome in outcomes(spark, pairs)] == expected
    assert REFUSED not in expected


def test_another_meaning_is_refused(spark: SparkSession) -> None:
    both = [
        (MILLIS, MICROS, b"\x02"),
        (decimal(6, 2), decimal(7, 2), b"\x02\x05"),
        (decimal(6, 2), decimal(6, 3), b"\x02\x05"),
    ]
    pairs = [Pair(parsed(writer), parsed(reader), [payload]) for writer, reader, payload in both]
    assert {outcome.jvm for outcome in outcomes(spark, pairs)} == {REFUSED}


IMPOSSIBLE = {
    "holds itself": record(("next", ["null", "R"])),
    "at most 38 digits": decimal(39, 2),
    "differ in upper and lower case only": record(("a", "int"), ("A", "int")),
    "does not tell its logical types apart": record(("a", ["long", DATE])),
    "of another branch of its union": record(("a", [{"type": "fixed", "name": "F", "size": 4}, "string"], "x")),
}


@pytest.mark.parametrize(("reason", "raw"), IMPOSSIBLE.items(), ids=list(IMPOSSIBLE))
def test_what_spark_has_no_type_for_is_refused_when_planned(spark: SparkSession, reason: str, raw: Any) -> None:
    with pytest.raises(Unsupported, match=reason):
        avro.type_of(spark.range(1), parsed(raw))


def test_a_type_that_nests_without_end_is_not_passed_over(spark: SparkSession) -> None:
    writer = record(("id", "int"), ("tree", record(("inner", {"type": "array", "items": "Tree"}), name="Tree")))
    pair = Pair(parsed(writer), parsed(record(("id", "int"))), [])
    assert planned(spark.range(1), pair) is None


def test_every_seal_is_told_from_its_beginnings() -> None:
    for _ in range(2000):
        data = avro_seal.new_seal().data
        assert len(data) == 4
        assert data[0] != 0
        assert all(data[:-shift] != data[shift:] for shift in range(1, 4))


def test_names_of_javas_inner_classes_are_read(spark: SparkSession) -> None:
    text = json.dumps(record(("a", record(("b", "int"), name="Outer$Inner")), name="Outer$Order"))
    schema = parse(SchemaDefinition(AVRO, text), is_lenient=True)
    assert isinstance(schema, AvroSchema)
    (outcome,) = outcomes(spark, [Pair(schema, schema, [b"\x02"])])
    assert outcome.is_same
    assert outcome.jvm.a.b == 1
