"""Plain JSON → the value of an Avro type.

The value of a union stands bare, as people write it; where no branch takes it so, it may be Avro's own form, an object
whose only key names the branch. A field that is missing takes its default, or null where its type has null.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from tallystick.cli import topic_times as times
from tallystick.cli.topic_from_json import BASE64, NOT_FINITE, FromJson, Hints, base64_of
from tallystick.cli.topic_times import MICROS, MILLIS
from tallystick.formats.avro.types import Array, AvroType, Fixed, Map, Named, Primitive, Record, Union
from tallystick.formats.avro.validate import check_of
from tallystick.formats.json_source import Path, pointer

_NUMBER = re.compile(r"-?\d{1,4000}(?:\.\d{1,4000})?")


def value_of(root: AvroType, raw: Any) -> FromJson:
    reader = _Reader()
    try:
        return FromJson(reader.read(root, raw, ()), reader.hints)
    except RecursionError:
        return FromJson(raw, {})


class _Reader:
    """Remembers what each object and list is as each type: a union may ask the same question again and again."""

    def __init__(self) -> None:
        self.hints: Hints = {}
        self._known: dict[tuple[int, int], Any] = {}

    def read(self, type_: AvroType, raw: Any, path: Path) -> Any:
        if not isinstance(raw, dict | list):
            return self._single(type_, raw, path)
        place = id(type_), id(raw)
        if place not in self._known:
            self._known[place] = self._inner(type_, raw, path)
        return self._known[place]

    def _inner(self, type_: AvroType, raw: dict[str, Any] | list[Any], path: Path) -> Any:
        match type_:
            case Union():
                return self._union(type_, raw, path)
            case Record() if isinstance(raw, dict):
                return self._record(type_, raw, path)
            case Map(values=values) if isinstance(raw, dict):
                return {key: self.read(values, item, (*path, key)) for key, item in raw.items()}
            case Array(items=items) if isinstance(raw, list):
                return [self.read(items, item, (*path, i)) for i, item in enumerate(raw)]
        return raw

    def _single(self, type_: AvroType, raw: Any, path: Path) -> Any:
        match type_:
            case Union():
                return self._union(type_, raw, path)
            case Primitive() | Fixed():
                return self._leaf(type_, raw, path)
        return raw

    def _record(self, record: Record, raw: dict[str, Any], path: Path) -> dict[str, Any]:
        value = dict(raw)
        for field in record.fields:
            if field.name in raw:
                value[field.name] = self.read(field.type, raw[field.name], (*path, field.name))
            elif field.default is None and check_of(field.type)(None):
                value[field.name] = None
        return value

    def _union(self, union: Union, raw: Any, path: Path) -> Any:
        read = [(branch, self.read(branch, raw, path)) for branch in union.branches]
        for branch, value in read:
            if check_of(branch)(value):
                return value
        if isinstance(raw, dict) and len(raw) == 1:
            [(name, inner)] = raw.items()
            named = next((branch for branch in union.branches if _name(branch) == name), None)
            if named is not None:
                return name, self.read(named, inner, path)
        # Where one branch alone is of this shape it is the one that was meant, and the findings are about its parts.
        likely = [value for branch, value in read if _has_shape(branch, raw)]
        return likely[0] if len(likely) == 1 else raw

    def _leaf(self, type_: Primitive | Fixed, raw: Any, path: Path) -> Any:
        form = _form(type_)
        if form is None or (isinstance(raw, int) and type_.kind in ("int", "long")):
            return raw
        convert, hint = form
        value = convert(raw)
        if value is not None:
            return value
        self.hints[pointer(path)] = hint
        return raw


def _name(branch: AvroType) -> str:
    return branch.name if isinstance(branch, Named) else branch.kind


def _has_shape(branch: AvroType, raw: Any) -> bool:
    shape = (Record, Map) if isinstance(raw, dict) else (Array,) if isinstance(raw, list) else ()
    return isinstance(branch, shape)


def _form(type_: Primitive | Fixed) -> "_Form | None":
    if type_.logical is not None and type_.logical.name in _LOGICAL:
        return _LOGICAL[type_.logical.name] if type_.logical.name != "uuid" or isinstance(type_, Fixed) else None
    return _BYTES if isinstance(type_, Fixed) or type_.kind == "bytes" else _FLOATS.get(type_.kind)


_Form = tuple[Callable[[Any], Any], str]
"""What a JSON value stands for, None where it stands for nothing of the type; and how to write it."""


def _text(convert: Callable[[str], Any]) -> Callable[[Any], Any]:
    return lambda raw: convert(raw) if isinstance(raw, str) else None


def _decimal(raw: Any) -> Decimal | None:
    if type(raw) in (int, float):
        return Decimal(repr(raw))
    return Decimal(raw) if isinstance(raw, str) and _NUMBER.fullmatch(raw) else None


def _uuid(text: str) -> UUID | bytes | None:
    try:
        return UUID(text)
    except ValueError:
        return base64_of(text)


def _float(raw: Any) -> Any:
    return NOT_FINITE.get(raw) if isinstance(raw, str) else raw


_BYTES = (_text(base64_of), BASE64)
_FLOATS: Mapping[str, _Form] = dict.fromkeys(
    ("float", "double"), (_float, 'write a number, or "NaN", "Infinity", "-Infinity"')
)
_TIME = 'write a time, such as "12:30:00.250"'
_MOMENT = 'write a time of ISO 8601, such as "2026-01-31T12:00:00.250Z", or the number underneath'
_LOCAL = 'write date and time without a zone, such as "2026-01-31T12:30:00.250", or the number underneath'
_LOGICAL: Mapping[str, _Form] = {
    "decimal": (_decimal, 'write a number that fits, or its text, such as "12.50"'),
    "uuid": (_text(_uuid), "write a UUID, or its bytes in Base64"),
    "date": (_text(times.date), 'write a date, such as "2026-01-31"'),
    "time-millis": (_text(lambda text: times.time(text, MILLIS)), _TIME),
    "time-micros": (_text(lambda text: times.time(text, MICROS)), _TIME),
    "timestamp-millis": (_text(lambda text: times.moment(text, MILLIS)), _MOMENT),
    "timestamp-micros": (_text(lambda text: times.moment(text, MICROS)), _MOMENT),
    "local-timestamp-millis": (_text(lambda text: times.local_moment(text, MILLIS)), _LOCAL),
    "local-timestamp-micros": (_text(lambda text: times.local_moment(text, MICROS)), _LOCAL),
}
