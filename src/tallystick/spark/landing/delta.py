"""Delta: its log remembers for each query the last batch that was written, and takes none twice."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tallystick.spark.landing.table import Table


def append(rows: DataFrame, table: Table, query: str, batch_id: int, *, is_new: bool) -> None:
    writer = rows.write.format("delta").mode("append").option("txnAppId", query).option("txnVersion", batch_id)
    if is_new and table.partition_by:
        writer = writer.partitionBy(*table.partition_by)
    if table.is_folder():
        writer.save(table.place)
    else:
        writer.saveAsTable(table.sql_name)


def last(spark: SparkSession, table: Table, query: str) -> int:
    place = table.place
    if not table.is_folder():
        place = spark.sql(f"DESCRIBE DETAIL {table.sql_name}").collect()[0]["location"]
    jvm: Any = spark._jvm
    none = jvm.scala.Option.empty()
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, place)
    found = log.update(False, none, none).transactions().get(query)
    return int(found.get()) if found.isDefined() else -1
