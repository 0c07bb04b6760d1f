"""Answers of a registry as values that can be trusted. One that does not look as it should is no registry's."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from tallystick.errors import InvalidArgument
from tallystick.model.definition import Reference
from tallystick.model.strategy import Strategy


def strange(what: str) -> InvalidArgument:
    return InvalidArgument("answer", f"it has no {what}; is this the URL of a registry?")


def an_object(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise strange("JSON object")
    return body


def a_list(body: Any, name: str = "list") -> list[Any]:
    if not isinstance(body, list):
        raise strange(name)
    return body


def text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise strange(name)
    return value


def number(body: Mapping[str, Any], name: str) -> int:
    """A number, or a text of digits as OpenSchema writes ids."""
    value = body.get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise strange(name)
    return value


def numbers(body: Any, name: str) -> list[int]:
    found = a_list(body, name)
    if not all(isinstance(value, int) for value in found):
        raise strange(f"{name} of numbers")
    return found


def references(body: Mapping[str, Any]) -> tuple[Reference, ...]:
    return tuple(
        Reference(text(entry, "name"), text(entry, "subject"), number(entry, "version"))
        for entry in map(an_object, body.get("references") or [])
    )


def guid(body: Mapping[str, Any]) -> UUID | None:
    value = body.get("guid")
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


def strategy(word: Any) -> Strategy | None:
    """NONE is what Confluent and OpenSchema call ALWAYS_COMPATIBLE; a word of others is none that we know."""
    if word == "NONE":
        return Strategy.ALWAYS_COMPATIBLE
    return Strategy(word) if word in tuple(Strategy) else None


def strategy_name(of: Strategy) -> str:
    return "NONE" if of is Strategy.ALWAYS_COMPATIBLE else str(of)
