"""JSON text with places: load it within limits, find the line of a path, drop its white space.

Avro and JSON Schema definitions are JSON; so are descriptors and payloads. A path here is a JSON pointer as a
tuple of keys and indexes.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from tallystick.errors import InvalidSchema
from tallystick.finding import Place

Path = tuple[str | int, ...]

MAX_DEPTH = 200
"""Levels of nesting in one text. Real schemas stay below 50; a text that goes deeper is an attack or a bug."""

_STRING = r'"(?:[^"\\]|\\.)*"'
_STRUCTURE = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL)
_WHITE_SPACE = re.compile(rf"({_STRING})|[ \t\r\n]+", re.DOTALL)
_TOKEN = re.compile(rf"{_STRING}|[\[\]{{}}:,]|[^\s\[\]{{}}:,\"]+", re.DOTALL)


def load(text: str) -> Any:
    """The value of a JSON text, or `InvalidSchema` with line and column."""
    _refuse_deep_nesting(text)
    try:
        return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except json.JSONDecodeError as e:
        raise InvalidSchema(f"not JSON: {e.msg[0].lower()}{e.msg[1:]}", Place("", e.lineno, e.colno)) from e
    except _DuplicateKey as e:
        raise InvalidSchema(f"the key {e.key!r} stands twice in one object", _place_of_duplicate(text, e.key)) from e
    except ValueError as e:  # NaN and numbers of thousands of digits
        raise InvalidSchema(f"not JSON: {e}") from e


def pointer(path: Path) -> str:
    """A path as an RFC 6901 JSON pointer."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def place(text: str, path: Path) -> Place:
    """The place of a path in a text: of the key for a member, of the value for an item.

    A path that the text does not have is answered without a line.
    """
    offset = _offset(text, path)
    if offset is None:
        return Place(pointer(path))
    return _at(text, offset, pointer(path))


def without_white_space(text: str) -> str:
    return _WHITE_SPACE.sub(lambda match: match[1] or "", text)


def _at(text: str, offset: int, path: str = "") -> Place:
    return Place(path, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


class _DuplicateKey(ValueError):
    def __init__(self, key: str) -> None:
        self.key = key


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _DuplicateKey(next(key for i, key in enumerate(keys) if key in keys[:i]))
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _refuse_deep_nesting(text: str) -> None:
    depth = 0
    for match in _STRUCTURE.finditer(text):
        character = match[0][0]
        if character in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise InvalidSchema(
                    f"nested deeper than {MAX_DEPTH} levels", _at(text, match.start()), "name the inner types"
                )
        elif character in "]}":
            depth -= 1


def _place_of_duplicate(text: str, key: str) -> Place | None:
    """The second of two equal keys of one object: a scan with the keys of each open object."""
    objects: list[set[str] | None] = []
    previous: re.Match[str] | None = None
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "{":
                objects.append(set())
            case "[":
                objects.append(None)
            case "}" | "]":
                objects.pop()
            case ":" if previous is not None:
                name, seen = json.loads(previous[0]), objects[-1]
                assert seen is not None
                if name == key and name in seen:
                    return _at(text, previous.start())
                seen.add(name)
        previous = token
    return None


def _offset(text: str, path: Path) -> int | None:
    """Where the key or item of a path starts, in a text that loads as JSON."""
    tokens = _TOKEN.finditer(text)
    value: re.Match[str] | None = next(tokens)
    found = value
    for step in path:
        if value is None or value[0] != ("[" if isinstance(step, int) else "{"):
            return None
        found, value = _item(tokens, step) if isinstance(step, int) else _member(tokens, step)
    return None if found is None else found.start()


_Found = tuple[re.Match[str] | None, re.Match[str] | None]


def _member(tokens: Iterator[re.Match[str]], key: str) -> _Found:
    """The tokens of a member's key and of its value's start; the object's brace has just been read."""
    while (name := next(tokens))[0] != "}":
        next(tokens)  # the colon
        value = next(tokens)
        if json.loads(name[0]) == key:
            return name, value
        _skip(tokens, value)
        if next(tokens)[0] == "}":
            break
    return None, None


def _item(tokens: Iterator[re.Match[str]], index: int) -> _Found:
    while (value := next(tokens))[0] != "]":
        if index == 0:
            return value, value
        index -= 1
        _skip(tokens, value)
        if next(tokens)[0] == "]":
            break
    return None, None


def _skip(tokens: Iterator[re.Match[str]], value: re.Match[str]) -> None:
    depth = _STEP.get(value[0], 0)
    while depth > 0:
        depth += _STEP.get(next(tokens)[0], 0)


_STEP = {"{": 1, "[": 1, "}": -1, "]": -1}
