"""Pairs → payloads: the halves by their own encoders, INLINE with their lengths before them."""

from dataclasses import dataclass

import pyarrow as pa

from tallystick.formats.key_value.codec import joined
from tallystick.model.key_value import KeyValueEncoding
from tallystick.spark.encoding.encoder import ArrowEncoder, Misfit
from tallystick.spark.types.key_value import KEY, VALUE


def encoder(encoding: KeyValueEncoding, key: ArrowEncoder, value: ArrowEncoder) -> ArrowEncoder:
    """The encoder of pairs. A SEPARATED payload is the value's alone: see `keys`, whose bytes go with the record."""
    pairs = _Pairs(encoding, key, value)
    return ArrowEncoder(pairs.payloads, pairs.misfits)


def keys(key: ArrowEncoder) -> ArrowEncoder:
    """The encoder of the keys of SEPARATED pairs; null where there is no key, or one that does not fit."""
    return ArrowEncoder(_Keys(key), key.misfits)


@dataclass(frozen=True, slots=True)
class _Pairs:
    encoding: KeyValueEncoding
    key: ArrowEncoder
    value: ArrowEncoder

    def payloads(self, pairs: pa.Array) -> pa.Array:
        own, has_own = _half(self.key, pairs.field(KEY))
        values, has_values = _half(self.value, pairs.field(VALUE))
        rows = zip(own.to_pylist(), values.to_pylist(), has_own, has_values, strict=True)
        return pa.array([self._payload(*row) for row in rows], pa.binary())

    def misfits(self, pairs: pa.Array) -> list[Misfit]:
        """Of the key where that does not fit, else of the value."""
        found: list[Misfit | None] = [None] * len(pairs)
        for name, half in ((VALUE, self.value), (KEY, self.key)):
            values = pairs.field(name)
            payloads, there = _half(half, values)
            wrong = [i for i, payload in enumerate(payloads.to_pylist()) if payload is None and there[i]]
            for i, misfit in zip(wrong, half.misfits(values.take(pa.array(wrong, pa.int64()))), strict=True):
                found[i] = Misfit(f"in the {name}: {misfit.reason}", f"/{name}{misfit.path}")
        return [one or Misfit("", "") for one in found]

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
