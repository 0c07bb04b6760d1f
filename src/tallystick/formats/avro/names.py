"""Avro names: their grammar, and which full name a text means."""

import re

from tallystick.formats.avro.types import unqualified

PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
COMPLEX = frozenset({"record", "error", "enum", "fixed", "array", "map"})

_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FULL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")

GRAMMAR = "letters, digits and underscores, not starting with a digit"


def is_simple_name(text: object) -> bool:
    return isinstance(text, str) and _SIMPLE.fullmatch(text) is not None


def is_full_name(text: object) -> bool:
    return isinstance(text, str) and _FULL.fullmatch(text) is not None


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
