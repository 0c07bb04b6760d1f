"""JSON Schema against the validator: what the rules let pass is read, what they refuse has a witness."""

import itertools
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import jsonschema_rs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema

from tallystick.compat.options import DEFAULT_OPTIONS, OptionalProperties, Options
from tallystick.compat.rule import BACKWARD, CATALOGUE, FORWARD
from tallystick.compat.rules.json_schema import compare
from tallystick.errors import InvalidSchema
from tallystick.finding import Direction
from tallystick.formats.json_schema import FORMAT, JsonSchema
from tallystick.model.definition import NO_REFERENCES, SchemaDefinition
from tallystick.model.schema_type import JSON_SCHEMA

LENIENT = Options(OptionalProperties.LENIENT)
Json = Any

PROVEN = settings(max_examples=settings().max_examples * 3 // 2, suppress_health_check=list(HealthCheck))

SEEDS = st.integers(0, 2**32)

# ---- schemas ----------------------------------------------------------------------------------------------------

NAMES = ["a", "b", "ab"]
PATTERNS = ["^a", "b$", "^[0-9]+$", "."]
SCALARS: list[Json] = [
    None,
    True,
    False,
    0,
    1,
    2,
    3,
    4,
    6,
    1.5,
    0.5,
    -1,
    "",
    "a",
    "b",
    "ab",
    "12",
    [],
    [1],
    {},
    {"a": 1},
]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
DRAFTS = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]


class SchemaMaker:
    """Random schemas of one draft; the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.draft = self.random.choice(DRAFTS)

    def pair(self) -> tuple[JsonSchema, JsonSchema]:
        old = self.schema(2)
        new = self.altered(old) if self.random.random() < 0.75 else self.schema(2)
        shared = {"$schema": self.draft, "definitions": {"d": self.schema(0)}}
        return _parsed(old | shared), _parsed(new | shared)

    def schema(self, depth: int) -> Json:
        if depth < 0:
            return {"type": self.random.choice(TYPES)}
        if depth < 2 and self.random.random() < 0.1:
            return {"$ref": self.random.choice(["#", "#/definitions/d"])}
        known = self._keywords()
        keywords = self.random.sample(sorted(known), self.random.choice([0, 1, 1, 2, 2, 3, 4]) if depth else 1)
        return {keyword: known[keyword](depth - 1) for keyword in sorted(keywords)}

    def altered(self, schema: Json) -> Json:
        """The schema with one thing changed, somewhere in it."""
        place = self.random.choice([(), (), *_places(schema)])
        changed = dict(_at(schema, place))
        known = self._keywords()
        keyword = self.random.choice(sorted(changed if changed and self.random.random() < 0.6 else known))
        changed.pop(keyword, None)
        if keyword in known and self.random.random() < 0.7:
            changed[keyword] = known[keyword](0)
        return _replaced(schema, place, changed)

    def _keywords(self) -> dict[str, Callable[[int], Json]]:
        found = {
            "type": lambda _: self.random.choice([self.random.choice(TYPES), self._some(TYPES, 3)]),
            "enum": lambda _: self._some(SCALARS, 4),
            "minimum": self._number,
            "maximum": self._number,
            "multipleOf": lambda _: self.random.choice([0.5, 1, 1.5, 2, 3, 4]),
            "minLength": self._small,
            "maxLength": self._small,
            "pattern": lambda _: self.random.choice(PATTERNS),
            "minItems": self._small,
            "maxItems": self._small,
            "uniqueItems": lambda _: True,
            "properties": lambda depth: {name: self.schema(depth) for name in self._some(NAMES, 3)},
            "patternProperties": lambda depth: {name: self.schema(depth) for name in self._some(PATTERNS, 2)},
            "additionalProperties": lambda depth: self.random.choice([False, self.schema(depth)]),
            "required": lambda _: self._some(NAMES, 2),
            "minProperties": self._small,
            "maxProperties": self._small,
            "dependencies": lambda depth: {
                self.random.choice(NAMES): self.random.choice([self._some(NAMES, 2), self.schema(depth)])
            },
            "allOf": self._schemas,
            "anyOf": self._schemas,
            "oneOf": self._schemas,
            "not": self.schema,
            "items": self.schema,
        }
        if self.draft == DRAFTS[-1]:
            found["prefixItems"] = self._schemas
        else:
            found["items"] = lambda depth: self.random.choice([self.schema(depth), self._schemas(depth)])
            found["additionalItems"] = self.schema
        if self.draft == DRAFTS[0]:
            return found
        return found | self._later_keywords()

    def _later_keywords(self) -> dict[str, Callable[[int], Json]]:
        found = {
            "exclusiveMinimum": self._number,
            "exclusiveMaximum": self._number,
            "const": lambda _: self.random.choice(SCALARS),
            "contains": self.schema,
            "propertyNames": self.schema,
            "if": self.schema,
            "then": self.schema,
            "else": self.schema,
        }
        if self.draft in DRAFTS[3:]:
            found |= {
                "minContains": self._small,
                "maxContains": self._small,
                "dependentRequired": lambda _: {self.random.choice(NAMES): self._some(NAMES, 2)},
                "dependentSchemas": lambda depth: {self.random.choice(NAMES): self.schema(depth)},
                "unevaluatedProperties": self.schema,
                "unevaluatedItems": self.schema,
            }
        return found

    def _some(self, choices: list[Json], most: int) -> list[Json]:
        return self.random.sample(choices, self.random.randint(1, most))

    def _number(self, _: int) -> Json:
        return self.random.choice([-1, 0, 1, 1.5, 2, 3, 4, 6])

    def _small(self, _: int) -> int:
        return self.random.randint(0, 3)

    def _schemas(self, depth: int) -> list[Json]:
        return [self.schema(depth) for _ in range(self.random.randint(1, 3))]


def _at(value: Json, place: tuple[Any, ...]) -> Json:
    for step in place:
        value = value[step]
    return value


def _places(schema: Json) -> Iterator[tuple[Any, ...]]:
    for keyword, value in schema.items():
        if keyword in ("enum", "const", "required", "type"):
            continue
        parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        if isinstance(value, dict) and keyword not in ("properties", "patternProperties", "dependentSchemas"):
            if keyword not in ("dependencies", "dependentRequired"):
                yield (keyword,)
            continue
        yield from ((keyword, step) for step, inner in parts if isinstance(inner, dict))


def _replaced(value: Json, place: tuple[Any, ...], new: Json) -> Json:
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = _replaced(value[place[0]], place[1:], new)
    return copy


def _parsed(value: Json) -> JsonSchema:
    try:
        schema = FORMAT.parse(SchemaDefinition(JSON_SCHEMA, json.dumps(value)), NO_REFERENCES)
    except InvalidSchema:
        # A circle of `$ref`, or `exclusiveMinimum` of draft 4 without `minimum`.
        schema = FORMAT.parse(SchemaDefinition(JSON_SCHEMA, "{}"), NO_REFERENCES)
    assert isinstance(schema, JsonSchema)
    return schema


# ---- values -----------------------------------------------------------------------------------------------------


def boundary_values(*schemas: Json, depth: int = 2) -> list[Json]:
    """Values at and around every limit that the schemas speak of, and combinations of them."""
    atoms = list(SCALARS)
    for schema in schemas:
        atoms += _atoms(schema)
    atoms = _distinct(atoms)
    found = list(atoms)
    for _ in range(depth):
        few = _spread(found, 14)
        lists = [[x] for x in few] + [[x, y] for x, y in itertools.product(few[:8], repeat=2)]
        lists += [[x, y, z] for x, y, z in itertools.product(few[:4], repeat=3)] + [[1, 2, 3, 4]]
        objects = [{name: x} for name in (*NAMES, "c", "1") for x in few]
        objects += [{"a": x, "b": y} for x, y in itertools.product(few[:6], repeat=2)]
        objects += [{"a": x, "b": y, "ab": x, "zz": y} for x, y in itertools.product(few[:4], repeat=2)]
        objects += [{"a": x, "ab": y, "1": x} for x, y in itertools.product(few[:4], repeat=2)]
        found = _distinct(found + lists + objects)
    return found


def _atoms(schema: Json) -> Iterator[Json]:
    if isinstance(schema, list):
        for item in schema:
            yield from _atoms(item)
    elif isinstance(schema, dict):
        for keyword, value in schema.items():
            if keyword in ("enum", "const"):
                yield from value if keyword == "enum" else [value]
            elif isinstance(value, bool):
                continue
            elif keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
                yield from (value, value - 1, value + 1, value + 0.5, value * 2, value + 0.25)
            elif keyword in ("minLength", "maxLength"):
                yield from ("x" * n for n in (value, value + 1, max(0, value - 1)))
            else:
                yield from _atoms(
                    value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
                )
                if isinstance(value, dict):
                    yield from _atoms(value)


def _distinct(values: list[Json]) -> list[Json]:
    return list({json.dumps(value, sort_keys=True): value for value in values}.values())


def _spread(values: list[Json], count: int) -> list[Json]:
    step = max(1, len(values) // count)
    return values[::step][:count]


# ---- what must hold ---------------------------------------------------------------------------------------------


def _ways(old: JsonSchema, new: JsonSchema) -> Iterator[tuple[Direction, JsonSchema, JsonSchema]]:
    yield BACKWARD, old, new
    yield FORWARD, new, old


@PROVEN
@given(SEEDS)
def test_what_passes_is_read(seed: int) -> None:
    old, new = SchemaMaker(seed).pair()
    passing = [way for way in _ways(old, new) if not list(compare(old, new, way[0], DEFAULT_OPTIONS))]
    values = boundary_values(old.source.value, new.source.value) if passing else []
    for direction, writer, reader in passing:
        for value in values:
            if writer.validator.is_valid(value):
                assert reader.validator.is_valid(value), (direction, value, writer.source.text, reader.source.text)


SIMPLE: dict[str, list[Json]] = {
    "a": [{"type": "string"}, {"type": ["string", "null"]}, {"type": "string", "maxLength": 2}, {"enum": ["a", "b"]}],
    "b": [
        {"type": "integer"},
        {"type": "number"},
        {"type": "integer", "minimum": 2},
        {"multipleOf": 2, "type": "number"},
    ],
    "ab": [{"type": "array", "maxItems": 1}, {"type": "array", "items": {"type": "string"}}, {"type": "array"}],
}


@st.composite
def _objects(draw: st.DrawFn) -> JsonSchema:
    """Schemas without contradictions, so that everything that they leave open can happen."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=3))
    schema: Json = {
        "type": "object",
        "properties": {name: draw(st.sampled_from(SIMPLE[name])) for name in names},
        "required": draw(st.lists(st.sampled_from(names), unique=True)) if names else [],
    }
    if draw(st.booleans()):
        schema["additionalProperties"] = False
    return _parsed(schema)


@PROVEN
@given(_objects(), _objects())
def test_what_is_refused_has_a_witness(old: JsonSchema, new: JsonSchema) -> None:
    for direction, writer, reader in _ways(old, new):
        findings = list(compare(old, new, direction, DEFAULT_OPTIONS))
        if any(CATALOGUE[finding.rule].has_witness for finding in findings):
            values = _whole_objects(old.source.value, new.source.value)
            assert any(writer.validator.is_valid(v) and not reader.validator.is_valid(v) for v in values), findings


def _whole_objects(*schemas: Json) -> Iterator[Json]:
    """Objects with each combination of the names, the values of which are all that the schemas speak of."""
    absent = object()
    texts, numbers = [absent, "a", "c", "xxx", None, 5], [absent, 0, 1, 2, 3, 1.5, -2, "z"]
    lists: list[Any] = [absent, [], ["x"], ["x", "x"], [1], 7]
    for a, b, ab, other in itertools.product(texts, numbers, lists, [absent, 1]):
        members = {"a": a, "b": b, "ab": ab, "other": other}
        yield {name: value for name, value in members.items() if value is not absent}


@PROVEN
@given(SEEDS)
def test_lenient_only_forgives_undeclared_properties(seed: int) -> None:
    old, new = SchemaMaker(seed).pair()
    for direction in (BACKWARD, FORWARD):
        if list(compare(old, new, direction, LENIENT)):
            assert list(compare(old, new, direction, DEFAULT_OPTIONS))


@PROVEN
@given(SEEDS)
def test_a_schema_reads_what_it_wrote(seed: int) -> None:
    old, _ = SchemaMaker(seed).pair()
    again = _parsed(old.source.value)
    assert list(compare(old, again, BACKWARD, DEFAULT_OPTIONS)) == []


@PROVEN
@given(SEEDS)
def test_the_validators_own_containment_does_not_object(seed: int) -> None:
    """A second opinion: the validator's library can prove that a value is lost. It never does where we let pass."""
    old, new = SchemaMaker(seed).pair()
    for direction, writer, reader in _ways(old, new):
        if not list(compare(old, new, direction, DEFAULT_OPTIONS)):
            try:
                answer = _canonical(reader).covers(_canonical(writer))
            except (jsonschema_rs.canonical.IncompatibleOperands, jsonschema_rs.canonical.UnsupportedOperand):
                continue  # no opinion: `$ref` to the root on both sides, `unevaluated…`
            assert answer is not jsonschema_rs.canonical.Containment.NO, (writer.source.text, reader.source.text)


def _canonical(schema: JsonSchema) -> jsonschema_rs.CanonicalSchema:
    return jsonschema_rs.canonicalize(schema.source.value, validate_formats=False, offline=True)


@settings(PROVEN, max_examples=max(10, settings().max_examples * 2 // 5))
@given(st.sampled_from([schema for choices in SIMPLE.values() for schema in choices]), st.data())
def test_values_of_another_generator_are_valid_and_survive_the_codec(schema: Json, data: st.DataObject) -> None:
    parsed = _parsed(schema)
    value = data.draw(from_schema(schema))
    assert FORMAT.validate(parsed, value) == []
    assert FORMAT.decode(parsed, FORMAT.encode(parsed, value)) == value
