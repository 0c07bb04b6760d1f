"""A regular expression for the payloads of a layout: what it does not match, the parser refuses.

It only guesses who spoils a batch. What it matches is proven by the parser, and what it does not by the rows.
"""

import json
from collections.abc import Collection, Mapping

from pyspark.sql.types import ArrayType, BooleanType, DataType, DoubleType, LongType, MapType, StringType, StructType

from tallystick.spark.decoding.json_layout import INSIDE, Layout

_LONGEST = 2**15
"""About 200 properties. Far longer ones are no longer matched in one pass, and cost more than rows."""
_GAP = r"[ \t\r\n]*"
_INTEGER = "-?(?:0|[1-9][0-9]*)"
_ESCAPED = r"""\\(?:["\\/bfnrt]|u(?:[^dD"\\]|[dD][0-7])|u[dD][89abAB][^"\\]{2}\\u[dD][c-fC-F])"""
_BEYOND_ASCII = r"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
_LEAVES: dict[type[DataType], str] = {
    StringType: rf"""\"(?:[^"\\\x00-\x1f\x80-\xff]|{_ESCAPED}|{_BEYOND_ASCII})*\"""",
    BooleanType: "(?:true|false)",
    LongType: _INTEGER,
    DoubleType: rf"{_INTEGER}(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?",
}


def whole(layout: Layout, keys: Mapping[Layout, Collection[str]]) -> str | None:
    """Of a payload of a layout whose maps have these keys; None where it would be too long."""
    pattern = _pattern(layout, keys)
    return rf"\A{pattern}\z" if len(pattern) <= _LONGEST else None


def _pattern(layout: Layout, keys: Mapping[Layout, Collection[str]]) -> str:
    match layout.type:
        case StructType():
            members = [_member([name], _pattern(one, keys)) for name, one in layout.inner.items()]
            return _listed("{", members, "}")
        case MapType():
            met = keys[layout]
            return _listed("{", [_member(met, _pattern(layout.inner[INSIDE], keys))] if met else [], "}")
        case ArrayType():
            return _listed("[", [_or_null(_pattern(layout.inner[INSIDE], keys))], "]")
    return _LEAVES[type(layout.type)]


def _listed(opening: str, items: Collection[str], closing: str) -> str:
    """Each item stands here once: twice, and the expression would double with each level."""
    some = rf"(?:[\{opening},]{_GAP}(?:{'|'.join(items)}){_GAP})+|" if items else ""
    return rf"(?:{some}\{opening}{_GAP})\{closing}"


def _member(names: Collection[str], value: str) -> str:
    written = {json.dumps(name, ensure_ascii=is_ascii).encode() for name in names for is_ascii in (True, False)}
    keys = "|".join("".join(f"\\x{byte:02x}" for byte in one) for one in sorted(written))
    return f"(?:{keys}){_GAP}:{_GAP}{_or_null(value)}"


def _or_null(value: str) -> str:
    return f"(?:{value}|null)"
