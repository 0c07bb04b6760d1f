"""Iceberg: the snapshot of a batch says which batch it is, so that none is written twice.

One driver at a time lands a query: two that run on the same checkpoint are stopped by Spark, not by the table.
"""

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tallystick.spark.landing.table import Table

_QUERY, _BATCH = "tallystick.query", "tallystick.batch"
_MADE = {"format-version": "2"}


def append(rows: DataFrame, table: Table, query: str, batch_id: int, *, is_new: bool) -> None:
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


def last(spark: SparkSession, table: Table, query: str) -> int:
    jvm: Any = spark._jvm
    # Its own library walks back from the newest snapshot, which is most often the one; a query would be a job.
    loaded = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table.sql_name)
    loaded.refresh()
    snapshots = jvm.org.apache.iceberg.util.SnapshotUtil.currentAncestors(loaded).iterator()
    while snapshots.hasNext():
        summary = snapshots.next().summary()
        if summary.get(_QUERY) == query:
            return int(summary.get(_BATCH))
    return -1
