"""Hashes against known values."""

import pytest

from tallystick.wire.pulsar.hashing import java_string_hash, murmur3_32
from tests.unit.wire.known import known

HASHES = known("hashes")


@pytest.mark.parametrize(("key", "expected"), HASHES["murmur3_32"].items())
def test_murmur3(key: str, expected: int) -> None:
    assert murmur3_32(key.encode()) == expected


@pytest.mark.parametrize(("text", "expected"), HASHES["java_string"].items())
def test_java_string(text: str, expected: int) -> None:
    assert java_string_hash(text) == expected
