"""Functions made for one schema: what they take themselves, and that nothing of a schema becomes code."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tallystick.errors import InvalidRecord
from tallystick.formats.avro import general
from tallystick.formats.avro.codec import decode, encode
from tallystick.formats.avro.compiled import reader_of, writer_of
from tallystick.formats.avro.compiled.source import MAX_PARTS, Misfit
from tallystick.formats.avro.compiled.varints import VARINTS, rest_of_varint, varint_of
from tallystick.formats.avro.types import Enum, Field, Map, Primitive, Record
from tests.unit.formats.avro.schemas import array, enum, fixed, logical, record, schema

EVENT = schema(
    record(
        "shop.Event",
        ("id", "long"),
        ("quantity", "int"),
        ("customer", "string"),
        ("state", enum("State", "NEW", "PAID")),
        ("price", "double"),
        ("weight", "float"),
        ("gift", "boolean"),
        ("nothing", "null"),
        ("note", ["null", "string"], None),
        ("count", ["int", "null"], 7),
        ("at", logical("long", "timestamp-millis")),
        ("amount", logical("bytes", "decimal", precision=9, scale=2)),
        ("session", logical("string", "uuid")),
        ("hash", fixed("Hash", 4)),
        ("raw", "bytes"),
        ("tags", array("string"), []),
        ("labels", {"type": "map", "values": "string"}),
        ("lines", array(record("Line", ("sku", "string"), ("seen", ["null", logical("long", "timestamp-micros")])))),
    )
)
VALUE = {
    "id": -(2**40),
    "quantity": 3,
    "customer": "Zoë",
    "state": "PAID",
    "price": 19.99,
    "weight": 0.5,
    "gift": True,
    "nothing": None,
    "note": "x" * 5_000,
    "count": None,
    "at": datetime(2024, 5, 6, 7, 8, 9, 123_000, tzinfo=UTC),
    "amount": Decimal("-12.34"),
    "session": UUID(int=5),
    "hash": b"hash",
    "raw": b"\x00\xff",
    "tags": ["a", ""],
    "labels": {"region": "eu"},
    "lines": [{"sku": "a", "seen": None}, {"sku": "b", "seen": datetime(1960, 1, 1, tzinfo=UTC)}],
}


def test_an_event_takes_no_general_codec() -> None:
    payload = writer_of(EVENT.root)(VALUE)
    assert payload == general.writer_of(EVENT.root)(VALUE)
    read = reader_of(EVENT.root, EVENT.root)
    assert read is not None
    assert read(payload) == VALUE


def test_missing_fields_take_no_general_codec() -> None:
    given = {name: value for name, value in VALUE.items() if name not in ("note", "count", "tags")}
    assert decode(EVENT, writer_of(EVENT.root)(given)) == {**VALUE, "note": None, "count": 7, "tags": []}


def test_fields_that_are_new_or_gone_take_no_general_codec() -> None:
    older = schema(record("shop.Event", ("id", "long"), ("gone", array("string")), ("customer", "string")))
    newer = schema(
        record("shop.Event", ("customer", "string"), ("id", "long"), ("tags", array("string"), ["a"]), ("n", "int", 7))
    )
    read = reader_of(older.root, newer.root)
    assert read is not None
    payload = encode(older, {"id": 1, "gone": ["b"], "customer": "c"})
    assert read(payload) == {"id": 1, "customer": "c", "tags": ["a"], "n": 7}
    assert read(payload)["tags"] is not read(payload)["tags"]


RESOLVED: list[tuple[Any, Any]] = [
    (record("R", ("a", "int")), record("R", ("a", "long"))),
    (record("R", ("a", "int")), record("R", ("b", "int"))),
    (record("R", ("a", "int")), record("S", ("a", "int"), aliases=["R"])),
    (record("R", ("a", ["double", "long"])), record("R", ("a", ["double", "long"]), ("b", "int", 1))),
    (record("R", ("a", "int")), {"type": "map", "values": "int"}),
    ("int", "long"),
]


@pytest.mark.parametrize(("writer", "reader"), RESOLVED, ids=str)
def test_what_resolution_decides_is_left_to_the_general_reader(writer: Any, reader: Any) -> None:
    assert reader_of(schema(writer).root, schema(reader).root) is None


def test_long_becomes_the_double_that_the_reader_has_before_it() -> None:
    writer, reader = map(schema, RESOLVED[3])
    assert repr(decode(writer, encode(writer, {"a": 5}), reader)) == "{'a': 5.0, 'b': 1}"


COUNTS = Map(Primitive("int"))
HOSTILE = '\'] or exit() or value[\'\\\n"""{0}\ud800'


def test_what_a_schema_says_is_never_code() -> None:
    """No schema that is parsed has such names."""
    state = Enum(HOSTILE, (), HOSTILE, (HOSTILE, "A"), None)
    root = Record(HOSTILE, (), None)
    fields = Field(f"{HOSTILE}0", state, None, (), HOSTILE, ""), Field(f"{HOSTILE}1", COUNTS, '{"a": 1}', (), None, "")
    root.fill(fields)
    value = {f"{HOSTILE}0": HOSTILE, f"{HOSTILE}1": {"a": 1}}
    payload = writer_of(root)({f"{HOSTILE}0": HOSTILE})
    assert payload == b"\x00\x02\x02a\x02\x00"
    read = reader_of(root, root)
    assert read is not None
    assert read(payload) == value


def test_large_types_are_not_compiled() -> None:
    large = schema(record("R", *((f"f{number}", "int") for number in range(MAX_PARTS + 1))))
    assert writer_of(large.root) is general.writer_of(large.root)
    assert reader_of(large.root, large.root) is None


def test_types_may_nest_as_deeply_as_schemas_do() -> None:
    raw: Any = "int"
    value: Any = 1
    for _ in range(190):
        raw, value = array(raw), [value]
    deep = schema(raw)
    assert decode(deep, writer_of(deep.root)(value)) == value


def test_numbers_of_all_lengths_are_read_as_they_were_written() -> None:
    for power in range(64):
        for number in (2**power - 1, -(2**power)):
            written = varint_of(number)
            assert VARINTS[number] == written == encode(schema("long"), number) == general_bytes(number)
            assert decode(schema("long"), written) == number


def general_bytes(number: int) -> bytes:
    return general.writer_of(Primitive("long"))(number)


def test_numbers_of_more_than_64_bits_are_no_numbers() -> None:
    for written in (b"\xff" * 9 + b"\x02", b"\xff" * 10 + b"\x01", b"\xff" * 1_000_000):
        with pytest.raises(Misfit):
            rest_of_varint(written, 1, written[0])


def test_list_ends_with_nought_however_long_that_is_written() -> None:
    pairs = schema(record("R", ("a", array("int")), ("b", "int"), ("c", array("int"))))
    assert decode(pairs, b"\x80\x00\x02\x00") == {"a": [], "b": 1, "c": []}


def test_block_may_say_its_size() -> None:
    assert decode(schema(array("int")), b"\x03\x04\x02\x04\x02\x06\x00") == [1, 2, 3]


def test_what_the_functions_do_not_take_is_told_as_before() -> None:
    with pytest.raises(InvalidRecord) as refused:
        encode(EVENT, {**VALUE, "lines": [{"sku": 1, "seen": None}]})
    assert str(refused.value) == "the value does not fit its schema: 1 (int) is not of type string (at /lines/0/sku)"
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__
