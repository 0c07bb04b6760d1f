"""The schema for editors says what the check says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta

from tallystick.pipeline import json_schema
from tallystick.pipeline.description import FILE
from tallystick.pipeline.shapes import Key, ListOf, MapOf, Section, Shape
from tests.unit.pipeline.cases import GOOD, HERE, Bad, as_editors_read, bad_files

VALIDATOR = Draft202012Validator(json_schema())


def test_it_is_a_schema() -> None:
    meta.validate(json_schema())


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_it_takes_good_files(path: Path) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(as_editors_read(path))] == []


@pytest.mark.parametrize("bad", [bad for bad in bad_files() if bad.is_structural], ids=lambda bad: bad.path.stem)
def test_it_refuses_what_is_wrong_with_single_places(bad: Bad) -> None:
    assert not VALIDATOR.is_valid(as_editors_read(bad.path))


def test_the_good_file_with_everything_has_every_key() -> None:
    given = as_editors_read(HERE / "good" / "everything.yaml")
    there = {id(key) for key in _given(FILE, given)}
    assert [key.name for key in _described(FILE) if id(key) not in there] == []


def _described(shape: Shape) -> Iterator[Key]:
    match shape:
        case Section():
            for key in shape.keys:
                yield key
                yield from _described(key.shape)
        case ListOf():
            yield from _described(shape.item)
        case MapOf():
            yield from _described(shape.value)


def _given(shape: Shape, value: Any) -> Iterator[Key]:
    match shape:
        case Section() if isinstance(value, dict):
            for name, inner in value.items():
                key = shape.key(name)
                assert key is not None
                yield key
                yield from _given(key.shape, inner)
        case ListOf():
            for item in value if isinstance(value, list) else [value]:
                yield from _given(shape.item, item)
        case MapOf():
            for inner in value.values():
                yield from _given(shape.value, inner)
