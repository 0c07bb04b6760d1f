"""Batches: several messages in one payload."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.wire.pulsar import batches
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.pulsar_pb2 import SingleMessageMetadata
from tests.unit.wire.pulsar.commands import NUMBERS, PAIRS, TEXTS, mutated

SINGLE = st.builds(
    SingleMessageMetadata, properties=PAIRS, partition_key=st.none() | TEXTS, sequence_id=st.none() | NUMBERS
)
MESSAGES = st.lists(st.tuples(SINGLE, st.binary(max_size=30)), max_size=5)


def read(payload: bytes, count: int) -> list[tuple[SingleMessageMetadata, bytes]]:
    return [(metadata, bytes(part)) for metadata, part in batches.split(payload, count)]


@given(MESSAGES)
def test_what_is_joined_is_split(messages: list[tuple[SingleMessageMetadata, bytes]]) -> None:
    payload = batches.join(messages)
    assert read(payload, len(messages)) == messages
    assert [metadata.payload_size for metadata, _ in messages] == [len(part) for _, part in messages]


@given(MESSAGES, st.integers(1, 3))
def test_a_batch_with_fewer_messages_than_stated_is_malformed(
    messages: list[tuple[SingleMessageMetadata, bytes]], more: int
) -> None:
    with pytest.raises(MalformedFrame, match="ends before message"):
        read(batches.join(messages), len(messages) + more)


@given(st.binary(max_size=60) | mutated(MESSAGES.map(batches.join)), st.integers(-1, 6))
def test_strange_bytes_raise_malformed_frame_and_nothing_else(data: bytes, count: int) -> None:
    with suppress(MalformedFrame):
        read(data, count)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"\x00\x00\x00\x09\x18", "metadata of message 1 in a batch says it has 9 bytes"),
        (b"\x00\x00\x00\x02\x18\x05abc", "says it has 5 bytes"),
        (b"\x00\x00\x00\x0b\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01abc", "says it has -1 bytes"),
        (b"\x00\x00\x00\x00", "lacks a required field"),
    ],
)
def test_a_message_that_does_not_fit_its_batch_is_told_why(payload: bytes, reason: str) -> None:
    with pytest.raises(MalformedFrame, match=reason):
        read(payload, 1)
