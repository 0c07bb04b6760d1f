"""Shapes that Protobuf can hold → `.proto` text, proto3. Fields are numbered in their order, enums from zero."""

from collections import Counter
from collections.abc import Iterator

from tallystick.translate.for_protobuf import is_message
from tallystick.translate.from_protobuf import TIMESTAMP, numbers
from tallystick.translate.names import namespace_of, unqualified
from tallystick.translate.shape import (
    Choice,
    Entries,
    Field,
    Items,
    Kind,
    Record,
    Scalar,
    Shape,
    Symbols,
    every_shape,
)

_SCALARS = {
    Kind.BOOLEAN: "bool",
    Kind.INT32: "int32",
    Kind.INT64: "int64",
    Kind.UINT32: "uint32",
    Kind.UINT64: "uint64",
    Kind.FLOAT: "float",
    Kind.DOUBLE: "double",
    Kind.STRING: "string",
    Kind.BYTES: "bytes",
    Kind.TIMESTAMP: TIMESTAMP,
}


def text_of(root: Record, package: str) -> str:
    return "\n".join(_Writing(root, package).lines()) + "\n"


class _Writing:
    def __init__(self, root: Record, package: str) -> None:
        self._package = package
        self._shapes = list(every_shape(root))
        self._types: dict[str, Record | Symbols] = {}
        for shape in self._shapes:
            if isinstance(shape, Record | Symbols):
                self._types.setdefault(shape.name, shape)
        # A name that stands at several places, or is a type of Protobuf, is written out from its package on.
        times = Counter(unqualified(name) for name in self._types)
        self._ambiguous = {name for name, count in times.items() if count > 1} | set(_SCALARS.values())

    def lines(self) -> Iterator[str]:
        yield 'syntax = "proto3";'
        if self._package:
            yield from ("", f"package {self._package};")
        if any(isinstance(shape, Scalar) and shape.kind is Kind.TIMESTAMP for shape in self._shapes):
            yield from ("", 'import "google/protobuf/timestamp.proto";')
        for name in self._types:
            if namespace_of(name) not in self._types:
                yield ""
                yield from self._type(name)

    def _type(self, name: str) -> Iterator[str]:
        type_ = self._types[name]
        yield from _comment(type_.doc)
        if isinstance(type_, Symbols):
            yield f"enum {unqualified(name)} {{"
            yield from (f"  {symbol} = {number};" for number, symbol in enumerate(type_.symbols))
        else:
            yield f"message {unqualified(name)} {{"
            yield from (f"  {line}" if line else "" for line in self._body(type_))
        yield "}"

    def _body(self, record: Record) -> Iterator[str]:
        for inner in self._types:
            if namespace_of(inner) == record.name:
                yield from self._type(inner)
                yield ""
        numbered = iter(numbers(sum(_count(field) for field in record.fields)))
        for field in record.fields:
            yield from _comment(field.doc)
            shape = field.shape
            if isinstance(shape, Choice):
                yield f"oneof {field.name} {{"
                for member, branch in zip(shape.members, shape.branches, strict=True):
                    yield f"  {self._reference(branch)} {member} = {next(numbered)};"
                yield "}"
            else:
                yield f"{self._label(field)}{self._reference(shape)} {field.name} = {next(numbered)};"

    def _label(self, field: Field) -> str:
        if isinstance(field.shape, Items):
            return "repeated "
        return "optional " if field.is_optional and not is_message(field.shape) else ""

    def _reference(self, shape: Shape) -> str:
        match shape:
            case Scalar(kind=kind):
                return _SCALARS[kind]
            case Items(item=item):
                return self._reference(item)
            case Entries(value=value):
                return f"map<string, {self._reference(value)}>"
            case Record(name=name) | Symbols(name=name):
                return self._type_reference(name)
        raise AssertionError(f"{shape} stands where Protobuf cannot hold it")

    def _type_reference(self, name: str) -> str:
        relative = name.removeprefix(f"{self._package}.") if self._package else name
        return f".{name}" if not self._ambiguous.isdisjoint(relative.split(".")) else relative


def _count(field: Field) -> int:
    return len(field.shape.members) if isinstance(field.shape, Choice) else 1


def _comment(doc: str | None) -> Iterator[str]:
    return (f"// {line}".rstrip() for line in (doc or "").splitlines())
