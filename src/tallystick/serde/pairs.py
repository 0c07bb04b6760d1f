"""Pairs of key and value: how their halves become one message, and come out of it again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tallystick.errors import InvalidRecord, SchemaSerializationError
from tallystick.finding import Finding, Place
from tallystick.formats.key_value.codec import parted
from tallystick.formats.key_value.source import Half
from tallystick.formats.key_value.validate import NOT_A_PAIR
from tallystick.model.key_value import KeyValue, KeyValueEncoding
from tallystick.serde.schema import Read, SchemaIdBytes
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.schemas import KeyValueIds, read_schema_id

NO_ID = b""
"""Of a half that no third-party registry keeps, or that is not there."""


def pair_reader(encoding: KeyValueEncoding, key: Read[Any], value: Read[Any]) -> Callable[..., KeyValue]:
    """A half that is not there is None. The payload of a SEPARATED pair may be None as well: it is the value's."""
    read_key, read_value = _half_reader("key", key), _half_reader("value", value)

    def read_inline(payload: bytes, key: bytes | None) -> KeyValue:
        key_payload, value_payload = parted(payload)
        return KeyValue(read_key(key_payload), read_value(value_payload))

    def read_separated(payload: bytes | None, key: bytes | None) -> KeyValue:
        return KeyValue(read_key(key), read_value(payload))

    return read_inline if encoding is KeyValueEncoding.INLINE else read_separated


def _half_reader(half: Half, read: Read[Any]) -> Callable[[bytes | None], Any]:
    def read_half(payload: bytes | None) -> Any:
        if payload is None:
            return None
        try:
            return read(payload, None)
        except InvalidRecord as e:
            raise in_half(half, e) from e

    return read_half


def in_half(half: Half, error: InvalidRecord) -> InvalidRecord:
    """The error of a half as one of the pair."""
    findings = [
        replace(f, message=f"in the {half}: {f.message}", new=Place(f"/{half}{f.new.path if f.new else ''}"))
        for f in error.findings
    ]
    return InvalidRecord(f"in the {half}: {error.message}", findings)


def halves_of(pair: Any) -> tuple[Any, Any]:
    """Key and value of what a program gave as a pair."""
    if isinstance(pair, KeyValue):
        return pair.key, pair.value
    if isinstance(pair, tuple) and len(pair) == 2:
        return pair
    message = f"a KEY_VALUE schema takes a KeyValue, or a tuple of key and value, not a {type(pair).__name__}"
    finding = Finding(rule=NOT_A_PAIR, message=message, fix="give KeyValue(key, value)", old=Place(""), new=Place(""))
    raise InvalidRecord(message, [finding])


def ids_of(schema_id: SchemaIdBytes | None) -> tuple[bytes | None, bytes | None]:
    """The ids of both halves; None where there is none. Takes those that came as the bytes of one id, too."""
    if schema_id is None:
        return None, None
    ids = _pair_of_ids(schema_id) if isinstance(schema_id, bytes) else schema_id
    return ids.key or None, ids.value or None


def _pair_of_ids(data: bytes) -> KeyValueIds:
    # By the letter of PIP-420 no byte tells that two ids follow, each after its length.
    try:
        ids = read_schema_id(b"\xfe" + data)
    except MalformedFrame as e:
        raise SchemaSerializationError(
            f"the message of a KEY_VALUE schema carries the schema id {data.hex(' ')}, which is not a pair of ids: {e}"
        ) from e
    assert isinstance(ids, KeyValueIds)
    return ids
