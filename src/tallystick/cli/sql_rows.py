"""Rows of Spark for people and for programs."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from tallystick.cli.faults import unusable
from tallystick.cli.output.excerpt import printable
from tallystick.cli.registry_options import rendered
from tallystick.cli.terminal import terminal, write
from tallystick.cli.topic_to_json import json_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

AT_ONCE = 500
_WIDEST = 100_000
"""Columns where there is no terminal: nothing is cut."""


def taken(result: "DataFrame", count: int) -> list[list[Any]]:
    """The first rows, as values for JSON."""
    types = [field.dataType for field in result.schema.fields]
    return [_row(row, types) for row in result.limit(count).collect()]


def stream(result: "DataFrame", output: str) -> None:
    """All rows to standard output, one after the other: a line of JSON each, or a document of YAML."""
    _require_distinct(result.columns)
    types = [field.dataType for field in result.schema.fields]
    texts: list[str] = []
    for row in result.toLocalIterator():
        document = dict(zip(result.columns, _row(row, types), strict=True))
        texts.append(
            json.dumps(document, ensure_ascii=False) if output == "json" else f"---\n{rendered(document, output)}"
        )
        if len(texts) == AT_ONCE:
            write("\n".join(texts))
            texts.clear()
    if texts:
        write("\n".join(texts))


def save(result: "DataFrame", target: str) -> None:
    """As a folder of Parquet files. Raises `BadInput` where there is something already."""
    from pyspark.errors import AnalysisException

    _require_distinct(result.columns)
    try:
        result.write.parquet(target)
    except AnalysisException as e:
        if e.getCondition() != "PATH_ALREADY_EXISTS":
            raise
        raise unusable(f"--to {target}: there is something already", fix="remove it, or name another folder") from e


def show_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], colour: str, stream: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    target = terminal(colour, stream)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(Text(printable(name)), overflow="fold", no_wrap=target.width is None)
    for row in rows:
        table.add_row(*(Text(_cell(value), "" if value is not None else "dim") for value in row))
    console = Console(
        file=stream,
        width=_WIDEST if target.width is None else None,
        force_terminal=target.colour,
        color_system="standard" if target.colour else None,
        no_color=not target.colour,
        highlight=False,
    )
    with console.capture() as captured:
        console.print(table)
    stream.write("".join(line.rstrip() + "\n" for line in captured.get().splitlines()))
    # What is said of the rows comes after them, also where both streams are one.
    stream.flush()


def _cell(value: Any) -> str:
    if value is None:
        return "null"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return printable(text.replace("\n", "↵"))


def _require_distinct(columns: Sequence[str]) -> None:
    twice = {name for name in columns if list(columns).count(name) > 1}
    if twice:
        raise unusable(f"two columns are called {min(twice)}", fix="give one of them another name with AS")


def _row(row: Iterable[Any], types: Sequence["DataType"]) -> list[Any]:
    return [json_of(_plain(value, type_)) for value, type_ in zip(row, types, strict=True)]


def _plain(value: Any, type_: "DataType") -> Any:
    """Records as dictionaries, and points in time in UTC: Spark gives them in the zone of this machine."""
    from pyspark.sql.types import ArrayType, MapType, StructType, TimestampType

    if value is None:
        return None
    match type_:
        case StructType(fields=fields):
            pairs = zip(fields, value, strict=True)
            return {field.name: _plain(inner, field.dataType) for field, inner in pairs}
        case ArrayType(elementType=element):
            return [_plain(inner, element) for inner in value]
        case MapType(keyType=key, valueType=item):
            return {_plain(name, key): _plain(inner, item) for name, inner in value.items()}
        case TimestampType():
            assert isinstance(value, datetime)
            return value.astimezone(UTC)
    return bytes(value) if isinstance(value, bytearray) else value
