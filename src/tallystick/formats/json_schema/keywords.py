"""From the keywords of a draft to a node."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from tallystick.formats.json_schema.draft import Draft
from tallystick.formats.json_schema.kinds import Kinds, equal_text, kinds_of_type
from tallystick.formats.json_schema.locations import Location
from tallystick.formats.json_schema.node import ANYTHING, NOTHING, Additional, Bound, Contains, Node

Child = Callable[..., Node]
"""The node at the given steps below."""
Reader = Callable[[Node, dict[str, Any], Draft, Child], None]

MATCHES_ALL = frozenset({"", ".*", "^", "$", "^.*", ".*$"})
"""Patterns that every text matches. `^.*$` is not one of them: a text may have several lines."""


def read(location: Location, child: Child) -> Node:
    """The node of a location whose inner nodes exist already; references are not yet followed."""
    raw = location.raw
    node = Node(location.source, location.path, raw)
    if raw is False:
        node.kinds = NOTHING.kinds
    elif isinstance(raw, dict) and not location.has_only_ref:
        for keyword in raw.keys() & _READERS.keys():
            _READERS[keyword](node, raw, location.draft, child)
    return node


def exact(number: float) -> Fraction:
    """The number that was written, not its nearest binary fraction."""
    return Fraction(str(number))


Raw = dict[str, Any]


def _kinds(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    names = raw["type"] if isinstance(raw["type"], list) else [raw["type"]]
    node.kinds = Kinds().union(*(kinds_of_type(name, draft.number) for name in names))


def _values(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    if "const" not in raw or draft.number == 4:
        if "enum" in raw:
            node.values = tuple(raw["enum"])
        return
    allowed = raw.get("enum", [raw["const"]])
    node.values = tuple(value for value in allowed if equal_text(value) == equal_text(raw["const"]))


def _minimum(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    bounds = _bounds(raw, "minimum", "exclusiveMinimum")
    node.minimum = max(bounds, default=None)


def _maximum(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    bounds = _bounds(raw, "maximum", "exclusiveMaximum")
    node.maximum = min(bounds, key=lambda bound: (bound.limit, not bound.excludes), default=None)


def _bounds(raw: Raw, inclusive: str, exclusive: str) -> Iterator[Bound]:
    edge = raw.get(exclusive)
    if inclusive in raw:
        yield Bound(exact(raw[inclusive]), edge is True)
    if edge is not None and not isinstance(edge, bool):
        yield Bound(exact(edge), True)


def _multiple_of(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    node.multiple_of = exact(raw["multipleOf"])


def _count(name: str, keyword: str) -> Reader:
    def read_count(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
        if raw[keyword] or name.startswith("max"):
            setattr(node, name, int(raw[keyword]))

    return read_count


def _pattern(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    if raw["pattern"] not in MATCHES_ALL:
        node.pattern = raw["pattern"]


def _content(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    if draft.asserts_content:
        node.content = tuple(f"{key}: {raw[key]}" for key in ("contentEncoding", "contentMediaType") if key in raw)


def _items(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    prefix, rest = ("prefixItems", "items") if draft.number >= 2020 else ("items", "additionalItems")
    if isinstance(raw.get(prefix), list):
        node.prefix = tuple(child(prefix, i) for i in range(len(raw[prefix])))
        if rest in raw:
            node.rest = child(rest)
    elif "items" in raw:
        node.rest = child("items")


def _unique(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    if raw["uniqueItems"]:
        node.unique = True


def _contains(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    counted = draft.number >= 2019
    least = int(raw.get("minContains", 1)) if counted else 1
    most = int(raw["maxContains"]) if counted and "maxContains" in raw else None
    if draft.number > 4:
        node.contains = Contains(child("contains"), least, most)


def _properties(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    node.properties = {name: child("properties", name) for name in raw["properties"]}


def _patterns(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    node.patterns = {name: child("patternProperties", name) for name in raw["patternProperties"]}


def _additional(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    names, patterns = frozenset(raw.get("properties", ())), frozenset(raw.get("patternProperties", ()))
    node.additional = Additional(names, patterns, child("additionalProperties"))


def _property_names(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    if draft.number > 4:
        node.property_names = child("propertyNames")


def _required(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    node.required = frozenset(raw["required"])


def _dependencies(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    required: dict[str, frozenset[str]] = {}
    schemas: dict[str, Node] = {}
    for name, needed in raw.get("dependencies", {}).items():
        if isinstance(needed, list):
            required[name] = frozenset(needed)
        else:
            schemas[name] = child("dependencies", name)
    if draft.number >= 2019:
        for name, needed in raw.get("dependentRequired", {}).items():
            required[name] = required.get(name, frozenset()) | frozenset(needed)
        for name in raw.get("dependentSchemas", ()):
            own = child("dependentSchemas", name)
            schemas[name] = Node(own.source, own.path, all_of=(schemas[name], own)) if name in schemas else own
    node.dependent_required, node.dependent_schemas = required, schemas


def _all_of(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    node.all_of = tuple(child("allOf", i) for i in range(len(raw["allOf"])))


def _any_of(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    node.any_of = tuple(child("anyOf", i) for i in range(len(raw["anyOf"])))


def _one_of(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    node.one_of = tuple(child("oneOf", i) for i in range(len(raw["oneOf"])))


def _not(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    node.not_ = child("not")


def _condition(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    if draft.number >= 7:
        node.if_ = child("if")
        node.then = child("then") if "then" in raw else ANYTHING
        node.else_ = child("else") if "else" in raw else ANYTHING


def _unevaluated(node: Node, raw: Raw, draft: Draft, child: Child) -> None:
    if draft.number >= 2019:
        if "unevaluatedItems" in raw:
            node.unevaluated_items = child("unevaluatedItems")
        if "unevaluatedProperties" in raw:
            node.unevaluated_properties = child("unevaluatedProperties")


_READERS: dict[str, Reader] = {
    "type": _kinds,
    "enum": _values,
    "const": _values,
    "minimum": _minimum,
    "exclusiveMinimum": _minimum,
    "maximum": _maximum,
    "exclusiveMaximum": _maximum,
    "multipleOf": _multiple_of,
    "minLength": _count("min_length", "minLength"),
    "maxLength": _count("max_length", "maxLength"),
    "pattern": _pattern,
    "contentEncoding": _content,
    "contentMediaType": _content,
    "items": _items,
    "prefixItems": _items,
    "minItems": _count("min_items", "minItems"),
    "maxItems": _count("max_items", "maxItems"),
    "uniqueItems": _unique,
    "contains": _contains,
    "properties": _properties,
    "patternProperties": _patterns,
    "additionalProperties": _additional,
    "propertyNames": _property_names,
    "required": _required,
    "dependencies": _dependencies,
    "dependentRequired": _dependencies,
    "dependentSchemas": _dependencies,
    "minProperties": _count("min_properties", "minProperties"),
    "maxProperties": _count("max_properties", "maxProperties"),
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _condition,
    "unevaluatedItems": _unevaluated,
    "unevaluatedProperties": _unevaluated,
}
"""Each reads what its keyword says together with the keywords that belong to it, and ignores other drafts' ones."""
