"""Frames of a byte stream, however it arrives and whatever is in it."""

import struct
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st

from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.frames import (
    MOST_FRAME_BYTES,
    MOST_MESSAGE_BYTES,
    Frame,
    FrameReader,
    message_frame,
    simple_frame,
)
from tests.unit.wire.known import cases
from tests.unit.wire.pulsar.commands import ENTRIES, SENDS, SIMPLE, STREAMS, chunks, mutated

PING = pb.BaseCommand(type="PING", ping=pb.CommandPing())
SEND = pb.BaseCommand(type="SEND", send=pb.CommandSend(producer_id=1, sequence_id=2))


def framed(command: bytes, body: bytes = b"") -> bytes:
    return struct.pack(">II", 4 + len(command) + len(body), len(command)) + command + body


def read(*parts: bytes | bytearray | memoryview) -> list[Frame]:
    reader = FrameReader()
    return [frame for part in parts for frame in reader.feed(part)]


@pytest.mark.parametrize("case", cases("frames"))
def test_frames_of_a_real_client(case: dict[str, Any]) -> None:
    data = bytes.fromhex(case["frame"])
    [frame] = read(data)
    assert MessageToDict(frame.command, preserving_proto_field_name=True) == case["command"]
    assert frame.body.hex() == case.get("body", "")
    written = message_frame(frame.command, frame.body) if frame.body else simple_frame(frame.command)
    assert written == data


@given(SIMPLE)
def test_a_simple_command_comes_back(command: pb.BaseCommand) -> None:
    assert read(simple_frame(command)) == [Frame(command, b"")]


@given(SENDS, ENTRIES)
def test_a_send_comes_back_with_its_entry(command: pb.BaseCommand, entry: bytes) -> None:
    assert read(message_frame(command, entry)) == [Frame(command, entry)]


@given(STREAMS.flatmap(lambda stream: st.tuples(st.just(stream), chunks(stream))))
def test_any_split_of_a_stream_gives_the_same_frames(case: tuple[bytes, list[bytes]]) -> None:
    stream, parts = case
    assert read(*parts) == read(stream)


@given(STREAMS)
def test_byte_by_byte_gives_the_same_frames(stream: bytes) -> None:
    assert read(*(stream[i : i + 1] for i in range(len(stream)))) == read(stream)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_kind_of_buffer_is_taken_and_none_is_kept(kind: type[bytes]) -> None:
    arrived = bytearray(message_frame(SEND, b"entry"))
    reader = FrameReader()
    frames = reader.feed(kind(arrived))
    arrived[:] = bytes(len(arrived))
    assert frames == [Frame(SEND, b"entry")]
    assert type(frames[0].body) is bytes


@given(st.binary(max_size=200) | mutated(STREAMS))
def test_strange_bytes_raise_malformed_frame_and_nothing_else(data: bytes) -> None:
    with suppress(MalformedFrame):
        read(data)


@given(mutated(STREAMS).flatmap(lambda stream: st.tuples(st.just(stream), chunks(stream))))
def test_a_fault_is_found_wherever_the_stream_is_cut(case: tuple[bytes, list[bytes]]) -> None:
    stream, parts = case
    assert _outcome([stream]) == _outcome(parts)


def _outcome(parts: list[bytes]) -> str | list[Frame]:
    try:
        return read(*parts)
    except MalformedFrame as e:
        return e.message


@pytest.mark.parametrize("size", [0, 3, MOST_FRAME_BYTES + 1, 2**32 - 1])
def test_an_impossible_size_is_refused_before_the_frame_arrives(size: int) -> None:
    with pytest.raises(MalformedFrame, match=str(size)):
        FrameReader().feed(struct.pack(">I", size))


def test_a_greeting_in_http_is_told_apart() -> None:
    with pytest.raises(MalformedFrame, match="speaking Pulsar's binary protocol"):
        FrameReader().feed(b"GET / HTTP/1.1\r\n")


def test_the_largest_message_fits() -> None:
    entry = bytes(MOST_MESSAGE_BYTES)
    assert read(message_frame(SEND, entry)) == [Frame(SEND, entry)]


def test_a_reader_holds_one_unfinished_frame_and_no_more() -> None:
    frame = message_frame(SEND, bytes(100_000))
    reader = FrameReader()
    tracemalloc.start()
    try:
        for _ in range(100):
            reader.feed(frame[:60_000])
            assert len(reader.feed(frame[60_000:])) == 1
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 3 * len(frame)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (struct.pack(">II", 4, 1), "ends before"),
        (framed(b""), "lacks a required field"),
        (framed(b"\x08"), "cannot be read"),
        (framed(b"\x08\x46"), "not known"),
        (framed(b"\x08\x06"), "SEND has no content"),
        (framed(b"\x08\x06\x32\x00"), "lacks a required field"),
        (framed(b"\x08\x0e\x72\x07\x08\x01\x10\x00\x1a\x01\xff"), "cannot be read"),
    ],
    ids=["cut", "empty", "half a field", "unknown type", "no content", "content without fields", "not UTF-8"],
)
def test_a_command_that_cannot_be_read_is_told_why(data: bytes, reason: str) -> None:
    with pytest.raises(MalformedFrame, match=reason):
        FrameReader().feed(data)


def test_a_ping_without_content_is_a_ping() -> None:
    assert [frame.command.type for frame in read(framed(b"\x08\x12"))] == [pb.BaseCommand.PING]
    assert read(simple_frame(PING)) == [Frame(PING, b"")]
