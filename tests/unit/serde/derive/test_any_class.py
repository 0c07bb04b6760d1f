"""Any class of the types that can be derived: its schema parses, also elsewhere, and its instances survive."""

import datetime as dt
import io
import json
from dataclasses import field, make_dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import fastavro
from hypothesis import given
from hypothesis import strategies as st

from tallystick.formats import parse
from tallystick.serde import Avro, AvroSchema, JsonSchema, Precision, PulsarJsonSchema
from tests.unit.serde.classes import Colour, LineModel, Point

MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1), timezones=st.just(dt.UTC))
PRICES = st.decimals(-99_999, 99_999, places=2)


class Kind(NamedTuple):
    """A type hint, and its values."""

    hint: Any
    values: st.SearchStrategy[Any]


LEAVES = [
    Kind(bool, st.booleans()),
    Kind(int, st.integers(-(2**63), 2**63 - 1)),
    Kind(Annotated[int, Avro("int")], st.integers(-(2**31), 2**31 - 1)),
    Kind(float, st.floats(allow_nan=False, allow_infinity=False)),
    Kind(str, st.text()),
    Kind(bytes, st.binary()),
    Kind(dt.datetime, MOMENTS),
    Kind(dt.date, st.dates()),
    Kind(dt.time, st.times()),
    Kind(UUID, st.uuids()),
    Kind(Annotated[Decimal, Precision(9, 2)], PRICES),
    Kind(Colour, st.sampled_from(Colour)),
    Kind(Literal["a", "b"], st.sampled_from(["a", "b"])),
    Kind(Point, st.builds(Point, st.integers(0, 9), st.integers(0, 9))),
    Kind(LineModel, st.builds(LineModel, sku=st.text(), colour=st.sampled_from(Colour))),
]


def _wrapped(kind: Kind) -> st.SearchStrategy[Kind]:
    wraps = [
        Kind(list[kind.hint], st.lists(kind.values, max_size=3)),  # type: ignore[name-defined]
        Kind(tuple[kind.hint, ...], st.lists(kind.values, max_size=3).map(tuple)),  # type: ignore[name-defined]
        Kind(dict[str, kind.hint], st.dictionaries(st.text(), kind.values, max_size=3)),  # type: ignore[name-defined]
        Kind(kind.hint | None, st.none() | kind.values),
    ]
    return st.sampled_from(wraps)


KINDS = st.recursive(st.sampled_from(LEAVES), lambda inner: inner.flatmap(_wrapped), max_leaves=3)


def _default(value: Any) -> Any:
    is_mutable = isinstance(value, LineModel | list | dict)
    return field(default_factory=lambda: value, kw_only=True) if is_mutable else field(default=value, kw_only=True)


@st.composite
def instances(draw: st.DrawFn) -> Any:
    """An instance of a class that nobody wrote; some of its fields have defaults."""
    fields: list[Any] = []
    values: dict[str, Any] = {}
    for number, kind in enumerate(draw(st.lists(KINDS, min_size=1, max_size=5))):
        name = f"f{number}"
        values[name] = draw(kind.values)
        fields.append((name, kind.hint, _default(draw(kind.values)) if draw(st.booleans()) else field(kw_only=True)))
    return make_dataclass("Made", fields)(**values)


@given(instances())
def test_avro(value: Any) -> None:
    schema: AvroSchema[Any] = AvroSchema(type(value))
    assert parse(schema.definition)
    elsewhere = fastavro.parse_schema(json.loads(schema.definition.text))
    payload = schema.to_payload(value)
    assert schema.decode("t", payload, None) == value
    assert fastavro.schemaless_reader(io.BytesIO(payload), elsewhere, None) == AvroSchema(
        schema.definition.text
    ).decode("t", payload, None)


@given(instances())
def test_pulsar_json(value: Any) -> None:
    schema: PulsarJsonSchema[Any] = PulsarJsonSchema(type(value))
    assert schema.decode("t", schema.to_payload(value), None) == value


@given(instances())
def test_json_schema(value: Any) -> None:
    schema: JsonSchema[Any] = JsonSchema(type(value))
    assert schema.decode("t", schema.to_payload(value), None) == value


@st.composite
def defaults(draw: st.DrawFn) -> Any:
    """A class whose fields all have a default."""
    kinds = draw(st.lists(st.sampled_from(LEAVES), min_size=1, max_size=5))
    fields = [(f"f{number}", _maybe(draw, kind), _default(draw(kind.values))) for number, kind in enumerate(kinds)]
    return make_dataclass("Made", fields)


def _maybe(draw: st.DrawFn, kind: Kind) -> Any:
    return kind.hint | None if draw(st.booleans()) else kind.hint


@given(defaults())
def test_readers_see_the_defaults_of_the_class(cls: Any) -> None:
    schema: AvroSchema[Any] = AvroSchema(cls)
    fastavro.parse_schema(json.loads(schema.definition.text))
    nothing = AvroSchema({"type": "record", "name": "Made", "fields": []})
    assert schema.reader_of("t", nothing.definition, None)(b"", None) == cls()
