"""Avro text to types, by the Avro 1.12 specification."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from tallystick.errors import InvalidSchema
from tallystick.formats import json_source
from tallystick.formats.avro import names
from tallystick.formats.avro.defaults import Defaults, shown
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
    every_type,
)
from tallystick.formats.json_source import Path
from tallystick.formats.references import dependencies_first
from tallystick.model.definition import References, SchemaDefinition

_LOGICAL_ON = {
    "date": ("int",),
    "time-millis": ("int",),
    "time-micros": ("long",),
    "timestamp-millis": ("long",),
    "timestamp-micros": ("long",),
    "timestamp-nanos": ("long",),
    "local-timestamp-millis": ("long",),
    "local-timestamp-micros": ("long",),
    "local-timestamp-nanos": ("long",),
    "uuid": ("string", "fixed"),
    "duration": ("fixed",),
    "decimal": ("bytes", "fixed"),
}

_LOG_OF_2 = 301_029_995_664
"""The decimal digits that 10¹² bits hold. Whole numbers: a size may be larger than any float."""

_interned: WeakValueDictionary[object, Any] = WeakValueDictionary()


def parse(definition: SchemaDefinition, references: References) -> AvroSchema:
    """The schema of an Avro text; the types of referenced schemas can be used by their full names."""
    return _parsed(definition, references, is_lenient=False)


def parse_leniently(definition: SchemaDefinition, references: References) -> AvroSchema:
    """As Pulsar's brokers read a text, which Java's clients rely on: names may hold a dollar and letters of all
    alphabets, and a default need not be of its field's type. Such a default is none: no reader could use it."""
    return _parsed(definition, references, is_lenient=True)


def _parsed(definition: SchemaDefinition, references: References, *, is_lenient: bool) -> AvroSchema:
    known: dict[str, _Node] = {}
    texts = []
    for reference, referenced in dependencies_first(definition, references):
        _Parser(referenced.text, known, is_lenient=is_lenient).parse()
        texts.append((reference.name, referenced.text))
    root = _Parser(definition.text, known, is_lenient=is_lenient).parse()
    return AvroSchema(definition, root, tuple(texts))


class _Node(NamedTuple):
    """A type on its way to be interned.

    `key` is equal for equal types. `open` are the records around it that it refers to and whose fields are not all
    known yet; a type can be interned once that is empty.
    """

    type: AvroType
    key: object
    open: frozenset[str] = frozenset()
    height: int = 0
    """How deep the types inside it nest."""


def _interned_node(key: object, type_: AvroType, height: int = 0) -> _Node:
    found = _interned.setdefault(key, type_)
    return _Node(found, found, height=height)


def _node(key: tuple[object, ...], parts: tuple[_Node, ...], make: Callable[..., AvroType]) -> _Node:
    whole = (*key, *(part.key for part in parts))
    still_open = frozenset[str]().union(*(part.open for part in parts))
    height = 1 + max((part.height for part in parts), default=0)
    type_ = make(*(part.type for part in parts))
    return _Node(type_, whole, still_open, height) if still_open else _interned_node(whole, type_, height)


_ReadField = tuple[Field, object, _Node]
"""A field, its key, and its type on its way to be interned."""


def _interned_field(field: Field, node: _Node) -> _ReadField:
    key = (field.name, field.default, field.aliases, field.doc, field.order, node.key)
    if node.open:
        return field, key, node
    found = _interned.setdefault(("field", *key), field)
    return found, found, node


class _Parser:
    def __init__(self, text: str, known: dict[str, _Node], *, is_lenient: bool) -> None:
        self._text = text
        self._known = known
        self._is_lenient = is_lenient
        self._names = names.LENIENT if is_lenient else names.STRICT
        self._defined: list[str] = []
        self._defaults = Defaults()

    def parse(self) -> AvroType:
        text = self._text
        if text.strip().isidentifier():  # a bare primitive name, as some clients send it
            text = json.dumps(text.strip())
        raw = json_source.load(text)
        try:
            return self._type(raw, "", ()).type
        except RecursionError as e:
            raise InvalidSchema("types or defaults are nested too deeply", fix="name the inner types") from e

    def _refuse(self, reason: str, path: Path, fix: str | None = None) -> InvalidSchema:
        return InvalidSchema(reason, json_source.place(self._text, path), fix)

    def _type(self, raw: Any, namespace: str, path: Path) -> _Node:
        if isinstance(raw, str):
            return self._named_or_primitive(raw, namespace, path)
        if isinstance(raw, list):
            return self._union(raw, namespace, path)
        if not isinstance(raw, dict):
            raise self._refuse(f"a type is a name, an object or a list, not {shown(raw)}", path)
        return self._from_object(raw, namespace, path)

    def _from_object(self, raw: dict[str, Any], namespace: str, path: Path) -> _Node:
        if "type" not in raw:
            raise self._refuse('"type" is missing', path, 'add "type"')
        kind = raw["type"]
        match kind:
            case "record" | "error":
                return self._record(raw, namespace, path)
            case "enum":
                return self._enum(raw, namespace, path)
            case "fixed":
                return self._fixed(raw, namespace, path)
            case "array":
                items = self._part(raw, "items", namespace, path)
                return _node(("array",), (items,), Array)
            case "map":
                values = self._part(raw, "values", namespace, path)
                return _node(("map",), (values,), Map)
            case str() if kind in names.PRIMITIVES:
                return _primitive(kind, _logical(raw, kind, None))
        return self._type(kind, namespace, (*path, "type"))

    def _part(self, raw: dict[str, Any], key: str, namespace: str, path: Path) -> _Node:
        if key not in raw:
            raise self._refuse(f'an {raw["type"]} needs "{key}"'.replace("an map", "a map"), path, f'add "{key}"')
        return self._type(raw[key], namespace, (*path, key))

    def _named_or_primitive(self, name: str, namespace: str, path: Path) -> _Node:
        if name in names.PRIMITIVES:
            return _primitive(name, None)
        found = self._known.get(names.full_name(name, namespace))
        if found is not None:
            return found
        if name in names.COMPLEX:
            raise self._refuse(
                f"{name!r} cannot stand alone as a type", path, f'write it as an object: {{"type": "{name}", …}}'
            )
        meant = names.suggestion(name, list(self._known))
        raise self._refuse(
            f"type {names.full_name(name, namespace)!r} is not defined before it is used",
            path,
            f"did you mean {meant!r}?" if meant else "define it at its first use, or add a reference to its subject",
        )

    def _union(self, raw: list[Any], namespace: str, path: Path) -> _Node:
        branches = tuple(self._type(branch, namespace, (*path, i)) for i, branch in enumerate(raw))
        seen = set()
        for i, branch in enumerate(branches):
            type_ = branch.type
            if isinstance(type_, Union):
                raise self._refuse("a union cannot hold a union directly", (*path, i), "put its branches here")
            tag = type_.name if isinstance(type_, Named) else type_.kind
            if tag in seen:
                raise self._refuse(f"the union holds {tag!r} twice", (*path, i), "remove one of the two")
            seen.add(tag)
        return _node(("union",), branches, lambda *types: Union(types))

    def _fixed(self, raw: dict[str, Any], namespace: str, path: Path) -> _Node:
        name, aliases, doc = self._heading(raw, namespace, path)
        size: Any = raw.get("size")
        if not _is_int(size) or size < 0:
            raise self._refuse(f"fixed {name!r} needs a size in bytes, not {shown(size)}", path, 'set "size"')
        logical = _logical(raw, "fixed", size)
        node = _interned_node(("fixed", name, aliases, doc, size, logical), Fixed(name, aliases, doc, size, logical))
        return self._define(name, node, path)

    def _enum(self, raw: dict[str, Any], namespace: str, path: Path) -> _Node:
        name, aliases, doc = self._heading(raw, namespace, path)
        symbols = raw.get("symbols")
        if not isinstance(symbols, list):
            raise self._refuse(f"enum {name!r} needs a list of symbols", path, 'set "symbols"')
        seen = set()
        for i, symbol in enumerate(symbols):
            if not self._names.is_simple_name(symbol):
                at = (*path, "symbols", i)
                raise self._refuse(f"symbol {shown(symbol)} is not a name", at, f"use {self._names.told}")
            if symbol in seen:
                raise self._refuse(f"symbol {symbol!r} stands twice", (*path, "symbols", i), "remove one of the two")
            seen.add(symbol)
        default = raw.get("default")
        if default is not None and default not in symbols:
            at = (*path, "default")
            raise self._refuse(f"the default {shown(default)} is not a symbol of {name!r}", at, "add it, or change it")
        key = ("enum", name, aliases, doc, tuple(symbols), default)
        return self._define(name, _interned_node(key, Enum(name, aliases, doc, tuple(symbols), default)), path)

    def _record(self, raw: dict[str, Any], namespace: str, path: Path) -> _Node:
        name, aliases, doc = self._heading(raw, namespace, path)
        record = Record(name, aliases, doc)
        first_inside = len(self._defined) + 1
        self._define(name, _Node(record, ("open", name), frozenset({name})), path)
        raw_fields = raw.get("fields")
        if not isinstance(raw_fields, list):
            raise self._refuse(f"record {name!r} needs a list of fields", path, 'set "fields"')
        inside = names.namespace_of(name)
        seen: set[str] = set()
        fields = [self._field(raw_field, inside, seen, (*path, "fields", i)) for i, raw_field in enumerate(raw_fields)]
        record.fill(tuple(field for field, _, _ in fields))
        if self._is_lenient:
            fields = self._with_usable_defaults(fields, raw_fields)
            record.fill(tuple(field for field, _, _ in fields))
        still_open = frozenset[str]().union(*(node.open for _, _, node in fields)) - {name}
        height = 1 + max((node.height for _, _, node in fields), default=0)
        if height > json_source.MAX_DEPTH:
            raise self._refuse(f"types are nested deeper than {json_source.MAX_DEPTH} levels", path)
        whole = ("record", name, aliases, doc, *(key for _, key, _ in fields))
        inner = self._defined[first_inside:]
        if still_open:
            node = _Node(record, whole, still_open, height)
            # Where it is used again the name says it all: the definition is in the key of the record around it.
            self._known[name] = _Node(record, ("open", name), still_open, height)
            self._keep_open(name, still_open, inner)
        else:
            node = self._known[name] = _interned_node(whole, record, height)
            self._close_inner(node.type, inner)
        self._check_defaults(node.type, raw_fields, path)
        return node

    def _keep_open(self, name: str, still_open: frozenset[str], defined: list[str]) -> None:
        """Types inside a record that refer to it wait for the records around it from now on."""
        for inner in defined:
            node = self._known[inner]
            if name in node.open:
                self._known[inner] = node._replace(open=node.open - {name} | still_open)

    def _close_inner(self, record: AvroType, defined: list[str]) -> None:
        """Types defined inside a record that is closed now are closed too, and are those of the interned record."""
        waiting = {name for name in defined if self._known[name].open}
        if waiting:
            for type_ in every_type(record):
                if isinstance(type_, Named) and type_.name in waiting:
                    self._known[type_.name] = _Node(type_, type_, height=self._known[type_.name].height)

    def _field(self, raw: Any, namespace: str, seen: set[str], path: Path) -> _ReadField:
        if not isinstance(raw, dict):
            raise self._refuse(f"a field is an object, not {shown(raw)}", path)
        name = raw.get("name")
        if not isinstance(name, str) or not self._names.is_simple_name(name):
            at = (*path, "name") if "name" in raw else path
            raise self._refuse(f"{shown(name)} is not a field name", at, f"use {self._names.told}")
        if name in seen:
            raise self._refuse(f"field {name!r} stands twice", (*path, "name"), "rename or remove one of the two")
        seen.add(name)
        if "type" not in raw:
            raise self._refuse(f"field {name!r} has no type", path, 'add "type"')
        order = raw.get("order", "ascending")
        if order not in ("ascending", "descending", "ignore"):
            raise self._refuse(
                f"order {shown(order)} is not known", (*path, "order"), "use ascending, descending or ignore"
            )
        aliases = self._alias_list(raw, self._names.is_simple_name, path)
        default = json.dumps(raw["default"], sort_keys=True) if "default" in raw else None
        doc = _doc(raw)
        node = self._type(raw["type"], namespace, (*path, "type"))
        return _interned_field(Field(name, node.type, default, aliases, doc, order), node)

    def _with_usable_defaults(self, fields: list[_ReadField], raw_fields: list[Any]) -> list[_ReadField]:
        misfits = {
            i
            for i, (field, _, _) in enumerate(fields)
            if field.default is not None and self._defaults.problem(field.type, raw_fields[i]["default"]) is not None
        }
        return [
            _interned_field(replace(field, default=None), node) if i in misfits else (field, key, node)
            for i, (field, key, node) in enumerate(fields)
        ]

    def _check_defaults(self, record: AvroType, raw_fields: list[Any], path: Path) -> None:
        # Only now: a default may be of the record itself, whose fields were not known before.
        assert isinstance(record, Record)
        for i, field in enumerate(record.fields):
            if field.default is not None:
                problem = self._defaults.problem(field.type, raw_fields[i]["default"])
                if problem is not None:
                    at = (*path, "fields", i, "default")
                    raise self._refuse(f"the default of field {field.name!r} does not fit: {problem}", at)

    def _heading(self, raw: dict[str, Any], namespace: str, path: Path) -> tuple[str, tuple[str, ...], str | None]:
        name = raw.get("name")
        if not isinstance(name, str):
            raise self._refuse(f"{raw['type']} needs a name, not {shown(name)}", path, 'set "name"')
        declared = raw.get("namespace")
        if declared is not None and not (declared == "" or self._names.is_full_name(declared)):
            at = (*path, "namespace")
            raise self._refuse(f"{shown(declared)} is not a namespace", at, f"use {self._names.told}, joined by dots")
        full = names.full_name(name, namespace if declared is None else declared)
        if not self._names.is_full_name(full):
            raise self._refuse(f"{name!r} is not a name", (*path, "name"), f"use {self._names.told}")
        if full in names.PRIMITIVES:
            raise self._refuse(f"{full!r} is the name of a primitive type", (*path, "name"), "choose another name")
        inside = names.namespace_of(full)
        aliases = tuple(names.full_name(a, inside) for a in self._alias_list(raw, self._names.is_full_name, path))
        return full, aliases, _doc(raw)

    def _alias_list(self, raw: dict[str, Any], is_valid: Callable[[object], bool], path: Path) -> tuple[str, ...]:
        aliases = raw.get("aliases", [])
        if not isinstance(aliases, list) or not all(is_valid(alias) for alias in aliases):
            raise self._refuse(
                f"{shown(aliases)} is not a list of names", (*path, "aliases"), f"use {self._names.told}"
            )
        return tuple(aliases)

    def _define(self, name: str, node: _Node, path: Path) -> _Node:
        if name in self._known:
            raise self._refuse(
                f"{name!r} is defined twice", (*path, "name"), "use its name alone where it is meant again"
            )
        self._known[name] = node
        self._defined.append(name)
        return node


def _primitive(kind: str, logical: Logical | None) -> _Node:
    return _PLAIN[kind] if logical is None else _interned_node(("primitive", kind, logical), Primitive(kind, logical))


_PLAIN = {kind: _interned_node(("primitive", kind, None), Primitive(kind)) for kind in names.PRIMITIVES}


def _logical(raw: dict[str, Any], kind: str, size: int | None) -> Logical | None:
    name = raw.get("logicalType")
    if not isinstance(name, str) or kind not in _LOGICAL_ON.get(name, ()):
        return None
    if name == "decimal":
        return _decimal(raw.get("precision"), raw.get("scale", 0), size)
    if size is not None and size != {"uuid": 16, "duration": 12}[name]:
        return None
    return Logical(name)


def _decimal(precision: Any, scale: Any, size: int | None) -> Logical | None:
    if not _is_int(precision) or not _is_int(scale) or precision < 1 or not 0 <= scale <= precision:
        return None
    if size is not None and (size == 0 or precision * 10**12 > _LOG_OF_2 * (8 * size - 1)):
        return None
    return Logical("decimal", precision, scale)


def _doc(raw: dict[str, Any]) -> str | None:
    doc = raw.get("doc")
    return doc if isinstance(doc, str) else None


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
