"""The texts of two Avro schemas, written so that Avro's Java library resolves them exactly as we do.

The library has rules of its own for names, aliases and unions. So both schemas are written anew for each pair: types
and fields of the writer that the reader takes have the reader's names, all others have names that no reader knows, and
what does not fit by our rules (another logical type, a record of another name) is a type that no bytes fit. What the
reader does not take is passed over by the library.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tallystick.errors import Unsupported
from tallystick.formats.avro import resolution
from tallystick.formats.avro.defaults import Defaults
from tallystick.formats.avro.payload_limits import holds_itself
from tallystick.formats.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Field,
    Fixed,
    Logical,
    Map,
    Named,
    Primitive,
    Record,
    Union,
    describe,
)
from tallystick.spark.decoding.avro_checks import is_one_number
from tallystick.spark.decoding.avro_seal import endless

_MOST_DIGITS = 38
_INTEGERS = ("int", "long")
_JSON_TYPES = {
    **dict.fromkeys(("int", "long", "float", "double"), "number"),
    **dict.fromkeys(("string", "bytes", "fixed", "enum"), "string"),
    **dict.fromkeys(("map", "record"), "object"),
    **{kind: kind for kind in ("null", "boolean", "array")},
}


def reader_type(reader: AvroSchema) -> Any:
    """As JSON. Raises `Unsupported` where Spark has no such type."""
    return _Reader().of(reader.root)


def writer_type(writer: AvroSchema, reader: AvroSchema) -> Any:
    """The same of what was written for this reader."""
    return _Writer().of(writer.root, reader.root)


def own_text(schema: AvroSchema) -> str:
    """To write by."""
    return json.dumps(reader_type(schema), separators=(",", ":"))


@dataclass(slots=True)
class _Reader:
    """The reader's types, without aliases and documentation."""

    defined: set[str] = field(default_factory=set)
    inside: list[str] = field(default_factory=list)

    def of(self, type_: AvroType) -> Any:
        problem = _problem(type_)
        if problem is not None:
            raise Unsupported(problem)
        match type_:
            case Union(branches=(Primitive(kind="null") as only,)):
                return only.kind
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
        name = _java_name(type_.name)
        if type_.name in self.defined:
            return name
        self.defined.add(type_.name)
        match type_:
            case Fixed(size=size, logical=logical):
                return {"type": "fixed", "name": name, "size": size, **_logical(logical)}
            case Enum(symbols=symbols, default=default):
                told = {} if default is None else {"default": default}
                return {"type": "enum", "name": name, "symbols": list(symbols), **told}
            case Record(fields=fields):
                self.inside.append(type_.name)
                inner = [{"name": f.name, "type": self.of(f.type), **_default(type_, f)} for f in fields]
                self.inside.pop()
                return {"type": "record", "name": name, "fields": inner}
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
            return self._impossible() if chosen is None else self.of(writer, reader.branches[chosen])
        if not resolution.matches(reader, writer):
            return self._impossible()
        match writer, reader:
            case Array(), Array():
                return {"type": "array", "items": self.of(writer.items, reader.items)}
            case Map(), Map():
                return {"type": "map", "values": self.of(writer.values, reader.values)}
            case Primitive(), Primitive():
                return writer.kind if _means_the_same(writer.logical, reader.logical) else self._impossible()
        assert isinstance(writer, Named)
        assert isinstance(reader, Named)
        return self._named(writer, reader)

    def _named(self, writer: Named, reader: Named) -> Any:
        name = _java_name(reader.name)
        if reader.name in self._met:
            if self._met[reader.name] != (writer, reader):
                raise Unsupported(
                    f"{writer.kind} {writer.name} and another type of the writer are both read as {reader.name}, "
                    "which Spark's Avro reader cannot do"
                )
            return name
        self._met[reader.name] = (writer, reader)
        match writer, reader:
            case Fixed(), Fixed():
                if not _means_the_same(writer.logical, reader.logical):
                    return self._impossible()
                return {"type": "fixed", "name": name, "size": writer.size}
            case Enum(), Enum():
                return {"type": "enum", "name": name, "symbols": list(writer.symbols)}
            case Record(), Record():
                if any(_has_several_sources(f, reader, writer) for f in reader.fields):
                    return self._impossible()
                return {"type": "record", "name": name, "fields": self._fields(writer, reader)}
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
        return endless(f"tally.Impossible{next(self._numbers)}")

    def _alone(self, writer: AvroType) -> Any:
        """Under names of no reader: it is passed over."""
        if holds_itself(writer):
            # The library calls itself for each level, and the stack of an executor ends before a payload does.
            raise Unsupported(
                f"{describe(writer)} of the writer holds itself, and Spark's Avro reader trusts its depth"
            )
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


def _has_several_sources(field: Field, reader: Record, writer: Record) -> bool:
    """Whether readers would disagree on which field it is read from."""
    own = {field.name, *(alias for alias in field.aliases if alias not in reader.by_name)}
    return len(own & writer.by_name.keys()) > 1


def _means_the_same(writer: Logical | None, reader: Logical | None) -> bool:
    """As the rules have it: a reader may give plain values a meaning, or ignore one, but not change it."""
    return writer is None or reader is None or writer == reader


def _java_name(name: str) -> str:
    """Java's library takes no dollars, which the names of inner classes have; a reader's names are its own to us."""
    return f"r.{name.replace('$', '_24_')}"


def _problem(type_: AvroType) -> str | None:
    """Why Spark has no values like those of a reader's type; parts of it are not looked at."""
    match type_:
        case Union() if is_one_number(type_) and any(b.kind in _INTEGERS and b.logical for b in _primitives(type_)):
            return f"Spark takes a {describe(type_)} for one number, and does not tell its logical types apart"
        case Union(branches=()):
            return "an empty union has no values"
        case Primitive(logical=logical) | Fixed(logical=logical) if logical is not None:
            if (logical.precision or 0) > _MOST_DIGITS:
                return f"Spark's decimals have at most {_MOST_DIGITS} digits, and a {logical} has more"
        case Enum(symbols=symbols):
            return _name_problem(f"symbols of enum {type_.name}", symbols)
        case Record():
            names = [f.name for f in type_.fields]
            if len({name.lower() for name in names}) < len(names):
                return f"fields of record {type_.name} differ in upper and lower case only, which Spark takes for one"
            return _name_problem(f"fields of record {type_.name}", names)
    return None


def _name_problem(whose: str, names: Sequence[str]) -> str | None:
    strange = [name for name in names if not name.replace("_", "a").isidentifier()]
    if not strange:
        return None
    return f"Spark's Avro reader takes letters, digits and underscores only, and {whose} have others: {strange[0]!r}"


def _primitives(union: Union) -> list[Primitive]:
    return [branch for branch in union.branches if isinstance(branch, Primitive)]


def _default(record: Record, field: Field) -> dict[str, Any]:
    if field.default is None:
        return {}
    default = json.loads(field.default)
    if not _is_read_alike(field.type, default, Defaults()):
        raise Unsupported(
            f"the default of field {field.name!r} of record {record.name} is of another branch of its union for "
            "Spark's Avro reader than for others; put that branch first"
        )
    return {"default": default}


def _is_read_alike(type_: AvroType, default: Any, defaults: Defaults) -> bool:
    """Whether Java's library, which looks at little more than JSON's own types, takes the branches that we take."""
    match type_:
        case Union(branches=branches):
            chosen = next(i for i, branch in enumerate(branches) if defaults.problem(branch, default) is None)
            if any(_JSON_TYPES[branch.kind] == _JSON_TYPES[branches[chosen].kind] for branch in branches[:chosen]):
                return False
            return _is_read_alike(branches[chosen], default, defaults)
        case Array(items=items):
            return all(_is_read_alike(items, item, defaults) for item in default)
        case Map(values=values):
            return all(_is_read_alike(values, value, defaults) for value in default.values())
        case Record(fields=fields):
            return all(_is_read_alike(f.type, default[f.name], defaults) for f in fields if f.name in default)
    return True


def _logical(logical: Logical | None) -> dict[str, Any]:
    if logical is None:
        return {}
    told: dict[str, Any] = {"logicalType": logical.name}
    if logical.precision is not None:
        told |= {"precision": logical.precision, "scale": logical.scale}
    return told
