"""References in an order in which each can be parsed."""

import pytest

from tallystick.errors import InvalidSchema
from tallystick.formats.references import dependencies_first
from tallystick.model.definition import NO_REFERENCES, Reference, References, SchemaDefinition
from tallystick.model.schema_type import AVRO


def _reference(name: str) -> Reference:
    return Reference(name, f"{name}-subject", 1)


def _graph(edges: dict[str, list[str]]) -> References:
    return {_reference(name): _definition(needs) for name, needs in edges.items()}


def _definition(needs: list[str]) -> SchemaDefinition:
    return SchemaDefinition(AVRO, '"int"', tuple(_reference(name) for name in needs))


def _order(needs: list[str], edges: dict[str, list[str]]) -> list[str]:
    return [reference.name for reference, _ in dependencies_first(_definition(needs), _graph(edges))]


def test_nothing_needed_is_nothing() -> None:
    assert dependencies_first(_definition([]), NO_REFERENCES) == []


def test_needed_first() -> None:
    assert _order(["a"], {"a": ["b"], "b": ["c"], "c": []}) == ["c", "b", "a"]


def test_each_once() -> None:
    assert _order(["a", "b"], {"a": ["c"], "b": ["c"], "c": []}) == ["c", "a", "b"]


def test_unused_ones_are_left_out() -> None:
    assert _order(["a"], {"a": [], "z": []}) == ["a"]


def test_definitions_come_with_their_references() -> None:
    graph = _graph({"a": []})
    assert dependencies_first(_definition(["a"]), graph) == list(graph.items())


def test_missing_reference_is_named() -> None:
    with pytest.raises(InvalidSchema, match="'b' to subject 'b-subject' version 1 is not there") as refused:
        _order(["a"], {"a": ["b"]})
    assert refused.value.fix


def test_circle_is_shown() -> None:
    with pytest.raises(InvalidSchema, match="a-subject version 1 → b-subject version 1 → a-subject version 1"):
        _order(["a"], {"a": ["b"], "b": ["a"]})


def test_reference_to_itself_is_a_circle() -> None:
    with pytest.raises(InvalidSchema, match="circle"):
        _order(["a"], {"a": ["a"]})


def test_chain_longer_than_the_stack() -> None:
    chain = {str(i): [str(i + 1)] for i in range(20_000)} | {"20000": []}
    assert _order(["0"], chain) == [str(i) for i in range(20_000, -1, -1)]


def test_two_versions_of_one_subject_are_two() -> None:
    first, second = Reference("a", "s", 1), Reference("a", "s", 2)
    graph = {first: _definition([]), second: SchemaDefinition(AVRO, '"int"', (first,))}
    definition = SchemaDefinition(AVRO, '"int"', (second,))
    assert [reference for reference, _ in dependencies_first(definition, graph)] == [first, second]
