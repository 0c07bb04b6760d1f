"""Schema ids of Kafka's records, taken off and put on again by expressions of the JVM.

The frame is that of `tallystick.wire.confluent_frame`; in a mesh a status byte stands before it. Putting on is the
inverse of taking off, byte for byte: what has no frame stays as it is and gets a mark of no bytes.
"""

from collections.abc import Collection
from enum import StrEnum
from functools import reduce
from typing import NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as F

from tallystick.errors import InvalidArgument
from tallystick.messaging.settings import Framing
from tallystick.spark.columns import PAYLOAD, SCHEMA_ID, SCHEMA_MARK, SCHEMA_VERSION, STATUS

_ID_END, _GUID_END = 5, 17
_LARGEST_ID = 2**32 - 1
_DEEPEST = 100
_STEP = r"[\x80-\xff]{0,4}[\x00-\x7f]"
_LONGEST_PATH = 2 + 5 * _DEEPEST


class Carrier(StrEnum):
    """What carries the id of a record's schema."""

    FRAME = "frame"
    HEADER = "header"
    MESH = "mesh"


def carrier_of(framing: Framing, wanted: str | None) -> Carrier:
    """A topic of a mesh is told apart by `wanted`, all others by the framing of their cluster."""
    chosen = framing if wanted is None else wanted
    if chosen == Carrier.MESH:
        return Carrier.MESH
    try:
        return Carrier.HEADER if Framing(chosen) is Framing.HEADER else Carrier.FRAME
    except ValueError as e:
        known = ", ".join([*Framing, Carrier.MESH])
        raise InvalidArgument("framing", f"{chosen!r} is none; take one of {known}") from e


class Unframed(NamedTuple):
    payload: Column
    schema_id: Column
    schema_mark: Column
    status: Column


def take_off(carrier: Carrier, value: Column, header: Column) -> Unframed:
    """`header` has the id where the carrier is one; a path to a message of Protobuf in it goes before the payload."""
    status = F.lit(None).cast("int")
    told, rest = value, F.lit(b"")
    if carrier is Carrier.HEADER:
        told, rest = header, value
    elif carrier is Carrier.MESH:
        first, told = F.substring(value, 1, 1), _from(value, 1)
        is_framed = first.isin(b"\x00", b"\x01") & (_has_id(told) | _has_guid(told))
        status = F.when(is_framed, (first == F.lit(b"\x01")).cast("int"))
        told = F.when(is_framed, told)
    has_id, has_guid = _has_id(told), _has_guid(told)
    return Unframed(
        F.when(has_id, F.concat(_from(told, _ID_END), rest))
        .when(has_guid, F.concat(_from(told, _GUID_END), rest))
        .otherwise(value),
        F.when(has_id, F.conv(F.hex(F.substring(told, 2, 4)), 16, 10).cast("long")),
        F.when(has_guid, F.substring(told, 2, 16)).when(value.isNotNull() & ~F.coalesce(has_id, F.lit(False)), b""),
        status,
    )


class Framed(NamedTuple):
    value: Column
    header: Column
    """Null where there is none to write."""


def put_on(carrier: Carrier, with_paths: Collection[int | bytes] = ()) -> Framed:
    """Of the columns of FRAMES. `with_paths`: ids and GUIDs of Protobuf's schemas, whose paths belong into a header."""
    payload, none = F.col(PAYLOAD), F.lit(None).cast("binary")
    prefix = _prefix()
    if carrier is Carrier.FRAME:
        return Framed(F.concat(prefix, payload), none)
    if carrier is Carrier.MESH:
        status = F.when(F.col(STATUS) == 1, F.lit(b"\x01")).otherwise(F.lit(b"\x00"))
        return Framed(F.when(F.length(prefix) > 0, F.concat(status, prefix, payload)).otherwise(payload), none)
    path = _path_length(payload, _is_one_of(with_paths, F.col(SCHEMA_ID), F.col(SCHEMA_MARK)))
    header = F.concat(prefix, F.coalesce(F.substring(payload, F.lit(1), path), F.lit(b"")))
    return Framed(_from(payload, path), F.when(F.length(prefix) > 0, header))


def split_key(key: Column, with_paths: Collection[int | bytes] = ()) -> Framed:
    """A key that begins with a frame, without it; any other as it is."""
    has_id, has_guid = _has_id(key), _has_guid(key)
    schema_id = F.when(has_id, F.conv(F.hex(F.substring(key, 2, 4)), 16, 10).cast("long"))
    is_protobuf = _is_one_of(with_paths, schema_id, F.when(has_guid, F.substring(key, 2, 16)))
    frame = F.when(has_id, _ID_END).when(has_guid, _GUID_END).otherwise(0)
    end = frame + _path_length(_from(key, frame), is_protobuf)
    return Framed(_from(key, end), F.when(frame > 0, F.substring(key, F.lit(1), end)))


def _prefix() -> Column:
    schema_id, mark = F.col(SCHEMA_ID), F.col(SCHEMA_MARK)
    number = F.unhex(F.lpad(F.hex(schema_id), 8, "0"))
    return (
        F.when(schema_id.between(0, _LARGEST_ID), F.concat(F.lit(b"\x00"), number))
        .when(schema_id.isNotNull(), _refused("a schema id of Kafka has four bytes, this one is ", schema_id))
        .when(F.length(mark) == _GUID_END - 1, F.concat(F.lit(b"\x01"), mark))
        .when(F.length(mark) > 0, _refused("neither a schema id nor a GUID: the mark ", F.hex(mark)))
        .when(
            mark.isNull() & F.col(SCHEMA_VERSION).isNotNull(),
            _refused("a record with a version and no schema id, which Kafka needs: version ", F.col(SCHEMA_VERSION)),
        )
        .otherwise(F.lit(b""))
    )


def _refused(reason: str, what: Column) -> Column:
    fix = "; give the records the ids of the target's registry before they are written"
    return F.raise_error(F.concat(F.lit(reason), what.cast("string"), F.lit(fix))).cast("binary")


def _has_id(data: Column) -> Column:
    return (F.length(data) >= _ID_END) & (F.substring(data, 1, 1) == F.lit(b"\x00"))


def _has_guid(data: Column) -> Column:
    return (F.length(data) >= _GUID_END) & (F.substring(data, 1, 1) == F.lit(b"\x01"))


def _from(data: Column, start: int | Column) -> Column:
    """Without its first bytes."""
    begin = F.lit(start + 1) if isinstance(start, int) else start + 1
    return F.substring(data, begin, F.length(data))


def _is_one_of(wanted: Collection[int | bytes], schema_id: Column, mark: Column) -> Column:
    ids = [each for each in wanted if isinstance(each, int)]
    marks = [each for each in wanted if isinstance(each, bytes)]
    found = [column.isin(some) for column, some in ((schema_id, ids), (mark, marks)) if some]
    return reduce(
        lambda one, other: F.coalesce(one, F.lit(False)) | F.coalesce(other, F.lit(False)), found, F.lit(False)
    )


def _path_length(data: Column, is_protobuf: Column) -> Column:
    """How many bytes the path to the message has: a count and as many steps, each a varint."""
    paths = [r"\x00", *(f"{_escaped(steps)}(?:{_STEP}){{{steps}}}" for steps in range(1, _DEEPEST + 1))]
    # One character for each byte.
    text = F.decode(F.substring(data, 1, _LONGEST_PATH), "ISO-8859-1")
    found = F.length(F.regexp_extract(text, f"(?s)^(?:{'|'.join(paths)})", 0))
    return F.when(is_protobuf & data.isNotNull(), found).otherwise(0)


def _escaped(steps: int) -> str:
    """The count as `path_bytes` writes it: zigzag, so twice the number."""
    count = steps << 1
    return f"\\x{count:02x}" if count < 0x80 else f"\\x{count & 0x7F | 0x80:02x}\\x{count >> 7:02x}"
