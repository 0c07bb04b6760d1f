"""Records of Kafka as the columns of FRAMES, by Spark's own connector and expressions of the JVM."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tallystick.errors import InvalidArgument
from tallystick.messaging.settings import EARLIEST, LATEST
from tallystick.spark import columns as c
from tallystick.spark.cluster import Cluster
from tallystick.spark.kafka import headers
from tallystick.spark.kafka.framing import Carrier, carrier_of, take_off
from tallystick.spark.kafka.offsets import Questions
from tallystick.spark.kafka.places import Place, Topics, batch_options, stream_options
from tallystick.spark.kafka.redaction import hide_secrets
from tallystick.spark.kafka.settings import connector_options
from tallystick.wire.confluent_frame import KEY_HEADER, VALUE_HEADER

_OURS = ("subscribe", "subscribepattern", "assign", "includeheaders")
_CREATE_TIME, _NO_TIME = 0, -1


def read(
    spark: SparkSession,
    cluster: Cluster,
    topics: Topics,
    *,
    starting: Place = EARLIEST,
    ending: Place = LATEST,
    framing: str | None = None,
    **options: Any,
) -> DataFrame:
    """What the topics hold, in the columns of FRAMES.

    `starting` and `ending` are `"earliest"`, `"latest"`, a time of Kafka's, or offsets by topic and partition; offsets
    name the partitions to read, and no others are. `ending` is the first that is not read. `framing="mesh"` is for
    topics whose records have a status byte before the frame. `options` are those of Spark's connector:
    `failOnDataLoss`, `minPartitions` and the like.

    Only headers that are text become properties, and of a transaction that is open or was given up nothing is read.
    A key keeps its frame; one whose id is in a header gets it before the key.
    """
    told = {**_options(cluster, options), **batch_options(topics, starting, ending)}
    return _frames(spark.read.format("kafka").options(**told).load(), carrier_of(cluster.framing, framing))


def read_stream(
    spark: SparkSession,
    cluster: Cluster,
    topics: Topics,
    *,
    starting: Place = EARLIEST,
    max_records: int | None = None,
    framing: str | None = None,
    **options: Any,
) -> DataFrame:
    """The same as a stream, with at most `max_records` in a micro-batch.

    Partitions that `starting` has no offsets of, and those that are made later, are read from their beginning.
    """
    partitions: list[tuple[str, int]] = []
    if isinstance(starting, Mapping):
        known = Questions(cluster).partitions(topics)
        partitions = [(topic, number) for topic, numbers in known.items() for number in numbers]
    told = {**_options(cluster, options), **stream_options(topics, starting, partitions)}
    if max_records is not None:
        told["maxOffsetsPerTrigger"] = str(max_records)
    hide_secrets(spark, told)
    return _frames(spark.readStream.format("kafka").options(**told).load(), carrier_of(cluster.framing, framing))


def _options(cluster: Cluster, options: Mapping[str, Any]) -> dict[str, str]:
    for name in options:
        if name.lower() in _OURS:
            raise InvalidArgument(name, "this option of the connector follows from the other arguments; leave it out")
    # Of what is written in transactions only what was committed, as all our readers do.
    kept = {"kafka.isolation.level": "read_committed", **connector_options(cluster), "includeHeaders": "true"}
    return kept | {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()
    }


def _frames(records: DataFrame, carrier: Carrier) -> DataFrame:
    came = F.col("headers")
    unframed = take_off(carrier, F.col("value"), headers.first(came, VALUE_HEADER))
    key = F.col("key")
    if carrier is Carrier.HEADER:
        key = F.concat(F.coalesce(headers.first(came, KEY_HEADER), F.lit(b"")), key)
    time, kind = F.col("timestamp"), F.col("timestampType")
    columns = {
        # The connector does not say that these are never null; they are not.
        c.TOPIC: F.coalesce(F.col("topic"), F.lit("")),
        c.PARTITION: F.coalesce(F.col("partition"), F.lit(-1)),
        c.POSITION: F.struct(
            F.lit(0).cast("long").alias("ledger"),
            F.coalesce(F.col("offset"), F.lit(-1).cast("long")).alias("entry"),
            F.lit(-1).alias("batch_index"),
        ),
        c.KEY: key,
        c.PAYLOAD: unframed.payload,
        c.SCHEMA_ID: unframed.schema_id,
        c.SCHEMA_VERSION: F.lit(None).cast("long"),
        c.SCHEMA_MARK: unframed.schema_mark,
        c.PROPERTIES: headers.properties(came),
        c.EVENT_TIME: F.when(kind == _CREATE_TIME, time),
        c.PUBLISH_TIME: F.when(kind != _NO_TIME, time),
        c.REPLICATED_FROM: headers.replicated_from(came),
        c.STATUS: unframed.status,
    }
    return records.select(*(columns[field.name].alias(field.name) for field in c.FRAMES))
