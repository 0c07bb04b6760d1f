"""The kinds of JSON values that the `type` keyword tells apart in any draft.

Draft 4 counts 1.0 as no integer, later drafts do; so a whole number written with a fraction is a kind of its own.
"""

import json
from typing import Any, Final

NULL: Final = "null"
BOOLEAN: Final = "boolean"
STRING: Final = "string"
ARRAY: Final = "array"
OBJECT: Final = "object"
INTEGER: Final = "integer"
WHOLE: Final = "whole"
"""1.0: an integer from draft 6 on."""
FRACTION: Final = "fraction"

Kinds = frozenset[str]

NUMBERS: Final[Kinds] = frozenset({INTEGER, WHOLE, FRACTION})
INTEGERS: Final[Kinds] = frozenset({INTEGER, WHOLE})
ALL_KINDS: Final[Kinds] = frozenset({NULL, BOOLEAN, STRING, ARRAY, OBJECT}) | NUMBERS


def kinds_of_type(name: str, draft_number: int) -> Kinds:
    if name == "number":
        return NUMBERS
    if name == "integer" and draft_number > 4:
        return INTEGERS
    return frozenset({name})


def kinds_of_value(value: Any) -> Kinds:
    """The kinds of all values that equal this one: 1 and 1.0 are equal."""
    match value:
        case None:
            return frozenset({NULL})
        case bool():
            return frozenset({BOOLEAN})
        case str():
            return frozenset({STRING})
        case list():
            return frozenset({ARRAY})
        case dict():
            return frozenset({OBJECT})
        case int():
            return INTEGERS
    return INTEGERS if float(value).is_integer() else frozenset({FRACTION})


def names(kinds: Kinds) -> list[str]:
    """The kinds as a list of type names, "number" standing for all of its kinds."""
    found = {"integer" if kind in INTEGERS else "number" if kind == FRACTION else kind for kind in kinds}
    if kinds >= NUMBERS:
        found.discard("integer")
    return sorted(found)


def equal_text(value: Any) -> str:
    """A text that is the same for equal JSON values: keys in order, 1.0 as 1."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    match value:
        case float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
    return value
