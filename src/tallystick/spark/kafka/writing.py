"""Records in the columns of FRAMES into a topic of Kafka, with their frames put on again."""

from collections.abc import Collection
from enum import StrEnum
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.model import schema_type as types
from tallystick.spark import columns as c
from tallystick.spark.cluster import Cluster
from tallystick.spark.decoding.schemas import Schemas, Told
from tallystick.spark.failures import SPARK_ERRORS, failure_of
from tallystick.spark.kafka import exactly_once, headers
from tallystick.spark.kafka.exactly_once import Job
from tallystick.spark.kafka.framing import Carrier, carrier_of, put_on, split_key
from tallystick.spark.kafka.places import names
from tallystick.spark.kafka.settings import connector_options


class Delivery(StrEnum):
    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"


def write(
    frames: DataFrame,
    cluster: Cluster,
    topic: str,
    *,
    delivery: str = Delivery.AT_LEAST_ONCE,
    query: str | None = None,
    batch_id: int | None = None,
    framing: str | None = None,
    keep_partition: bool = False,
    framed_keys: bool = False,
    protobuf: Collection[int | bytes] | None = None,
    lanes: int | None = None,
    **options: Any,
) -> None:
    """Writes what `read` gives, so that it reads the same again: ids, keys, properties and where records came from.

    `at-least-once` goes through Spark's own sink, which has no times: records get the time of writing. `options` are
    for that sink. `exactly-once` writes the event times too, in transactions, and needs the name of the `query` (of one
    checkpoint alone) and the number of its micro-batch: see `exactly_once`. Readers have to read committed records
    only, as ours do.

    `keep_partition` writes each record to the partition that it comes from; otherwise its key decides, as with Java's
    clients. With `framing="header"`, `framed_keys` moves the frames of keys into headers too: say so only where all
    keys have one. `protobuf` names the ids and GUIDs of Protobuf's schemas, whose headers have the path to the message;
    without it the registry is asked.
    """
    if frames.isStreaming:
        raise Unsupported("a stream is written in micro-batches: call `write` from foreachBatch or from our runner")
    [name] = names(topic)
    wanted = _delivery(delivery)
    carrier = carrier_of(cluster.framing, framing)
    paths = _of_protobuf(frames, cluster, name) if carrier is Carrier.HEADER and protobuf is None else protobuf or ()
    records = _columns(carrier, paths, keep_partition=keep_partition, framed_keys=framed_keys)
    try:
        if wanted is Delivery.EXACTLY_ONCE:
            exactly_once.write(frames, records, _job(cluster, name, query, batch_id, lanes, options))
        else:
            _through_spark(frames, records, cluster, name, options)
    except SPARK_ERRORS as e:
        raise failure_of(e) from e


def _delivery(text: str) -> Delivery:
    try:
        return Delivery(text)
    except ValueError as e:
        raise InvalidArgument("delivery", f"{text!r} is none; take one of {', '.join(Delivery)}") from e


def _job(
    cluster: Cluster, topic: str, query: str | None, batch_id: int | None, lanes: int | None, options: dict[str, Any]
) -> Job:
    if not query:
        raise InvalidArgument("query", "writing exactly once needs a name that stays as long as the checkpoint does")
    if batch_id is None or batch_id < 0:
        raise InvalidArgument("batch_id", "writing exactly once needs the number of the micro-batch, 0 or more")
    if lanes is not None and lanes < 1:
        raise InvalidArgument("lanes", f"one at least, not {lanes}")
    if options:
        raise InvalidArgument(next(iter(options)), "this option is for Spark's sink, which does not write exactly once")
    return Job(cluster, topic, query, batch_id, lanes or 0)


def _columns(
    carrier: Carrier, paths: Collection[int | bytes], *, keep_partition: bool, framed_keys: bool
) -> dict[str, Column]:
    framed = put_on(carrier, paths)
    key, key_header = F.col(c.KEY), F.lit(None).cast("binary")
    if framed_keys and carrier is Carrier.HEADER:
        key, key_header = split_key(key, paths)
    # Null: the key decides, or chance.
    partition = F.when(F.lit(keep_partition) & (F.col(c.PARTITION) >= 0), F.col(c.PARTITION))
    own = headers.headers_of(framed.header, key_header)
    return {"key": key, "value": framed.value, "headers": own, "partition": partition}


def _through_spark(
    frames: DataFrame, records: dict[str, Column], cluster: Cluster, topic: str, options: dict[str, Any]
) -> None:
    told = {**connector_options(cluster), **{name: str(value) for name, value in options.items()}}
    chosen = frames.select(*(column.alias(name) for name, column in records.items()))
    chosen.write.format("kafka").options(**told, topic=topic, includeHeaders="true").save()


def _of_protobuf(frames: DataFrame, cluster: Cluster, topic: str) -> list[int | bytes]:
    """Those of the schemas in use that are of Protobuf."""
    used = frames.select(c.SCHEMA_ID, F.col(c.SCHEMA_MARK)).where("schema_id is not null or length(schema_mark) = 16")
    found: list[int | bytes] = []
    with Schemas(cluster) as schemas:
        for row in used.distinct().collect():
            schema_id, mark = row[0], None if row[1] is None else bytes(row[1])
            known = schemas.writer(Told(topic, schema_id, None, mark)).schema
            if known is not None and known.definition.type == types.PROTOBUF:
                found.append(schema_id if mark is None else mark)
    return found
