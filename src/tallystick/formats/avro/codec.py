"""Avro values to bytes and back, by `fastavro`.

`fastavro` trusts its input: it writes 3.7 as the int 3, and deeply nested bytes overflow the C stack. So values are
checked before they are written, and payloads of types that can nest without end are measured before they are read.
"""

import struct
from decimal import InvalidOperation
from functools import lru_cache
from io import BytesIO
from typing import Any, NoReturn

import fastavro
from fastavro.read import SchemaResolutionError

from tallystick.errors import InvalidRecord
from tallystick.finding import Finding, Place
from tallystick.formats.avro import payload_limits
from tallystick.formats.avro.branches import choice_of
from tallystick.formats.avro.defaults import Defaults
from tallystick.formats.avro.names import qualified
from tallystick.formats.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Primitive,
    Record,
    Union,
    every_type,
)
from tallystick.formats.avro.validate import check_of, validate

_WHOLE = "value"

_NO_ROUNDING = 10**17
"""The precision that `fastavro` is told, as it rounds what is longer. Values are checked before they are written."""

_UNREADABLE = (
    EOFError,
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    OverflowError,
    InvalidOperation,
    struct.error,
    SchemaResolutionError,
)


def encode(schema: AvroSchema, value: object) -> bytes:
    try:
        fits = check_of(schema.root)(value)
    except RecursionError:
        fits = False
    if not fits:
        findings = validate(schema, value)
        raise InvalidRecord(f"the value does not fit its schema: {findings[0].message}", findings)
    choose = choice_of(schema.root)
    out = BytesIO()
    fastavro.schemaless_writer(out, _prepared(schema.root), {_WHOLE: value if choose is None else choose(value)})
    return out.getvalue()


def decode(schema: AvroSchema, payload: bytes, reader: AvroSchema | None = None) -> Any:
    root = schema.root
    target = root if reader is None else reader.root
    problem = payload_limits.problem(root, payload)
    if problem is not None:
        _refuse(problem, payload)
    stream = BytesIO(payload)
    try:
        whole: Any = fastavro.schemaless_reader(stream, _prepared(root), None if target is root else _prepared(target))
    except _UNREADABLE as e:
        _refuse(f"the payload cannot be read: {_reason(e)}", payload, e)
    if stream.tell() != len(payload):
        _refuse(f"{len(payload) - stream.tell()} bytes are left over after the value", payload)
    return _unshared(whole[_WHOLE]) if target is not root and _shares_defaults(target) else whole[_WHOLE]


def _reason(error: Exception) -> str:
    text = str(error).replace(qualified(""), "") or type(error).__name__
    return text if len(text) <= 200 else text[:197] + "…"


def _refuse(reason: str, payload: bytes, cause: Exception | None = None) -> NoReturn:
    shown = payload[:24].hex(" ") + (" …" if len(payload) > 24 else "")
    finding = Finding(
        rule="AVRO_PAYLOAD_UNREADABLE",
        message=reason,
        fix="write the payload with the schema that it is read with, and nothing around it",
        new=Place(""),
        now=f"{len(payload)} bytes: {shown}",
    )
    raise InvalidRecord(reason, [finding]) from cause


@lru_cache(maxsize=4096)
def _prepared(root: AvroType) -> Any:
    """A type as `fastavro` wants it, with defaults as Python values.

    It stands as the only field of a record, which takes no bytes: `fastavro` parses anything else anew for each value.
    """
    named: dict[str, Any] = {}
    whole = {"type": "record", "name": _WHOLE, "fields": [{"name": _WHOLE, "type": _as_json(root, {})}]}
    parsed = fastavro.parse_schema(whole, named)
    defaults = Defaults()
    for type_ in every_type(root):
        if isinstance(type_, Record):
            for field, target in zip(type_.fields, named[qualified(type_.name)]["fields"], strict=True):
                if field.default is not None:
                    target["default"] = defaults.value_of(field)
        elif isinstance(type_, Enum):
            named[qualified(type_.name)].update(_symbols(type_))
    return parsed


def _as_json(type_: AvroType, written: dict[str, AvroType]) -> Any:
    if isinstance(type_, Named):
        if type_.name in written:
            return qualified(type_.name)
        written[type_.name] = type_
    match type_:
        case Primitive(kind=kind):
            return kind if type_.logical is None else {"type": kind, **_logical(type_)}
        case Array(items=items):
            return {"type": "array", "items": _as_json(items, written)}
        case Map(values=values):
            return {"type": "map", "values": _as_json(values, written)}
        case Union(branches=branches):
            return [_as_json(branch, written) for branch in branches]
        case Fixed(size=size):
            return {"type": "fixed", **_heading(type_), "size": size, **_logical(type_)}
        case Enum(symbols=symbols):
            # `fastavro` refuses symbols that Pulsar's brokers take; it gets the true ones once it has parsed these.
            return {"type": "enum", **_heading(type_), "symbols": [f"_{number}" for number in range(len(symbols))]}
        case Record(fields=fields):
            return {"type": "record", **_heading(type_), "fields": [_field(f, written) for f in fields]}


def _symbols(enum: Enum) -> dict[str, Any]:
    return {"symbols": list(enum.symbols), **({} if enum.default is None else {"default": enum.default})}


def _heading(type_: Named) -> dict[str, Any]:
    return {"name": qualified(type_.name), "aliases": [qualified(alias) for alias in type_.aliases]}


def _field(field: Field, written: dict[str, AvroType]) -> dict[str, Any]:
    return {"name": field.name, "type": _as_json(field.type, written), "aliases": list(field.aliases)}


def _logical(type_: Primitive | Fixed) -> dict[str, Any]:
    if type_.logical is None:
        return {}
    attributes = {"logicalType": type_.logical.name}
    if type_.logical.precision is None:
        return attributes
    precision = type_.logical.precision if isinstance(type_, Fixed) else _NO_ROUNDING
    return {**attributes, "precision": precision, "scale": type_.logical.scale}


def _records(root: AvroType) -> list[Record]:
    return [type_ for type_ in every_type(root) if isinstance(type_, Record)]


def _unshared(value: Any) -> Any:
    """A copy in which no list or mapping is one of the schema. A loop, as values nest deeper than Python calls."""
    top = [value]
    waiting: list[list[Any] | dict[Any, Any]] = [top]
    while waiting:
        holder = waiting.pop()
        for key, item in list(enumerate(holder) if isinstance(holder, list) else holder.items()):
            if isinstance(item, list | dict):
                holder[key] = item.copy()
                waiting.append(holder[key])
    return top[0]


@lru_cache(maxsize=4096)
def _shares_defaults(root: AvroType) -> bool:
    """Whether values read from it may hold a list or mapping of the schema itself, which readers must not share."""
    return any(field.default is not None and field.default[0] in "[{" for r in _records(root) for field in r.fields)
