"""Rows of FRAMES as messages."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from tallystick.errors import InvalidArgument
from tallystick.messaging.ports import NO_MARK, Mark, Outgoing
from tallystick.model.subject import SchemaId, Version
from tallystick.spark import columns as c
from tallystick.spark.source.framing import framed
from tallystick.spark.source.options import SourceFraming
from tallystick.wire import external_id
from tallystick.wire.external_id import ExternalId
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.schemas import KeyValueIds, read_schema_id

WRITTEN = (
    c.PARTITION,
    c.KEY,
    c.PAYLOAD,
    c.SCHEMA_ID,
    c.SCHEMA_VERSION,
    c.SCHEMA_MARK,
    c.PROPERTIES,
    c.EVENT_TIME,
    c.REPLICATED_FROM,
    c.STATUS,
)
"""What of FRAMES is written; the rest is what the broker says."""


def outgoing(rows: pa.RecordBatch, framing: SourceFraming) -> Iterator[tuple[int, Outgoing]]:
    """Messages in the order of the rows, each with the partition that the row came from."""
    column = rows.column
    payloads = framed(framing, column(c.PAYLOAD), column(c.SCHEMA_ID), column(c.STATUS))
    ids = column(c.SCHEMA_ID) if framing is SourceFraming.TRANSPORT else pa.nulls(len(rows), pa.int64())
    times = pc.cast(column(c.EVENT_TIME), pa.timestamp("ms", tz="UTC"), safe=False).cast(pa.int64())
    marks: dict[tuple[int | None, int | None, bytes | None], Mark] = {(None, None, None): NO_MARK}
    schemas = zip(column(c.SCHEMA_VERSION).to_pylist(), ids.to_pylist(), column(c.SCHEMA_MARK).to_pylist(), strict=True)
    for partition, key, payload, told, properties, time, origin in zip(
        column(c.PARTITION).to_pylist(),
        column(c.KEY).to_pylist(),
        payloads.to_pylist(),
        schemas,
        column(c.PROPERTIES).to_pylist(),
        times.to_pylist(),
        column(c.REPLICATED_FROM).to_pylist(),
        strict=True,
    ):
        mark = marks.get(told)
        if mark is None:
            mark = marks[told] = _mark(*told)
        message = Outgoing(payload, mark)
        if key is not None:
            message.key, message.is_key_text = key, _is_text(key)
        if properties:
            message.properties = dict(properties)
        message.event_time_ms = time
        message.replicated_from = origin
        yield -1 if partition is None else partition, message


def _mark(version: int | None, schema_id: int | None, mark: bytes | None) -> Mark:
    number = None if version is None else Version(version)
    if mark:
        return Mark(number, _ids(mark))
    return Mark(number, None if schema_id is None else external_id.write(ExternalId(SchemaId(schema_id))))


def _ids(mark: bytes) -> bytes | KeyValueIds:
    """Those of a pair came as they travel."""
    try:
        read = read_schema_id(mark)
    except MalformedFrame:
        return mark
    return read if isinstance(read, KeyValueIds) else mark


def _is_text(key: bytes) -> bool:
    try:
        key.decode()
    except UnicodeDecodeError:
        return False
    return True


def require_columns(names: list[str]) -> None:
    missing = [name for name in WRITTEN if name not in names]
    if missing:
        raise InvalidArgument(
            "columns", f"topics are written from frames, and {', '.join(missing)} are missing; encode(…) makes them"
        )
