"""Plain JSON as the value of an Avro type, or the reasons why it is none."""

import base64
import binascii
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from tallystick.finding import Finding, Place
from tallystick.formats.avro.types import (
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
    describe,
)
from tallystick.formats.avro.validate import check_of
from tallystick.formats.json_source import Path, pointer
from tallystick.formats.pulsar_json.depth import MAX_VALUE_DEPTH, TooDeep

FIELD_MISSING = "PULSAR_JSON_VALUE_FIELD_MISSING"
SYMBOL_UNKNOWN = "PULSAR_JSON_VALUE_SYMBOL_UNKNOWN"
TYPE_WRONG = "PULSAR_JSON_VALUE_TYPE_WRONG"

_NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class Read(NamedTuple):
    value: Any
    findings: list[Finding]


def value_of(type_: AvroType, raw: Any) -> Read:
    """Raises `TooDeep` for JSON nested deeper than `MAX_VALUE_DEPTH`."""
    return _Reader().read(type_, raw, ())


class _Reader:
    """Remembers what each object and list is as each type: a union may ask the same question again and again."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Read] = {}

    def read(self, type_: AvroType, raw: Any, path: Path) -> Read:
        if len(path) > MAX_VALUE_DEPTH:
            raise TooDeep
        if not isinstance(raw, dict | list):
            return self._read(type_, raw, path)
        key = id(type_), id(raw)
        if key not in self._known:
            self._known[key] = self._read(type_, raw, path)
        return self._known[key]

    def _read(self, type_: AvroType, raw: Any, path: Path) -> Read:
        match type_:
            case Union(branches=branches):
                return self._union(branches, raw, path) or _wrong(type_, raw, path)
            case Record() if isinstance(raw, dict):
                return self._record(type_, raw, path)
            case Array(items=items) if isinstance(raw, list):
                parts = [self.read(items, item, (*path, i)) for i, item in enumerate(raw)]
                return Read([part.value for part in parts], [f for part in parts for f in part.findings])
            case Map(values=values) if isinstance(raw, dict):
                entries = {key: self.read(values, item, (*path, key)) for key, item in raw.items()}
                found = [f for part in entries.values() for f in part.findings]
                return Read({key: part.value for key, part in entries.items()}, found)
            case Enum() if isinstance(raw, str):
                return _symbol(type_, raw, path)
            case Primitive() | Fixed():
                value = _leaf(type_, raw)
                if check_of(type_)(value):
                    return Read(value, [])
        return _wrong(type_, raw, path)

    def _union(self, branches: tuple[AvroType, ...], raw: Any, path: Path) -> Read | None:
        reads = [self.read(branch, raw, path) for branch in branches]
        fitting = next((read for read in reads if not read.findings), None)
        if fitting is not None:
            return fitting
        # Where one branch alone is of this shape, it is the one that was meant, and its findings say more.
        likely = [read for branch, read in zip(branches, reads, strict=True) if _has_shape(branch, raw)]
        return likely[0] if len(likely) == 1 else None

    def _record(self, record: Record, raw: dict[str, Any], path: Path) -> Read:
        value: dict[str, Any] = {}
        findings: list[Finding] = []
        for field in record.fields:
            if field.name in raw:
                part = self.read(field.type, raw[field.name], (*path, field.name))
                value[field.name] = part.value
                findings.extend(part.findings)
            elif field.default is None and check_of(field.type)(None):
                value[field.name] = None
            elif field.default is None:
                findings.extend(_missing(record, field, path))
        return Read(value, findings)


def _has_shape(branch: AvroType, raw: Any) -> bool:
    shape = (Record, Map) if isinstance(raw, dict) else (Array,) if isinstance(raw, list) else ()
    return isinstance(branch, shape)


def _leaf(type_: Primitive | Fixed, raw: Any) -> Any:
    """What the JSON stands for; left as it is where it stands for nothing of this type."""
    is_decimal = type_.logical is not None and type_.logical.name == "decimal"
    if is_decimal and type(raw) in (int, float):
        return Decimal(str(raw))
    if isinstance(raw, str) and (isinstance(type_, Fixed) or type_.kind == "bytes"):
        try:
            return base64.b64decode(raw, validate=True)
        except (binascii.Error, ValueError):
            return raw
    if isinstance(raw, str) and type_.kind in ("float", "double"):
        return _NOT_FINITE.get(raw, raw)
    return raw


def _symbol(enum: Enum, raw: str, path: Path) -> Read:
    if raw in enum.symbols:
        return Read(raw, [])
    message = f"enum `{enum.name}` has no symbol {_shown(raw)}"
    fix = "write one of its symbols, or add this one to the schema"
    return Read(None, [_finding(SYMBOL_UNKNOWN, path, message, fix, ", ".join(enum.symbols), _shown(raw))])


def _missing(record: Record, field: Field, path: Path) -> Iterator[Finding]:
    message = f"record `{record.name}` needs field `{field.name}`, which has neither a default nor null in its type"
    yield _finding(
        FIELD_MISSING, (*path, field.name), message, f"write `{field.name}`", describe(field.type), "nothing"
    )


def _wrong(type_: AvroType, raw: Any, path: Path) -> Read:
    wanted = describe(type_)
    message = f"{_shown(raw)} is not of type {wanted}"
    return Read(None, [_finding(TYPE_WRONG, path, message, f"write a value of type {wanted}", wanted, _shown(raw))])


def _finding(check: str, path: Path, message: str, fix: str, was: str, now: str) -> Finding:
    where = pointer(path)
    text = f"{message} (at {where})" if where else message
    return Finding(rule=check, message=text, fix=fix, new=Place(where), was=was, now=now)


def _shown(raw: Any) -> str:
    if isinstance(raw, dict | list):
        return "an object" if isinstance(raw, dict) else "a list"
    text = json.dumps(raw, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
