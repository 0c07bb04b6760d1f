"""Scalars of YAML, read as YAML 1.2 does; what version 1.1 reads in another way is ambiguous and has to be quoted.

`no`, `on` or `12:30` are texts to some readers, truth values or numbers to others. Where the place tells what is meant,
as a choice does, the text is taken as it stands.
"""

import re
from enum import Enum, auto
from math import isfinite
from typing import Any

from yaml.nodes import ScalarNode

_OLD_KINDS = {"tag:yaml.org,2002:bool", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
_NULL = {"", "~", "null", "Null", "NULL"}
_TRUE, _FALSE = {"true", "True", "TRUE"}, {"false", "False", "FALSE"}
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NEARLY_NUMBER = re.compile(
    r"[-+]?[0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|0o[0-7]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_MOST_DIGITS = 40
"""More are no number that anything else reads as the same."""


class Kind(Enum):
    TEXT = auto()
    NOTHING = auto()
    TRUTH = auto()
    WHOLE = auto()
    NUMBER = auto()
    AMBIGUOUS = auto()


def kind(node: ScalarNode) -> Kind:
    text = node.value
    if node.style is not None:
        return Kind.TEXT
    if text in _NULL:
        return Kind.NOTHING
    if text in _TRUE or text in _FALSE:
        return Kind.TRUTH
    if len(text) <= _MOST_DIGITS and _WHOLE.fullmatch(text):
        return Kind.WHOLE
    if len(text) <= _MOST_DIGITS and _NUMBER.fullmatch(text) and isfinite(float(text)):
        return Kind.NUMBER
    if node.tag in _OLD_KINDS or _NEARLY_NUMBER.fullmatch(text):
        return Kind.AMBIGUOUS
    return Kind.TEXT


def value(node: ScalarNode) -> Any:
    """As JSON has it; what is ambiguous is a text."""
    match kind(node):
        case Kind.NOTHING:
            return None
        case Kind.TRUTH:
            return node.value in _TRUE
        case Kind.WHOLE:
            return int(node.value)
        case Kind.NUMBER:
            return float(node.value)
        case _:
            return node.value
