"""Avro names: their grammar, and which full name a text means."""

import re
from typing import NamedTuple

from tallystick.formats.avro.types import unqualified

PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
COMPLEX = frozenset({"record", "error", "enum", "fixed", "array", "map"})


class Grammar(NamedTuple):
    """What a name may look like; `told` says it to people."""

    simple: re.Pattern[str]
    full: re.Pattern[str]
    told: str

    def is_simple_name(self, text: object) -> bool:
        return isinstance(text, str) and self.simple.fullmatch(text) is not None

    def is_full_name(self, text: object) -> bool:
        return isinstance(text, str) and self.full.fullmatch(text) is not None


def _grammar(simple: str, told: str) -> Grammar:
    return Grammar(re.compile(simple), re.compile(rf"{simple}(\.{simple})*"), told)


STRICT = _grammar(r"[A-Za-z_][A-Za-z0-9_]*", "letters, digits and underscores, not starting with a digit")
"""The specification's."""
LENIENT = _grammar(r"(?:[^\W\d]|\$)[\w$]*", "letters, digits, underscores and dollars, not starting with a digit")
"""That of Pulsar's brokers: Java's names of inner classes have a dollar, and letters are those of all alphabets."""


def full_name(name: str, namespace: str) -> str:
    """A name with a dot in it is full already; any other is in the namespace around it."""
    return name if "." in name or not namespace else f"{namespace}.{name}"


def qualified(name: str) -> str:
    """A name for texts where one without namespace would be taken for one of the namespace around it."""
    return f"_.{name}"


def namespace_of(name: str) -> str:
    return name.rpartition(".")[0]


def suggestion(name: str, known: list[str]) -> str | None:
    """The full name that the writer of an unknown name probably meant."""
    same = [candidate for candidate in known if unqualified(candidate).lower() == unqualified(name).lower()]
    return same[0] if same else None
