"""From entries to Arrow's record batches, column by column: most of what a row has is the same for a whole entry."""

import struct
from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.spark.columns import FRAMES
from tallystick.spark.source.framing import Framed, unframed
from tallystick.spark.source.options import SourceFraming
from tallystick.spark.source.places import Partition
from tallystick.transports.pulsar.feed import EntryId
from tallystick.wire import external_id
from tallystick.wire.pulsar import messages
from tallystick.wire.pulsar.compression import decompress
from tallystick.wire.pulsar.entries import ParsedEntry
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.pulsar_pb2 import MessageMetadata, SingleMessageMetadata
from tallystick.wire.pulsar.schemas import read_schema_id, version_of
from tallystick.wire.pulsar.singles import split_singles

SCHEMA: pa.Schema = to_arrow_schema(FRAMES)
_TIME = pa.timestamp("us", tz="UTC")
_LATEST_MS = 2**63 // 1000 - 1
"""Spark's times are microseconds. Some producers' event times are nanoseconds, and so no times at all."""
_read_size = struct.Struct(">I").unpack_from
_SIZE_FIRST = b"\x18"
"""How the metadata of a message begins that has neither properties nor a key."""
_PROPERTIES = SCHEMA.field("properties").type

Mark = tuple[int | None, bytes | None, int | None]
"""Schema version, schema mark, schema id."""


class Rows:
    """Collects the messages of one partition's entries until they are taken as a record batch."""

    def __init__(self, partition: Partition, framing: SourceFraming) -> None:
        self._partition = partition
        self._framing = framing
        self._marks: dict[tuple[bytes, bytes], Mark] = {}
        self._clear()

    def _clear(self) -> None:
        self.size_bytes = 0
        self._payloads: list[bytes | None] = []
        self._indexes: list[int] = []
        # What the messages of an entry have in common, and how many they are.
        self._counts: list[int] = []
        self._ids: list[EntryId] = []
        self._entry_marks: list[Mark] = []
        self._published: list[int] = []
        self._origins: list[str | None] = []
        # What only some messages have, by row.
        self._keys: dict[int, bytes] = {}
        self._properties: dict[int, list[tuple[str, str]]] = {}
        self._event_times: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._payloads)

    def add(self, id_: EntryId, entry: ParsedEntry, after: int, last: int) -> None:
        """The messages of an entry whose index is greater than `after` and at most `last`.

        Raises `MalformedFrame` for damage, `Unsupported` for what needs more than we can do.
        """
        metadata = entry.metadata
        if metadata.encryption_keys:
            raise Unsupported("the message is encrypted, and this source has no keys")
        if metadata.num_chunks_from_msg > 1:
            raise Unsupported("the message comes in chunks, which this source does not put together")
        data = decompress(metadata.compression, entry.payload, metadata.uncompressed_size)
        before = len(self._payloads)
        try:
            if metadata.HasField("num_messages_in_batch"):
                self._add_batch(data, metadata.num_messages_in_batch, after, last)
            elif after < -1 <= last:
                self._add_message(metadata, data, -1)
        except MalformedFrame:
            self._cut(before)
            raise
        count = len(self._payloads) - before
        if count:
            self.size_bytes += len(data)
            self._counts.append(count)
            self._ids.append(id_)
            self._entry_marks.append(self._mark(metadata.schema_version, metadata.schema_id))
            self._published.append(min(metadata.publish_time, _LATEST_MS))
            self._origins.append(metadata.replicated_from or None)

    def _add_batch(self, data: bytes, size: int, after: int, last: int) -> None:
        if size < 1:
            raise MalformedFrame(f"a batch says it has {size} messages")
        first, end = max(0, after + 1), min(size, last + 1)
        if data[4:5] != _SIZE_FIRST:
            # Messages with keys and the like: the library reads them faster than one looks for those without.
            for index, (start, stop, own) in enumerate(_with_metadata(data, size)):
                if first <= index < end and not own.compacted_out:
                    self._add_message(own, data[start:stop], index)
            return
        singles = split_singles(data, size)[first:end]
        if all(own is None for _, _, _, own in singles):
            self._payloads += [data[start:stop] for start, stop, _, _ in singles]
            self._indexes.extend(range(first, end))
            return
        for index, (start, stop, _, more) in enumerate(singles, first):
            if more is None:
                self._payloads.append(data[start:stop])
                self._indexes.append(index)
            elif not more.compacted_out:
                self._add_message(more, data[start:stop], index)

    def _add_message(self, own: MessageMetadata | SingleMessageMetadata, payload: bytes, index: int) -> None:
        row = len(self._payloads)
        if own.HasField("partition_key") and not own.null_partition_key:
            self._keys[row] = _key(own)
        if own.properties:
            # The last of a name counts, and Spark's maps have each name once.
            self._properties[row] = list({pair.key: pair.value for pair in own.properties}.items())
        if 0 < own.event_time <= _LATEST_MS:
            self._event_times[row] = own.event_time
        self._payloads.append(None if own.null_value else payload)
        self._indexes.append(index)

    def _cut(self, end: int) -> None:
        """Without the messages of an entry that cannot be read to its end."""
        del self._payloads[end:], self._indexes[end:]
        for some in (self._keys, self._properties, self._event_times):
            for row in [row for row in some if row >= end]:
                del some[row]

    def _mark(self, version: bytes, schema_id: bytes) -> Mark:
        known = self._marks.get((version, schema_id))
        if known is None:
            known = self._marks[version, schema_id] = _mark_of(version, schema_id)
        return known

    def take(self) -> pa.RecordBatch:
        """All that was added since it was taken last."""
        count, counts = len(self._payloads), np.array(self._counts)
        framed = unframed(self._framing, pa.array(self._payloads, pa.binary()))
        topic, number = self._partition
        columns = [
            pa.repeat(pa.scalar(topic, pa.string()), count),
            pa.repeat(pa.scalar(number, pa.int32()), count),
            self._positions(counts),
            _sparse(self._keys, count, pa.binary()),
            framed.payload,
            *self._schemas(counts, framed),
            self._property_column(count),
            _milliseconds(_sparse(self._event_times, count, pa.int64())),
            _milliseconds(pa.array(np.repeat(np.array(self._published, np.int64), counts))),
            _repeated(self._origins, counts, pa.string()),
            framed.status if framed.status is not None else pa.nulls(count, pa.int32()),
        ]
        self._clear()
        return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)

    def _positions(self, counts: "np.ndarray[Any, Any]") -> pa.StructArray:
        ids = np.array(self._ids, np.int64).reshape(-1, 2)
        parts = [
            pa.array(np.repeat(ids[:, 0], counts)),
            pa.array(np.repeat(ids[:, 1], counts)),
            pa.array(self._indexes, pa.int32()),
        ]
        return pa.StructArray.from_arrays(parts, fields=list(SCHEMA.field("position").type))

    def _schemas(self, counts: "np.ndarray[Any, Any]", framed: Framed) -> list[pa.Array]:
        """Id, version and mark."""
        versions, marks, ids = zip(*self._entry_marks, strict=True) if self._entry_marks else ((), (), ())
        version = _repeated(versions, counts, pa.int64())
        if framed.schema_id is not None:
            return [framed.schema_id, version, framed.schema_mark]
        return [_repeated(ids, counts, pa.int64()), version, _repeated(marks, counts, pa.binary())]

    def _property_column(self, count: int) -> pa.MapArray:
        if not self._properties:
            nothing = pa.array([], pa.string())
            return pa.MapArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), nothing, nothing)
        return pa.array([self._properties.get(row, ()) for row in range(count)], _PROPERTIES)


def _with_metadata(data: bytes, size: int) -> Iterator[tuple[int, int, SingleMessageMetadata]]:
    """Where the payload of each message starts and stops, and its metadata."""
    stop, length = 0, len(data)
    for number in range(1, size + 1):
        if stop + 4 > length:
            raise MalformedFrame(f"a batch of {size} messages ends before message {number}")
        start = stop + 4 + _read_size(data, stop)[0]
        own = messages.read(SingleMessageMetadata, data[stop + 4 : start], "the metadata of a message in a batch")
        stop = start + own.payload_size
        if not start <= stop <= length:
            raise MalformedFrame(f"message {number} in a batch says it has {own.payload_size} bytes, more than left")
        yield start, stop, own


def _key(own: MessageMetadata | SingleMessageMetadata) -> bytes:
    if not own.partition_key_b64_encoded:
        return own.partition_key.encode()
    try:
        return b64decode(own.partition_key, validate=True)
    except ValueError as e:
        raise MalformedFrame(f"the key of a message says it is Base64, and is not: {e}") from e


def _mark_of(version: bytes, schema_id: bytes) -> Mark:
    """What is no version or id of ours is left out: the payload may be of use all the same."""
    try:
        number = int(version_of(version)) if version else None
    except InvalidArgument:
        number = None
    try:
        read = read_schema_id(schema_id) if schema_id else None
    except MalformedFrame:
        read = None
    if not isinstance(read, bytes):
        # The ids of a pair stay as they are.
        return number, None if read is None else schema_id, None
    try:
        return number, read, int(external_id.read(read).schema)
    except InvalidArgument:
        return number, read, None


def _sparse(values: dict[int, Any], count: int, kind: pa.DataType) -> pa.Array:
    if not values:
        return pa.nulls(count, kind)
    return pa.array([values.get(row) for row in range(count)], kind)


def _repeated(values: Sequence[Any], counts: "np.ndarray[Any, Any]", kind: pa.DataType) -> pa.Array:
    """Each value as often as its entry has messages."""
    distinct = set(values)
    if len(distinct) <= 1:
        total = int(counts.sum())
        value = next(iter(distinct), None)
        return pa.nulls(total, kind) if value is None else pa.repeat(pa.scalar(value, kind), total)
    return pa.array(values, kind).take(pa.array(np.repeat(np.arange(len(counts)), counts)))


def _milliseconds(times: pa.Array) -> pa.Array:
    return times.cast(pa.timestamp("ms", tz="UTC")).cast(_TIME)
