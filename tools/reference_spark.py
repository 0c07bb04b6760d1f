"""What the Spark engine's own values say: names, columns, options, connectors."""

import inspect
from collections.abc import Iterable
from enum import Enum

from pyspark.sql.types import StructType

import tallystick.spark
from tallystick.spark import jars
from tallystick.spark.columns import FRAMES
from tallystick.spark.landing.rows import ORIGIN
from tallystick.spark.source import options


def names() -> str:
    return _table(("name", "what it is"), ([f"`{name}`", _first(name)] for name in sorted(tallystick.spark.__all__)))


def _first(name: str) -> str:
    """The first paragraph of its docstring, or what an enumeration has."""
    value = getattr(tallystick.spark, name)
    if name in _STRUCTS:
        return _STRUCTS[name]
    if isinstance(value, type) and issubclass(value, Enum):
        return "One of " + ", ".join(f"`{each.value}`" for each in value) + "."
    told = inspect.getdoc(value)
    assert told is not None, f"{name} is not explained"
    return " ".join(told.split("\n\n")[0].split()).replace("|", "\\|")


_STRUCTS = {"FRAMES": "The columns below, as a type of Spark.", "FINDING_TYPE": "The type of `finding`."}


def columns() -> str:
    return _fields(FRAMES)


def landed_columns() -> str:
    return _fields(ORIGIN)


def _fields(fields: StructType) -> str:
    return _table(("column", "type"), ([f"`{field.name}`", f"`{field.dataType.simpleString()}`"] for field in fields))


def source_options() -> str:
    """The tables that stand before the code."""
    assert options.__doc__ is not None
    return options.__doc__.partition("\n\n")[2]


def connectors() -> str:
    rows = (
        [f"`{connector}`", ", ".join(f"`{group}:{name}:{version}`" for group, name, version in wanted)]
        for connector, wanted in jars._JARS.items()
    )
    return _table(("connector", "jars"), rows)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(head)
    return "\n".join(f"| {' | '.join(line)} |" for line in [titles, ["---"] * len(titles), *rows]) + "\n"
