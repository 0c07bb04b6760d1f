"""JSON text with places: load it within limits, find the line of a path, drop its white space.

Avro and JSON Schema definitions are JSON; so are descriptors and payloads. A path here is a JSON pointer as a
tuple of keys and indexes.
"""

import json
import re
from collections import Counter
from functools import lru_cache
from typing import Any

from tallystick.errors import InvalidSchema
from tallystick.finding import Place

Path = tuple[str | int, ...]

MAX_DEPTH = 200
"""Levels of nesting in one text. Real schemas stay below 50; a text that goes deeper is an attack or a bug."""

# A string without an end goes to the end of the text: looked for anew from each quote in it, it would take for ever.
_STRING = r'"(?:[^"\\]++|\\.)*+"?'
_STRUCTURE = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL)
_WITHOUT_WHITE_SPACE = re.compile(rf"(?:[^\" \t\r\n]++|{_STRING})++", re.DOTALL)
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
    """The place of a path in a text that loads: of the key for a member, of the value for an item.

    A path that the text does not have is answered without a line.
    """
    offset = _offsets(text).get(path)
    if offset is None:
        return Place(pointer(path))
    return _at(text, offset, pointer(path))


def without_white_space(text: str) -> str:
    return "".join(_WITHOUT_WHITE_SPACE.findall(text))


def _at(text: str, offset: int, path: str = "") -> Place:
    return Place(path, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


class _DuplicateKey(ValueError):
    def __init__(self, key: str) -> None:
        self.key = key


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        times = Counter(key for key, _ in pairs)
        raise _DuplicateKey(next(key for key, count in times.items() if count > 1))
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


@lru_cache(maxsize=4)
def _offsets(text: str) -> dict[Path, int]:
    """Where each key and item of a JSON text starts. One scan serves all findings of a comparison."""
    offsets: dict[Path, int] = {}
    path: list[str | int] = []
    expects_key = False
    for token in _TOKEN.finditer(text):
        symbol = token[0]
        if symbol in "}]":
            path.pop()
            expects_key = False
        elif symbol == ",":
            if isinstance(path[-1], int):
                path[-1] += 1
            else:
                expects_key = True
        elif expects_key:
            path[-1] = json.loads(symbol)
            expects_key = False
            offsets[tuple(path)] = token.start()
        elif symbol != ":":
            offsets.setdefault(tuple(path), token.start())
            if symbol in "{[":
                path.append("" if symbol == "{" else 0)
                expects_key = symbol == "{"
    return offsets
