"""The texts of two Avro schemas, written so that Avro's Java library resolves them exactly as we do.

The library has rules of its own for names, aliases and unions. So both schemas are written anew for each pair: types
and fields of the writer that the reader takes have the reader's names, all others have names that no reader knows, and
what our codec would refuse (another logical type, a record of another name) is a type that no bytes fit. What the
reader does not take is passed over by the library.

Behind the value stands a seal: fields that only the writer has, which are passed over too, but only if the bytes there
are the right ones. So a payload that is too short or too long does not fit, and nothing is compared for it.
"""

import json
import secrets
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tallystick.errors import Unsupported
from tallystick.formats.avro import resolution
from tallystick.formats.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Fixed,
    Logical,
    Map,
    Named,
    Primitive,
    Record,
    Union,
)

VALUE = "v"
_FRAME = "tally.Sealed"
_IMPOSSIBLE_BYTES = 2**30
_SEAL_BYTES = 8
_CHOICES = 4


@dataclass(frozen=True, slots=True)
class Seal:
    """Bytes behind each payload, and the fields that take exactly these."""

    data: bytes
    fields: tuple[dict[str, Any], ...]


def new_seal() -> Seal:
    """A union for each byte, of which one branch is empty and the others never end: no other byte will do.

    Drawn anew by each driver, so that no producer has its records end like that.
    """
    places = [secrets.randbelow(_CHOICES) for _ in range(_SEAL_BYTES)]
    fields = [{"name": f"s{i}", "type": _lock(place, is_first=i == 0)} for i, place in enumerate(places)]
    return Seal(bytes(2 * place for place in places), tuple(fields))


def _lock(place: int, *, is_first: bool) -> list[Any]:
    """The branches before and behind the right one have the same types in each lock: a name is defined once."""
    names = [f"tally.N{i}" for i in range(_CHOICES - 1)]
    never: list[Any] = [_endless(name) for name in names] if is_first else list(names)
    return [*never[:place], "null", *never[place:]]


def _endless(name: str) -> dict[str, Any]:
    return {"type": "fixed", "name": name, "size": _IMPOSSIBLE_BYTES}


def reader_text(reader: AvroSchema) -> str:
    """A record with the value as its one field: a value that is null, or of any type, is told from none at all."""
    return _text([{"name": VALUE, "type": _Reader().of(reader.root)}])


def writer_text(writer: AvroSchema, reader: AvroSchema, seal: Seal) -> str:
    return _text([{"name": VALUE, "type": _Writer().of(writer.root, reader.root)}, *seal.fields])


def _text(fields: list[dict[str, Any]]) -> str:
    return json.dumps({"type": "record", "name": _FRAME, "fields": fields}, separators=(",", ":"))


@dataclass(slots=True)
class _Reader:
    """The reader's types, without aliases and documentation."""

    defined: set[str] = field(default_factory=set)
    inside: list[str] = field(default_factory=list)

    def of(self, type_: AvroType) -> Any:
        match type_:
            case Union(branches=branches):
                return [self.of(branch) for branch in branches]
            case Array(items=items):
                return {"type": "array", "items": self.of(items)}
            case Map(values=values):
                return {"type": "map", "values": self.of(values)}
            case Primitive(kind=kind, logical=logical):
                return kind if logical is None else {"type": kind, **_logical(logical)}
        if type_.name in self.inside:
            raise Unsupported(
                f"record {type_.name} holds itself, and a table of Spark cannot: read it as bytes, or with a reader "
                "whose schema leaves that field out"
            )
        if type_.name in self.defined:
            return type_.name
        self.defined.add(type_.name)
        match type_:
            case Fixed(size=size, logical=logical):
                return {"type": "fixed", "name": type_.name, "size": size, **_logical(logical)}
            case Enum(symbols=symbols, default=default):
                told = {} if default is None else {"default": default}
                return {"type": "enum", "name": type_.name, "symbols": list(symbols), **told}
            case Record(fields=fields):
                self.inside.append(type_.name)
                inner = [
                    {"name": f.name, "type": self.of(f.type)}
                    | ({} if f.default is None else {"default": json.loads(f.default)})
                    for f in fields
                ]
                self.inside.pop()
                return {"type": "record", "name": type_.name, "fields": inner}
        raise AssertionError(type_)


class _Writer:
    """The writer's types as a reader meets them."""

    def __init__(self) -> None:
        self._numbers = count()
        self._met: dict[str, tuple[AvroType, AvroType]] = {}
        self._plain: dict[int, str] = {}

    def of(self, writer: AvroType, reader: AvroType) -> Any:
        if isinstance(writer, Union):
            return [self.of(branch, reader) for branch in writer.branches]
        if isinstance(reader, Union):
            chosen = resolution.branch_for(reader, writer)
            return self._alone(writer) if chosen is None else self.of(writer, reader.branches[chosen])
        match writer, reader:
            case Array(), Array():
                return {"type": "array", "items": self.of(writer.items, reader.items)}
            case Map(), Map():
                return {"type": "map", "values": self.of(writer.values, reader.values)}
            case Primitive(), Primitive():
                return writer.kind if writer.logical == reader.logical else self._impossible()
        if isinstance(writer, Named) and isinstance(reader, Named) and writer.kind == reader.kind:
            return self._named(writer, reader)
        return self._alone(writer)

    def _named(self, writer: Named, reader: Named) -> Any:
        if not resolution.has_same_name(reader, writer):
            return self._impossible()
        if reader.name in self._met:
            if self._met[reader.name] != (writer, reader):
                raise Unsupported(
                    f"{writer.kind} {writer.name} and another type of the writer are both read as {reader.name}, "
                    "which Spark's Avro reader cannot do"
                )
            return reader.name
        self._met[reader.name] = (writer, reader)
        match writer, reader:
            case Fixed(), Fixed():
                if writer.logical != reader.logical:
                    return self._impossible()
                return {"type": "fixed", "name": reader.name, "size": writer.size}
            case Enum(), Enum():
                return {"type": "enum", "name": reader.name, "symbols": list(writer.symbols)}
            case Record(), Record():
                return {"type": "record", "name": reader.name, "fields": self._fields(writer, reader)}
        raise AssertionError(writer)

    def _fields(self, writer: Record, reader: Record) -> list[dict[str, Any]]:
        takers = {resolution.source_of(f, reader, writer): f for f in reader.fields}
        fields = []
        for f in writer.fields:
            taker = takers.get(f.name)
            if taker is None:
                fields.append({"name": self._unknown(reader), "type": self._alone(f.type)})
            else:
                fields.append({"name": taker.name, "type": self.of(f.type, taker.type)})
        return fields

    def _unknown(self, reader: Record) -> str:
        return next(name for name in (f"w{n}" for n in self._numbers) if name not in reader.by_name)

    def _impossible(self) -> dict[str, Any]:
        return _endless(f"tally.Impossible{next(self._numbers)}")

    def _alone(self, writer: AvroType) -> Any:
        """Under names of no reader: it is passed over, or refused where the reader expects something."""
        match writer:
            case Union(branches=branches):
                return [self._alone(branch) for branch in branches]
            case Array(items=items):
                return {"type": "array", "items": self._alone(items)}
            case Map(values=values):
                return {"type": "map", "values": self._alone(values)}
            case Primitive(kind=kind):
                return kind
        if id(writer) in self._plain:
            return self._plain[id(writer)]
        name = self._plain[id(writer)] = f"tally.Other{next(self._numbers)}"
        match writer:
            case Fixed(size=size):
                return {"type": "fixed", "name": name, "size": size}
            case Enum(symbols=symbols):
                return {"type": "enum", "name": name, "symbols": list(symbols)}
            case Record(fields=fields):
                inner = [{"name": f"w{i}", "type": self._alone(f.type)} for i, f in enumerate(fields)]
                return {"type": "record", "name": name, "fields": inner}
        raise AssertionError(writer)


def _logical(logical: Logical | None) -> dict[str, Any]:
    if logical is None:
        return {}
    told: dict[str, Any] = {"logicalType": logical.name}
    if logical.precision is not None:
        told |= {"precision": logical.precision, "scale": logical.scale}
    return told
