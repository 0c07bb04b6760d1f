"""Whatever a primitive takes comes back, and whatever bytes come in are a value or a refusal."""

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InvalidRecord
from tallystick.formats import format_of, parse
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.temporal import Instant, LocalDateTime, LocalTime


def _whole_millis(moment: dt.datetime) -> dt.datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


MOMENTS = st.datetimes(timezones=st.just(dt.UTC)).map(_whole_millis)
LOCAL_TIMES = st.integers(0, 86_400 * 10**9 - 1).map(LocalTime)

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "EXTERNAL": st.binary(),
    "BYTES": st.binary(),
    "NONE": st.binary(),
    "STRING": st.text(),
    "BOOLEAN": st.booleans(),
    "INT8": _integers(8),
    "INT16": _integers(16),
    "INT32": _integers(32),
    "INT64": _integers(64),
    "FLOAT": st.floats(allow_nan=False, width=32),
    "DOUBLE": st.floats(allow_nan=False),
    "DATE": MOMENTS,
    "TIMESTAMP": MOMENTS,
    "TIME": st.times().map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000)),
    "INSTANT": st.builds(Instant, _integers(64), st.integers(0, 10**9 - 1)),
    "LOCAL_DATE": st.dates(),
    "LOCAL_TIME": LOCAL_TIMES,
    "LOCAL_DATE_TIME": st.builds(LocalDateTime, st.dates(), LOCAL_TIMES),
}


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
def test_value_comes_back(kind: str, data: st.DataObject) -> None:
    value = data.draw(VALUES[kind])
    schema, format_ = parse(SchemaDefinition(SchemaType(kind))), format_of(SchemaType(kind))
    assert format_.validate(schema, value) == []
    assert format_.decode(schema, format_.encode(schema, value)) == value


@pytest.mark.parametrize("kind", VALUES)
@given(payload=st.binary(max_size=20))
def test_any_bytes_are_a_value_or_refused(kind: str, payload: bytes) -> None:
    schema, format_ = parse(SchemaDefinition(SchemaType(kind))), format_of(SchemaType(kind))
    try:
        value = format_.decode(schema, payload)
    except InvalidRecord:
        return
    assert format_.validate(schema, value) == []
