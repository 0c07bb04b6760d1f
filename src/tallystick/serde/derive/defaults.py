"""Defaults that a class makes anew each time, and whether a schema may hold what they make."""

import dataclasses
from collections.abc import Callable
from enum import Enum
from typing import Any

from tallystick.serde.derive.shapes import NO_DEFAULT

_PLAIN = (str, int, float, bool, type(None), bytes, Enum)


def default_of(factory: Callable[[], Any]) -> Any:
    """What a factory makes, where it makes the same each time: lists, dicts and records of plain values.

    A clock or a new id is no default: a schema's text must not change from one start of a program to the next.
    """
    made = factory()
    return made if _is_container(made) and _is_plain(made) and factory() == made else NO_DEFAULT


def _is_container(value: object) -> bool:
    return isinstance(value, list | dict | set | frozenset | tuple) or _is_record(value)


def _is_record(value: object) -> bool:
    return dataclasses.is_dataclass(value) or hasattr(type(value), "model_fields")


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    if isinstance(value, list | set | frozenset | tuple):
        return all(map(_is_plain, value))
    if _is_record(value):
        return all(map(_is_plain, vars(value).values() if hasattr(value, "__dict__") else _slots(value)))
    return isinstance(value, _PLAIN)


def _slots(value: Any) -> list[Any]:
    return [getattr(value, field.name) for field in dataclasses.fields(value)]
