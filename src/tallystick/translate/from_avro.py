"""Avro types → shapes."""

from tallystick.formats.avro import types as avro
from tallystick.formats.avro.defaults import Defaults
from tallystick.formats.json_source import Path
from tallystick.translate import rule as rules
from tallystick.translate.losses import EACH, Losses
from tallystick.translate.shape import (
    NO_DEFAULT,
    Choice,
    Entries,
    Field,
    Items,
    Kind,
    Nullable,
    Record,
    Scalar,
    Shape,
    Symbols,
)

_PLAIN = {
    "null": Kind.NULL,
    "boolean": Kind.BOOLEAN,
    "int": Kind.INT32,
    "long": Kind.INT64,
    "float": Kind.FLOAT,
    "double": Kind.DOUBLE,
    "string": Kind.STRING,
    "bytes": Kind.BYTES,
}
LOGICAL = {
    "date": Scalar(Kind.DATE),
    "uuid": Scalar(Kind.UUID),
    "time-millis": Scalar(Kind.TIME, 3),
    "time-micros": Scalar(Kind.TIME, 6),
    "timestamp-millis": Scalar(Kind.TIMESTAMP, 3),
    "timestamp-micros": Scalar(Kind.TIMESTAMP, 6),
    "timestamp-nanos": Scalar(Kind.TIMESTAMP, 9),
    "local-timestamp-millis": Scalar(Kind.LOCAL_TIMESTAMP, 3),
    "local-timestamp-micros": Scalar(Kind.LOCAL_TIMESTAMP, 6),
    "local-timestamp-nanos": Scalar(Kind.LOCAL_TIMESTAMP, 9),
}


def shape_of(schema: avro.AvroSchema, losses: Losses) -> Shape:
    return _Reading(losses).shape(schema.root, ())


class _Reading:
    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._records: dict[int, Record] = {}
        self._defaults = Defaults()

    def shape(self, type_: avro.AvroType, path: Path) -> Shape:
        match type_:
            case avro.Primitive(kind=kind):
                return Scalar(_PLAIN[kind]) if type_.logical is None else _logical(type_.logical)
            case avro.Fixed():
                return self._fixed(type_, path)
            case avro.Enum(name=name, symbols=symbols):
                self._note_aliases(type_.aliases, path)
                return Symbols(name, symbols, type_.default, type_.doc) if symbols else self._no_values(path)
            case avro.Array(items=items):
                return Items(self.shape(items, (*path, EACH)))
            case avro.Map(values=values):
                return Entries(self.shape(values, (*path, EACH)))
            case avro.Union(branches=branches):
                return self._union(branches, path)
            case avro.Record():
                return self._record(type_, path)

    def _no_values(self, path: Path) -> Shape:
        self._losses.add(rules.NO_VALUES, path, "a type without values")
        return Scalar(Kind.STRING)

    def _fixed(self, type_: avro.Fixed, path: Path) -> Scalar:
        self._note_aliases(type_.aliases, path)
        logical = type_.logical
        if logical is None:
            return Scalar(Kind.BYTES, size=type_.size, name=type_.name)
        if logical.name == "duration":
            self._losses.add(rules.DURATION_TO_BYTES, path, "duration", "12 bytes")
            return Scalar(Kind.BYTES, size=type_.size, name=type_.name)
        plain = _logical(logical)
        return Scalar(plain.kind, None, plain.precision, plain.scale, type_.size, type_.name)

    def _union(self, branches: tuple[avro.AvroType, ...], path: Path) -> Shape:
        others = tuple(self.shape(branch, path) for branch in branches if branch.kind != "null")
        if not others:
            return Scalar(Kind.NULL) if branches else self._no_values(path)
        inner = others[0] if len(others) == 1 else Choice(others)
        return inner if len(others) == len(branches) else Nullable(inner)

    def _record(self, type_: avro.Record, path: Path) -> Record:
        if id(type_) not in self._records:
            self._note_aliases(type_.aliases, path)
            record = self._records[id(type_)] = Record(type_.name, type_.doc)
            record.fields = tuple(self._field(field, (*path, field.name)) for field in type_.fields)
        return self._records[id(type_)]

    def _field(self, field: avro.Field, path: Path) -> Field:
        self._note_aliases(field.aliases, path)
        shape = self.shape(field.type, path)
        if isinstance(shape, Nullable) and field.default == "null":
            return Field(field.name, shape.inner, is_optional=True, doc=field.doc)
        default = NO_DEFAULT if field.default is None else self._defaults.value_of(field)
        return Field(field.name, shape, default=default, doc=field.doc)

    def _note_aliases(self, aliases: tuple[str, ...], path: Path) -> None:
        if aliases:
            self._losses.add(rules.ALIAS_LOST, path, f"also known as {', '.join(aliases)}")


def _logical(logical: avro.Logical) -> Scalar:
    if logical.name == "decimal":
        return Scalar(Kind.DECIMAL, precision=logical.precision, scale=logical.scale)
    return LOGICAL[logical.name]
