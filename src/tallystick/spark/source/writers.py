"""Writers as Spark wants them, of batches and of streams."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.spark.source.options import BATCH, PRODUCER, WriteOptions
from tallystick.spark.source.writing import Sender, write_rows

if TYPE_CHECKING:
    from tallystick.rest.credentials import Credentials

_BATCH_OF_STREAM = "streaming.sql.batchId"
_QUERY_OF_STREAM = "sql.streaming.queryId"


@dataclass
class Written(WriterCommitMessage):
    records: int


class BatchWriter(DataSourceArrowWriter):
    """One write. What a failed job has sent stays sent."""

    def __init__(self, options: WriteOptions, credentials: "Credentials | None") -> None:
        if (options.producer is None) != (options.batch_id is None):
            raise InvalidArgument(
                BATCH if options.batch_id is None else PRODUCER,
                "a producer's writes are told apart by their batch ids, which count up: give both, or none",
            )
        self._options = options
        self._credentials = credentials
        # A name of this write alone: tasks that are tried again have it again.
        self._name = options.producer or f"tally-{uuid.uuid4().hex}"

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        name = f"{self._name}-{_task().partitionId()}" if self._options.deduplicates else None
        sender = Sender(name, self._options.batch_id or 0)
        return Written(write_rows(iterator, self._options, self._credentials, sender))


class StreamWriter(DataSourceStreamArrowWriter):
    """All micro-batches of a query.

    Spark tells tasks the query, which keeps its id as long as its checkpoint, and the micro-batch among their local
    properties.
    """

    def __init__(self, options: WriteOptions, credentials: "Credentials | None") -> None:
        if options.batch_id is not None:
            raise InvalidArgument(BATCH, "a stream counts its micro-batches itself")
        self._options = options
        self._credentials = credentials

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        task = _task()
        query, batch = task.getLocalProperty(_QUERY_OF_STREAM), task.getLocalProperty(_BATCH_OF_STREAM)
        if query is None or batch is None:
            raise Unsupported("this Spark does not tell tasks their micro-batch; write in foreachBatch instead")
        name = (
            f"{self._options.producer or 'tally'}-{query}-{task.partitionId()}" if self._options.deduplicates else None
        )
        return Written(write_rows(iterator, self._options, self._credentials, Sender(name, int(batch))))


def _task() -> TaskContext:
    task = TaskContext.get()
    assert task is not None
    return task
