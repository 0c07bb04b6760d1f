"""A value comes back from JSON as it does from Avro, for the writer and for every reader that the rules let in."""

import datetime as dt
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.compat import reading
from tallystick.errors import InvalidRecord
from tallystick.finding import Direction
from tallystick.formats import format_of, parse
from tallystick.formats.format import Schema
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, PULSAR_JSON

Typed = tuple[Any, st.SearchStrategy[Any]]
"""A type as Avro text has it, and its values."""

LEAVES: list[Typed] = [
    ("boolean", st.booleans()),
    ("int", st.integers(-(2**31), 2**31 - 1)),
    ("long", st.integers(-(2**63), 2**63 - 1)),
    ("float", st.floats(allow_nan=False, width=32)),
    ("double", st.floats(allow_nan=False)),
    ("string", st.text(max_size=5)),
    ("bytes", st.binary(max_size=5)),
    ({"type": "int", "logicalType": "date"}, st.dates()),
    (
        {"type": "long", "logicalType": "timestamp-micros"},
        st.datetimes(min_value=dt.datetime(1900, 1, 1), timezones=st.just(dt.UTC)),
    ),
    ({"type": "string", "logicalType": "uuid"}, st.uuids()),
    (
        {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
        st.decimals(-(10**6), 10**6, places=2),
    ),
]


def _array(inner: Typed) -> Typed:
    return {"type": "array", "items": inner[0]}, st.lists(inner[1], max_size=3)


def _map(inner: Typed) -> Typed:
    return {"type": "map", "values": inner[0]}, st.dictionaries(st.text(max_size=3), inner[1], max_size=3)


def _optional(inner: Typed) -> Typed:
    # Bare JSON does not tell texts from bytes: a union with one branch besides null is all that is sure to come back.
    return (inner[0] if isinstance(inner[0], list) else ["null", inner[0]]), st.none() | inner[1]


TYPES: st.SearchStrategy[Typed] = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: inner.map(_array) | inner.map(_map) | inner.map(_optional),
    max_leaves=4,
)


@st.composite
def records(draw: st.DrawFn) -> Typed:
    names = draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=4))
    typed = {name: draw(TYPES) for name in names}
    fields = [{"name": name, "type": type_} for name, (type_, _) in typed.items()]
    values = st.fixed_dictionaries({name: value for name, (_, value) in typed.items()})
    return {"type": "record", "name": "R", "fields": fields}, values


def _as(kind: Any, type_: Any) -> Schema:
    return parse(SchemaDefinition(kind, json.dumps(type_)))


def _through(kind: Any, type_: Any, value: Any, reader: Any = None) -> Any:
    format_, schema = format_of(kind), _as(kind, type_)
    target = None if reader is None else _as(kind, reader)
    return format_.decode(schema, format_.encode(schema, value), target)


@given(typed=TYPES | records(), data=st.data())
def test_json_gives_what_avro_gives(typed: Typed, data: st.DataObject) -> None:
    value = data.draw(typed[1])
    assert _through(PULSAR_JSON, typed[0], value) == _through(AVRO, typed[0], value)


@given(old=records(), new=records(), data=st.data())
def test_reader_that_fits_reads(old: Typed, new: Typed, data: st.DataObject) -> None:
    value = data.draw(old[1])
    if reading.findings(_as(PULSAR_JSON, old[0]), _as(PULSAR_JSON, new[0]), Direction.BACKWARD):
        return
    assert _through(PULSAR_JSON, old[0], value, new[0]) == _through(AVRO, old[0], value, new[0])


@given(
    typed=records(),
    raw=st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=4),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
        max_leaves=8,
    ),
)
def test_any_json_is_a_value_or_refused_with_its_place(typed: Typed, raw: Any) -> None:
    format_, schema = format_of(PULSAR_JSON), _as(PULSAR_JSON, typed[0])
    try:
        value = format_.decode(schema, json.dumps(raw).encode())
    except InvalidRecord as e:
        found = e.findings
    else:
        assert format_.validate(schema, value) == []
        return
    assert found
    assert all(finding.new is not None for finding in found)
