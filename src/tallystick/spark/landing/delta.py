"""Delta: its log remembers for each query the last batch that was written, and takes none twice."""

from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from tallystick.spark.landing import catalog
from tallystick.spark.landing.counts import Counts, SchemaKey, counted, observed
from tallystick.spark.landing.rows import BATCH, batch_name
from tallystick.spark.landing.table import Table
from tallystick.spark.quarantine import QUARANTINE, AsQuarantine


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
    shape = wanted if known is None else catalog.evolved(spark, table, known, wanted)
    if known is not None and _last(spark, table, query) >= batch_id:
        return _repeated(rows, table, query, batch_id, as_quarantine)
    watch = Observation()
    good = catalog.good_rows(rows.observe(watch, *observed(schemas)), query, batch_id)
    _append(catalog.shaped(good, shape), table, query, batch_id)
    counts = Counts(counted(watch.get, schemas))
    if counts.records.quarantined:
        _quarantine(rows, table, query, batch_id, as_quarantine)
    return counts


def _repeated(rows: DataFrame, table: Table, query: str, batch_id: int, as_quarantine: AsQuarantine) -> Counts:
    """The good rows are there; whether the others are, the quarantine's own log tells."""
    spark = rows.sparkSession
    beside = table.quarantine
    if not catalog.is_table(spark, beside) or _last(spark, beside, query) < batch_id:
        _quarantine(rows, table, query, batch_id, as_quarantine)
    return recounted(spark, table, query, batch_id)


def recounted(spark: SparkSession, table: Table, query: str, batch_id: int) -> Counts:
    """What a batch brought, by what is in the tables."""
    landed = spark.table(table.sql_name).where(F.col(BATCH) == batch_name(query, batch_id))
    deleted = F.count_if("tally_is_deleted")
    found: dict[str, Any] = landed.agg(deleted.alias("tombstones"), F.count("*").alias("all")).collect()[0].asDict()
    beside = table.quarantine
    bad = 0
    if catalog.is_table(spark, beside):
        bad = spark.table(beside.sql_name).where((F.col("query") == query) & (F.col("batch_id") == batch_id)).count()
    whole = {"good": found["all"] - found["tombstones"], "tombstones": found["tombstones"], "quarantined": bad}
    return Counts(counted(whole, ()), is_repeated=True)


def _quarantine(rows: DataFrame, table: Table, query: str, batch_id: int, as_quarantine: AsQuarantine) -> None:
    spark, beside = rows.sparkSession, table.quarantine
    known = catalog.schema_of(spark, beside)
    shape = StructType(QUARANTINE.fields) if known is None else catalog.evolved(spark, beside, known, QUARANTINE)
    _append(catalog.shaped(as_quarantine(rows), shape), beside, query, batch_id)


def _append(rows: DataFrame, table: Table, query: str, batch_id: int) -> None:
    writer = rows.write.format("delta").mode("append").option("txnAppId", query).option("txnVersion", batch_id)
    if table.partition_by:
        writer = writer.partitionBy(*table.partition_by)
    if table.is_folder():
        writer.save(table.place)
    else:
        writer.saveAsTable(table.sql_name)


def _last(spark: SparkSession, table: Table, query: str) -> int:
    """The last batch of a query that the table has; -1 where it has none."""
    place = table.place
    if not table.is_folder():
        place = spark.sql(f"DESCRIBE DETAIL {table.sql_name}").collect()[0]["location"]
    jvm: Any = spark._jvm
    none = jvm.scala.Option.empty()
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, place)
    found = log.update(False, none, none).transactions().get(query)
    return int(found.get()) if found.isDefined() else -1
