"""Instances of classes to the plain values of a format: functions that are put together once for each class.

What is not of the expected type is passed as it is: the format then says what is wrong with it.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from tallystick.serde.conversion import Convert
from tallystick.serde.derive.dialect import Dialect
from tallystick.serde.derive.shapes import Choice, Entries, Items, Literals, Record, Scalar, Shape, Symbols

_NOT_KNOWN: Any = object()


class Outward:
    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._records: dict[Record, Convert] = {}

    def record(self, record: Record) -> Convert:
        """Takes instances of the class, and dicts by the keys of its fields."""
        if record in self._records:
            return self._records[record]
        cls, keys, values = record.type, [field.key for field in record.fields], _getter(record)
        converted: list[tuple[str, Convert]] = []

        def convert(value: Any) -> Any:
            if isinstance(value, cls):
                plain = dict(zip(keys, values(value), strict=True))
                for key, convert_field in converted:
                    plain[key] = convert_field(plain[key])
                return plain
            if isinstance(value, Mapping):
                return {**value, **{key: convert(value[key]) for key, convert in converted if key in value}}
            return value

        # Only now its parts: a class may hold itself.
        self._records[record] = convert
        for field in record.fields:
            convert_field = self.converter(field.shape)
            if convert_field is not None:
                converted.append((field.key, convert_field))
        return convert

    def converter(self, shape: Shape) -> Convert | None:
        """None where values pass as they are."""
        match shape:
            case Scalar():
                scalar = self._dialect.scalar_of(shape)
                return None if scalar is None else scalar.to_plain
            case Literals():
                return None
            case Symbols():
                return self._symbols(shape)
            case Items():
                return _items(self.converter(shape.item), shape.takes)
            case Entries(values=values):
                return _entries(self.converter(values))
            case Choice(branches=(only,)):
                return self.converter(only)
            case Choice(branches=branches):
                return self._choice(branches)
            case Record():
                return self.record(shape)

    def _symbols(self, symbols: Symbols) -> Convert:
        # By value as well: pydantic may keep the value in the place of the member.
        table = {key: self._dialect.symbol_of(m) for m in symbols.type for key in (m.value, m) if _is_hashable(key)}

        def convert(value: Any) -> Any:
            try:
                return table.get(value, value)
            except TypeError:
                return value

        return convert

    def _choice(self, branches: tuple[Shape, ...]) -> Convert | None:
        by_type = {kind: self._branch(branch) for branch in branches for kind in _types_of(branch)}
        if not any(by_type.values()):
            return None

        def convert(value: Any) -> Any:
            found = by_type.get(type(value), _NOT_KNOWN)
            if found is _NOT_KNOWN:
                found = next((each for kind, each in by_type.items() if isinstance(value, kind)), None)
            return value if found is None else found(value)

        return convert

    def _branch(self, branch: Shape) -> Convert | None:
        convert, tag = self.converter(branch), self._dialect.tag_of(branch)
        if convert is None or tag is None:
            return convert
        return lambda value: (tag, convert(value))


def _getter(record: Record) -> Callable[[Any], Any]:
    names = [field.name for field in record.fields]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: [getattr(value, name) for name in names]


def _items(convert: Convert | None, kinds: Any) -> Convert | None:
    if convert is not None:
        return lambda value: [convert(item) for item in value] if isinstance(value, kinds) else value
    return None if kinds == (list,) else lambda value: list(value) if isinstance(value, kinds) else value


def _entries(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None
    return lambda value: {key: convert(item) for key, item in value.items()} if isinstance(value, dict) else value


def _types_of(shape: Shape) -> tuple[type, ...]:
    match shape:
        case Items():
            return shape.takes
        case Entries():
            return (dict,)
        case Scalar(type=kind) | Literals(type=kind) | Symbols(type=kind) | Record(type=kind) if isinstance(kind, type):
            return (kind,)
    return ()


def _is_hashable(value: object) -> bool:
    return type(value).__hash__ is not None
