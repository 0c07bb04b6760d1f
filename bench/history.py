"""Histories of a subject for the benchmarks: parsed versions, and the check that every format is measured by."""

from collections.abc import Callable, Iterable

from tallystick.compat.evolution import Registered, check
from tallystick.compat.options import DEFAULT_OPTIONS, Options
from tallystick.formats import Schema, parse
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.strategy import Strategy

VERSIONS = 50
FIELDS = 200


def parsed(schema_type: SchemaType, text: str) -> Schema:
    return parse(SchemaDefinition(schema_type, text))


def history(schema_type: SchemaType, texts: Iterable[str]) -> list[Registered]:
    return [Registered(version, parsed(schema_type, text)) for version, text in enumerate(texts, start=1)]


def full_transitive(
    schema_type: SchemaType, texts: list[str], options: Options = DEFAULT_OPTIONS
) -> Callable[[], object]:
    """The check of the last text against all before it, parsed; it fits, so that nothing is cut short."""
    registered, candidate = history(schema_type, texts[:-1]), parsed(schema_type, texts[-1])

    def work() -> None:
        assert check(registered, candidate, Strategy.FULL_TRANSITIVE, options) == []

    return work
