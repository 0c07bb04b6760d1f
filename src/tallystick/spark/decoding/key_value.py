"""Pairs: the payload is parted, or the key comes as the record's own, and each half is read by its own decoder."""

import struct
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType

from tallystick.errors import InvalidRecord
from tallystick.formats.key_value.codec import parted
from tallystick.model.key_value import KeyValueEncoding
from tallystick.spark.decoding.decoder import ArrowDecoder, ColumnDecoder
from tallystick.spark.decoding.primitive import integer
from tallystick.spark.types.key_value import KEY, VALUE, type_of

_LENGTH = struct.calcsize(">i")
_NOT_THERE = -1


def decoder(
    encoding: KeyValueEncoding,
    key: ColumnDecoder | ArrowDecoder,
    value: ColumnDecoder | ArrowDecoder,
    key_type: DataType,
    value_type: DataType,
) -> ColumnDecoder | ArrowDecoder:
    """The decoder of pairs whose halves are read by these; both work on the JVM, or both in batches.

    A half that is not there is null and fits; a pair fits if both halves do.
    """
    match key, value:
        case ColumnDecoder(), ColumnDecoder():
            return _on_jvm(encoding, key, value)
        case ArrowDecoder(), ArrowDecoder():
            return ArrowDecoder(_Values(encoding, key, value, key_type, value_type))
    raise TypeError("one half works on the JVM and the other one in batches; see by_codec")


# --- on the JVM ------------------------------------------------------------------------------------------------


def _on_jvm(encoding: KeyValueEncoding, key: ColumnDecoder, value: ColumnDecoder) -> ColumnDecoder:
    def pair(payload: Column, own_key: Column) -> Column:
        if encoding is KeyValueEncoding.INLINE:
            key_part, value_part, is_whole = _parted(payload)
        else:
            key_part, value_part, is_whole = own_key, payload, F.lit(True)
        read = F.struct(
            F.when(key_part.isNotNull(), key.value(key_part, F.lit(None))).alias(KEY),
            F.when(value_part.isNotNull(), value.value(value_part, F.lit(None))).alias(VALUE),
            key_part.isNotNull().alias("has_key"),
            value_part.isNotNull().alias("has_value"),
        )
        # In a lambda, so that it is worked out once however often it is looked at.
        return F.transform(F.array(F.when(is_whole, read)), _fitting)[0]

    has_key = None if key.key is None or value.key is None else (encoding, key.key, value.key)
    return ColumnDecoder(pair, key=has_key, wrong=lambda column: _wrong(column, key, value))


def within_pair(inner: ColumnDecoder) -> ColumnDecoder:
    """The decoder of pairs that are halves of others: their payload is cut out once, however often it is looked at."""

    def value(payload: Column, _: Column) -> Column:
        return F.transform(F.array(payload), lambda part: inner.value(part, F.lit(None)))[0]

    return replace(inner, value=value)


def _fitting(read: Column) -> Column:
    is_good = (read[KEY].isNotNull() == read["has_key"]) & (read[VALUE].isNotNull() == read["has_value"])
    return F.when(is_good, F.struct(read[KEY].alias(KEY), read[VALUE].alias(VALUE)))


def _wrong(column: Column, key: ColumnDecoder, value: ColumnDecoder) -> Column | None:
    halves = [(key, column[KEY]), (value, column[VALUE])]
    found = [half.wrong(part) for half, part in halves if half.wrong is not None]
    wrong = [F.coalesce(one, F.lit(False)) for one in found if one is not None]
    return None if not wrong else wrong[0] if len(wrong) == 1 else wrong[0] | wrong[1]


def _parted(payload: Column) -> tuple[Column, Column, Column]:
    """Key, value and whether the lengths are right: to the last byte, and none of them beyond it."""
    key_length = F.coalesce(integer(payload, 0, _LENGTH), F.lit(-2))
    value_start = F.lit(_LENGTH) + F.greatest(key_length, F.lit(0))
    # A length that lies is no reason to look far outside: the place is then the beginning.
    start = F.when(value_start <= F.length(payload), value_start).otherwise(F.lit(0)).cast("int")
    value_length = F.coalesce(integer(_rest(payload, start), 0, _LENGTH), F.lit(-2))
    is_whole = (
        (key_length >= _NOT_THERE)
        & (value_length >= _NOT_THERE)
        & (value_start + _LENGTH + F.greatest(value_length, F.lit(0)) == F.length(payload))
    )
    key = F.when(key_length > _NOT_THERE, F.substring(payload, F.lit(_LENGTH + 1), key_length.cast("int")))
    value = F.when(value_length > _NOT_THERE, _rest(payload, start + _LENGTH))
    return key, value, is_whole


def _rest(payload: Column, start: Column) -> Column:
    return F.substring(payload, start + 1, F.length(payload))


# --- in batches ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Values:
    encoding: KeyValueEncoding
    key: ArrowDecoder
    value: ArrowDecoder
    key_type: DataType
    value_type: DataType

    def __call__(self, payloads: pa.Array, keys: pa.Array) -> pa.Array:
        parts = [self._parts(*row) for row in zip(payloads.to_pylist(), keys.to_pylist(), strict=True)]
        key, has_key = _half(self.key, [part and part[0] for part in parts], self.key_type)
        value, has_value = _half(self.value, [part and part[1] for part in parts], self.value_type)
        fits = [part is not None and k and v for part, k, v in zip(parts, has_key, has_value, strict=True)]
        fields = list(to_arrow_type(type_of(self.key_type, self.value_type)))
        return pa.StructArray.from_arrays([key, value], fields=fields, mask=pa.array([not fit for fit in fits]))

    def _parts(self, payload: bytes, key: bytes | None) -> tuple[bytes | None, bytes | None] | None:
        if self.encoding is KeyValueEncoding.SEPARATED:
            return key, payload
        try:
            return parted(payload)
        except InvalidRecord:
            return None


def _half(decoder: ArrowDecoder, payloads: list[Any], type_: DataType) -> tuple[pa.Array, list[bool]]:
    """The values, null where there is no payload, and whether each payload fits."""
    there = [i for i, payload in enumerate(payloads) if payload is not None]
    present = pa.array([payloads[i] for i in there], pa.binary())
    values = decoder.values(present, pa.nulls(len(there), pa.binary())).cast(to_arrow_type(type_))
    places: list[int | None] = [None] * len(payloads)
    for place, i in enumerate(there):
        places[i] = place
    fits = [True] * len(payloads)
    for i, is_valid in zip(there, values.is_valid().to_pylist(), strict=True):
        fits[i] = is_valid
    return values.take(pa.array(places, pa.int64())), fits
