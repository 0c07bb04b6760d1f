"""Iceberg: the snapshot of a batch says which batch it is, so that none is written twice.

One driver at a time lands a query: two that run on the same checkpoint are stopped by Spark, not by the table.
"""

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from tallystick.spark.landing import catalog
from tallystick.spark.landing.counts import Counts, SchemaKey, counted, observed
from tallystick.spark.landing.delta import recounted
from tallystick.spark.landing.table import Table
from tallystick.spark.quarantine import QUARANTINE, AsQuarantine

_QUERY, _BATCH = "tallystick.query", "tallystick.batch"
_MADE = {"format-version": "2"}
_done: dict[tuple[str, str], int] = {}


def land(
    rows: DataFrame,
    table: Table,
    query: str,
    batch_id: int,
    as_quarantine: AsQuarantine,
    schemas: tuple[SchemaKey, ...],
) -> Counts:
    spark = rows.sparkSession
    known, wanted = catalog.schema_of(spark, table), catalog.good_type(rows)
    is_next = _follows(table, query, batch_id)
    if known is not None and not is_next and _last(spark, table, query) >= batch_id:
        catalog.evolved(spark, table, known, wanted)
        if not catalog.is_table(spark, table.quarantine) or _last(spark, table.quarantine, query) < batch_id:
            _quarantine(rows, table, query, batch_id, as_quarantine)
        return recounted(spark, table, query, batch_id)
    shape = wanted if known is None else catalog.evolved(spark, table, known, wanted)
    watch = Observation()
    good = catalog.good_rows(rows.observe(watch, *observed(schemas)), query, batch_id)
    _append(catalog.shaped(good, shape), table, query, batch_id, is_new=known is None)
    counts = Counts(counted(watch.get, schemas))
    if counts.records.quarantined:
        _quarantine(rows, table, query, batch_id, as_quarantine)
    _done[table.place, query] = batch_id
    return counts


def _follows(table: Table, query: str, batch_id: int) -> bool:
    """Whether this process landed the batch before: then nobody landed this one, and no job has to look for it.

    Told once: an attempt that fails may have written a part.
    """
    return _done.pop((table.place, query), batch_id) < batch_id


def _quarantine(rows: DataFrame, table: Table, query: str, batch_id: int, as_quarantine: AsQuarantine) -> None:
    spark, beside = rows.sparkSession, table.quarantine
    known = catalog.schema_of(spark, beside)
    shape = QUARANTINE if known is None else catalog.evolved(spark, beside, known, QUARANTINE)
    kept = catalog.shaped(as_quarantine(rows), shape)
    _append(kept, beside, query, batch_id, is_new=known is None)


def _append(rows: DataFrame, table: Table, query: str, batch_id: int, *, is_new: bool) -> None:
    writer = rows.writeTo(table.sql_name).using("iceberg")
    for name, value in ((_QUERY, query), (_BATCH, str(batch_id))):
        writer = writer.option(f"snapshot-property.{name}", value)
    if not is_new:
        writer.append()
        return
    for name, value in _MADE.items():
        writer = writer.tableProperty(name, value)
    if table.partition_by:
        first, *others = (F.col(f"`{name}`") for name in table.partition_by)
        writer = writer.partitionedBy(first, *others)
    writer.create()


def _last(spark: SparkSession, table: Table, query: str) -> int:
    """The last batch of a query that a snapshot tells of; -1 where none does."""
    snapshots = spark.table(f"{table.sql_name}.snapshots").where(F.col("summary")[_QUERY] == query)
    found = snapshots.agg(F.max(F.col("summary")[_BATCH].cast("long"))).collect()[0][0]
    return -1 if found is None else int(found)
