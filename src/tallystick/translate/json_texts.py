"""Scalars that JSON holds as texts or bounded numbers: what JSON Schema says of them.

`format` refuses nothing, so a pattern says what a text is. It says it exactly, which is why a schema that was
translated to JSON Schema can be translated back: `^-?(0|[1-9][0-9]{0,3})\\.[0-9]{2}$` is a decimal(6, 2) and nothing
else. Bounds do the same for numbers. An integer without bounds is a 64-bit one, as everywhere in JSON.
"""

import re
from typing import Any

from tallystick.translate.shape import FLOAT_MAX, INTEGERS, Kind, Scalar

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = "[0-9]{2}:[0-9]{2}:[0-9]{2}"
_HEX = "[0-9a-f]"
_BASE64 = "[A-Za-z0-9+/]"
_ANY_DECIMAL = r"^-?[0-9]+(\.[0-9]+)?$"

_PATTERNS = {
    Kind.DATE: f"^{_DAY}$",
    Kind.UUID: "^" + "-".join(f"{_HEX}{{{length}}}" for length in (8, 4, 4, 4, 12)) + "$",
}
_WITH_DIGITS = {
    Kind.TIME: rf"^{_TIME}\.[0-9]{{%d}}$",
    Kind.TIMESTAMP: rf"^{_DAY}T{_TIME}\.[0-9]{{%d}}Z$",
    Kind.LOCAL_TIMESTAMP: rf"^{_DAY}T{_TIME}\.[0-9]{{%d}}$",
}
FORMATS = {
    Kind.DATE: "date",
    Kind.UUID: "uuid",
    Kind.TIME: "time-local",
    Kind.TIMESTAMP: "date-time",
    Kind.LOCAL_TIMESTAMP: "date-time-local",
    Kind.DECIMAL: "decimal",
}
_BOUNDS = {kind: (held.start, held.stop - 1) for kind, held in INTEGERS.items() if kind is not Kind.INT64}
_PLAIN = {
    Kind.NULL: "null",
    Kind.BOOLEAN: "boolean",
    Kind.INT64: "integer",
    Kind.DOUBLE: "number",
    Kind.STRING: "string",
}

_DECIMAL = re.compile(r"\^-\?(?:0|\(0\|\[1-9\]\[0-9\]\{0,([0-9]+)\}\))(?:\\\.\[0-9\]\{([0-9]+)\})?\$")
_FIXED = re.compile(re.escape(f"^{_BASE64}") + r"\{([0-9]+)\}(={0,2})\$")
_KNOWN = {
    **{pattern: Scalar(kind) for kind, pattern in _PATTERNS.items()},
    **{pattern % digits: Scalar(kind, digits) for kind, pattern in _WITH_DIGITS.items() for digits in (3, 6, 9)},
    _ANY_DECIMAL: Scalar(Kind.DECIMAL),
}


def is_number(kind: Kind) -> bool:
    return kind in INTEGERS or kind in (Kind.FLOAT, Kind.DOUBLE)


def schema_of(scalar: Scalar) -> dict[str, Any]:
    """The JSON Schema of a scalar."""
    kind = scalar.kind
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if kind in _BOUNDS:
        return {"type": "integer", "minimum": _BOUNDS[kind][0], "maximum": _BOUNDS[kind][1]}
    if kind is Kind.FLOAT:
        return {"type": "number", "minimum": -FLOAT_MAX, "maximum": FLOAT_MAX}
    if kind is Kind.BYTES:
        fixed = {} if scalar.size is None else {"pattern": _fixed_pattern(scalar.size)}
        return {"type": "string", "contentEncoding": "base64", **fixed}
    return {"type": "string", "format": FORMATS[kind], "pattern": _pattern(scalar)}


def _pattern(scalar: Scalar) -> str:
    if scalar.kind is Kind.DECIMAL:
        return _ANY_DECIMAL if scalar.precision is None else _decimal_pattern(scalar.precision, scalar.scale or 0)
    return _PATTERNS.get(scalar.kind) or _WITH_DIGITS[scalar.kind] % scalar.digits


def _decimal_pattern(precision: int, scale: int) -> str:
    whole = precision - scale
    before = "0" if whole == 0 else f"(0|[1-9][0-9]{{0,{whole - 1}}})"
    return f"^-?{before}" + (rf"\.[0-9]{{{scale}}}$" if scale else "$")


def _fixed_pattern(size: int) -> str:
    characters = -(-size * 4 // 3)
    return f"^{_BASE64}{{{characters}}}{'=' * (-characters % 4)}$"


def scalar_of_pattern(pattern: str, name: str) -> Scalar | None:
    """The scalar that a pattern of ours stands for; `name` is for one of a fixed size."""
    if pattern in _KNOWN:
        return _KNOWN[pattern]
    if found := _DECIMAL.fullmatch(pattern):
        whole = 0 if found[1] is None else int(found[1]) + 1
        scale = int(found[2] or 0)
        return Scalar(Kind.DECIMAL, precision=whole + scale, scale=scale) if whole + scale else None
    if found := _FIXED.fullmatch(pattern):
        size = int(found[1]) * 3 // 4
        return Scalar(Kind.BYTES, size=size, name=name) if _fixed_pattern(size) == pattern else None
    return None


def integer_of_bounds(minimum: Any, maximum: Any) -> tuple[Kind, bool]:
    """The smallest kind that holds all integers between two bounds, and whether they are exactly its own."""
    for kind, bounds in _BOUNDS.items():
        if (minimum, maximum) == bounds:
            return kind, True
    if minimum is None and maximum is None:
        return Kind.INT64, True
    if minimum is None or maximum is None:
        return Kind.INT64, False
    holding = (Kind.INT32, Kind.INT64, Kind.UINT64)
    fitting = (kind for kind in holding if INTEGERS[kind].start <= minimum and maximum < INTEGERS[kind].stop)
    return next(fitting, Kind.INT64), False
