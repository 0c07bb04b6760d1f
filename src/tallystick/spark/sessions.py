"""A Spark session with the connectors that topics and tables need."""

import os
import sys
from collections.abc import Iterable, Mapping

from pyspark.sql import SparkSession

from tallystick.spark.jars import Connector, jars_of

_EXTENSIONS = {
    Connector.DELTA: "io.delta.sql.DeltaSparkSessionExtension",
    Connector.ICEBERG: "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
}

_AVRO_LIMITS = " ".join(
    f"-Dorg.apache.avro.limits.{what}.maxLength={most}"
    for what, most in {"string": 2**26, "bytes": 2**26, "collectionItems": 2**24}.items()
)
"""Avro's library makes room for what a payload claims before it looks: five broken bytes would take all memory."""


def session(
    name: str = "tallystick",
    *,
    connectors: Iterable[Connector | str] = (Connector.AVRO,),
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """A session with these connectors; the first one of a machine downloads them.

    Without `master` Spark's own configuration decides, or else all cores of this machine. `settings` go over ours.
    """
    builder = SparkSession.builder.appName(name)
    if master is not None:
        builder = builder.master(master)
    for key, value in (session_settings(connectors) | dict(settings or {})).items():
        builder = builder.config(key, value)
    # Workers run the interpreter that runs the driver, which has this package; only spark-submit reads the setting.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return builder.getOrCreate()


def session_settings(connectors: Iterable[Connector | str] = (Connector.AVRO,)) -> dict[str, str]:
    """What a session needs to be told when somebody else makes it. Downloads the connectors."""
    chosen = [Connector(connector) for connector in connectors]
    told = {
        "spark.jars": ",".join(map(str, jars_of(chosen))),
        "spark.pyspark.python": sys.executable,
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        # What other readers of Parquet understand; Spark's own default is a type that Parquet gave up.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.driver.extraJavaOptions": _AVRO_LIMITS,
        "spark.executor.extraJavaOptions": _AVRO_LIMITS,
    }
    extensions = [_EXTENSIONS[connector] for connector in chosen if connector in _EXTENSIONS]
    if extensions:
        told["spark.sql.extensions"] = ",".join(extensions)
    if Connector.DELTA in chosen:
        told["spark.sql.catalog.spark_catalog"] = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
    return told
