"""JSON payloads → Python values, quickly: the parser is pydantic's, and what it cannot prove our own codec decides.

The parser refuses what is no JSON, but it takes a key that stands twice, and numbers beyond a double. Both show in a
walk over the value: it has fewer keys than the text, or an infinity. Such payloads, and those that it refuses, go to
the codec, which has the last word; there are few of them.
"""

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

import pyarrow as pa
from pydantic_core import from_json

from tallystick.errors import InvalidRecord
from tallystick.spark.decoding.arrays import array_of

_ROWS = 1024
"""Values that are held at a time; a value in Python is ten times as large as its payload."""


def read(payloads: pa.Array, value_of: Callable[[bytes], Any], type_: pa.DataType) -> pa.Array:
    """The values of a batch; `value_of` gives None where a payload does not fit."""
    parts = [pa.array([], type_)]
    with _without_collector():
        for start in range(0, len(payloads), _ROWS):
            values = [value_of(payload) for payload in payloads.slice(start, _ROWS).to_pylist()]
            parts.append(array_of(values, type_))
    return pa.concat_arrays(parts)


@contextmanager
def _without_collector() -> Iterator[None]:
    """JSON holds no circles, and looking for some in thousands of values costs more than reading them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def reading(
    is_fit: Callable[[Any], bool],
    exactly: Callable[[bytes], Any],
    change: Callable[[Any], Any] | None,
    *,
    is_last_word: bool,
) -> Callable[[bytes], Any]:
    """How one payload is read; None where it does not fit.

    `is_fit` asks whether a value fits its schema, and has the last word unless it takes less than the schema does.
    `change` makes a value that fits ready for Arrow. `exactly` does both, and raises `InvalidRecord`.
    """

    def value_of(payload: bytes) -> Any:
        try:
            value = from_json(payload, allow_inf_nan=False)
            if _keys(value) == payload.count(b'":') and not has_loose_colon(payload):
                if is_fit(value):
                    return value if change is None or value is None else change(value)
                if is_last_word:
                    return None
        except ValueError:
            pass
        except (OverflowError, TypeError):
            return None
        return certain(payload)

    certain = only_exactly(exactly)
    return value_of


def only_exactly(exactly: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """`reading` for schemas that only the codec can check."""

    def value_of(payload: bytes) -> Any:
        try:
            return exactly(payload)
        except (InvalidRecord, OverflowError, TypeError):
            return None

    return value_of


_ASKED = frozenset({dict, list, float})


def _keys(value: Any) -> int:
    """How many keys a value has; raises ValueError for an infinite number.

    The text has as many `":` where no key stands twice and no text begins with a colon, unless white space stands
    before one.
    """
    found = 0
    stack: list[Iterable[Any]] = [[value]]
    while stack:
        for item in stack.pop():
            kind = item.__class__
            if kind not in _ASKED:
                continue
            if kind is dict:
                found += len(item)
                stack.append(item.values())
            elif kind is list:
                stack.append(item)
            elif item in (inf, -inf):
                raise ValueError
    return found


def has_loose_colon(payload: bytes) -> bool:
    """Whether white space stands before one."""
    # In most payloads all stand behind quotes; to count them is three times as fast as to look for each white space.
    if payload.count(b":") == payload.count(b'":'):
        return False
    return b" :" in payload or b"\n:" in payload or b"\t:" in payload or b"\r:" in payload
