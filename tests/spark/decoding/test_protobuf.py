"""Protobuf is read as Protobuf's own runtime reads it, whatever the bytes."""

import datetime as dt
import pickle
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.message import Message
from pyspark.sql import Row, SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from tallystick.errors import IncompatibleSchema, InvalidRecord, Unsupported
from tallystick.formats import catalogue
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import PROTOBUF
from tallystick.model.temporal import EPOCH
from tallystick.spark.decoding import protobuf
from tallystick.spark.types.protobuf import type_of
from tallystick.wire import confluent_frame

PROTO3 = """
syntax = "proto3"; package shop;
import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto";
import "google/protobuf/wrappers.proto";
enum Color { option allow_alias = true; RED = 0; GREEN = 1; VERT = 1; BLUE = 5; }
message Order {
  message Line { string sku = 1; int32 count = 2; repeated Color colors = 3; }
  int64 id = 1; string customer = 2; double amount = 3; float rate = 4; bool paid = 5; bytes raw = 6;
  uint32 small = 7; uint64 large = 8; sint32 zig = 9; sint64 zag = 10; fixed32 f32 = 11; fixed64 f64 = 12;
  sfixed32 sf32 = 13; sfixed64 sf64 = 14; int32 n = 15; Color color = 16; optional Color maybe = 17;
  optional string note = 18; google.protobuf.Timestamp at = 19; google.protobuf.Duration took = 20;
  google.protobuf.StringValue wrapped = 21; Line line = 22; repeated Line lines = 23; repeated int64 numbers = 24;
  map<string, string> labels = 25; map<int32, Line> by_number = 26; repeated Color colors = 27;
  oneof pick { string left = 28; int64 right = 29; }
  repeated google.protobuf.Timestamp times = 30; map<bool, double> flags = 31;
}
message Empty {}
message Other { string name = 1; Empty nothing = 2; }
"""
PROTO2 = """
syntax = "proto2"; package old;
enum Color { RED = 0; GREEN = 1; }
message Inner { required int32 x = 1; }
message Record {
  required int64 id = 1; optional string name = 2 [default = "none"]; optional Color color = 3;
  repeated Color colors = 4; map<string, Color> by_name = 5; optional Inner inner = 6;
}
"""
GROUPS = """
syntax = "proto2"; package old;
message Record { optional int64 id = 1; optional group Part = 2 { optional string name = 1; } }
"""


def parsed(text: str, message: str | None = None) -> ProtobufSchema:
    schema = catalogue.parse(SchemaDefinition(PROTOBUF, text, (), {} if message is None else {"message": message}))
    assert isinstance(schema, ProtobufSchema)
    return schema


def read(schema: ProtobufSchema, rows: list[bytes], **settings: Any) -> list[Any]:
    reader = settings.get("reader", schema)
    decoder = pickle.loads(pickle.dumps(protobuf.decoder(schema, type_of(reader), **settings)))
    values = decoder.values(pa.array(rows, pa.binary()), pa.nulls(len(rows), pa.binary()))
    values.validate(full=True)
    return [_sorted_maps(value) for value in values.to_pylist()]


def _sorted_maps(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted_maps(inner) for name, inner in value.items()}
    if isinstance(value, list):
        items = [_sorted_maps(item) for item in value]
        return sorted(items, key=repr) if items and all(type(item) is tuple for item in items) else items
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC)
    return (value[0], _sorted_maps(value[1])) if isinstance(value, tuple) else value


def by_runtime(schema: ProtobufSchema, payload: bytes) -> Any:
    """What Spark should hold, made from the runtime's own message; None where our codec refuses the payload."""
    try:
        catalogue.format_of(PROTOBUF).decode(schema, payload)
    except InvalidRecord:
        return None
    assert schema.root is not None
    record = schema.types.record_class(schema.root)()
    record.ParseFromString(payload)
    try:
        return _as_spark(record)
    except OverflowError:
        return None


def _as_spark(record: Message) -> Any:
    name = record.DESCRIPTOR.full_name
    if name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        nanos: int = record.nanos  # type: ignore[attr-defined]
        micros: int = record.seconds * 10**6 + (abs(nanos) // 1000) * (1 if nanos >= 0 else -1)  # type: ignore[attr-defined]
        since = dt.timedelta(microseconds=micros)
        return EPOCH + since if name.endswith("Timestamp") else since
    found: dict[str, Any] = {}
    for f in record.DESCRIPTOR.fields:
        value = getattr(record, f.name)
        if f.message_type is not None and f.message_type.GetOptions().map_entry:
            inner = f.message_type.fields_by_name["value"]
            found[f.name] = sorted(((key, _scalar(inner, value[key])) for key in value), key=repr)
        elif f.is_repeated:
            found[f.name] = [_scalar(f, item) for item in value]
        else:
            found[f.name] = _scalar(f, value) if not f.has_presence or record.HasField(f.name) else None
    return found


def _scalar(field: Any, value: Any) -> Any:
    if field.message_type is not None:
        return _as_spark(value)
    if field.enum_type is not None:
        named = next((v.name for v in field.enum_type.values if v.number == value), None)
        return str(value) if named is None else named
    if field.type in (field.TYPE_UINT64, field.TYPE_FIXED64):
        return Decimal(value)
    return value


def _filled(chance: random.Random, record: Any) -> Any:
    for f in record.DESCRIPTOR.fields:
        if chance.random() < 0.4:
            continue
        target = getattr(record, f.name)
        if f.message_type is not None and f.message_type.GetOptions().map_entry:
            key, value = (f.message_type.fields_by_name[half] for half in ("key", "value"))
            for _ in range(chance.randrange(3)):
                if value.message_type is not None:
                    _filled(chance, target[_random(chance, key)])
                else:
                    target[_random(chance, key)] = _random(chance, value)
        elif f.is_repeated:
            for _ in range(chance.randrange(3)):
                if f.message_type is not None:
                    _filled(chance, target.add())
                else:
                    target.append(_random(chance, f))
        elif f.message_type is not None:
            target.SetInParent()
            _filled(chance, target)
        else:
            setattr(record, f.name, _random(chance, f))
    return record


def _random(chance: random.Random, f: Any) -> Any:
    if f.enum_type is not None:
        return chance.choice(f.enum_type.values).number if f.enum_type.is_closed else chance.choice([0, 1, 5, 9, -3])
    if f.containing_type.full_name.startswith("google.protobuf.") and f.cpp_type in (f.CPPTYPE_INT64, f.CPPTYPE_INT32):
        return chance.randrange(10**9)
    bits = {f.CPPTYPE_INT32: (-(2**31), 2**31), f.CPPTYPE_INT64: (-(2**63), 2**63)}
    bits |= {f.CPPTYPE_UINT32: (0, 2**32), f.CPPTYPE_UINT64: (0, 2**64)}
    if f.cpp_type in bits:
        low, high = bits[f.cpp_type]
        return chance.choice([low, high - 1, 0, 1, chance.randrange(low, high)])
    if f.cpp_type in (f.CPPTYPE_DOUBLE, f.CPPTYPE_FLOAT):
        return chance.choice([0.0, 0.5, -1.25, float("inf")])
    if f.cpp_type == f.CPPTYPE_BOOL:
        return chance.random() < 0.5
    return chance.randbytes(3) if f.type == f.TYPE_BYTES else chance.choice(["", "a", "é😀"])


def payloads(schema: ProtobufSchema, seed: int, count: int) -> list[bytes]:
    chance = random.Random(seed)
    assert schema.root is not None
    make = schema.types.record_class(schema.root)
    whole = [_filled(chance, make()).SerializePartialToString() for _ in range(count)]
    return [*whole, *(_mutated(chance, payload or b"\x08\x01") for payload in whole for _ in range(3)), b""]


def _mutated(chance: random.Random, payload: bytes) -> bytes:
    at = chance.randrange(len(payload))
    return chance.choice(
        [
            payload[:at],
            payload + chance.randbytes(chance.randrange(1, 4)),
            payload[:at] + bytes([payload[at] ^ 1 << chance.randrange(8)]) + payload[at + 1 :],
            payload[:at] + chance.randbytes(2) + payload[at:],
            payload + payload,
        ]
    )


CORNERS = {
    "a field that the schema does not have": b"\xf8\x07\x05",
    "an unknown group": b"\xfb\x07\x08\x01\xfc\x07",
    "an unknown group that ends as another": b"\xfb\x07\x08\x01\xf4\x07",
    "the end of a group alone": b"\x0c",
    "field number 0": b"\x00\x00",
    "another wire type": b"\x0a\x02aa",
    "no UTF-8": b"\x12\x02\xff\xfe",
    "no UTF-8 in the key of a map": b"\xca\x01\x04\x0a\x02\xff\xfe",
    "a key that stands twice": b"\xca\x01\x06\x0a\x01a\x12\x01x\xca\x01\x06\x0a\x01a\x12\x01y",
    "an entry without key and value": b"\xca\x01\x00",
    "a boolean of 5": b"\x28\x05",
    "an int32 of 64 bits": b"\x78\xff\xff\xff\xff\xff\x01",
    "a varint of 11 bytes": b"\x08" + b"\xff" * 10 + b"\x01",
    "a time that no timestamp holds": b"\x9a\x01\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    "a time before 1970": b"\x9a\x01\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    "both of a oneof": b"\xe2\x01\x01a\xe8\x01\x05",
    "one message in two parts": b"\xb2\x01\x03\x0a\x01a\xb2\x01\x02\x10\x05",
    "packed as unpacked": b"\xc0\x01\x05\xc0\x01\x06",
}


@pytest.mark.parametrize(("text", "message"), [(PROTO3, "Order"), (PROTO2, "Record"), (GROUPS, "Record")])
def test_every_payload_is_read_or_refused_as_the_runtime_does(text: str, message: str) -> None:
    schema = parsed(text, message)
    rows = [*payloads(schema, 5, 300), *CORNERS.values()]
    expected = [by_runtime(schema, row) for row in rows]
    assert sum(value is None for value in expected) > 100
    assert sum(value is not None for value in expected) > 100
    found = read(schema, rows)
    wrong = [(row.hex(), e, v) for row, e, v in zip(rows, expected, found, strict=True) if not _is_same(e, v)]
    assert not wrong, (len(wrong), wrong[:2])


def _is_same(expected: Any, found: Any) -> bool:
    """Equal but for entries of maps that hold more than key and value: Python's runtime alone drops those."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(_is_same(expected[name], found[name]) for name in expected)
    if isinstance(expected, list) and isinstance(found, list) and {type(item) for item in found} == {tuple}:
        return all(any(_is_same(list(e), list(v)) for v in found) for e in expected)
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(_is_same, expected, found))
    return repr(expected) == repr(found)


def test_a_batch_without_a_corrupt_row_gives_the_same() -> None:
    schema = parsed(PROTO3, "Order")
    rows = [row for row in payloads(schema, 6, 200) if by_runtime(schema, row) is not None]
    assert all(map(_is_same, [by_runtime(schema, row) for row in rows], read(schema, rows)))


def test_a_job_gives_the_same(spark: SparkSession) -> None:
    schema = parsed(PROTO3, "Order")
    rows = payloads(schema, 7, 100)
    decoder = protobuf.decoder(schema, type_of(schema))

    def work(batches: Any) -> Any:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([decoder.values(batch.column(0), batch.column(0))], ["v"])

    frame = spark.createDataFrame([Row(payload=row) for row in rows], "payload binary").coalesce(1)
    found = frame.mapInArrow(work, StructType([StructField("v", type_of(schema))])).select("v.id", "v.lines").collect()
    for row, got in zip(rows, found, strict=True):
        expected = by_runtime(schema, row)
        lines = None if got.lines is None else [line.asDict() for line in got.lines]
        assert (got.id, lines) == ((None, None) if expected is None else (expected["id"], expected["lines"]))


def test_the_path_before_the_payload_chooses_the_message() -> None:
    schema = parsed(PROTO3, "Order")
    order = b"\x08\x05"
    rows = [
        confluent_frame.path_bytes((0,)) + order,
        b"\x02\x00" + order,
        confluent_frame.path_bytes((2,)) + order,
        confluent_frame.path_bytes((0, 0)) + order,
        b"",
        b"\xff",
        b"\x00",
    ]
    found = [None if value is None else value["id"] for value in read(schema, rows, is_framed=True)]
    assert found == [5, 5, None, None, None, None, 0]
    assert [value["id"] for value in read(schema, [b"\x00" + order] * 3, is_framed=True)] == [5, 5, 5]
    names = [b"a" * n for n in (0, 1, 300, 5, 70_000)] * 300
    paid = [b"\x00\x12" + _varint(len(name)) + name for name in names]
    assert [value["customer"].encode() for value in read(schema, paid, is_framed=True)] == names
    other = parsed(PROTO3, "Other")
    framed = [confluent_frame.path_bytes((2,)) + b"\x0a\x01x", b"\x00\x0a\x01x"]
    assert read(other, framed, is_framed=True) == [{"name": "x"}, None]


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


def test_a_reader_reads_by_numbers_and_another_format_by_names() -> None:
    writer = parsed('syntax = "proto3"; message A { int64 id = 1; string name = 2; int32 n = 3; }')
    reader = parsed('syntax = "proto3"; package p; message A { int64 number = 1; optional string more = 9; }')
    payload = b"\x08\x07\x12\x01x\x18\x02"
    assert read(writer, [payload], reader=reader) == [{"number": 7, "more": None}]
    assert read(writer, [b"\x00" + payload], reader=reader, is_framed=True) == [{"number": 7, "more": None}]
    wider = StructType([StructField("n", LongType()), StructField("missing", StringType())])
    values = protobuf.decoder(writer, wider).values(pa.array([payload]), pa.nulls(1, pa.binary()))
    assert values.to_pylist() == [{"n": 2, "missing": None}]
    with pytest.raises(IncompatibleSchema, match="`/name` was written as string, which cannot be read as bigint"):
        protobuf.decoder(writer, StructType([StructField("name", LongType())]))


def test_types_follow_the_message() -> None:
    assert type_of(parsed(PROTO3, "Other")).simpleString() == "struct<name:string>"
    assert type_of(parsed(PROTO2, "Record")).simpleString() == (
        "struct<id:bigint,name:string,color:string,colors:array<string>,by_name:map<string,string>,inner:struct<x:int>>"
    )
    with pytest.raises(Unsupported, match="message Tree holds itself"):
        type_of(parsed('syntax = "proto3"; message Tree { repeated Tree children = 1; }'))


ONEOF = """
syntax = "proto3"; package shop;
message Empty {}
message Paid { oneof how { string card = 1; int64 cash = 2; Empty free = 3; } Inner inner = 4; }
message Inner { oneof way { string up = 1; string down = 2; } }
"""
EDITION = """
edition = "2023"; package shop;
enum Color { RED = 0; }
message Order { int64 id = 1; Color color = 2; repeated int32 numbers = 3; }
"""


def test_of_a_oneof_the_last_member_counts() -> None:
    schema = parsed(ONEOF, "shop.Paid")
    both, one = b"\x0a\x01a\x10\x05", b"\x10\x05\x0a\x01a"
    inner = b"\x22\x06" + b"\x0a\x01u\x12\x01d"
    found = read(schema, [both, one, inner, both + b"\x1a\x00", b""])
    assert [(row["card"], row["cash"]) for row in found] == [
        (None, 5),
        ("a", None),
        (None, None),
        (None, None),
        (None, None),
    ]
    assert found[2]["inner"] == {"up": None, "down": "d"}


def test_editions_are_read() -> None:
    schema = parsed(EDITION, "shop.Order")
    rows = [b"", b"\x08\x05\x10\x00\x1a\x02\x01\x02", b"\x08", b"\x10\x07"]
    found = read(schema, rows)
    assert found == [by_runtime(schema, row) for row in rows]
    assert found[1] == {"id": 5, "color": "RED", "numbers": [1, 2]}
    assert found[2] is None


def test_records_of_another_message_are_refused() -> None:
    order, refund = (parsed(f'syntax = "proto3"; message {name} {{ string id = 1; }}') for name in ("Order", "Refund"))
    with pytest.raises(IncompatibleSchema, match="are messages Order, and the reader's schema is for Refund"):
        protobuf.decoder(order, type_of(refund), reader=refund)
