"""What a row of the table looks like: the record's own fields, and where it came from.

Our columns begin with `tally_`. A record with a field of one of their names is refused rather than renamed.
"""

from collections import Counter

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

from tallystick.errors import IncompatibleSchema, InvalidArgument
from tallystick.finding import Finding, Place
from tallystick.spark.columns import (
    EVENT_TIME,
    FINDING,
    FRAMES,
    KEY,
    PARTITION,
    PAYLOAD,
    POSITION,
    PUBLISH_TIME,
    SCHEMA_ID,
    SCHEMA_VERSION,
    TOPIC,
    VALUE,
)

PREFIX = "tally_"
BATCH = "tally_batch"
"""The query and the number of its batch, such as `orders.12`."""
IS_DELETED = "tally_is_deleted"
"""True for a tombstone: all fields of the record are null, its key tells what is gone."""

_TOLD = (TOPIC, PARTITION, POSITION, SCHEMA_ID, SCHEMA_VERSION, KEY, EVENT_TIME, PUBLISH_TIME)
ORIGIN = StructType(
    [StructField(PREFIX + name, FRAMES[name].dataType) for name in _TOLD] + [StructField(IS_DELETED, BooleanType())]
)
"""The columns that every table has."""

COLUMN_TAKEN = "TABLE_COLUMN_TAKEN"
_OURS = {*ORIGIN.names, BATCH}


def require_decoded(rows: DataFrame) -> None:
    missing = [name for name in (*FRAMES.names, VALUE, FINDING) if name not in rows.columns]
    if missing:
        raise InvalidArgument("rows", f"they have no {', '.join(missing)}; land what `decode` gives")


def fields_of(rows: DataFrame) -> StructType:
    """The record's own columns: its fields, or the one column `value` where it is no record.

    Raises `IncompatibleSchema` where two columns would have the same name.
    """
    kind = rows.schema[VALUE].dataType
    fields = (
        StructType([StructField(f.name, f.dataType) for f in kind.fields]) if isinstance(kind, StructType) else None
    )
    found = fields if fields is not None else StructType([StructField(VALUE, kind)])
    counted = Counter([*(name.lower() for name in found.names), *_OURS])
    twice = [name for name in found.names if counted[name.lower()] > 1]
    if twice:
        raise IncompatibleSchema(
            f"the field {twice[0]!r} cannot be a column of a table", [_taken(name) for name in twice]
        )
    return found


def _taken(name: str) -> Finding:
    reason = (
        "is a column of ours" if name.lower() in _OURS else "is there twice where upper and lower case are the same"
    )
    return Finding(
        rule=COLUMN_TAKEN,
        message=f"{name!r} {reason}",
        fix="read the topic by a schema that has an alias for it, or land it by a query of your own",
        new=Place(name),
    )


def as_landed(rows: DataFrame, *more: Column) -> DataFrame:
    """Decoded rows in the columns of a table. Those that do not fit are still there: for them `IS_DELETED` is null."""
    origin = [F.col(name).alias(PREFIX + name) for name in _TOLD]
    is_deleted = F.when(F.col(FINDING).isNull(), F.col(PAYLOAD).isNull()).alias(IS_DELETED)
    return rows.select(*_own_columns(rows), *origin, is_deleted, *more)


def _own_columns(rows: DataFrame) -> list[Column]:
    if isinstance(rows.schema[VALUE].dataType, StructType):
        return [F.col(VALUE)[name].alias(name) for name in fields_of(rows).names]
    return [F.col(VALUE)]


def landed_type(rows: DataFrame) -> StructType:
    """The columns of a table for these rows, without the batch."""
    return StructType([*fields_of(rows).fields, *ORIGIN.fields])


def batch_name(query: str, batch_id: int) -> str:
    return f"{query}.{batch_id}"


BATCH_FIELD = StructField(BATCH, StringType())
