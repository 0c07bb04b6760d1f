"""Topics as DataFrames of FRAMES, whatever cluster they are on."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tallystick.messaging.settings import EARLIEST, LATEST
from tallystick.spark.cluster import KAFKA, Cluster
from tallystick.spark.source import options as names
from tallystick.spark.source.readers import ends_of
from tallystick.spark.source.source import NAME, register

Topics = str | Sequence[str] | re.Pattern[str]
"""One name, several, or all of a namespace whose name fits a pattern (Pulsar: `tenant/namespace/` may stand before)."""
Where = str | datetime | Mapping[str, Any]
"""`"earliest"`, `"latest"`, a time, or positions by topic and partition, as `ends` gives them."""


def read_topic(
    spark: SparkSession,
    cluster: Cluster,
    topics: Topics,
    *,
    starting: Where = EARLIEST,
    ending: Where = LATEST,
    framing: str | None = None,
    **options: Any,
) -> DataFrame:
    """What the topics hold, in the columns of FRAMES.

    `starting` is the last record that is *not* read where it is a position, `ending` the last one that is. `framing` is
    the cluster's unless it is said here; `"mesh"` is for topics whose records have a status byte before the frame. The
    other `options` are those of the source `tally`, or of Spark's Kafka connector.
    """
    if cluster.kind == KAFKA:
        from tallystick.spark import kafka

        return kafka.read(spark, cluster, topics, starting=starting, ending=ending, framing=framing, **options)
    told = _read_options(spark, cluster, topics, starting, framing, options)
    return spark.read.format(NAME).options(**told, **{names.ENDING: _where(ending)}).load()


def read_topic_stream(
    spark: SparkSession,
    cluster: Cluster,
    topics: Topics,
    *,
    starting: Where = EARLIEST,
    ending: Where | None = None,
    max_records: int | None = None,
    framing: str | None = None,
    **options: Any,
) -> DataFrame:
    """The same as a stream, with at most `max_records` in a micro-batch.

    With `ending` (of Pulsar's protocol) it never goes beyond: give it what `ends` gives, and a query that has read
    everything that was there finds nothing more. `trigger(availableNow=True)` runs one micro-batch over what Spark is
    told first, and so ends after `max_records`: use one of them, not both.

    A stream is no subscription: topics have to keep records until they are read (retention).
    """
    if cluster.kind == KAFKA:
        from tallystick.spark import kafka

        return kafka.read_stream(
            spark, cluster, topics, starting=starting, max_records=max_records, framing=framing, **options
        )
    told = _read_options(spark, cluster, topics, starting, framing, options)
    if ending is not None:
        told[names.ENDING] = _where(ending)
    if max_records is not None:
        told[names.MOST_RECORDS] = str(max_records)
    return spark.readStream.format(NAME).options(**told).load()


def ends(cluster: Cluster, topics: Topics, *, timeout_s: float = 60.0) -> dict[str, Any]:
    """Where the topics end now, by topic and partition: an `ending` for batches and streams, fit for JSON."""
    if cluster.kind == KAFKA:
        from tallystick.spark import kafka

        return dict(kafka.ends(cluster, topics, timeout_s=timeout_s))
    asked = names.read_options({names.URL: cluster.url, names.TIMEOUT: str(timeout_s), **_chosen(topics)})
    return ends_of(asked, cluster.credentials)


def _read_options(
    spark: SparkSession, cluster: Cluster, topics: Topics, starting: Where, framing: str | None, more: Mapping[str, Any]
) -> dict[str, str]:
    register(spark, (cluster.url, cluster.credentials))
    told = {
        names.URL: cluster.url,
        names.FRAMING: framing or str(cluster.framing),
        names.STARTING: _where(starting),
        **_chosen(topics),
    }
    return told | _texts(more)


def _chosen(topics: Topics) -> dict[str, str]:
    if isinstance(topics, re.Pattern):
        return {names.PATTERN: topics.pattern}
    return {names.TOPICS: topics if isinstance(topics, str) else ",".join(topics)}


def _where(where: Where) -> str:
    if isinstance(where, datetime):
        return where.isoformat()
    return where if isinstance(where, str) else json.dumps(where)


def _texts(options: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()}
