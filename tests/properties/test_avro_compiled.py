"""Avro's compiled functions against the general codec: the same bytes, values and refusals, whatever comes."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InvalidRecord
from tallystick.formats.avro import general
from tallystick.formats.avro.codec import decoder_of, encoder_of
from tallystick.formats.avro.types import AvroSchema
from tests.properties.avro_schemas import pair, parsed, schema
from tests.properties.avro_values import bare, values

randoms = st.randoms(use_true_random=True)


class Text(str):
    __slots__ = ()


_ODD: tuple[Any, ...] = (
    None, True, 0, -1, 127, 2**31, -(2**31) - 1, 2**63, 2**1030, 1.5, 1e300, float("nan"), float("-inf"), 3.4028235e38,
    "", "A", "tally", "x" * 9000, "ä€😀", "\ud800", Text("A"), b"", b"x" * 4, bytearray(b"xxxx"),
    [], [1], ["A", "B"], (), ("string", "A"), ("int", 1), ("null", None), {}, {"k": 1}, OrderedDict(f0=1), {1, 2},
    date(2024, 2, 29), time(12, 30, 15, 250_001), datetime(2024, 2, 29, tzinfo=UTC), datetime(2024, 2, 29, 12, 30),
    datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9))), Decimal("12.34"), Decimal("NaN"), UUID(int=5),
)  # fmt: skip


def damaged(random: Random, value: Any) -> Any:
    """The value with one part replaced, removed, or added."""
    if isinstance(value, dict) and value and random.random() < 0.8:
        key = random.choice(list(value))
        rest = {name: part for name, part in value.items() if name != key}
        kept = {} if random.random() < 0.2 else {key: damaged(random, value[key])}
        return {**rest, **kept, **({random.choice(("unknown", "f0", 1)): None} if random.random() < 0.1 else {})}
    if isinstance(value, list) and value and random.random() < 0.8:
        place = random.randrange(len(value))
        return [damaged(random, part) if i == place else part for i, part in enumerate(value)]
    if isinstance(value, tuple) and len(value) == 2 and random.random() < 0.8:
        return value[0], damaged(random, value[1])
    return random.choice(_ODD)


def broken(random: Random, payload: bytes) -> bytes:
    """The payload with some bytes cut off, replaced, or put in."""
    at = random.randrange(len(payload) + 1)
    put_in = bytes(random.choice((0, 1, 2, 3, 4, 0x7F, 0x80, 0x81, 0xFF)) for _ in range(random.randrange(4)))
    return payload[:at] + put_in + payload[at + random.randrange(3) :]


def outcome(function: Callable[[Any], Any], given: Any) -> tuple[Any, ...]:
    """What comes of it, as a text that tells -0.0 from 0 and one order of fields from another."""
    try:
        return ("taken", repr(function(given)))
    except InvalidRecord as refused:
        return ("refused", str(refused), refused.findings)


def assert_same_bytes(ours: AvroSchema, value: Any) -> None:
    assert outcome(encoder_of(ours), value) == outcome(general.writer_of(ours.root), value)


def assert_same_value(writer: AvroSchema, reader: AvroSchema, payload: bytes) -> None:
    for target in (writer, reader):
        read = outcome(decoder_of(writer, target), payload)
        assert read == outcome(general.reader_of(writer.root, target.root), payload)


@settings(max_examples=settings().max_examples * 2)
@given(randoms)
def test_writers_agree(random: Random) -> None:
    ours, theirs = map(parsed, pair(random))
    for written in (ours, theirs):
        for value in values(written.root):
            assert_same_bytes(ours, value)
            assert_same_bytes(ours, bare(written.root, value))
            for _ in range(3):
                assert_same_bytes(ours, damaged(random, value))


@settings(max_examples=settings().max_examples * 2)
@given(randoms)
def test_readers_agree(random: Random) -> None:
    writer, reader = map(parsed, pair(random))
    for value in values(writer.root):
        payload = encoder_of(writer)(value)
        assert_same_value(writer, reader, payload)
        for _ in range(3):
            assert_same_value(writer, reader, broken(random, payload))


@given(randoms, st.binary(max_size=60))
def test_readers_agree_on_any_bytes(random: Random, payload: bytes) -> None:
    writer, reader = map(parsed, pair(random))
    assert_same_value(writer, reader, payload)


@given(randoms)
def test_values_come_back_with_missing_fields_filled_in(random: Random) -> None:
    ours = parsed(schema(random))
    for value in values(ours.root):
        read = decoder_of(ours)(encoder_of(ours)(value))
        assert_same_bytes(ours, read)
        if isinstance(read, dict):
            for name in read:
                assert_same_bytes(ours, {key: part for key, part in read.items() if key != name})
