"""Readers as Spark wants them, of batches and of streams."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition

from tallystick.errors import InvalidArgument
from tallystick.spark.source import planning
from tallystick.spark.source.following import Following
from tallystick.spark.source.link import Link
from tallystick.spark.source.options import MOST_RECORDS, ReadOptions
from tallystick.spark.source.places import Places, from_offset, to_offset
from tallystick.spark.source.planning import Range
from tallystick.spark.source.reading import read_range

if TYPE_CHECKING:
    from tallystick.rest.credentials import Credentials


def ends_of(options: ReadOptions, credentials: "Credentials | None") -> dict[str, dict[str, str]]:
    """The offset of the last records of this moment."""

    async def asked() -> Places:
        return await planning.ends(link.bulk, await planning.partitions(link.bulk, options), options.ending)

    with Link(options.url, credentials, options.timeout_s) as link:
        return to_offset(link.run(asked()))


class BatchReader(DataSourceReader):
    """What the topics hold when the query is planned."""

    def __init__(self, options: ReadOptions, credentials: "Credentials | None") -> None:
        if options.most_records is not None:
            raise InvalidArgument(MOST_RECORDS, "it is for streams; a batch reads up to its endingPosition")
        self._options = options
        self._credentials = credentials

    def partitions(self) -> Sequence[InputPartition]:
        options = self._options
        with Link(options.url, self._credentials, options.timeout_s) as link:
            found = link.run(self._plan(link))
        return planning.split(found, options.min_partitions)

    async def _plan(self, link: Link) -> list[Range]:
        bulk, options = link.bulk, self._options
        wanted = await planning.partitions(bulk, options)
        starting = await planning.starts(bulk, wanted, options.starting)
        return planning.ranges(starting, await planning.ends(bulk, wanted, options.ending))

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        # Spark reads one partition that is none where there is nothing to read.
        return read_range(partition, self._options, self._credentials) if isinstance(partition, Range) else iter(())


class StreamReader(DataSourceStreamReader):
    """Micro-batches. The object that plans them lives as long as the query, those that read are copies of its start."""

    def __init__(self, options: ReadOptions, credentials: "Credentials | None") -> None:
        self._options = options
        self._credentials = credentials
        self._following: Following | None = None

    @property
    def _stream(self) -> Following:
        if self._following is None:
            self._following = Following(self._options, self._credentials)
        return self._following

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return to_offset(self._stream.begin())

    def latestOffset(self) -> dict[str, Any]:  # noqa: N802
        return to_offset(self._stream.next_end())

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        # A query that goes on after its checkpoint tells so by an empty range, before it asks for anything else.
        ending = from_offset(end)
        self._stream.came_to(ending)
        return planning.split(planning.ranges(from_offset(start), ending), self._options.min_partitions)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Range)
        return read_range(partition, self._options, self._credentials)

    def stop(self) -> None:
        if self._following is not None:
            self._following.close()
            self._following = None
