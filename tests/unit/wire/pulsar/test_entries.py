"""Entries: what is built is parsed, what is damaged is noticed."""

import struct
from contextlib import suppress
from typing import Any

import pytest
from crc32c import crc32c
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st

from tallystick.wire.pulsar import batches
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.compression import decompress
from tallystick.wire.pulsar.entries import ParsedEntry, build_entry, parse_entry
from tallystick.wire.pulsar.faults import ChecksumMismatch, MalformedFrame
from tests.unit.wire.known import cases
from tests.unit.wire.pulsar.commands import ENTRIES, METADATA, mutated

ENTRY = build_entry(pb.MessageMetadata(producer_name="p", sequence_id=1, publish_time=2), b"payload")


@pytest.mark.parametrize("case", cases("crc32c"))
def test_check_values_of_crc32c(case: dict[str, Any]) -> None:
    data = bytes.fromhex(case["bytes"])
    assert f"{crc32c(data):08x}" == case["crc32c"]
    assert f"{crc32c(memoryview(data)[3:], crc32c(data[:3])):08x}" == case["crc32c"]


@pytest.mark.parametrize("case", cases("entries"))
def test_entries_of_a_real_client(case: dict[str, Any]) -> None:
    entry = bytes.fromhex(case["entry"])
    parsed = parse_entry(entry)
    assert MessageToDict(parsed.metadata, preserving_proto_field_name=True) == case["metadata"]
    assert [{"key": key, "payload": payload.hex()} for key, payload in _messages(parsed)] == case["messages"]
    assert build_entry(parsed.metadata, parsed.payload) == entry


def _messages(parsed: ParsedEntry) -> list[tuple[str, bytes]]:
    metadata = parsed.metadata
    payload = decompress(metadata.compression, parsed.payload, metadata.uncompressed_size)
    if not metadata.HasField("num_messages_in_batch"):
        return [(metadata.partition_key, payload)]
    return [(one.partition_key, bytes(part)) for one, part in batches.split(payload, metadata.num_messages_in_batch)]


@given(METADATA, st.binary(max_size=60))
def test_what_is_built_is_parsed(metadata: pb.MessageMetadata, payload: bytes) -> None:
    parsed = parse_entry(build_entry(metadata, payload))
    assert (parsed.metadata, bytes(parsed.payload)) == (metadata, payload)


@given(METADATA, st.binary(max_size=60), st.integers(0, 2**32))
def test_a_brokers_own_block_is_stepped_over(metadata: pb.MessageMetadata, payload: bytes, index: int) -> None:
    block = pb.BrokerEntryMetadata(broker_timestamp=1, index=index).SerializeToString()
    entry = b"\x0e\x02" + struct.pack(">I", len(block)) + block + build_entry(metadata, payload)
    parsed = parse_entry(entry)
    assert (parsed.metadata, bytes(parsed.payload)) == (metadata, payload)


@given(ENTRIES, st.data())
def test_one_changed_byte_after_the_checksum_is_noticed(entry: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(2, len(entry) - 1))
    damaged = bytearray(entry)
    damaged[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ChecksumMismatch):
        parse_entry(bytes(damaged))


@given(st.binary(max_size=100) | mutated(ENTRIES), st.booleans())
def test_strange_bytes_raise_their_two_errors_and_nothing_else(data: bytes, verify: bool) -> None:
    with suppress(MalformedFrame, ChecksumMismatch):
        parse_entry(data, verify=verify)


def test_what_was_verified_before_need_not_be_again() -> None:
    damaged = ENTRY[:-1] + b"!"
    assert bytes(parse_entry(damaged, verify=False).payload) == b"payloa!"


def test_the_payload_is_not_copied() -> None:
    assert parse_entry(ENTRY).payload.obj is ENTRY


@pytest.mark.parametrize("size", [0, 1, 2, 5, 6, 9])
def test_an_entry_that_is_cut_off_is_told_so(size: int) -> None:
    with pytest.raises(MalformedFrame, match="cut off"):
        parse_entry(ENTRY[:size], verify=False)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (b"\x00\x00\x00\x02\x08\x01payload", "no checksum"),
        (b"\x0e\x01\x00\x00\x00\x00\x00\x00\x00\x09\x08", "more than there are"),
        (b"\x0e\x01\x00\x00\x00\x00\x00\x00\x00\x00", "lacks a required field"),
        (b"\x0e\x02\xff\xff\xff\xff", "cut off"),
    ],
)
def test_an_entry_that_is_none_is_told_why(entry: bytes, reason: str) -> None:
    with pytest.raises(MalformedFrame, match=reason):
        parse_entry(entry, verify=False)
