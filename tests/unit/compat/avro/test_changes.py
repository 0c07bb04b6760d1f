"""The list of changes between two Avro schemas."""

from typing import Any

import pytest

from tallystick.compat.changes.avro import changes
from tallystick.finding import Place
from tests.unit.formats.avro.schemas import array, enum, fixed, logical, record, schema


def listed(old: Any, new: Any) -> list[tuple[str, str, str | None, str | None]]:
    return [
        (str(change.kind), change.what, path(change.old), path(change.new))
        for change in changes(schema(old), schema(new))
    ]


def path(place: Place | None) -> str | None:
    return None if place is None else place.path


def aliased(name: str, type_: Any, *aliases: str) -> dict[str, Any]:
    return {"name": name, "type": type_, "aliases": list(aliases)}


def of_fields(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields)}


CHANGES: list[tuple[Any, Any, list[tuple[str, str, str | None, str | None]]]] = [
    (record("R", ("a", "int")), record("R", ("a", "int"), unknown=1), []),
    (record("R"), record("R", ("a", "int")), [("added", "field `a` of record `R`", None, "/fields/0")]),
    (record("R", ("a", "int")), record("R"), [("removed", "field `a` of record `R`", "/fields/0", None)]),
    (record("R", ("a", "int")), of_fields(aliased("b", "int", "a")),
     [("renamed", "field `a` of record `R`", "/fields/0", "/fields/0"),
      ("added", "aliases of field `b` of record `R`", None, "/fields/0/aliases")]),
    (record("R", ("a", "int")), record("R", ("a", "long")),
     [("widened", "type of field `a` of record `R`", "/fields/0/type", "/fields/0/type")]),
    (record("R", ("a", "long")), record("R", ("a", "int")),
     [("narrowed", "type of field `a` of record `R`", "/fields/0/type", "/fields/0/type")]),
    (record("R", ("a", "int"), ("b", "int")), record("R", ("a", "string"), ("b", "string")),
     [("changed", "type of field `a` of record `R`", "/fields/0/type", "/fields/0/type"),
      ("changed", "type of field `b` of record `R`", "/fields/1/type", "/fields/1/type")]),
    (record("R", ("a", "int", 1)), record("R", ("a", "int", 2)),
     [("changed", "default of field `a` of record `R`", "/fields/0/default", "/fields/0/default")]),
    (record("R", ("a", "int")), record("R", ("a", "int", 2)),
     [("added", "default of field `a` of record `R`", None, "/fields/0/default")]),
    (record("R", ("a", "int"), ("b", "int")), record("R", ("b", "int"), ("a", "int")),
     [("changed", "order of the fields of record `R`", "", "")]),
    (record("a.R"), record("b.R"), [("renamed", "record `a.R`", "/name", "/name")]),
    (record("R"), record("R", doc="new"), [("added", "doc of record `R`", None, "/doc")]),
    (enum("E", "A", "B"), enum("E", "A", "C"),
     [("added", "symbol `C` of enum `E`", None, "/symbols/1"),
      ("removed", "symbol `B` of enum `E`", "/symbols/1", None)]),
    (enum("E", "A", "B"), enum("E", "B", "A"),
     [("changed", "order of the symbols of enum `E`", "/symbols", "/symbols")]),
    (enum("E", "A"), enum("E", "A", default="A"), [("added", "default of enum `E`", None, "/default")]),
    (fixed("F", 1), fixed("F", 2), [("changed", "fixed `F`", "", "")]),
    ("long", logical("long", "timestamp-millis"), [("changed", "logical type of the schema", "", "")]),
    (array("int"), array("string"), [("changed", "type of the items of the schema", "/items", "/items")]),
    (["null", "int"], ["null", "int", "string"], [("added", "string in the type of the schema", None, "/2")]),
    (["null", "int"], ["int"], [("removed", "null in the type of the schema", "/0", None)]),
    (["null", "int"], ["int", "null"], [("changed", "order of the union of the schema", "", "")]),
    (["null", array("int")], ["null", array("string")], [("changed", "array in the type of the schema", "/1", "/1")]),
    (["int"], "int", [("changed", "type of the schema", "", "")]),
    ("int", ["null", "int"], [("changed", "type of the schema", "", "")]),
    (["int"], ["string"], [("changed", "type of the schema", "", "")]),
    (record("T", ("a", record("P", ("x", "int"))), ("b", "P")),
     record("T", ("a", record("P", ("x", "long"))), ("b", "P")),
     [("widened", "type of field `x` of record `P`", "/fields/0/type/fields/0/type", "/fields/0/type/fields/0/type")]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), CHANGES, ids=[f"{old} to {new}"[:90] for old, new, _ in CHANGES])
def test_changes(old: Any, new: Any, expected: list[tuple[str, str, str | None, str | None]]) -> None:
    assert listed(old, new) == expected
