"""Topics as tables of Spark SQL, each record decoded by its own schema.

A table has the fields of the topic's value as columns (a value that is no record is the column `value`), and behind
them where each record stands. What does not fit is not in it, but in `<table>__quarantine`.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Self

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from tallystick.errors import TallystickError, TopicNotFound
from tallystick.messaging.settings import EARLIEST
from tallystick.serde.native import NativeSchema
from tallystick.spark import columns as c
from tallystick.spark.cluster import KAFKA, Cluster
from tallystick.spark.decoding.decode import decode
from tallystick.spark.decoding.schemas import Schemas
from tallystick.spark.failures import SPARK_ERRORS, QueryFailed, failure_of, missing_table
from tallystick.spark.topics import ends, read_topic

QUARANTINE = "__quarantine"


@dataclass(frozen=True, slots=True)
class TopicTable:
    """A topic under the name that it has in queries."""

    name: str
    topic: str
    frames: DataFrame
    decoded: DataFrame

    def rows(self) -> DataFrame:
        """What fits. Tombstones have a key, and no value."""
        value = F.col(c.VALUE)
        type_ = self.decoded.schema[c.VALUE].dataType
        fields: list[Column] = [value]
        names = [c.VALUE]
        if isinstance(type_, StructType):
            names = type_.names
            fields = [value.getField(name).alias(name) for name in names]
        taken = {name.lower() for name in names}
        where = [column.alias(name) for name, column in _where().items() if name not in taken]
        return self.decoded.where(F.col(c.FINDING).isNull()).select(*fields, *where)

    def quarantine(self) -> DataFrame:
        """What does not fit, with the reason."""
        where = [column.alias(name) for name, column in _where().items()]
        reason = [F.col(f"{c.FINDING}.{name}").alias(name) for name in c.FINDING_TYPE.names]
        return self.decoded.where(F.col(c.FINDING).isNotNull()).select(*where, *reason, c.PAYLOAD)

    def misfits(self) -> int:
        return self.decoded.where(F.col(c.FINDING).isNotNull()).count()


@dataclass
class TopicTables:
    """The tables of some queries. They are made when a query names them, and all are gone when it is closed."""

    spark: SparkSession
    cluster: Cluster
    since: datetime | None = None
    versions: Mapping[str | None, int] = field(default_factory=dict)
    """Which version of its subject a topic is read by, where that is not the latest; None: all others."""
    tables: dict[str, TopicTable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._schemas = Schemas(self.cluster)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._schemas.close()
        for table in self.tables.values():
            table.frames.unpersist()
            for name in (table.name, table.name + QUARANTINE):
                self.spark.catalog.dropTempView(name)
        self.tables.clear()

    def add(self, topic: str, name: str | None = None) -> TopicTable:
        """A topic as it is now, as a table. Raises `TopicNotFound`, and what keeps it from being read."""
        try:
            # Read once: for the schemas, for the query, and to count what does not fit.
            frames = topic_frames(self.spark, self.cluster, topic, self.since).persist(StorageLevel.MEMORY_AND_DISK)
            known = self._schemas.of_topic(topic, self.versions.get(topic, self.versions.get(None)))
            reader = NativeSchema[object](known.definition, references=known.references)
            table = TopicTable(name or topic, topic, frames, decode(frames, self._schemas, reader=reader))
            table.rows().createOrReplaceTempView(_quoted(table.name))
            table.quarantine().createOrReplaceTempView(_quoted(table.name + QUARANTINE))
        except SPARK_ERRORS as e:
            raise failure_of(e) from e
        self.tables[table.name] = table
        return table

    def run(self, query: str) -> DataFrame:
        """What the query gives; names that are no tables yet are those of topics. Nothing of it is read before it is
        asked for. Raises `QueryFailed` with Spark's reason."""
        while True:
            try:
                return self.spark.sql(query)
            except SPARK_ERRORS as e:
                parts = missing_table(e)
                if parts is None:
                    raise failure_of(e) from e
                self._add_missing(parts)

    def _add_missing(self, parts: list[str]) -> None:
        if len(parts) > 1:
            whole = ".".join(parts)
            raise QueryFailed(f"there is no table {whole}; a topic whose name has dots stands in backticks: `{whole}`")
        topic = parts[0].removesuffix(QUARANTINE)
        if topic in self.tables:
            raise QueryFailed(f"there is no table {parts[0]}")
        self.add(topic)


def topic_frames(spark: SparkSession, cluster: Cluster, topic: str, since: datetime | None = None) -> DataFrame:
    """What a topic holds at this moment. Raises `TopicNotFound`, with topics of nearly the same name."""
    try:
        ending = ends(cluster, topic)
    except TopicNotFound as e:
        raise _not_found(cluster, topic) from e
    return read_topic(spark, cluster, topic, starting=EARLIEST if since is None else since, ending=ending)


def _where() -> dict[str, Column]:
    """Columns behind those of the value; a field of the value that has such a name takes its place."""
    text = F.col(c.KEY).cast("string")
    return {
        "_topic": F.col(c.TOPIC),
        "_partition": F.col(c.PARTITION),
        "_position": F.col(c.POSITION),
        "_schema_version": F.col(c.SCHEMA_VERSION),
        "_publish_time": F.col(c.PUBLISH_TIME),
        # As people write it; Base64 where it is no text.
        "_key": F.when(F.is_valid_utf8(text), text).otherwise(F.base64(c.KEY)),
    }


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _not_found(cluster: Cluster, topic: str) -> TopicNotFound:
    """With a hint to topics of nearly the same name."""
    try:
        known = _names(cluster, topic)
    except TallystickError:
        known = []
    near = difflib.get_close_matches(topic.rpartition("/")[2], known, n=3)
    error = TopicNotFound(topic)
    error.message = f"there is no topic {topic} on {cluster.url}"
    if near:
        error.message += f"; did you mean {' or '.join(near)}?"
    return error


def _names(cluster: Cluster, topic: str) -> list[str]:
    if cluster.kind == KAFKA:
        from tallystick.spark.kafka.offsets import Questions

        return list(Questions(cluster).partitions(re.compile(".*")))
    from tallystick.spark.source.link import Link
    from tallystick.transports.pulsar.topics import topic_name

    with Link(cluster.url, cluster.credentials, timeout_s=10) as link:
        names = link.run(link.bulk.topics(topic_name(topic).namespace))
    return sorted({topic_name(name).local for name in names})
