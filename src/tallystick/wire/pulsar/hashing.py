"""Hashes that Pulsar's clients and brokers agree on. Both are cut to 31 bits, as Java's positive numbers."""

import struct

_POSITIVE = 0x7FFF_FFFF
_WORD = 0xFFFF_FFFF


def murmur3_32(key: bytes) -> int:
    """MurmurHash3 (x86, 32 bits, seed 0): which consumer of a Key_Shared subscription has a key."""
    blocks = len(key) // 4
    hashed = 0
    for block in struct.unpack_from(f"<{blocks}I", key):
        hashed ^= _scrambled(block)
        hashed = (hashed << 13 | hashed >> 19) * 5 + 0xE654_6B64 & _WORD
    rest = key[blocks * 4 :]
    if rest:
        hashed ^= _scrambled(int.from_bytes(rest, "little"))
    hashed ^= len(key)
    hashed = (hashed ^ hashed >> 16) * 0x85EB_CA6B & _WORD
    hashed = (hashed ^ hashed >> 13) * 0xC2B2_AE35 & _WORD
    return (hashed ^ hashed >> 16) & _POSITIVE


def _scrambled(block: int) -> int:
    block = block * 0xCC9E_2D51 & _WORD
    return (block << 15 | block >> 17) * 0x1B87_3593 & _WORD


def java_string_hash(text: str) -> int:
    """Java's `String.hashCode`: which partition a client sends a key to, unless it is told otherwise."""
    data = text.encode("utf-16-le")
    hashed = 0
    for unit in struct.unpack(f"<{len(data) // 2}H", data):
        hashed = (hashed * 31 + unit) & _WORD
    return hashed & _POSITIVE
