"""Compression: what goes in comes out, and nothing unfolds beyond its stated size."""

import resource
import zlib
from contextlib import suppress
from functools import cache

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.compression import MOST_UNCOMPRESSED_BYTES, compress, decompress
from tallystick.wire.pulsar.faults import MalformedFrame
from tests.unit.wire.pulsar.commands import mutated

KINDS = [pb.LZ4, pb.ZLIB, pb.ZSTD, pb.SNAPPY]
BOMB = 256 * 1024 * 1024

kinds = st.sampled_from(KINDS)
data = st.binary(max_size=300) | st.builds(lambda part, times: part * times, st.binary(max_size=9), st.integers(0, 900))


@given(st.sampled_from([pb.NONE, *KINDS]), data)
def test_what_is_compressed_comes_back(kind: pb.CompressionType, payload: bytes) -> None:
    packed = compress(kind, memoryview(payload))
    assert decompress(kind, memoryview(packed), len(payload)) == payload


@given(kinds, data, st.integers(-3, 3).filter(bool))
def test_a_payload_of_another_size_than_stated_is_malformed(
    kind: pb.CompressionType, payload: bytes, difference: int
) -> None:
    with pytest.raises(MalformedFrame, match="bytes"):
        decompress(kind, compress(kind, payload), max(len(payload) + difference, 0) or len(payload) + 1)


@given(kinds, st.data(), st.integers(0, 2000))
def test_strange_bytes_raise_malformed_frame_and_nothing_else(
    kind: pb.CompressionType, draw: st.DataObject, size: int
) -> None:
    packed = draw.draw(st.binary(max_size=60) | mutated(data.map(lambda payload: compress(kind, payload))))
    with suppress(MalformedFrame):
        decompress(kind, packed, size)


@pytest.mark.parametrize("cut", [1, 4, 5])
def test_a_stream_that_lacks_its_end_is_malformed(cut: int) -> None:
    with pytest.raises(MalformedFrame):
        decompress(pb.ZLIB, zlib.compress(b"payload")[:-cut], 7)


def test_a_raw_block_is_not_taken_for_one_with_its_size_first() -> None:
    """The first four bytes could be a little-endian 255, and what follows them a block of its own."""
    literals = b"\x00\x00\xf0\x06" + b"Z" * 11
    block = b"\xff\x00" + literals + b"\x01\x00\xff\x1e" + b"\x50abcde"
    payload = literals + b"Z" * (15 + 255 + 30 + 4) + b"abcde"
    assert decompress(pb.LZ4, block, len(payload)) == payload


@pytest.mark.parametrize("stated", [0, 1000])
@pytest.mark.parametrize("kind", KINDS, ids=pb.CompressionType.Name)
def test_a_bomb_stops_at_its_stated_size(kind: pb.CompressionType, stated: int) -> None:
    bomb = _bomb(kind)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(MalformedFrame):
        decompress(kind, bomb, stated)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < BOMB / 8


@cache
def _bomb(kind: pb.CompressionType) -> bytes:
    """Much more than is stated; streams are made piece by piece, so that the peak of memory stays low here."""
    piece = bytes(1024 * 1024)
    if kind == pb.ZLIB:
        zipping = zlib.compressobj()
        return b"".join([zipping.compress(piece) for _ in range(BOMB // len(piece))]) + zipping.flush()
    if kind == pb.ZSTD:
        stream = cramjam.zstd.Compressor()
        for _ in range(BOMB // len(piece)):
            stream.compress(piece)
        return bytes(stream.finish())
    return compress(kind, bytes(BOMB // 16))


@pytest.mark.parametrize("kind", KINDS, ids=pb.CompressionType.Name)
def test_a_size_beyond_the_limit_is_refused_unread(kind: pb.CompressionType) -> None:
    with pytest.raises(MalformedFrame, match=str(MOST_UNCOMPRESSED_BYTES)):
        decompress(kind, b"", MOST_UNCOMPRESSED_BYTES + 1)
