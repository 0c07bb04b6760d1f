"""Pairs → payloads: the halves by their own encoders, INLINE with their lengths before them."""

from dataclasses import dataclass

import pyarrow as pa

from tallystick.formats.key_value.codec import joined
from tallystick.model.key_value import KeyValueEncoding
from tallystick.spark.encoding.encoder import ArrowEncoder
from tallystick.spark.types.key_value import KEY, VALUE


def encoder(encoding: KeyValueEncoding, key: ArrowEncoder, value: ArrowEncoder) -> ArrowEncoder:
    """The encoder of pairs. A SEPARATED payload is the value's alone: see `keys`, whose bytes go with the record."""
    return ArrowEncoder(_Payloads(encoding, key, value))


def keys(key: ArrowEncoder) -> ArrowEncoder:
    """The encoder of the keys of SEPARATED pairs; null where there is no key, or one that does not fit."""
    return ArrowEncoder(_Keys(key))


@dataclass(frozen=True, slots=True)
class _Payloads:
    encoding: KeyValueEncoding
    key: ArrowEncoder
    value: ArrowEncoder

    def __call__(self, pairs: pa.Array) -> pa.Array:
        own, has_own = _half(self.key, pairs.field(KEY))
        values, has_values = _half(self.value, pairs.field(VALUE))
        rows = zip(own.to_pylist(), values.to_pylist(), has_own, has_values, strict=True)
        return pa.array([self._payload(*row) for row in rows], pa.binary())

    def _payload(self, key: bytes | None, value: bytes | None, has_key: bool, has_value: bool) -> bytes | None:
        if (key is None and has_key) or (value is None and has_value):
            return None
        return joined((key, value)) if self.encoding is KeyValueEncoding.INLINE else value


@dataclass(frozen=True, slots=True)
class _Keys:
    key: ArrowEncoder

    def __call__(self, pairs: pa.Array) -> pa.Array:
        return _half(self.key, pairs.field(KEY))[0]


def _half(encoder: ArrowEncoder, values: pa.Array) -> tuple[pa.Array, list[bool]]:
    """The payloads, null where there is no value, and whether there is one."""
    there: list[bool] = values.is_valid().to_pylist()
    payloads = iter(encoder.payloads(values.drop_null()).to_pylist())
    return pa.array([next(payloads) if is_there else None for is_there in there], pa.binary()), there
