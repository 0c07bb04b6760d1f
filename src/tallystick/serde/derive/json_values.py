"""The JSON of Python's values.

Dates and times are texts of ISO 8601, bytes are base64, and a Decimal is a text, so that none of its digits is lost.
"""

import base64
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from tallystick.serde.derive.dialect import Dialect, ScalarConversion


def _text(kind: type, write: Callable[[Any], str], read: Callable[[str], Any]) -> ScalarConversion:
    # By the type itself: a datetime is no date.
    return ScalarConversion(lambda value: write(value) if type(value) is kind else value, read, str)


_SCALARS: dict[Any, ScalarConversion] = {
    bytes: _text(
        bytes, lambda value: base64.b64encode(value).decode(), lambda text: base64.b64decode(text, validate=True)
    ),
    datetime: _text(datetime, datetime.isoformat, datetime.fromisoformat),
    date: _text(date, date.isoformat, date.fromisoformat),
    time: _text(time, time.isoformat, time.fromisoformat),
    Decimal: _text(Decimal, lambda value: format(value, "f"), Decimal),
    UUID: _text(UUID, str, UUID),
    # JSON has one kind of number: 1 may stand for 1.0, and 1.0 for 1.
    int: ScalarConversion(None, int, int),
    float: ScalarConversion(None, float, float),
}

JSON: Final = Dialect(
    scalar_of=lambda shape: _SCALARS.get(shape.type),
    symbol_of=lambda member: member.value,
    tag_of=lambda shape: None,
    is_whole=False,
)
