"""Random Avro schemas as JSON, and changes to them.

Every type has values: a record holds itself only where null, an empty array or an empty map ends it. Names of
records, enums and fixed differ, in their unqualified form too, so that they are told apart by every reader.
"""

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tallystick.errors import InvalidSchema
from tallystick.formats.avro.parse import parse
from tallystick.formats.avro.types import AvroSchema
from tallystick.model.definition import NO_REFERENCES, SchemaDefinition
from tallystick.model.schema_type import AVRO

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "string", "bytes")
_LOGICAL: tuple[Any, ...] = (
    {"type": "int", "logicalType": "date"},
    {"type": "int", "logicalType": "time-millis"},
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "long", "logicalType": "local-timestamp-micros"},
    {"type": "string", "logicalType": "uuid"},
    {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2},
)
_NAMESPACES = (None, None, "", "shop", "shop.old")
_NAMED = ("record", "enum", "fixed")


def parsed(raw: Any) -> AvroSchema:
    return parse(SchemaDefinition(AVRO, json.dumps(raw)), NO_REFERENCES)


def schema(random: Random) -> Any:
    """The JSON of a schema that parses; the builder may name what it then leaves out, and tries again."""
    while True:
        raw = _Builder(random).root()
        try:
            parsed(raw)
        except InvalidSchema:
            continue
        return raw


def pair(random: Random) -> tuple[Any, Any]:
    """Two schemas: mostly one and the other after some changes, sometimes strangers."""
    old = schema(random)
    return old, schema(random) if random.random() < 0.1 else changed(random, old)


def changed(random: Random, raw: Any) -> Any:
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        raw = _changed_once(random, raw)
    return raw


def _changed_once(random: Random, raw: Any) -> Any:
    for _ in range(20):
        candidate = [copy.deepcopy(raw)]
        places = list(_places(candidate, 0))
        random.choice(_CHANGES)(random, random.choice(places))
        try:
            parsed(candidate[0])
        except InvalidSchema:
            continue
        if candidate[0] != raw:
            return candidate[0]
    return raw


class _Builder:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._count = 0
        self._closed: list[str] = []
        self._open: list[str] = []

    def root(self) -> Any:
        if self._random.random() < 0.8:
            return self._record(3, "")
        return self._type(3, "")

    def _type(self, depth: int, namespace: str) -> Any:
        kinds: list[Callable[[int, str], Any]] = [self._primitive, self._primitive, self._enum, self._fixed]
        if depth > 0:
            kinds += [self._array, self._map, self._union, self._union, self._record]
        if self._closed:
            kinds.append(self._reference)
        return self._random.choice(kinds)(depth, namespace)

    def _primitive(self, depth: int, namespace: str) -> Any:
        return self._random.choice(PRIMITIVES if self._random.random() < 0.8 else _LOGICAL)

    def _reference(self, depth: int, namespace: str) -> str:
        return self._random.choice(self._closed)

    def _heading(self, letter: str, namespace: str) -> tuple[dict[str, Any], str, str]:
        """The attributes, the full name, and the namespace inside."""
        self._count += 1
        name = f"{letter}{self._count}"
        declared = self._random.choice(_NAMESPACES)
        inside = namespace if declared is None else declared
        full = f"{inside}.{name}" if inside else name
        heading: dict[str, Any] = {"name": name}
        if declared is not None:
            heading = {"name": full} if declared and self._random.random() < 0.5 else {**heading, "namespace": declared}
        if self._random.random() < 0.2:
            heading["aliases"] = [f"{letter}_before"]
        return heading, full, inside

    def _enum(self, depth: int, namespace: str) -> Any:
        heading, full, _ = self._heading("E", namespace)
        self._refer_later(full)
        symbols = self._random.sample(("A", "B", "C", "D", "E"), self._random.randint(1, 4))
        extra = {"default": self._random.choice(symbols)} if self._random.random() < 0.4 else {}
        return {"type": "enum", **heading, "symbols": symbols, **extra}

    def _fixed(self, depth: int, namespace: str) -> Any:
        heading, full, _ = self._heading("F", namespace)
        self._refer_later(full)
        if self._random.random() < 0.3:
            return {"type": "fixed", **heading, "size": 4, "logicalType": "decimal", "precision": 8, "scale": 3}
        return {"type": "fixed", **heading, "size": self._random.randint(0, 5)}

    def _refer_later(self, full: str) -> None:
        # A name without namespace cannot be written inside a namespace.
        if "." in full:
            self._closed.append(full)

    def _array(self, depth: int, namespace: str) -> Any:
        return {"type": "array", "items": self._type(depth - 1, namespace)}

    def _map(self, depth: int, namespace: str) -> Any:
        return {"type": "map", "values": self._type(depth - 1, namespace)}

    def _union(self, depth: int, namespace: str) -> Any:
        branches: list[Any] = ["null"] if self._random.random() < 0.7 else []
        tags = set(branches)
        for _ in range(self._random.randint(1, 3)):
            branch = self._type(depth - 1, namespace)
            tag = _tag(branch)
            if tag not in tags and not isinstance(branch, list):
                tags.add(tag)
                branches.append(branch)
        if branches == []:
            branches = ["string"]
        self._random.shuffle(branches)
        return branches

    def _record(self, depth: int, namespace: str) -> Any:
        heading, full, inside = self._heading("R", namespace)
        self._open.append(full)
        fields = [self._field(f"f{i}", depth - 1, inside) for i in range(self._random.randint(0, 4))]
        if "." in full and self._random.random() < 0.3:
            fields.append(self._way_back(full))
        self._open.pop()
        self._refer_later(full)
        return {"type": "record", **heading, "fields": fields}

    def _way_back(self, full: str) -> Any:
        target = self._random.choice([name for name in self._open if "." in name])
        kinds: tuple[Any, ...] = (
            ["null", target],
            {"type": "array", "items": target},
            {"type": "map", "values": target},
        )
        return {"name": "back", "type": self._random.choice(kinds)}

    def _field(self, name: str, depth: int, namespace: str) -> Any:
        type_ = self._type(depth, namespace)
        field: dict[str, Any] = {"name": name, "type": type_}
        if self._random.random() < 0.4 and (default := _default(type_)) is not ...:
            field["default"] = default
        if self._random.random() < 0.1:
            field["aliases"] = [f"g{self._random.randint(0, 3)}"]
        return field


def _tag(raw: Any) -> str:
    if not isinstance(raw, dict):
        return str(raw)
    if raw["type"] not in _NAMED:
        return str(raw["type"])
    return str(raw["name"])


def _default(raw: Any) -> Any:
    """A default of a type, or … where it would take a look at other definitions."""
    match raw:
        case [first, *_]:
            return _default(first)
        case {"type": "array"}:
            return []
        case {"type": "map"}:
            return {}
        case {"type": "enum", "symbols": [*_, last]}:
            return last
        case {"type": "fixed", "size": size}:
            return "x" * size
        case {"type": "record", "fields": fields}:
            return {} if all("default" in field for field in fields) else ...
        case {"type": "string", "logicalType": "uuid"}:
            return "12345678-1234-5678-1234-567812345678"
        case {"type": kind}:
            return _default(kind)
    known = {"null": None, "boolean": True, "int": 7, "long": 2**40, "float": 0.5, "double": 1e300}
    return {**known, "string": "ä", "bytes": "\u00ff"}.get(raw, ...)


# ---- changes


class _Place:
    """A type in its holder, so that it can be replaced."""

    def __init__(self, holder: Any, key: Any) -> None:
        self.holder = holder
        self.key = key

    @property
    def raw(self) -> Any:
        return self.holder[self.key]

    @raw.setter
    def raw(self, raw: Any) -> None:
        self.holder[self.key] = raw

    def is_kind(self, kind: str) -> bool:
        return isinstance(self.raw, dict) and self.raw["type"] == kind


def _places(holder: Any, key: Any) -> Iterator[_Place]:
    place = _Place(holder, key)
    yield place
    raw = place.raw
    if isinstance(raw, list):
        for i in range(len(raw)):
            yield from _places(raw, i)
    elif isinstance(raw, dict):
        if raw["type"] == "array":
            yield from _places(raw, "items")
        elif raw["type"] == "map":
            yield from _places(raw, "values")
        elif raw["type"] == "record":
            for field in raw["fields"]:
                yield from _places(field, "type")


def _replace(random: Random, place: _Place) -> None:
    if not isinstance(place.raw, dict) or place.raw["type"] not in _NAMED:
        place.raw = random.choice(PRIMITIVES)


def _switch_logical(random: Random, place: _Place) -> None:
    if isinstance(place.raw, dict) and "logicalType" in place.raw and place.raw["type"] != "fixed":
        place.raw = place.raw["type"]
    elif place.raw in ("int", "long", "string", "bytes"):
        place.raw = random.choice([logical for logical in _LOGICAL if logical["type"] == place.raw])


def _wrap(random: Random, place: _Place) -> None:
    if not isinstance(place.raw, list):
        place.raw = random.choice((["null", place.raw], [place.raw, "null"], [place.raw]))


def _unwrap(random: Random, place: _Place) -> None:
    if isinstance(place.raw, list) and place.raw:
        place.raw = random.choice(place.raw)


def _change_branches(random: Random, place: _Place) -> None:
    if isinstance(place.raw, list):
        match random.randrange(3):
            case 0:
                random.shuffle(place.raw)
            case 1:
                place.raw.insert(random.randint(0, len(place.raw)), random.choice(PRIMITIVES))
            case 2 if len(place.raw) > 1:
                place.raw.pop(random.randrange(len(place.raw)))


def _change_symbols(random: Random, place: _Place) -> None:
    if place.is_kind("enum"):
        symbols = place.raw["symbols"]
        match random.randrange(4):
            case 0:
                random.shuffle(symbols)
            case 1:
                symbols.insert(random.randint(0, len(symbols)), "Z")
            case 2 if len(symbols) > 1:
                symbols.pop(random.randrange(len(symbols)))
            case 3:
                place.raw["default"] = random.choice(symbols)


def _change_size(random: Random, place: _Place) -> None:
    if place.is_kind("fixed"):
        place.raw["size"] += 1


def _rename_type(random: Random, place: _Place) -> None:
    if isinstance(place.raw, dict) and place.raw["type"] in _NAMED:
        match random.randrange(3):
            case 0:
                place.raw["namespace"] = "elsewhere"
            case 1:
                place.raw["aliases"] = [place.raw["name"]]
                place.raw["name"] += "_new"
            case 2:
                place.raw["name"] += "_new"


def _add_field(random: Random, place: _Place) -> None:
    if place.is_kind("record"):
        type_ = random.choice((*PRIMITIVES, ["null", "int"], {"type": "array", "items": "string"}))
        field = {"name": random.choice(("g0", "g1", "g2")), "type": type_}
        if random.random() < 0.5:
            field["default"] = _default(type_)
        if random.random() < 0.2:
            field["aliases"] = [f"f{random.randrange(4)}"]
        place.raw["fields"].insert(random.randint(0, len(place.raw["fields"])), field)


def _change_fields(random: Random, place: _Place) -> None:
    if not place.is_kind("record") or not place.raw["fields"]:
        return
    fields = place.raw["fields"]
    field = random.choice(fields)
    match random.randrange(5):
        case 0:
            random.shuffle(fields)
        case 1:
            fields.remove(field)
        case 2:
            field["aliases"], field["name"] = [field["name"]], field["name"] + "_new"
        case 3:
            field["name"] += "_new"
        case 4 if "default" in field:
            del field["default"]
        case 4 if (default := _default(field["type"])) is not ...:
            field["default"] = default


_CHANGES = (
    _replace,
    _replace,
    _switch_logical,
    _wrap,
    _unwrap,
    _change_branches,
    _change_symbols,
    _change_symbols,
    _change_size,
    _rename_type,
    _add_field,
    _add_field,
    _change_fields,
    _change_fields,
    _change_fields,
)
