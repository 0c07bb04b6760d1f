"""A batch into a table whose format keeps, with its rows, the number of a query's last batch: Delta and Iceberg."""

from typing import Any, Protocol

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from tallystick.spark.landing import catalog
from tallystick.spark.landing.counts import Counts, SchemaKey, counted, fitting
from tallystick.spark.landing.rows import BATCH, BATCH_FIELD, IS_DELETED, as_landed, batch_name, landed_type
from tallystick.spark.landing.table import Table
from tallystick.spark.quarantine import BATCH_ID, QUARANTINE, QUERY, AsQuarantine


class Format(Protocol):
    """What each format does in its own way."""

    def last(self, spark: SparkSession, table: Table, query: str) -> int:
        """The last batch of a query that the table has; -1 where it has none."""

    def append(self, rows: DataFrame, table: Table, query: str, batch_id: int, *, is_new: bool) -> None:
        """Writes the rows and the number of their batch, both or neither."""


def land(
    format_: Format,
    rows: DataFrame,
    table: Table,
    query: str,
    batch_id: int,
    as_quarantine: AsQuarantine,
    schemas: tuple[SchemaKey, ...],
) -> Counts:
    spark, wanted = rows.sparkSession, StructType([*landed_type(rows).fields, BATCH_FIELD])
    known = catalog.schema_of(spark, table)
    shape = wanted if known is None else catalog.evolved(spark, table, known, wanted)
    if known is not None and format_.last(spark, table, query) >= batch_id:
        # The good rows are there; whether the others are, the quarantine tells.
        beside = table.quarantine
        if not catalog.is_table(spark, beside) or format_.last(spark, beside, query) < batch_id:
            _quarantine(format_, as_quarantine(rows), beside, query, batch_id)
        return _recounted(spark, table, query, batch_id)
    watch = Observation()
    landed = as_landed(rows, F.lit(batch_name(query, batch_id)).alias(BATCH))
    good = fitting(catalog.shaped(landed, shape), watch, schemas)
    format_.append(good, table, query, batch_id, is_new=known is None)
    counts = Counts(counted(watch.get, schemas))
    if counts.records.quarantined:
        _quarantine(format_, as_quarantine(rows), table.quarantine, query, batch_id)
    return counts


def _quarantine(format_: Format, bad: DataFrame, beside: Table, query: str, batch_id: int) -> None:
    spark = bad.sparkSession
    known = catalog.schema_of(spark, beside)
    shape = QUARANTINE if known is None else catalog.evolved(spark, beside, known, QUARANTINE)
    format_.append(catalog.shaped(bad, shape), beside, query, batch_id, is_new=known is None)


def _recounted(spark: SparkSession, table: Table, query: str, batch_id: int) -> Counts:
    """What a batch brought, by what is in the tables."""
    landed = spark.table(table.sql_name).where(F.col(BATCH) == batch_name(query, batch_id))
    deleted = F.count_if(IS_DELETED)
    found: dict[str, Any] = landed.agg(deleted.alias("tombstones"), F.count("*").alias("all")).collect()[0].asDict()
    beside = table.quarantine
    bad = 0
    if catalog.is_table(spark, beside):
        bad = spark.table(beside.sql_name).where((F.col(QUERY) == query) & (F.col(BATCH_ID) == batch_id)).count()
    whole = {"good": found["all"] - found["tombstones"], "tombstones": found["tombstones"], "quarantined": bad}
    return Counts(counted(whole, ()), is_repeated=True)
