"""Random schemas of the types that two formats both know, in each format's own text, with values for its codec."""

import base64
import datetime as dt
import json
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

from tallystick.formats import Schema, parse
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, SchemaType

Pair = frozenset[SchemaType]

_EVERYWHERE = ("bool", "int32", "int64", "double", "string", "bytes", "enum", "list", "map", "record")
KINDS: dict[Pair, tuple[str, ...]] = {
    frozenset({AVRO, JSON_SCHEMA}): (
        *_EVERYWHERE, "float", "fixed", "decimal", "uuid", "date", "time-millis", "time-micros", "timestamp-millis",
        "timestamp-micros", "timestamp-nanos", "local-timestamp-millis", "local-timestamp-micros", "union",
    ),
    frozenset({AVRO, PROTOBUF}): (*_EVERYWHERE, "float"),
    frozenset({JSON_SCHEMA, PROTOBUF}): (*_EVERYWHERE, "float", "uint32", "uint64", "timestamp-nanos"),
}  # fmt: skip
_HELD = frozenset({"list", "map", "union"})

_AVRO = {"bool": "boolean", "int32": "int", "int64": "long"}
_LOGICAL_ON = {"uuid": "string", "date": "int", "time-millis": "int"}
_JSON: dict[str, Any] = {
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
    "int64": {"type": "integer"},
    "uint32": {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
    "uint64": {"type": "integer", "minimum": 0, "maximum": 2**64 - 1},
    "float": {"type": "number", "minimum": -3.4028234663852886e38, "maximum": 3.4028234663852886e38},
    "double": {"type": "number"},
    "string": {"type": "string"},
    "bytes": {"type": "string", "contentEncoding": "base64"},
    "fixed": {"type": "string", "contentEncoding": "base64", "pattern": "^[A-Za-z0-9+/]{6}==$"},
    "decimal": {"type": "string", "pattern": r"^-?(0|[1-9][0-9]{0,3})\.[0-9]{2}$"},
    "uuid": {"type": "string", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
    "date": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
}
_DAY, _TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}", "[0-9]{2}:[0-9]{2}:[0-9]{2}"
_DIGITS = {"millis": 3, "micros": 6, "nanos": 9}
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Sketch:
    """A type. A record's fields are named, with how they may lack a value: "always", "absent" or "null"."""

    kind: str
    name: str = ""
    inner: tuple["Sketch", ...] = ()
    fields: tuple[tuple[str, str, "Sketch"], ...] = field(default=())


class Maker:
    def __init__(self, random: Random, pair: Pair) -> None:
        self._random = random
        self._kinds = KINDS[pair]
        self._has_protobuf = PROTOBUF in pair
        self._count = 0

    def record(self, depth: int = 2) -> Sketch:
        self._count += 1
        name = f"R{self._count}"
        fields = tuple(self._field(f"f{i}", depth) for i in range(self._random.randint(0, 5)))
        return Sketch("record", name, fields=fields)

    def _field(self, name: str, depth: int) -> tuple[str, str, Sketch]:
        sketch = self._type(depth - 1)
        return name, self._random.choice(self._presences(sketch)), sketch

    def _presences(self, sketch: Sketch) -> tuple[str, ...]:
        if not self._has_protobuf:
            return ("always", "always", "absent", "null")
        # In Protobuf a list is always there, a message never for sure.
        return {"list": ("always",), "map": ("always",), "record": ("absent",), "timestamp-nanos": ("absent",)}.get(
            sketch.kind, ("always", "absent")
        )

    def _type(self, depth: int, held: bool = False) -> Sketch:
        kinds = [kind for kind in self._kinds if depth > 0 or kind not in {*_HELD, "record"}]
        if held and self._has_protobuf:
            kinds = [kind for kind in kinds if kind not in _HELD]
        kind = self._random.choice(kinds)
        if kind == "record":
            return self.record(depth - 1)
        if kind in ("list", "map"):
            return Sketch(kind, inner=(self._type(depth - 1, held=True),))
        if kind == "union":
            several = ("bool", "int64", "string"), ("bool", "int32", "fixed"), ("double", "date"), ("float", "enum")
            return Sketch(kind, inner=tuple(self._named(one) for one in self._random.choice(several)))
        return self._named(kind)

    def _named(self, kind: str) -> Sketch:
        if kind not in ("enum", "fixed"):
            return Sketch(kind)
        self._count += 1
        return Sketch(kind, f"{kind[0].upper()}{self._count}")


def schema_of(sketch: Sketch, type_: SchemaType) -> Schema:
    texts = {AVRO: _avro_text, JSON_SCHEMA: _json_text, PROTOBUF: _proto_text}
    return parse(SchemaDefinition(type_, texts[type_](sketch)))


def _avro_text(root: Sketch) -> str:
    return json.dumps(_avro(root))


def _avro(sketch: Sketch) -> Any:
    match sketch.kind:
        case "record":
            return {"type": "record", "name": f"p.{sketch.name}", "fields": [_avro_field(*f) for f in sketch.fields]}
        case "list":
            return {"type": "array", "items": _avro(sketch.inner[0])}
        case "map":
            return {"type": "map", "values": _avro(sketch.inner[0])}
        case "union":
            return [_avro(branch) for branch in sketch.inner]
        case "enum":
            return {"type": "enum", "name": f"p.{sketch.name}", "symbols": _symbols(sketch)}
        case "fixed":
            return {"type": "fixed", "name": f"p.{sketch.name}", "size": 4}
        case "decimal":
            return {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}
        case "bool" | "int32" | "int64" | "float" | "double" | "string" | "bytes":
            return _AVRO.get(sketch.kind, sketch.kind)
    return {"type": _LOGICAL_ON.get(sketch.kind, "long"), "logicalType": sketch.kind}


def _avro_field(name: str, presence: str, sketch: Sketch) -> Any:
    type_ = _avro(sketch)
    if presence == "always":
        return {"name": name, "type": type_}
    nullable = ["null", *(type_ if isinstance(type_, list) else [type_])]
    return {"name": name, "type": nullable, **({"default": None} if presence == "absent" else {})}


def _symbols(sketch: Sketch) -> list[str]:
    return [f"{sketch.name}_{symbol}" for symbol in ("A", "B", "C")]


def _json_text(root: Sketch) -> str:
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **_json(root)})


def _json(sketch: Sketch) -> Any:
    match sketch.kind:
        case "record":
            properties = {name: _json_property(how, inner) for name, how, inner in sketch.fields}
            required = [name for name, how, _ in sketch.fields if how != "absent"]
            return {
                "type": "object",
                "title": f"p.{sketch.name}",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            }
        case "list":
            return {"type": "array", "items": _json(sketch.inner[0])}
        case "map":
            return {"type": "object", "additionalProperties": _json(sketch.inner[0])}
        case "union":
            return {"anyOf": [_json(branch) for branch in sketch.inner]}
        case "enum":
            return {"enum": _symbols(sketch), "title": f"p.{sketch.name}"}
        case kind if kind in _JSON:
            return _JSON[kind]
    return {"type": "string", "pattern": _time_pattern(sketch.kind)}


def _json_property(presence: str, sketch: Sketch) -> Any:
    return {"anyOf": [_json(sketch), {"type": "null"}]} if presence == "null" else _json(sketch)


def _time_pattern(kind: str) -> str:
    what, _, unit = kind.rpartition("-")
    fraction = rf"\.[0-9]{{{_DIGITS[unit]}}}"
    day = "" if what == "time" else f"{_DAY}T"
    return f"^{day}{_TIME}{fraction}{'Z' if what == 'timestamp' else ''}$"


def _proto_text(root: Sketch) -> str:
    lines = ['syntax = "proto3";', "package p;", 'import "google/protobuf/timestamp.proto";']
    waiting = [root]
    for sketch in waiting:
        if sketch.kind == "enum":
            values = " ".join(f"{symbol} = {i};" for i, symbol in enumerate(_symbols(sketch)))
            lines.append(f"enum {sketch.name} {{ {values} }}")
        elif sketch.kind == "record":
            fields = (_proto_field(i + 1, *f) for i, f in enumerate(sketch.fields))
            lines.append(f"message {sketch.name} {{ {' '.join(fields)} }}")
        waiting += [*sketch.inner, *(inner for _, _, inner in sketch.fields)]
    return "\n".join(lines)


def _proto_field(number: int, name: str, presence: str, sketch: Sketch) -> str:
    if sketch.kind == "map":
        return f"map<string, {_proto(sketch.inner[0])}> {name} = {number};"
    if sketch.kind == "list":
        return f"repeated {_proto(sketch.inner[0])} {name} = {number};"
    is_message = sketch.kind in ("record", "timestamp-nanos")
    label = "optional " if presence == "absent" and not is_message else ""
    return f"{label}{_proto(sketch)} {name} = {number};"


def _proto(sketch: Sketch) -> str:
    if sketch.kind == "timestamp-nanos":
        return "google.protobuf.Timestamp"
    return sketch.name or sketch.kind


# ---- values


class Values:
    """Random values as the codec of one format takes them."""

    def __init__(self, random: Random, type_: SchemaType) -> None:
        self._random = random
        self._type = type_

    def value(self, sketch: Sketch) -> Any:
        match sketch.kind:
            case "record":
                return self._record(sketch)
            case "list":
                return [self.value(sketch.inner[0]) for _ in range(self._random.randint(0, 3))]
            case "map":
                return {f"k{i}": self.value(sketch.inner[0]) for i in range(self._random.randint(0, 3))}
            case "union":
                return self.value(self._random.choice(sketch.inner))
            case "enum":
                return self._random.choice(_symbols(sketch))
        return self._scalar(sketch.kind)

    def _record(self, sketch: Sketch) -> dict[str, Any]:
        made = {}
        for name, presence, inner in sketch.fields:
            if presence == "always" or self._random.random() < 0.6:
                made[name] = self.value(inner)
            elif self._type == AVRO or presence == "null":
                made[name] = None
        return made

    def _scalar(self, kind: str) -> Any:
        random = self._random
        match kind:
            case "bool":
                return random.random() < 0.5
            case "int32" | "int64":
                bits = int(kind[3:]) - 1
                return random.choice((0, -(2**bits), 2**bits - 1, random.randint(-1000, 1000)))
            case "uint32" | "uint64":
                return random.choice((0, 2 ** int(kind[4:]) - 1, random.randint(0, 1000)))
            case "float":
                return random.choice((0.0, -0.5, 1.5, 2.0**100))
            case "double":
                return random.choice((0.0, 0.1, -1e300, random.random()))
            case "string":
                return random.choice(("", "tally", "ä€😀", "2026-01-01"))
            case "bytes":
                return self._bytes(random.randbytes(random.randint(0, 5)))
            case "fixed":
                return self._bytes(random.randbytes(4))
            case "decimal":
                number = Decimal(random.randint(-999_999, 999_999)).scaleb(-2)
                return number if self._type == AVRO else f"{number:.2f}"
            case "uuid":
                found = UUID(int=random.getrandbits(128))
                return found if self._type == AVRO else str(found)
            case "date":
                day = dt.date.fromordinal(random.randint(1, dt.date.max.toordinal()))
                return day if self._type == AVRO else day.isoformat()
        return self._time(kind)

    def _bytes(self, found: bytes) -> Any:
        return base64.b64encode(found).decode() if self._type == JSON_SCHEMA else found

    def _time(self, kind: str) -> Any:
        what, _, unit = kind.rpartition("-")
        digits = _DIGITS[unit]
        fraction = self._random.randrange(10**digits)
        seconds = self._random.randint(-(2**33), 2**33)
        if what == "time":
            seconds %= 86_400
        if self._type == PROTOBUF:
            return {"seconds": seconds, "nanos": fraction}
        moment = _EPOCH + dt.timedelta(seconds=seconds)
        if self._type == JSON_SCHEMA:
            text = f"{moment:%Y-%m-%dT%H:%M:%S}.{fraction:0{digits}}".rjust(20 + digits, "0")
            return {"time": text[11:], "timestamp": f"{text}Z"}.get(what, text)
        if digits == 9:
            return seconds * 10**9 + fraction
        moment = moment.replace(microsecond=fraction * 10 ** (6 - digits))
        return {"time": moment.time(), "timestamp": moment}.get(what, moment.replace(tzinfo=None))
