"""Protobuf messages → shapes. A Timestamp is a point in time; the other well-known types are records as they stand."""

from tallystick.formats.json_source import Path
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.formats.protobuf import schema as protobuf
from tallystick.translate import rule as rules
from tallystick.translate.losses import EACH, Losses
from tallystick.translate.names import namespace_of
from tallystick.translate.shape import (
    NO_DEFAULT,
    Entries,
    Field,
    Items,
    Kind,
    Record,
    Scalar,
    Shape,
    Symbols,
    type_names,
)

TIMESTAMP = "google.protobuf.Timestamp"

_KINDS = {
    "bool": Kind.BOOLEAN,
    "int32": Kind.INT32,
    "sint32": Kind.INT32,
    "sfixed32": Kind.INT32,
    "int64": Kind.INT64,
    "sint64": Kind.INT64,
    "sfixed64": Kind.INT64,
    "uint32": Kind.UINT32,
    "fixed32": Kind.UINT32,
    "uint64": Kind.UINT64,
    "fixed64": Kind.UINT64,
    "float": Kind.FLOAT,
    "double": Kind.DOUBLE,
    "string": Kind.STRING,
    "bytes": Kind.BYTES,
}
_WIRE_ONLY = frozenset({"sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64", "group"})
_RESERVED = range(19_000, 20_000)
"""Numbers that Protobuf keeps for itself."""


def numbers(count: int) -> list[int]:
    """The numbers that this many fields get, in their order."""
    return [number + len(_RESERVED) * (number >= _RESERVED.start) for number in range(1, count + 1)]


def shape_of(schema: ProtobufSchema, losses: Losses) -> Shape:
    if schema.root is None:
        losses.add(rules.NO_MESSAGE, (), "a file without messages")
        return Scalar(Kind.NULL)
    reading = _Reading(schema, losses)
    root = reading.record(schema.root, ())
    used = {*type_names(root), *(namespace_of(name) for name in type_names(root))}
    for name in (*schema.types.own, *schema.types.own_enums):
        if name not in used:
            losses.add(rules.MESSAGE_LOST, (), name)
    return root


class _Reading:
    def __init__(self, schema: ProtobufSchema, losses: Losses) -> None:
        self._types = schema.types
        self._losses = losses
        self._records: dict[str, Record] = {}

    def record(self, name: str, path: Path) -> Record:
        if name not in self._records:
            record = self._records[name] = Record(name)
            message = self._types.message(name)
            fields = [f for f in message.fields.values() if not f.name.startswith("[")]
            if [f.number for f in fields] != numbers(len(fields)):
                self._losses.add(rules.FIELD_NUMBER_LOST, path, ", ".join(f"{f.name} = {f.number}" for f in fields))
            for f in message.fields.values():
                if f.name.startswith("["):
                    self._losses.add(rules.EXTENSION_LOST, (*path, f.name), f.full_name)
            for oneof, members in message.oneofs.items():
                self._losses.add(rules.ONEOF_TO_FIELDS, (*path, oneof), f"oneof {oneof}", f"{len(members)} fields")
            record.fields = tuple(self._field(f, (*path, f.name)) for f in fields)
        return self._records[name]

    def _field(self, f: protobuf.Field, path: Path) -> Field:
        if f.entry is not None:
            key, value = f.entry
            return Field(f.name, Entries(self._single(value, (*path, EACH)), _KINDS[key.kind]), default={})
        if f.is_repeated:
            return Field(f.name, Items(self._single(f, (*path, EACH))), default=[])
        if f.is_required:
            self._losses.add(rules.WIRE_ENCODING_LOST, path, "required")
        shape = self._single(f, path)
        default = NO_DEFAULT if f.has_presence and not self._has_own_default(f) else self._default(f)
        return Field(f.name, shape, is_optional=f.has_presence and not f.is_required, default=default)

    def _single(self, f: protobuf.Field, path: Path) -> Shape:
        if f.kind in _WIRE_ONLY:
            self._losses.add(rules.WIRE_ENCODING_LOST, path, f.kind)
        if f.kind == "enum":
            return self._symbols(_type(f), path)
        if not f.is_message:
            return Scalar(_KINDS[f.kind])
        return Scalar(Kind.TIMESTAMP, 9) if _type(f) == TIMESTAMP else self.record(_type(f), path)

    def _symbols(self, name: str, path: Path) -> Symbols:
        enum = self._types.enum(name)
        if enum.is_closed:
            self._losses.add(rules.WIRE_ENCODING_LOST, path, f"closed enum {name}")
        if list(enum.numbers.values()) != list(range(len(enum.numbers))):
            numbered = ", ".join(f"{symbol} = {number}" for symbol, number in enum.numbers.items())
            self._losses.add(rules.ENUM_NUMBER_LOST, path, numbered)
        return Symbols(name, tuple(enum.names.values()))

    def _has_own_default(self, f: protobuf.Field) -> bool:
        if f.kind == "enum":
            return bool(f.default != next(iter(self._types.enum(_type(f)).numbers.values())))
        return bool(f.default)

    def _default(self, f: protobuf.Field) -> object:
        return self._types.enum(_type(f)).names[f.default] if f.kind == "enum" else f.default


def _type(f: protobuf.Field) -> str:
    assert f.type_full_name is not None
    return f.type_full_name
