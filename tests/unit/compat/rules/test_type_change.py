"""Rules across types, and types that bring no rules."""

from tallystick.compat.options import DEFAULT_OPTIONS
from tallystick.compat.rule import CATALOGUE
from tallystick.compat.rules import type_change
from tallystick.finding import Direction
from tallystick.formats import Schema, parse
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.strategy import Strategy


def _avro(text: str) -> Schema:
    return parse(SchemaDefinition(types.AVRO, text))


def test_changed_schema_of_a_type_without_rules_does_not_fit() -> None:
    # Any two schemas of one type will do: the function does not ask which rules their type really has.
    found = list(
        type_change.compare_without_rules(_avro('"int"'), _avro('"long"'), Direction.BACKWARD, DEFAULT_OPTIONS)
    )
    assert [(finding.rule, finding.direction) for finding in found] == [("SCHEMA_TYPE_CHANGED", Direction.BACKWARD)]
    assert "no rules" in found[0].message


def test_same_schema_of_a_type_without_rules_fits() -> None:
    same = type_change.compare_without_rules(_avro('"int"'), _avro(' "int"'), Direction.FORWARD, DEFAULT_OPTIONS)
    assert list(same) == []


def test_outside_schemas_are_refused_under_every_strategy() -> None:
    assert CATALOGUE["EXTERNAL_MIXED_WITH_NATIVE"].strategies == tuple(Strategy)


def test_frozen_is_a_matter_of_one_strategy() -> None:
    assert CATALOGUE["SCHEMA_FROZEN"].strategies == (Strategy.ALWAYS_INCOMPATIBLE,)


def test_other_type_passes_under_always_compatible_alone() -> None:
    passing = set(Strategy) - set(CATALOGUE["SCHEMA_TYPE_CHANGED"].strategies)
    assert passing == {Strategy.ALWAYS_COMPATIBLE}


def test_messages_name_both_types() -> None:
    (finding,) = type_change.compare(_avro('"int"'), parse(SchemaDefinition(types.STRING)), Direction.BACKWARD)
    assert (finding.was, finding.now) == ("AVRO", "STRING")
    assert "AVRO" in finding.message
    assert "STRING" in finding.message
    assert "AVRO" in finding.fix
