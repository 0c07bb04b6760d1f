"""What Delta and Iceberg have in common: tables that Spark knows by name, with a schema that is changed by SQL."""

from typing import Any

from py4j.java_gateway import JavaPackage  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from tallystick.errors import Unsupported
from tallystick.spark.landing.evolution import Addition, additions, conformed
from tallystick.spark.landing.table import Table


def schema_of(spark: SparkSession, table: Table) -> StructType | None:
    """None where there is no such table. Raises `Unsupported` where the session lacks the connector."""
    return spark.table(table.sql_name).schema if is_table(spark, table) else None


def is_table(spark: SparkSession, table: Table) -> bool:
    if not table.is_folder():
        return spark.catalog.tableExists(table.sql_name)
    jvm: Any = spark._jvm
    delta = jvm.io.delta.tables.DeltaTable
    # A class that is not there looks like a package.
    if isinstance(delta, JavaPackage):
        raise _no_connector(table)
    return bool(delta.isDeltaTable(spark._jsparkSession, table.place))


def _no_connector(table: Table) -> Unsupported:
    return Unsupported(
        f"this Spark session cannot write {table.format} tables; make it with "
        f"tallystick.spark.session(connectors=['avro', '{table.format}'])"
    )


def evolved(spark: SparkSession, table: Table, known: StructType, wanted: StructType) -> StructType:
    """The table's columns after those were added that the rows have and it has not."""
    missing = additions(known, wanted, table.place)
    if not missing:
        return known
    spark.sql(f"ALTER TABLE {table.sql_name} ADD COLUMNS ({', '.join(map(_column, missing))})")
    return spark.table(table.sql_name).schema


def _column(addition: Addition) -> str:
    # A backtick inside of a name is written twice.
    name = ".".join("`" + part.replace("`", "``") + "`" for part in addition.path)
    return f"{name} {_sql_type(addition)}"


def _sql_type(addition: Addition) -> str:
    return addition.type.simpleString() if not isinstance(addition.type, StructType) else _struct(addition.type)


def _struct(kind: StructType) -> str:
    fields = (f"`{f.name.replace('`', '``')}`: {_sql_type(Addition((f.name,), f.dataType))}" for f in kind.fields)
    return f"STRUCT<{', '.join(fields)}>"


def shaped(rows: DataFrame, table: StructType) -> DataFrame:
    """Rows with exactly the table's columns, in its order."""
    have = {field.name.lower(): field for field in rows.schema.fields}
    columns = []
    for field in table.fields:
        found = have.get(field.name.lower())
        value = F.lit(None).cast(field.dataType)
        if found is not None:
            value = conformed(F.col(f"`{found.name}`"), found.dataType, field.dataType)
        columns.append(value.alias(field.name))
    return rows.select(*columns)
