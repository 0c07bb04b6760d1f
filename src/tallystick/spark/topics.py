"""Topics as DataFrames of FRAMES, whatever cluster they are on."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tallystick.errors import InvalidArgument
from tallystick.messaging.settings import EARLIEST, LATEST
from tallystick.spark.cluster import KAFKA, Cluster
from tallystick.spark.columns import FINDING
from tallystick.spark.source import options as names
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


def write_topic(
    frames: DataFrame,
    cluster: Cluster,
    topic: str,
    *,
    producer: str | None = None,
    batch_id: int | None = None,
    deduplicate: bool = True,
    framing: str | None = None,
    **options: Any,
) -> None:
    """Appends frames to a topic: payload, schema version and id, key, properties, event time and `replicated_from`.

    The rows of a task keep their order, and a batch of the broker's holds records of one schema version and id only. A
    key decides the partition; a record without one goes to the partition of the number that it has in the column
    `partition`, where the topic has that.

    In Pulsar's protocol nothing is doubled when a task is tried again, or the same micro-batch is written again, if the
    topic (or its namespace) has deduplication switched on (`deduplicationEnabled`), and if the frames have the same
    rows in the same order again, as those of topics and files have before they are shuffled. To have the latter, name
    the `producer` and the `batch_id`, which has to count up, as in `foreachBatch`: what a producer of that name has
    written in that batch, *or a later one*, is not written again, so a query with a new checkpoint needs another name.
    Without deduplication, as with `deduplicate=False`, every record is written at least once.

    `options` are `compression` and `timeoutSeconds`; on Kafka those of `tallystick.spark.kafka.write`, such as
    `delivery="exactly-once"`, which takes the `producer` for its query.
    """
    _require_frames(frames)
    if cluster.kind == KAFKA:
        from tallystick.spark import kafka

        kafka.write(frames, cluster, topic, query=producer, batch_id=batch_id, framing=framing, **options)
        return
    told = _write_options(frames, cluster, topic, producer, deduplicate, framing, options)
    if batch_id is not None:
        told[names.BATCH] = str(batch_id)
    frames.write.format(NAME).mode("append").options(**told).save()


def write_topic_stream(
    frames: DataFrame,
    cluster: Cluster,
    topic: str,
    *,
    checkpoint: str,
    name: str | None = None,
    trigger: Mapping[str, Any] | None = None,
    producer: str | None = None,
    deduplicate: bool = True,
    framing: str | None = None,
    **options: Any,
) -> StreamingQuery:
    """Starts a query that appends a stream of frames to a topic, as `write_topic` does.

    The producer's name has the query's id in it, which lives as long as the checkpoint, and the micro-batch is the
    `batch_id`. It is a sink of the source's own, not `foreachBatch`: the plan is made once and not for every
    micro-batch, and nothing runs on the driver between them. On Kafka
    it is `foreachBatch`.
    """
    writer = frames.writeStream.outputMode("append").option("checkpointLocation", checkpoint)
    if name is not None:
        writer = writer.queryName(name)
    if trigger is not None:
        writer = writer.trigger(**trigger)
    _require_frames(frames)
    if cluster.kind == KAFKA:
        query = producer or name
        return writer.foreachBatch(
            lambda batch, id_: write_topic(
                batch, cluster, topic, producer=query, batch_id=id_, framing=framing, **options
            )
        ).start()
    told = _write_options(frames, cluster, topic, producer, deduplicate, framing, options)
    return writer.format(NAME).options(**told).start()


def _require_frames(frames: DataFrame) -> None:
    if FINDING in frames.columns:
        raise InvalidArgument(
            "frames",
            f"they have the column {FINDING!r}, and a record with a finding has no payload to write: keep those apart, "
            f"and write frames.where('{FINDING} is null').drop('{FINDING}')",
        )


def _write_options(
    frames: DataFrame,
    cluster: Cluster,
    topic: str,
    producer: str | None,
    deduplicate: bool,
    framing: str | None,
    more: Mapping[str, Any],
) -> dict[str, str]:
    register(frames.sparkSession, (cluster.url, cluster.credentials))
    told = {
        names.URL: cluster.url,
        names.TOPIC: topic,
        names.FRAMING: framing or str(cluster.framing),
        names.DEDUPLICATE: str(deduplicate).lower(),
        **_texts(more),
    }
    return told if producer is None else told | {names.PRODUCER: producer}


def ends(cluster: Cluster, topics: Topics, *, timeout_s: float = 60.0) -> dict[str, Any]:
    """Where the topics end now, by topic and partition: an `ending` for batches and streams, fit for JSON."""
    if cluster.kind == KAFKA:
        from tallystick.spark import kafka

        return dict(kafka.ends(cluster, topics, timeout_s=timeout_s))
    from tallystick.spark.source.readers import ends_of

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
