"""The columns that every stage expects and gives: one table for all clusters.

Records of Pulsar and of Kafka come out alike; only a position's parts mean what the cluster means by them.
"""

from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

TOPIC = "topic"
PARTITION = "partition"
POSITION = "position"
KEY = "key"
PAYLOAD = "payload"
SCHEMA_ID = "schema_id"
SCHEMA_VERSION = "schema_version"
SCHEMA_MARK = "schema_mark"
PROPERTIES = "properties"
EVENT_TIME = "event_time"
PUBLISH_TIME = "publish_time"
REPLICATED_FROM = "replicated_from"
STATUS = "status"

VALUE = "value"
FINDING = "finding"

POSITION_TYPE = StructType(
    [
        StructField("ledger", LongType(), nullable=False),
        StructField("entry", LongType(), nullable=False),
        StructField("batch_index", IntegerType(), nullable=False),
    ]
)
"""Pulsar's message id; `batch_index` is −1 where an entry is no batch. On Kafka `entry` is the offset, `ledger` 0."""

FRAMES = StructType(
    [
        StructField(TOPIC, StringType(), nullable=False),
        StructField(PARTITION, IntegerType(), nullable=False),
        StructField(POSITION, POSITION_TYPE, nullable=False),
        StructField(KEY, BinaryType()),
        StructField(PAYLOAD, BinaryType()),
        StructField(SCHEMA_ID, LongType()),
        StructField(SCHEMA_VERSION, LongType()),
        StructField(SCHEMA_MARK, BinaryType()),
        StructField(PROPERTIES, MapType(StringType(), StringType())),
        StructField(EVENT_TIME, TimestampType()),
        StructField(PUBLISH_TIME, TimestampType()),
        StructField(REPLICATED_FROM, StringType()),
        StructField(STATUS, IntegerType()),
    ]
)
"""One record as it came.

`topic` has no partition in its name; `partition` is −1 for a topic of Pulsar that has none. A payload of null is a
tombstone. What tells the schema:

| where it travels | schema_id | schema_version | schema_mark | payload |
|---|---|---|---|---|
| Kafka, frame or header with a number | the number | | | without the frame; Protobuf's begins with the message path |
| Kafka, frame or header with a GUID | | | its 16 bytes | the same |
| Kafka, `framing: payload` where there is no frame | | | no bytes at all | as it came |
| Pulsar, schema of the topic | | the version, from 1 | | as it came |
| Pulsar, EXTERNAL | the number, if it is one | the version, from 1 | the id as it came | as it came |
| none | | | | as it came |

`status` is the first byte of a mesh frame (1: validated, 0: not yet), null outside of a mesh.
"""

FINDING_TYPE = StructType(
    [
        StructField("rule", StringType(), nullable=False),
        StructField("message", StringType(), nullable=False),
        StructField("fix", StringType(), nullable=False),
        StructField("path", StringType()),
    ]
)
"""Why a record does not fit; null where it does."""
