"""land_stream: topics into a table, in one call."""

import re
from contextlib import ExitStack
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tallystick.spark import progress
from tallystick.spark.cluster import PULSAR, Cluster
from tallystick.spark.decoded_batches import Batch, DecodedBatches
from tallystick.spark.decoding.schemas import LATEST, Reader
from tallystick.spark.landing.counts import Counts
from tallystick.spark.landing.land import land
from tallystick.spark.landing.table import Table
from tallystick.spark.readers import Evolve
from tallystick.spark.runner import Run, RunSettings
from tallystick.spark.topics import Topics, ends, read_topic_stream


def land_stream(
    spark: SparkSession,
    cluster: Cluster,
    topics: Topics,
    table: Table,
    *,
    checkpoint: str,
    name: str | None = None,
    reader: Reader = LATEST,
    evolve: Evolve | str = Evolve.NEVER,
    available_now: bool = False,
    every_s: float | None = None,
    max_records: int | None = None,
    patience_s: float = 600.0,
    keep: bool | None = None,
    **reading: Any,
) -> Run:
    """Reads topics, decodes every record by its own schema, and lands it, or the reason why not, once.

    The arguments are those of `for_each_decoded_batch`; `max_records` and whatever else there is are those of
    `read_topic_stream`. With `available_now` it ends after what is there now. Call `wait()`, or in a program
    `run_until_signalled()`, on what it returns. On a terminal a line tells how far it is.
    """
    named = name or re.sub(r"[^\w.-]+", "-", f"land-{_shown(topics)}", flags=re.ASCII)[:100]
    settings = RunSettings(
        name=named,
        checkpoint=checkpoint,
        every_s=every_s,
        available_now=available_now,
        patience_s=patience_s,
        keep=keep,
    )
    if available_now and cluster.kind == PULSAR:
        reading = {"ending": ends(cluster, topics), **reading}
    stream = read_topic_stream(spark, cluster, topics, max_records=max_records, **reading)

    def handle(rows: DataFrame, batch: Batch) -> Counts:
        return land(
            rows, table, query=batch.query, batch_id=batch.id, schemas=batch.schemas, explanation=batch.explanation
        )

    held = ExitStack()
    try:
        work = DecodedBatches(handle, reader, evolve)
        return Run(stream, cluster, work, settings, held.enter_context(progress.line(named)), held.close)
    except BaseException:
        held.close()
        raise


def _shown(topics: Topics) -> str:
    if isinstance(topics, re.Pattern):
        return topics.pattern
    return topics if isinstance(topics, str) else "-".join(topics)
