"""Values as JSON.

| in the message | in JSON |
|---|---|
| bytes, fixed | Base64 |
| decimals | a text, with all digits: `"12.50"` |
| dates, times, points in time | a text of ISO 8601; points in time in UTC: `"2026-01-31T12:00:00Z"` |
| UUIDs, enums | a text |
| NaN and the infinities | `"NaN"`, `"Infinity"`, `"-Infinity"` |
| keys of maps that are no texts | a text |
| pairs of key and value | `{"key": …, "value": …}` |

`tally topic produce` reads all of them.
"""

import base64
import datetime as dt
import math
from decimal import Decimal
from typing import Any
from uuid import UUID

from tallystick.cli import topic_times
from tallystick.model.key_value import KeyValue
from tallystick.model.temporal import Instant, LocalDateTime, LocalTime


def json_of(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case dict():
            return {_key(key): json_of(inner) for key, inner in value.items()}
        case list() | tuple():
            return [json_of(inner) for inner in value]
        case float():
            return value if math.isfinite(value) else _not_finite(value)
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case Decimal():
            return format(value, "f")
        case dt.datetime() | dt.date() | dt.time() | Instant() | LocalTime() | LocalDateTime():
            return topic_times.shown(value)
        case KeyValue(key=key, value=inner):
            return {"key": json_of(key), "value": json_of(inner)}
        case UUID():
            return str(value)
    # A schema class of a package of its own may give anything.
    return repr(value)


def _key(key: Any) -> str:
    return key if isinstance(key, str) else str(key).lower() if isinstance(key, bool) else str(key)


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
