"""The bytes of primitives, written out as Pulsar's Java client writes them."""

import datetime as dt
from typing import Any

import pytest

from tallystick.errors import InvalidRecord
from tallystick.formats import format_of, parse
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.temporal import Instant, LocalDateTime, LocalTime

UTC = dt.UTC


def _encode(kind: str, value: Any, **properties: str) -> bytes:
    schema = parse(SchemaDefinition(SchemaType(kind), properties=properties))
    return format_of(SchemaType(kind)).encode(schema, value)


def _decode(kind: str, payload: bytes, reader: str | None = None, **properties: str) -> Any:
    schema = parse(SchemaDefinition(SchemaType(kind), properties=properties))
    target = None if reader is None else parse(SchemaDefinition(SchemaType(reader)))
    return format_of(SchemaType(kind)).decode(schema, payload, target)


@pytest.mark.parametrize(
    ("kind", "value", "payload"),
    [
        ("BYTES", b"\x00\xff", "00 ff"),
        ("NONE", b"", ""),
        ("EXTERNAL", b"\x00\x01", "00 01"),
        ("STRING", "é€", "c3 a9 e2 82 ac"),
        ("BOOLEAN", True, "01"),
        ("BOOLEAN", False, "00"),
        ("INT8", -1, "ff"),
        ("INT16", 258, "01 02"),
        ("INT32", -2, "ff ff ff fe"),
        ("INT64", 258, "00 00 00 00 00 00 01 02"),
        ("FLOAT", 1.5, "3f c0 00 00"),
        ("DOUBLE", -2.0, "c0 00 00 00 00 00 00 00"),
        ("DATE", dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), "00 00 00 00 00 00 03 e8"),
        ("TIMESTAMP", dt.datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC), "ff ff ff ff ff ff ff ff"),
        ("TIME", dt.time(0, 0, 0, 256_000), "00 00 00 00 00 00 01 00"),
        ("INSTANT", Instant(1, 2), "00 00 00 00 00 00 00 01 00 00 00 02"),
        ("LOCAL_DATE", dt.date(1970, 1, 3), "00 00 00 00 00 00 00 02"),
        ("LOCAL_DATE", dt.date(1969, 12, 31), "ff ff ff ff ff ff ff ff"),
        ("LOCAL_TIME", LocalTime(255), "00 00 00 00 00 00 00 ff"),
        (
            "LOCAL_DATE_TIME",
            LocalDateTime(dt.date(1970, 1, 2), LocalTime(3)),
            "00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 03",
        ),
    ],
)
def test_bytes_of_a_value(kind: str, value: Any, payload: str) -> None:
    assert _encode(kind, value).hex(" ") == payload
    assert _decode(kind, bytes.fromhex(payload)) == value


@pytest.mark.parametrize(
    ("kind", "given", "decoded"),
    [
        ("INSTANT", dt.datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC), Instant(1, 5_000)),
        ("LOCAL_TIME", dt.time(0, 0, 0, 5), LocalTime(5_000)),
        ("LOCAL_DATE_TIME", dt.datetime(1970, 1, 2), LocalDateTime(dt.date(1970, 1, 2), LocalTime(0))),
        ("DOUBLE", 3, 3.0),
        (
            "DATE",
            dt.datetime(1970, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))),
            dt.datetime(1970, 1, 1, tzinfo=UTC),
        ),
    ],
)
def test_values_that_python_has_too_are_taken(kind: str, given: Any, decoded: Any) -> None:
    assert _decode(kind, _encode(kind, given)) == decoded


def test_float_is_rounded_to_four_bytes() -> None:
    assert _decode("FLOAT", _encode("FLOAT", 0.1)) == pytest.approx(0.1, abs=1e-8)
    assert _decode("FLOAT", _encode("FLOAT", 0.1)) != 0.1


@pytest.mark.parametrize("millis", [-3_600_000, 82_800_000, 86_400_000 * 19_000 + 82_800_000])
def test_only_the_time_of_day_counts_in_a_time(millis: int) -> None:
    assert _decode("TIME", millis.to_bytes(8, signed=True)) == dt.time(23)


def test_any_byte_but_zero_is_true() -> None:
    assert _decode("BOOLEAN", b"\x02") is True


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("BOOLEAN", b""),
        ("BOOLEAN", b"\x01\x01"),
        ("INT8", b""),
        ("INT16", b"\x01"),
        ("INT32", b"\x01" * 5),
        ("INT64", b"\x01" * 4),
        ("FLOAT", b"\x01" * 8),
        ("DOUBLE", b"\x01" * 4),
        ("DATE", b"\x01" * 7),
        ("INSTANT", b"\x00" * 8),
        ("LOCAL_DATE_TIME", b"\x00" * 8),
    ],
)
def test_payload_of_another_length_is_refused(kind: str, payload: bytes) -> None:
    with pytest.raises(InvalidRecord, match=f"it has {len(payload)} bytes, not") as refused:
        _decode(kind, payload)
    assert [finding.rule for finding in refused.value.findings] == ["PRIMITIVE_PAYLOAD_UNREADABLE"]


@pytest.mark.parametrize(
    ("kind", "numbers", "reason"),
    [
        ("DATE", [2**62], "years 1 to 9999"),
        ("TIMESTAMP", [-(2**63)], "years 1 to 9999"),
        ("LOCAL_DATE", [2**62], "years 1 to 9999"),
        ("LOCAL_DATE", [-800_000], "years 1 to 9999"),
        ("LOCAL_TIME", [86_400_000_000_000], "not the nanoseconds of a day"),
        ("LOCAL_TIME", [-1], "not the nanoseconds of a day"),
        ("LOCAL_DATE_TIME", [0, -1], "not the nanoseconds of a day"),
    ],
)
def test_number_that_stands_for_nothing_is_refused(kind: str, numbers: list[int], reason: str) -> None:
    with pytest.raises(InvalidRecord, match=reason):
        _decode(kind, b"".join(number.to_bytes(8, signed=True) for number in numbers))


def test_instant_with_too_many_nanoseconds_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="1000000000 are not the nanoseconds of a second"):
        _decode("INSTANT", b"\x00" * 8 + (10**9).to_bytes(4))


def test_instant_beyond_python_s_years_is_kept() -> None:
    assert _decode("INSTANT", _encode("INSTANT", Instant(2**62, 1))) == Instant(2**62, 1)


def test_text_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="the bytes at offset 1 are not utf-8"):
        _decode("STRING", b"a\xff")


def test_character_set_of_the_properties_counts() -> None:
    assert _encode("STRING", "é", __charset="ISO-8859-1") == b"\xe9"
    assert _decode("STRING", b"\x00e", __charset="UTF-16BE") == "e"


def test_reader_of_another_type_is_refused() -> None:
    assert _decode("BYTES", b"a", "NONE") == b"a"
    with pytest.raises(InvalidRecord, match="it was written as INT32"):
        _decode("INT32", b"\x00" * 4, "FLOAT")
