"""A table and the rows that are to land in it: what has to be added, and what cannot be.

Columns are only ever added, and may always be null. A column that rows no longer have stays, and is null for them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StructField,
    StructType,
)

from tallystick.errors import IncompatibleSchema
from tallystick.finding import Finding, Place

TYPE_CHANGED = "TABLE_COLUMN_TYPE_CHANGED"
_WIDENING: tuple[tuple[type[DataType], ...], ...] = (
    (ByteType, ShortType, IntegerType, LongType),
    (FloatType, DoubleType),
)


@dataclass(frozen=True, slots=True)
class Addition:
    """A column, or a field inside of one: `address.street`, `items.element.price`."""

    path: tuple[str, ...]
    type: DataType


def additions(table: StructType, rows: StructType, named: str) -> list[Addition]:
    """What the table lacks. Raises `IncompatibleSchema` for columns that cannot hold what the rows have."""
    found: list[Addition] = []
    wrong: list[Finding] = []
    for difference in _differences(table, rows, ()):
        if isinstance(difference, Addition):
            found.append(difference)
        else:
            wrong.append(difference)
    if wrong:
        raise IncompatibleSchema(
            f"{named} cannot take these rows, and nothing was written: {wrong[0].message}; {wrong[0].fix}", wrong
        )
    return found


def _differences(table: StructType, rows: StructType, path: tuple[str, ...]) -> Iterator[Addition | Finding]:
    known = {field.name.lower(): field for field in table.fields}
    for field in rows.fields:
        place = (*path, field.name)
        if field.name.lower() in known:
            yield from _inside(known[field.name.lower()].dataType, field.dataType, place)
        else:
            yield Addition(place, field.dataType)


def _inside(table: DataType, rows: DataType, path: tuple[str, ...]) -> Iterator[Addition | Finding]:
    match table, rows:
        case StructType(), StructType():
            yield from _differences(table, rows, path)
        case ArrayType(), ArrayType():
            yield from _inside(table.elementType, rows.elementType, (*path, "element"))
        case MapType(), MapType():
            yield from _inside(table.keyType, rows.keyType, (*path, "key"))
            yield from _inside(table.valueType, rows.valueType, (*path, "value"))
        case _ if not _holds(table, rows):
            yield _changed(table, rows, path)


def _holds(table: DataType, rows: DataType) -> bool:
    if table == rows:
        return True
    if isinstance(table, DecimalType) and isinstance(rows, DecimalType):
        return table.scale == rows.scale and table.precision >= rows.precision
    return any(
        type(table) in line and type(rows) in line and line.index(type(table)) >= line.index(type(rows))
        for line in _WIDENING
    )


def _changed(table: DataType, rows: DataType, path: tuple[str, ...]) -> Finding:
    was, now = table.simpleString(), rows.simpleString()
    return Finding(
        rule=TYPE_CHANGED,
        message=f"column {'.'.join(path)} is {was}, the rows have {now}",
        fix="land into a new table, or read the topic by a schema that keeps the type",
        old=Place(".".join(path)),
        new=Place(".".join(path)),
        was=was,
        now=now,
    )


def merged(table: StructType, rows: StructType) -> StructType:
    """The table with all that the rows add; all of it may be null."""
    known = {field.name.lower() for field in table.fields}
    by_name = {field.name.lower(): field for field in rows.fields}
    kept = [
        StructField(
            f.name, _merged(f.dataType, by_name[f.name.lower()].dataType) if f.name.lower() in by_name else f.dataType
        )
        for f in table.fields
    ]
    return StructType([*kept, *(StructField(f.name, f.dataType) for f in rows.fields if f.name.lower() not in known)])


def _merged(table: DataType, rows: DataType) -> DataType:
    match table, rows:
        case StructType(), StructType():
            return merged(table, rows)
        case ArrayType(), ArrayType():
            return ArrayType(_merged(table.elementType, rows.elementType))
        case MapType(), MapType():
            return MapType(_merged(table.keyType, rows.keyType), _merged(table.valueType, rows.valueType))
    return table


def is_same(table: DataType, rows: DataType) -> bool:
    """Whether rows need no change to be the table's; what may be null does not count."""
    return _bare(table) == _bare(rows)


def _bare(kind: DataType) -> DataType:
    match kind:
        case StructType():
            return StructType([StructField(f.name, _bare(f.dataType)) for f in kind.fields])
        case ArrayType():
            return ArrayType(_bare(kind.elementType))
        case MapType():
            return MapType(_bare(kind.keyType), _bare(kind.valueType))
    return kind


def conformed(column: Column, rows: DataType, table: DataType) -> Column:
    """A value of the rows' type as one of the table's."""
    if is_same(table, rows):
        return column
    match table, rows:
        case StructType(), StructType():
            return F.when(column.isNotNull(), F.struct(*_fields(column, rows, table)))
        case ArrayType(), ArrayType():
            inner, wanted = rows.elementType, table.elementType
            return F.transform(column, lambda element: conformed(element, inner, wanted))
        case MapType(), MapType():
            inner, wanted = rows.valueType, table.valueType
            return F.transform_values(column, lambda _, value: conformed(value, inner, wanted))
    return column.cast(table)


def _fields(column: Column, rows: StructType, table: StructType) -> Sequence[Column]:
    known = {field.name.lower(): field for field in rows.fields}
    return [
        conformed(column[known[f.name.lower()].name], known[f.name.lower()].dataType, f.dataType).alias(f.name)
        if f.name.lower() in known
        else F.lit(None).cast(f.dataType).alias(f.name)
        for f in table.fields
    ]
