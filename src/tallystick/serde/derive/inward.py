"""The plain values of a format to instances of classes: functions that are put together once for each class.

The values have been checked against the schema of the class. Constructors may still refuse them.
"""

from typing import Any

from tallystick.serde.conversion import Convert
from tallystick.serde.derive.dialect import Dialect
from tallystick.serde.derive.faults import At
from tallystick.serde.derive.shapes import (
    NO_DEFAULT,
    Choice,
    Entries,
    Items,
    Literals,
    Record,
    Scalar,
    Shape,
    Symbols,
    records_in,
)


class Inward:
    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._records: dict[Record, Convert] = {}

    def record(self, record: Record) -> Convert:
        if record in self._records:
            return self._records[record]
        converted: dict[str, Convert] = {}
        make = _whole(record.type, converted) if self._dialect.is_whole else _partial(record, converted)
        # Only now its parts: a class may hold itself.
        self._records[record] = make
        for field in record.fields:
            convert = self._converter(field.shape, At(record.type, field.name))
            if convert is not None:
                converted[field.key] = convert
        return make

    def _converter(self, shape: Shape, at: At) -> Convert | None:
        """None where values pass as they are."""
        match shape:
            case Scalar():
                scalar = self._dialect.scalar_of(shape)
                return None if scalar is None else scalar.from_plain
            case Literals():
                return None
            case Symbols(type=cls):
                return {self._dialect.symbol_of(member): member for member in cls}.__getitem__
            case Items(item=item, make=make):
                return _items(self._converter(item, at), make)
            case Entries(values=values):
                return _entries(self._converter(values, at))
            case Choice(branches=(only,)):
                return _optional(self._converter(only, at))
            case Choice(branches=branches):
                return self._choice(branches, at)
            case Record():
                return self.record(shape)

    def _choice(self, branches: tuple[Shape, ...], at: At) -> Convert | None:
        by_type: dict[type, Convert | None] = {}
        records = list(records_in(branches))
        if records:
            by_type[dict] = self._one_of(records, at)
        for branch in branches:
            if isinstance(branch, Record):
                continue
            convert = self._converter(branch, at)
            for kind in self._plain_types(branch):
                if kind in by_type and (convert or by_type[kind]):
                    raise at.underivable(
                        f"two types of its union are both read as {kind.__name__}, and cannot be told apart",
                        "leave one out, or put each into a dataclass",
                    )
                by_type[kind] = convert
        if not any(by_type.values()):
            return None

        def convert_one(value: Any) -> Any:
            found = by_type.get(type(value))
            return value if found is None else found(value)

        return convert_one

    def _one_of(self, records: list[Record], at: At) -> Convert:
        """Of several classes the one whose fields a value has."""
        makers = {record.keys: self.record(record) for record in records}
        if len(makers) < len(records):
            names = " and ".join(record.type.__name__ for record in records)
            raise at.underivable(
                f"{names} have fields of the same names, and cannot be told apart when they are read",
                "give one of them another field, such as kind: Literal['…']",
            )
        if len(records) == 1:
            return self.record(records[0])
        required = {record.keys: {f.key for f in record.fields if f.is_required} for record in records}

        def make(value: dict[str, Any]) -> Any:
            keys = frozenset(value)
            if keys in makers:
                return makers[keys](value)
            fitting = [each for each in makers if required[each] <= keys] or list(makers)
            return makers[max(fitting, key=lambda each: len(each & keys))](value)

        return make

    def _plain_types(self, shape: Shape) -> set[type]:
        match shape:
            case Items():
                return {list}
            case Entries():
                return {dict}
            case Symbols(type=cls):
                return {type(self._dialect.symbol_of(member)) for member in cls}
            case Scalar() if (scalar := self._dialect.scalar_of(shape)) is not None:
                return {scalar.plain_type}
            case Scalar(type=kind) | Literals(type=kind) if isinstance(kind, type):
                return {kind}
        return {object}


def _whole(cls: type, converted: dict[str, Convert]) -> Convert:
    def make(value: dict[str, Any]) -> Any:
        for key, convert in converted.items():
            value[key] = convert(value[key])
        return cls(**value)

    return make


def _partial(record: Record, converted: dict[str, Convert]) -> Convert:
    cls, keys = record.type, [field.key for field in record.fields]
    absent = {field.key: None for field in record.fields if field.is_optional and field.default is NO_DEFAULT}

    def make(value: dict[str, Any]) -> Any:
        known = absent | {key: value[key] for key in keys if key in value}
        for key, convert in converted.items():
            if key in known:
                known[key] = convert(known[key])
        return cls(**known)

    return make


def _optional(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: None if value is None else convert(value)


def _items(convert: Convert | None, make: type) -> Convert | None:
    if convert is None:
        return None if make is list else make
    if make is list:
        return lambda value: [convert(item) for item in value]
    return lambda value: make(map(convert, value))


def _entries(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: {key: convert(item) for key, item in value.items()}
