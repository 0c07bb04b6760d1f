"""`tally check --data`: a file and the records of a topic or a table → report."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.cli import evaluation
from tallystick.cli.data_options import DataOptions
from tallystick.cli.data_report import DataReport
from tallystick.cli.faults import unusable
from tallystick.cli.spark_progress import watched
from tallystick.cli.spark_session import spark_session
from tallystick.model.schema_type import SchemaType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tallystick.cli.sources import SchemaFile
    from tallystick.spark.cluster import Cluster
    from tallystick.spark.trial import Trial

DELTA, PARQUET = "delta", "parquet"

Table = tuple[str, str]
"""Its format and place."""


def evaluate(
    cluster: "Cluster",
    options: DataOptions,
    files: Sequence[str],
    schema_type: SchemaType | None = None,
    references: Sequence[str] = (),
    include: Sequence[str] = (),
) -> DataReport:
    """Reads each record by the file's schema, resolved from the schema that the record was written with."""
    if len(files) != 1:
        raise unusable("with --data the old schemas are those of the records", fix="name the new schema alone")
    [candidate] = evaluation.load(files, schema_type, references, include)
    evaluation.parsed(candidate)
    table = _table(options.data)
    connectors = (DELTA,) if table is not None and table[0] == DELTA else ()
    options.start()
    with spark_session(cluster, options.master, options.settings(), connectors=connectors) as spark, watched(spark):
        found = _tried(spark, cluster, options, table, candidate)
    return DataReport(candidate=candidate, data=options.data, trial=found)


def _table(data: str) -> Table | None:
    """None where it is a topic; a table is `delta:PATH`, `parquet:PATH`, or a folder that is there."""
    kind, separator, place = data.partition(":")
    if separator and kind in (DELTA, PARQUET):
        return kind, place
    if not os.path.isdir(data):
        return None
    return (DELTA if Path(data, "_delta_log").is_dir() else PARQUET), data


def _tried(
    spark: "SparkSession", cluster: "Cluster", options: DataOptions, table: Table | None, candidate: "SchemaFile"
) -> "Trial":
    from pyspark import StorageLevel

    from tallystick.serde.native import NativeSchema
    from tallystick.spark.failures import SPARK_ERRORS, failure_of
    from tallystick.spark.trial import trial

    reader = NativeSchema[object](candidate.definition, references=candidate.references)
    try:
        # Read once: for the schemas, and for the values.
        frames = _frames(spark, cluster, options, table).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            return trial(frames, cluster, reader)
        finally:
            frames.unpersist()
    except SPARK_ERRORS as e:
        raise failure_of(e) from e


def _frames(spark: "SparkSession", cluster: "Cluster", options: DataOptions, table: Table | None) -> "DataFrame":
    from tallystick.spark.sql import topic_frames

    if table is None:
        frames = topic_frames(spark, cluster, options.data, options.start())
    else:
        frames = _of_table(spark, options, table)
    if options.sample is not None:
        # The same records each time.
        frames = frames.sample(options.sample, seed=1)
    return frames if options.limit is None else frames.limit(options.limit)


def _of_table(spark: "SparkSession", options: DataOptions, table: Table) -> "DataFrame":
    from tallystick.spark.columns import FRAMES, PUBLISH_TIME

    kind, place = table
    rows = spark.read.format(kind).load(place)
    missing = [name for name in FRAMES.names if name not in rows.columns]
    if missing:
        raise unusable(
            f"--data {options.data}: the table has no column {missing[0]}, so it does not hold records as they came",
            fix="name the topic, a quarantine or a table of raw frames",
        )
    frames = rows.select(*FRAMES.names)
    start = options.start()
    return frames if start is None else frames.where(frames[PUBLISH_TIME] >= start)
