"""JSON payloads → columns, whole batches at a time: `pyarrow.json` fills them, where what it does not say is proven.

It refuses what is no JSON, values of other types, properties that the layout does not have, and a key that stands
twice. What it should not take (NaN, a null where none may be) shows in the bytes or in the columns. Records about
which a doubt is left, and those that it refuses, are read row by row: here nothing is refused for good.

It refuses a batch as a whole, and a call costs nearly as much as a hundred rows, however few it reads: to look for the
bad records in ever smaller groups is dearer than to read all row by row. A regular expression finds them at once
(`json_patterns`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic_core import from_json
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from tallystick.spark.decoding import json_arrays, json_patterns
from tallystick.spark.decoding.json_layout import INSIDE, Layout, properties
from tallystick.spark.decoding.json_proofs import Mask, are_plain

Rows = Callable[[pa.Array], pa.Array]
"""Reads payloads row by row."""

_BATCH, _SMALL = 4096, 256
"""Records that are parsed at a time; and where these are refused for what only the parser sees, so that a bad one
spoils few others."""
_SAMPLE = 256
"""Records that could not be parsed, in which new keys are looked for."""
_MOST_BYTES = 2**28
_MOST_KEYS = 64
"""In one map: each is a column while it is parsed. Maps with more of them are read row by row."""


class Columns:
    """Reads payloads of one layout as one target. Keeps the keys of its maps, as they are met."""

    def __init__(self, layout: Layout, target: DataType, is_fit: Callable[[Any], bool] | None) -> None:
        """`is_fit` is asked about each value; None where the layout says all that the schema does."""
        self._layout, self._target, self._is_fit = layout, target, is_fit
        named = list(properties(layout))
        strict = {name for name, one in named if not one.takes_null}
        # A backslash in a name is written in other ways than one.
        self._nullable = {name for name, one in named if one.takes_null and "\\" not in name} - strict
        self._keys: dict[Layout, dict[str, None]] = {one: {} for one in layout.all() if isinstance(one.type, MapType)}
        # Where the parser refused some, it is likely to refuse the next ones too, after all of its work.
        self._is_wary = False
        self._asks_for_nulls = bool(self._keys) or any(not (one.takes_null or one.is_required) for _, one in named)

    def read(self, payloads: pa.Array, by_row: Rows) -> pa.Array:
        parts = [self._batch(payloads.slice(start, _BATCH), by_row) for start in range(0, len(payloads), _BATCH)]
        return pa.concat_arrays(parts) if parts else by_row(payloads)

    def _batch(self, payloads: pa.Array, by_row: Rows) -> pa.Array:
        if any(len(keys) > _MOST_KEYS for keys in self._keys.values()):
            return by_row(payloads)
        is_read = are_plain(payloads, self._nullable.difference(*self._keys.values()) if self._asks_for_nulls else None)
        if self._is_wary and len(payloads) > _SMALL:
            is_likely = self._are_likely(payloads)
            self._is_wary = not is_likely[is_read].all()
            is_read &= is_likely
        values, is_sure = self._tried(payloads if is_read.all() else payloads.filter(pa.array(is_read)))
        is_read[is_read] = is_sure
        if is_read.all():
            return values
        unread = payloads.filter(pa.array(~is_read))
        if self._learns(unread.slice(0, _SAMPLE)) and 2 * len(unread) > len(payloads):
            return self._batch(payloads, by_row)
        both = pa.concat_arrays([values, by_row(unread)])
        places = np.where(is_read, np.cumsum(is_read), is_read.sum() + np.cumsum(~is_read)) - 1
        return both.take(pa.array(places))

    def _tried(self, payloads: pa.Array) -> tuple[pa.Array, Mask]:
        """The values that are proven, and which payloads have one."""
        found = self._parsed(payloads)
        if found is not None:
            values, is_sure = found
            return values if is_sure.all() else values.filter(pa.array(is_sure)), is_sure
        if len(payloads) <= _SMALL:
            return pa.array([], to_arrow_type(self._target)), np.zeros(len(payloads), np.bool_)
        self._is_wary = True
        is_read = self._are_likely(payloads)
        if not is_read.all():
            values, is_read[is_read] = self._tried(payloads.filter(pa.array(is_read)))
            return values, is_read
        parts = [self._tried(payloads.slice(start, _SMALL)) for start in range(0, len(payloads), _SMALL)]
        return pa.concat_arrays([values for values, _ in parts]), np.concatenate([is_sure for _, is_sure in parts])

    def _are_likely(self, payloads: pa.Array) -> Mask:
        """Which payloads the parser takes, as far as their texts show: not whether a key stands twice, for one."""
        pattern = json_patterns.whole(self._layout, self._keys)
        if pattern is None:
            return np.ones(len(payloads), np.bool_)
        is_match = pc.match_substring_regex(payloads, pattern)
        found: Mask = is_match.fill_null(False).to_numpy(zero_copy_only=False)
        return found

    def _parsed(self, payloads: pa.Array) -> tuple[pa.Array, Mask] | None:
        if pc.sum(pc.binary_length(payloads), min_count=0).as_py() > _MOST_BYTES:
            return None
        try:
            column = json_arrays.parsed(payloads.cast(pa.string()), self._layout, self._keys)
        except pa.ArrowInvalid:
            return None
        is_sure = ~json_arrays.is_doubtful(column, self._layout)
        if self._is_fit is not None:
            is_sure &= np.fromiter((self._is_fit(from_json(one)) for one in payloads.to_pylist()), np.bool_)
        return json_arrays.taken(column, self._layout, self._target), is_sure

    def _learns(self, payloads: pa.Array) -> bool:
        """Whether the maps of some payloads have keys that were not known."""
        before = sum(map(len, self._keys.values()))
        for payload in payloads.to_pylist() if self._keys else ():
            try:
                self._meet(from_json(payload), self._layout)
            except (TypeError, ValueError):
                continue
        return sum(map(len, self._keys.values())) > before

    def _meet(self, value: Any, layout: Layout) -> None:
        match layout.type, value:
            case StructType(), dict():
                for name in layout.inner.keys() & value.keys():
                    self._meet(value[name], layout.inner[name])
            case MapType(), dict():
                self._keys[layout].update(dict.fromkeys(value))
                for inner in value.values():
                    self._meet(inner, layout.inner[INSIDE])
            case ArrayType(), list():
                for item in value:
                    self._meet(item, layout.inner[INSIDE])
