"""Payloads, compressed as Pulsar's clients do it: LZ4 and Snappy are raw blocks, ZLIB and ZSTD whole streams."""

import zlib

import cramjam

from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.faults import MalformedFrame

MOST_UNCOMPRESSED_BYTES = 64 * 1024 * 1024
"""A payload that claims more is refused unread: the size comes from outside and decides how much memory is taken."""


def compress(kind: pb.CompressionType, data: bytes | memoryview) -> bytes:
    if kind == pb.LZ4:
        return bytes(cramjam.lz4.compress_block(data, store_size=False))
    if kind == pb.ZLIB:
        return zlib.compress(data)
    if kind == pb.ZSTD:
        return bytes(cramjam.zstd.compress(data))
    if kind == pb.SNAPPY:
        return bytes(cramjam.snappy.compress_raw(data))
    return bytes(data)


def decompress(kind: pb.CompressionType, data: bytes | memoryview, uncompressed_size: int) -> bytes:
    """The payload, which has exactly the size that the metadata states; `MalformedFrame` for any other.

    Takes no more memory than that size, whatever the bytes unfold to. Without compression the size does not count:
    not every client states it then.
    """
    if kind == pb.NONE:
        return bytes(data)
    if uncompressed_size > MOST_UNCOMPRESSED_BYTES:
        raise MalformedFrame(
            f"a payload says it has {uncompressed_size} bytes uncompressed; at most {MOST_UNCOMPRESSED_BYTES} are read"
        )
    try:
        unfolded = _inflated(data, uncompressed_size) if kind == pb.ZLIB else _unfolded(kind, data, uncompressed_size)
    except (cramjam.DecompressionError, zlib.error) as e:
        raise _malformed(kind, uncompressed_size, str(e)) from e
    if unfolded is None:
        raise _malformed(kind, uncompressed_size, "it has another size")
    return unfolded


def _inflated(data: bytes | memoryview, size: int) -> bytes | None:
    """None for another size."""
    stream = zlib.decompressobj()
    # One byte more than stated, so that a longer payload shows; zero would mean no limit.
    unfolded = stream.decompress(data, size + 1)
    return unfolded if stream.eof and len(unfolded) == size else None


def _unfolded(kind: pb.CompressionType, data: bytes | memoryview, size: int) -> bytes | None:
    """None for a smaller size; a larger one does not fit and raises."""
    into = bytearray(size)
    if kind == pb.LZ4:
        written = cramjam.lz4.decompress_block_into(data, into, output_len=size)
    elif kind == pb.ZSTD:
        written = cramjam.zstd.decompress_into(data, into)
    else:
        written = cramjam.snappy.decompress_raw_into(data, into)
    return bytes(into) if written == size else None


def _malformed(kind: pb.CompressionType, size: int, reason: str) -> MalformedFrame:
    return MalformedFrame(f"a payload is not {pb.CompressionType.Name(kind)} of {size} bytes: {reason}")
