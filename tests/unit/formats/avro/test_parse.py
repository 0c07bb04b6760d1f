"""Bad texts are refused with their place; odd ones are read as the specification says; no text is too much."""

import json
from typing import Any

import pytest

from tallystick.errors import InvalidSchema
from tallystick.finding import Place
from tallystick.formats.avro.types import Enum, Fixed, Logical, Primitive, Record, Union, every_type
from tests.unit.formats.avro.schemas import array, enum, fixed, logical, record, schema

REFUSED = [
    ("{", "", "not JSON: expecting property name enclosed in double quotes"),
    ("3", "", "a type is a name, an object or a list, not 3"),
    ("{}", "", '"type" is missing'),
    ('{"type": 3}', "/type", "a type is a name, an object or a list, not 3"),
    ('"strin"', "", "type 'strin' is not defined before it is used"),
    ("strin", "", "type 'strin' is not defined before it is used"),
    ('{"type": "record"}', "", "record needs a name, not null"),
    ('{"type": "record", "name": "R"}', "", "record 'R' needs a list of fields"),
    ('{"type": "record", "name": "1R", "fields": []}', "/name", "'1R' is not a name"),
    ('{"type": "record", "name": "a..R", "fields": []}', "/name", "'a..R' is not a name"),
    ('{"type": "record", "name": "R", "namespace": "a-b", "fields": []}', "/namespace", '"a-b" is not a namespace'),
    ('{"type": "record", "name": "int", "fields": []}', "/name", "'int' is the name of a primitive type"),
    ('{"type": "record", "name": "R", "fields": [3]}', "/fields/0", "a field is an object, not 3"),
    ('{"type": "record", "name": "R", "fields": [{"type": "int"}]}', "/fields/0", "null is not a field name"),
    (record("R", ("a-b", "int")), "/fields/0/name", '"a-b" is not a field name'),
    (record("R", ("a", "int"), ("a", "int")), "/fields/1/name", "field 'a' stands twice"),
    ('{"type": "record", "name": "R", "fields": [{"name": "a"}]}', "/fields/0", "field 'a' has no type"),
    (record("R", ("a", "record")), "/fields/0/type", "'record' cannot stand alone as a type"),
    (record("shop.R", ("a", "B")), "/fields/0/type", "type 'shop.B' is not defined before it is used"),
    (array("strin"), "/items", "type 'strin' is not defined before it is used"),
    ({"type": "array"}, "", 'an array needs "items"'),
    ({"type": "map"}, "", 'a map needs "values"'),
    ({"type": "enum", "name": "E"}, "", "enum 'E' needs a list of symbols"),
    (enum("E", "A", "B-C"), "/symbols/1", 'symbol "B-C" is not a name'),
    (enum("E", "A", "A"), "/symbols/1", "symbol 'A' stands twice"),
    (enum("E", "A", default="B"), "/default", "the default \"B\" is not a symbol of 'E'"),
    (fixed("F", -1), "", "fixed 'F' needs a size in bytes, not -1"),
    ({"type": "fixed", "name": "F", "size": True}, "", "fixed 'F' needs a size in bytes, not true"),
    (["null", ["int"]], "/1", "a union cannot hold a union directly"),
    (["int", "int"], "/1", "the union holds 'int' twice"),
    ([array("int"), array("string")], "/1", "the union holds 'array' twice"),
    (["int", logical("int", "date")], "/1", "the union holds 'int' twice"),
    ([record("R"), "R"], "/1", "the union holds 'R' twice"),
    ([record("R"), record("R")], "/1/name", "'R' is defined twice"),
    (record("R", ("a", {**record("R")})), "/fields/0/type/name", "'R' is defined twice"),
    (record("R", aliases="Q"), "/aliases", '"Q" is not a list of names'),
    ('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "aliases": ["b.c"]}]}',
     "/fields/0/aliases", '["b.c"] is not a list of names'),
    ('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "order": "up"}]}',
     "/fields/0/order", 'order "up" is not known'),
    ('{"type": "record", "type": "enum"}', "", "the key 'type' stands twice in one object"),
    ('{"type": "fixed", "name": "F", "size": NaN}', "", "not JSON: NaN is no JSON number"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "path", "reason"), REFUSED, ids=[reason for _, _, reason in REFUSED])
def test_refused(raw: Any, path: str, reason: str) -> None:
    with pytest.raises(InvalidSchema) as error:
        schema(raw)
    assert error.value.reason == reason
    assert (error.value.place or Place("")).path == path


DEFAULTS = [
    ("int", 2**31, "2147483648 is not of type int"),
    ("int", 1.0, "1.0 is not of type int"),
    ("int", True, "true is not of type int"),
    ("long", 2**63, "9223372036854775808 is not of type long"),
    ("double", "1", '"1" is not of type double'),
    ("boolean", 0, "0 is not of type boolean"),
    ("null", 0, "0 is not of type null"),
    ("string", None, "null is not of type string"),
    ("string", "\ud800", '"\\ud800" is not of type string'),
    ("bytes", "€", '"€" is not of type bytes'),
    (fixed("F", 2), "abc", '"abc" is not of type fixed F of 2 bytes'),
    (enum("E", "A"), "B", '"B" is not of type enum E'),
    (array("int"), [1, "2"], '"2" is not of type int'),
    ({"type": "map", "values": "int"}, {"a": None}, "null is not of type int"),
    (["null", "int"], "a", '"a" is not of type union of null, int'),
    (record("Q", ("a", "int")), {}, "field 'a' of record 'Q' is missing in it"),
    (record("Q", ("a", "int")), {"a": "b"}, '"b" is not of type int'),
    (record("Q", ("a", "int")), [], "[] is not of type record Q"),
]


@pytest.mark.parametrize(("type_", "default", "reason"), DEFAULTS, ids=[reason for _, _, reason in DEFAULTS])
def test_wrong_default(type_: Any, default: Any, reason: str) -> None:
    with pytest.raises(InvalidSchema) as error:
        schema(record("R", ("f", type_, default)))
    assert error.value.reason == f"the default of field 'f' does not fit: {reason}"
    assert error.value.place is not None
    assert error.value.place.path == "/fields/0/default"


@pytest.mark.parametrize("default", [None, "text", 5, [1], {"a": 1}])
def test_default_of_a_union_may_be_of_any_branch(default: Any) -> None:
    branches = ["null", "string", "int", array("int"), {"type": "map", "values": "int"}]
    root = schema(record("R", ("f", branches, default))).root
    assert isinstance(root, Record)
    assert root.fields[0].default == json.dumps(default)


def test_default_of_a_record_may_be_of_the_record_itself() -> None:
    root = schema(record("Node", ("next", ["null", "Node"], {"next": None}))).root
    assert isinstance(root, Record)


ENDLESS = [
    record("R", ("a", ["R"], {})),
    record("R", ("a", array("R"), [{}])),
    record("R", ("a", ["R", record("S", ("b", ["R", "S"], {}))], {})),
]


@pytest.mark.parametrize("raw", ENDLESS)
def test_default_that_fills_itself_in_is_refused(raw: Any) -> None:
    with pytest.raises(InvalidSchema, match="the default of field"):
        schema(raw)


def doubling(levels: int, *default: Any) -> dict[str, Any]:
    """Each record holds the one before twice: a text of n records with 2ⁿ values."""
    fields = [("r0", record("R0", ("a", "null", *([None] if default else []))))]
    for i in range(1, levels):
        fields.append((f"r{i}", record(f"R{i}", ("x", f"R{i - 1}", *default), ("y", f"R{i - 1}", *default))))
    return record("All", *fields)


def test_default_that_stands_for_too_many_values_is_refused() -> None:
    assert schema(doubling(12, {}))
    with pytest.raises(InvalidSchema, match="it stands for more than 100000 values"):
        schema(doubling(40, {}))


def test_records_used_twice_in_an_unfinished_record_cost_no_more_than_their_text() -> None:
    fields = [("b0", record("B0", ("all", ["null", "All"])))]
    for i in range(1, 60):
        fields.append((f"b{i}", record(f"B{i}", ("x", f"B{i - 1}"), ("y", f"B{i - 1}"), ("all", ["null", "All"]))))
    raw = record("All", *fields)
    assert schema(raw).root is schema(json.dumps(raw) + " ").root


def test_union_default_with_many_ways_to_fail_is_refused_at_once() -> None:
    default: Any = {"a": "wrong"}
    for _ in range(60):
        default = {"a": default}
    inner = record("S", ("a", ["null", "R", "S"]))
    with pytest.raises(InvalidSchema, match="the default of field 'b' does not fit"):
        schema(record("R", ("a", ["null", "R", inner]), ("b", ["R", "S"], default)))


def test_texts_may_nest_200_levels() -> None:
    def nested(levels: int) -> str:
        return '{"type":"array","items":' * levels + '"int"' + "}" * levels

    assert schema(nested(200))
    with pytest.raises(InvalidSchema, match="nested deeper than 200 levels"):
        schema(nested(201))
    with pytest.raises(InvalidSchema, match="nested deeper than 200 levels"):
        schema("[" * 10_000)


def test_deep_text_from_a_deep_stack_is_refused() -> None:
    def parse_after(calls: int) -> None:
        if calls:
            parse_after(calls - 1)
        else:
            schema('{"type":"array","items":' * 199 + '"int"' + "}" * 199)

    with pytest.raises(InvalidSchema, match="types or defaults are nested too deeply"):
        parse_after(600)


def chain(length: int) -> list[Any]:
    return [record("R0", ("v", "int")), *(record(f"R{i}", ("v", f"R{i - 1}")) for i in range(1, length))]


def test_chain_of_records_may_be_200_long() -> None:
    assert schema(chain(200))
    with pytest.raises(InvalidSchema, match="types are nested deeper than 200 levels"):
        schema(chain(1_000))


def test_five_megabytes_are_parsed() -> None:
    fields = [(f"{'field' * 30}_{i}", ["null", "string"], None) for i in range(25_000)]
    text = json.dumps(record("Wide", *fields))
    assert len(text) > 5_000_000
    root = schema(text).root
    assert isinstance(root, Record)
    assert len(root.fields) == 25_000


def test_huge_numbers() -> None:
    root = schema(fixed("F", 10**400, logicalType="decimal", precision=9, scale=2)).root
    assert isinstance(root, Fixed)
    assert root.logical == Logical("decimal", 9, 2)
    assert schema(fixed("F", 4, logicalType="decimal", precision=10**400)).root == schema(fixed("F", 4)).root


LOGICAL = [
    (logical("int", "date"), Logical("date")),
    (logical("long", "date"), None),
    (logical("long", "timestamp-nanos"), Logical("timestamp-nanos")),
    (logical("string", "uuid"), Logical("uuid")),
    (fixed("F", 16, logicalType="uuid"), Logical("uuid")),
    (fixed("F", 15, logicalType="uuid"), None),
    (fixed("F", 12, logicalType="duration"), Logical("duration")),
    (logical("bytes", "decimal", precision=4), Logical("decimal", 4, 0)),
    (logical("bytes", "decimal", precision=4, scale=5), None),
    (logical("bytes", "decimal", precision=0), None),
    (logical("bytes", "decimal", precision=4, scale=-1), None),
    (logical("bytes", "decimal", precision=4.0), None),
    (logical("bytes", "decimal"), None),
    (fixed("F", 4, logicalType="decimal", precision=9), Logical("decimal", 9, 0)),
    (fixed("F", 4, logicalType="decimal", precision=10), None),
    (fixed("F", 0, logicalType="decimal", precision=1), None),
    (logical("int", "moon-phase"), None),
    ({"type": "int", "logicalType": 3}, None),
]


@pytest.mark.parametrize(("raw", "expected"), LOGICAL)
def test_logical_type_is_valid_or_ignored(raw: Any, expected: Logical | None) -> None:
    root = schema(raw).root
    assert isinstance(root, Primitive | Fixed)
    assert root.logical == expected


def names(raw: Any, *references: str) -> set[str]:
    return {t.name for t in every_type(schema(raw, *references).root) if isinstance(t, Record | Enum | Fixed)}


def test_namespace_is_inherited() -> None:
    inner = record("Line", ("state", enum("State", "A")))
    assert names(record("shop.Order", ("line", inner))) == {"shop.Order", "shop.Line", "shop.State"}
    elsewhere = record("Line", ("state", enum("State", "A")), namespace="other")
    assert names(record("shop.Order", ("line", elsewhere))) == {"shop.Order", "other.Line", "other.State"}
    nowhere = record("Line", ("state", enum("State", "A")), namespace="")
    assert names(record("shop.Order", ("line", nowhere))) == {"shop.Order", "Line", "State"}


def test_unknown_name_is_answered_with_the_one_that_was_probably_meant() -> None:
    with pytest.raises(InvalidSchema) as error:
        schema(record("shop.Order", ("a", enum("other.State", "A")), ("b", "State")))
    assert error.value.fix == "did you mean 'other.State'?"


def test_types_of_references_are_known_by_their_full_names() -> None:
    text = json.dumps(record("shop.Buyer", ("name", "string")))
    assert names(record("Order", ("buyer", "shop.Buyer")), text) == {"Order", "shop.Buyer"}
    with pytest.raises(InvalidSchema, match=r"'shop\.Buyer' is defined twice"):
        schema(record("shop.Buyer"), text)


def test_equal_types_are_one_object() -> None:
    tree = record("Tree", ("kids", array("Tree")), ("leaf", record("Leaf", ("tree", ["null", "Tree"]))))
    first, second = schema(tree), schema(["null", tree])
    assert isinstance(second.root, Union)
    assert first.root is second.root.branches[1]


def test_types_that_wait_for_several_records_become_one_object_too() -> None:
    b = record("B", ("c", record("C", ("b", ["null", "B"]), ("a", ["null", "A"]))))
    raw = record("A", ("b", b), ("d", record("D", ("c", ["null", "C"]))))
    assert schema(raw).root is schema({**raw, "unknown": 1}).root


def test_equal_texts_inside_different_records_are_different_types() -> None:
    inner = record("Inner", ("outer", ["null", "Outer"]))
    one = schema(record("Outer", ("inner", inner), ("a", "int"))).root
    other = schema(record("Outer", ("inner", inner), ("a", "long"))).root
    assert isinstance(one, Record)
    assert isinstance(other, Record)
    assert one.fields[0].type is not other.fields[0].type
    assert one.fields[1].type is not other.fields[1].type


def test_a_type_is_named_by_its_full_name_in_its_identity() -> None:
    one, other = (schema(record(f"{ns}.R", ("a", enum("E", "A")))).root for ns in ("x", "y"))
    assert one is not other


def test_schema_of_many_records_can_be_shown() -> None:
    assert len(repr(schema(doubling(60)).root)) < 200
