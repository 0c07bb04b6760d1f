"""Numbers as Avro has them: the sign in the lowest bit ("zigzag"), then seven bits a byte, the lowest first."""

from tallystick.formats.avro.compiled.source import Misfit

_PAIRS = [bytes((low | 128, high | 128)) for high in range(128) for low in range(128)]
"""14 bits that others follow."""
_LAST = [bytes((low | 128, high) if high else (low,)) for high in range(128) for low in range(128)]


def varint_of(number: int) -> bytes:
    bits = number << 1 if number >= 0 else ~(number << 1)
    written = b""
    while bits > 0x3FFF:
        written += _PAIRS[bits & 0x3FFF]
        bits >>= 14
    return written + _LAST[bits]


class _Varints(dict[int, bytes]):
    def __missing__(self, number: int) -> bytes:
        return varint_of(number)


VARINTS = _Varints((number, varint_of(number)) for number in range(-128, 1024))
"""Any number's bytes; those of most lengths and counts are there already."""


def rest_of_varint(payload: bytes, at: int, bits: int) -> tuple[int, int]:
    """The bits of a varint whose first byte is known, sign still in the lowest, and where it ends."""
    bits &= 127
    shift = 7
    while (byte := payload[at]) > 127 and shift < 63:
        bits |= (byte & 127) << shift
        shift += 7
        at += 1
    if shift == 63 and byte > 1:
        raise Misfit
    return bits | byte << shift, at + 1


def rest_of_length(payload: bytes, at: int, bits: int) -> tuple[int, int]:
    """The same for lengths and counts, which are not negative; and nought, which ends a list, is one byte."""
    if bits > 127:
        bits, at = rest_of_varint(payload, at, bits)
    if bits & 1 or bits == 0:
        raise Misfit
    return bits, at
