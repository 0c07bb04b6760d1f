"""There and back: what two formats both know comes back the same, and what does not was told by a finding."""

from collections.abc import Iterator
from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.compat.evolution import Registered, check
from tallystick.errors import InvalidRecord
from tallystick.formats import Schema, decoder_of, encoder_of, parse
from tallystick.formats.avro.types import AvroSchema
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, SchemaType
from tallystick.model.strategy import Strategy
from tallystick.translate import CATALOGUE, Translation, convert, translate
from tests.properties import avro_schemas, avro_values
from tests.properties.sketches import Maker, Values, schema_of
from tests.properties.test_json_schema import SchemaMaker
from tests.properties.test_protobuf import files
from tests.properties.test_protobuf import schema_of as protobuf_schema_of

WAYS = list(permutations((AVRO, JSON_SCHEMA, PROTOBUF), 2))
SEEDS = st.integers(0, 2**32)
EXPECTED = {"int64-to-number", "number-to-float"}
"""What a number of JSON always says; nothing else is lost between types that both formats know."""

each_way = pytest.mark.parametrize(("source", "target"), WAYS, ids=lambda type_: type_)


@each_way
@given(seed=SEEDS)
def test_types_that_both_know_come_back_the_same(source: SchemaType, target: SchemaType, seed: int) -> None:
    random = Random(seed)
    sketch = Maker(random, frozenset({source, target})).record()
    schema = schema_of(sketch, source)
    there, back = _there_and_back(schema, target)
    assert {CATALOGUE[finding.rule].name for finding in (*there.findings, *back.findings)} <= EXPECTED
    assert _is_equivalent(schema, back)
    carry = _carrying(there, back)
    for _ in range(3):
        value = _decoded(schema, Values(random, source).value(sketch))
        assert carry(value) == value


@pytest.mark.parametrize("target", [JSON_SCHEMA, PROTOBUF])
@given(seed=SEEDS)
def test_an_avro_schema_comes_back_or_has_a_finding(target: SchemaType, seed: int) -> None:
    schema = avro_schemas.parsed(avro_schemas.schema(Random(seed)))
    there, back = _there_and_back(schema, target)
    is_told = bool(there.findings or (back is not None and back.findings))
    assert is_told or _is_equivalent(schema, back)
    if there.definition is not None:
        _assert_values_are_told(schema, there, back, is_told)


@pytest.mark.parametrize("target", [AVRO, PROTOBUF])
@given(seed=SEEDS)
def test_a_json_schema_comes_back_or_has_a_finding(target: SchemaType, seed: int) -> None:
    schema, _ = SchemaMaker(seed).pair()
    there, back = _there_and_back(schema, target)
    assert there.findings or (back is not None and back.findings) or _is_equivalent(schema, back)


@pytest.mark.parametrize("target", [AVRO, JSON_SCHEMA])
@given(spec=files())
def test_a_protobuf_schema_comes_back_or_has_a_finding(target: SchemaType, spec: Any) -> None:
    schema = protobuf_schema_of(spec)
    there, back = _there_and_back(schema, target)
    assert there.findings or (back is not None and back.findings) or _is_equivalent(schema, back)


@each_way
@settings(max_examples=max(settings().max_examples // 5, 5))
@given(seed=SEEDS)
def test_a_translation_is_the_same_each_time(source: SchemaType, target: SchemaType, seed: int) -> None:
    schema = schema_of(Maker(Random(seed), frozenset({source, target})).record(), source)
    one, other = translate(schema, target), translate(schema, target)
    assert one.definition == other.definition
    assert one.findings == other.findings


def _there_and_back(schema: Schema, target: SchemaType) -> tuple[Translation, Translation]:
    there = translate(schema, target)
    if there.definition is None:
        return there, there
    return there, translate(parse(there.definition), schema.definition.type)


def _is_equivalent(schema: Schema, back: Translation) -> bool:
    assert back.definition is not None
    return not check([Registered(1, schema)], parse(back.definition), Strategy.FULL)


def _carrying(there: Translation, back: Translation) -> Any:
    assert there.definition is not None
    assert back.definition is not None
    middle, end = parse(there.definition), parse(back.definition)
    forth, home = convert(there), convert(back)
    return lambda value: _decoded(end, home(_decoded(middle, forth(value))))


def _decoded(schema: Schema, value: Any) -> Any:
    return decoder_of(schema)(encoder_of(schema)(value))


def _assert_values_are_told(schema: AvroSchema, there: Translation, back: Translation, is_told: bool) -> None:
    assert there.definition is not None
    if back.definition is None:
        return
    carry = _carrying(there, back)
    for value in _some(schema):
        try:
            came_back = carry(value)
        except InvalidRecord:
            continue
        assert is_told or came_back == value


def _some(schema: AvroSchema) -> Iterator[Any]:
    for value in avro_values.values(schema.root)[:5]:
        yield _decoded(schema, value)
