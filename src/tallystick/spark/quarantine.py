"""Quarantine: records that do not fit, whole, with the reason, so that they can be replayed after the fix."""

from collections.abc import Callable
from datetime import datetime

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType, TimestampType

from tallystick.spark.columns import FINDING, FINDING_TYPE, FRAMES
from tallystick.spark.decoding.explaining import Explanation
from tallystick.spark.landing.table import Table, TableFormat

FINDING_JSON, QUERY, BATCH_ID = "finding_json", "query", "batch_id"
QUARANTINED_AT, REPLAYED_AT = "quarantined_at", "replayed_at"

_REASON = [StructField(FINDING, FINDING_TYPE), StructField(FINDING_JSON, StringType())]
_ABOUT = [
    StructField(QUERY, StringType()),
    StructField(BATCH_ID, LongType()),
    StructField(QUARANTINED_AT, TimestampType()),
    StructField(REPLAYED_AT, TimestampType()),
]
QUARANTINE = StructType([*(StructField(f.name, f.dataType) for f in FRAMES), *_REASON, *_ABOUT])
"""The record as it came, why it is here, which batch brought it when, and when it was replayed."""


def record_columns() -> list[Column]:
    """What is kept of a decoded row."""
    return [*(F.col(name) for name in FRAMES.names), F.col(FINDING), F.to_json(FINDING).alias(FINDING_JSON)]


def quarantine_rows(
    rows: DataFrame, query: str, batch_id: int, at: datetime, explanation: Explanation | None = None
) -> DataFrame:
    """The decoded rows that have a finding, as rows of the quarantine."""
    bad = rows.where(F.col(FINDING).isNotNull()).select(*FRAMES.names, FINDING)
    if explanation is not None:
        bad = explanation.applied(bad)
    about = (F.lit(query), F.lit(batch_id), F.lit(at), F.lit(None))
    columns = [value.cast(field.dataType).alias(field.name) for value, field in zip(about, _ABOUT, strict=True)]
    return bad.select(*record_columns(), *columns)


AsQuarantine = Callable[[DataFrame], DataFrame]
"""`quarantine_rows` of one batch."""


def quarantined(spark: SparkSession, table: Table) -> DataFrame:
    """Everything in the quarantine beside a table; no rows where there is none."""
    beside = table.quarantine
    if not exists(spark, beside):
        return spark.createDataFrame([], QUARANTINE)
    return opened(spark, beside).select(*QUARANTINE.names)


def replayable(rows: DataFrame) -> DataFrame:
    """Rows of a quarantine as the frames that they came as: decode them again, or send them to a topic."""
    return rows.select(*FRAMES.names)


def opened(spark: SparkSession, table: Table) -> DataFrame:
    """A table as it is now."""
    if table.format is TableFormat.PARQUET:
        from tallystick.spark.landing.parquet import read

        return read(spark, table)
    return spark.table(table.sql_name)


def exists(spark: SparkSession, table: Table) -> bool:
    if table.format is TableFormat.PARQUET:
        from tallystick.spark.landing.parquet import is_there

        return is_there(table)
    from tallystick.spark.landing.catalog import is_table

    return is_table(spark, table)
