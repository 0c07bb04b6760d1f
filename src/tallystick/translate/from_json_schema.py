"""JSON Schema → shapes. What only JSON Schema can ask of a value is lost."""

import json
from fractions import Fraction
from typing import Any

from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.json_schema.kinds import ALL_KINDS, ARRAY, BOOLEAN, INTEGERS, NULL, NUMBERS, OBJECT, STRING
from tallystick.formats.json_schema.kinds import Kinds as JsonKinds
from tallystick.formats.json_schema.node import Bound, Node
from tallystick.formats.json_source import Path
from tallystick.translate import json_texts
from tallystick.translate import rule as rules
from tallystick.translate.losses import EACH, Losses
from tallystick.translate.names import as_type_name, free, is_full_name, namespace_of
from tallystick.translate.shape import (
    FLOAT_MAX,
    NO_DEFAULT,
    Choice,
    Entries,
    Field,
    Items,
    Kind,
    Nullable,
    Record,
    Scalar,
    Shape,
    Symbols,
)

ROOT_NAME = "Record"
_GROUPS: tuple[JsonKinds, ...] = (
    frozenset({BOOLEAN}),
    NUMBERS,
    frozenset({STRING}),
    frozenset({ARRAY}),
    frozenset({OBJECT}),
)
_ASKED = {
    NUMBERS: ("enum", "const", "multipleOf"),
    frozenset({BOOLEAN}): ("enum", "const"),
    frozenset({STRING}): ("minLength", "maxLength", "contentMediaType"),
    frozenset({ARRAY}): ("enum", "const", "minItems", "maxItems", "uniqueItems", "contains", "unevaluatedItems"),
    frozenset({OBJECT}): (
        "enum", "const", "minProperties", "maxProperties", "propertyNames", "patternProperties", "dependencies",
        "dependentRequired", "dependentSchemas",
    ),
}  # fmt: skip
"""Keywords that refuse values of a kind, apart from those that say what the value is."""
_ASKED_OF_ALL = ("not", "if", "anyOf", "oneOf")
_FLOAT_BOUNDS = (Fraction(str(-FLOAT_MAX)), Fraction(str(FLOAT_MAX)))
_FORMATS = {
    "date": Scalar(Kind.DATE),
    "uuid": Scalar(Kind.UUID),
    "date-time": Scalar(Kind.TIMESTAMP, 6),
    "date-time-local": Scalar(Kind.LOCAL_TIMESTAMP, 6),
    "time-local": Scalar(Kind.TIME, 6),
}


def shape_of(schema: JsonSchema, losses: Losses, name: str | None = None) -> Shape:
    """`name` is that of the root where its own is not wanted."""
    root = _meant(schema.root)
    return _Reading(losses, root, name or _own_name(root) or ROOT_NAME).shape(root, (), ROOT_NAME)


class _Reading:
    def __init__(self, losses: Losses, root: Node, root_name: str) -> None:
        self._losses = losses
        self._root = root
        self._root_name = root_name
        self._known: dict[tuple[Node, JsonKinds], Shape] = {}
        self._open: set[Node] = set()
        self._names: set[str] = set()

    def shape(self, node: Node, path: Path, name: str) -> Shape:
        node = _meant(node)
        kinds = node.outer_kinds
        if node.dynamic or kinds == ALL_KINDS:
            return self._refused(rules.ANY_VALUE, path, "anything")
        if not kinds:
            return self._refused(rules.NO_VALUES, path, "nothing")
        if kinds == {NULL}:
            return Scalar(Kind.NULL)
        shape = self._not_null(node, kinds - {NULL}, path, name)
        return Nullable(shape) if NULL in kinds and not isinstance(shape, Nullable) else shape

    def _refused(self, rule: rules.Rule, path: Path, was: str) -> Shape:
        self._losses.add(rule, path, was)
        return Scalar(Kind.STRING)

    def _not_null(self, node: Node, kinds: JsonKinds, path: Path, name: str) -> Shape:
        groups = [group & kinds for group in _GROUPS if group & kinds]
        if (branches := _alternatives(node)) and not _says_more(node):
            return self._branches(branches, path, name)
        if len(groups) > 1:
            return Choice(tuple(self._one(node, group, path, name) for group in groups))
        return self._one(node, groups[0], path, name)

    def _branches(self, branches: tuple[Node, ...], path: Path, name: str) -> Shape:
        shapes = [self.shape(branch, path, name) for branch in branches if branch.outer_kinds != {NULL}]
        flat = [part for shape in shapes for part in _flattened(shape)]
        bare = [shape.inner if isinstance(shape, Nullable) else shape for shape in flat]
        groups = [group_of(shape) for shape in bare]
        if len(set(groups)) < len(groups):
            return self._refused(rules.UNION_AMBIGUOUS, path, f"several of {', '.join(sorted(set(groups)))}")
        return bare[0] if len(bare) == 1 else Choice(tuple(bare))

    def _one(self, node: Node, kinds: JsonKinds, path: Path, name: str) -> Shape:
        """The shape of those values that are of one group of kinds."""
        if (node, kinds) in self._known:
            return self._known[node, kinds]
        if node in self._open:
            return self._refused(rules.RECURSION_WITHOUT_RECORD, path, "a type that holds itself")
        parts = _parts(node)
        if kinds == {OBJECT} and not _is_map(parts):
            return self._record(node, parts, path, name)
        self._open.add(node)
        shape = self._known[node, kinds] = self._bare(parts, kinds, path, name)
        self._open.discard(node)
        return shape

    def _bare(self, parts: list[Node], kinds: JsonKinds, path: Path, name: str) -> Shape:
        if kinds == {BOOLEAN}:
            self._note_asked(parts, frozenset({BOOLEAN}), path)
            return Scalar(Kind.BOOLEAN)
        if kinds <= NUMBERS:
            self._note_asked(parts, NUMBERS, path)
            return self._number(parts, kinds <= INTEGERS, path)
        if kinds == {STRING}:
            return self._text(parts, path, name)
        if kinds == {ARRAY}:
            return self._list(parts, path, name)
        return self._map(parts, path, name)

    # ---- numbers and texts

    def _number(self, parts: list[Node], is_integer: bool, path: Path) -> Scalar:
        low, high = _lowest(parts), _highest(parts)
        if is_integer:
            kind, is_exact = json_texts.integer_of_bounds(low, high)
        else:
            is_float = (low, high) == _FLOAT_BOUNDS
            kind, is_exact = Kind.FLOAT if is_float else Kind.DOUBLE, is_float or (low is None and high is None)
            if is_float:
                self._losses.add(rules.NUMBER_TO_FLOAT, path, "number", "float")
        if not is_exact or any(b.excludes for p in parts for b in (p.minimum, p.maximum) if b is not None):
            self._note(parts, ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), path)
        return Scalar(kind)

    def _text(self, parts: list[Node], path: Path, name: str) -> Shape:
        values = [part.values for part in parts if part.values is not None]
        if values:
            symbols = tuple(v for v in values[0] if isinstance(v, str) and all(v in others for others in values))
            self._note(parts, ("pattern",), path)
            self._note_asked(parts, frozenset({STRING}), path)
            return Symbols(self._name(parts, name), symbols, doc=_doc(parts[0]))
        self._note_asked(parts, frozenset({STRING}), path)
        patterns = [part.pattern for part in parts if part.pattern is not None]
        known = json_texts.scalar_of_pattern(patterns[0], name) if len(patterns) == 1 else None
        if known is not None:
            return known if known.size is None else Scalar(Kind.BYTES, size=known.size, name=self._name(parts, name))
        self._note(parts, ("pattern",), path)
        if any(_raw(part).get("contentEncoding") == "base64" for part in parts):
            return Scalar(Kind.BYTES)
        self._note(parts, ("contentEncoding",), path)
        found = next((_FORMATS[f] for part in parts if (f := _raw(part).get("format")) in _FORMATS), None)
        if found is None:
            return Scalar(Kind.STRING)
        self._losses.add(rules.FORMAT_ASSERTED, path, f"a text in the format of a {found.kind}", str(found.kind))
        return found

    # ---- lists, maps and records

    def _list(self, parts: list[Node], path: Path, name: str) -> Shape:
        self._note_asked(parts, frozenset({ARRAY}), path)
        if any(part.prefix for part in parts):
            return self._refused(rules.TUPLE, path, "a list with a type for each place")
        rests = [part.rest for part in parts if part.rest is not None]
        if len(rests) != 1:
            return self._refused(rules.ANY_VALUE, (*path, EACH), "items of any type")
        return Items(self.shape(rests[0], (*path, EACH), f"{name}Item"))

    def _map(self, parts: list[Node], path: Path, name: str) -> Shape:
        self._note_asked(parts, frozenset({OBJECT}), path)
        values = [part.additional.node for part in parts if part.additional is not None]
        values += [value for part in parts for value in part.patterns.values()]
        return Entries(self.shape(values[0], (*path, EACH), f"{name}Value"))

    def _record(self, node: Node, parts: list[Node], path: Path, name: str) -> Record:
        kinds = frozenset({OBJECT})
        self._note_asked(parts, kinds, path)
        full_name = self._name(parts, name)
        record = self._known[node, kinds] = Record(full_name, _doc(node))
        if not any(part.additional is not None and not part.additional.node.outer_kinds for part in parts):
            self._losses.add(rules.UNKNOWN_PROPERTIES_LOST, path, "an open object", f"record {full_name}")
        required = frozenset[str]().union(*(part.required for part in parts))
        fields: dict[str, Field] = {}
        for key, inner in (item for part in parts for item in part.properties.items()):
            here = (*path, key)
            if key in fields:
                self._losses.add(rules.KEYWORD_LOST, here, "a second schema of the same property")
                continue
            shape = self.shape(inner, here, f"{full_name}{as_type_name(key)}")
            default = _raw(inner).get("default", NO_DEFAULT)
            fields[key] = Field(key, shape, key not in required, default, _doc(inner))
        record.fields = tuple(fields.values())
        return record

    # ---- names and keywords

    def _name(self, parts: list[Node], name: str) -> str:
        """The title or the key of the definition where that is a name, else one made of the way to it."""
        chosen = next(filter(None, map(_own_name, parts)), name)
        namespace = namespace_of(self._root_name)
        if parts[0] is self._root:
            chosen = self._root_name
        elif namespace and "." not in chosen:
            chosen = f"{namespace}.{chosen}"
        found = free(chosen, self._names)
        self._names.add(found)
        return found

    def _note_asked(self, parts: list[Node], group: JsonKinds, path: Path) -> None:
        self._note(parts, (*_ASKED[group], *_ASKED_OF_ALL), path)

    def _note(self, parts: list[Node], keywords: tuple[str, ...], path: Path) -> None:
        for part in parts:
            for keyword in keywords:
                if keyword in _raw(part):
                    self._losses.add(rules.KEYWORD_LOST, path, f"`{keyword}`: {_cut(_raw(part)[keyword])}")


def group_of(shape: Shape) -> str:
    """What a value of a shape is in JSON, where unions have to tell their branches apart."""
    match shape:
        case Scalar(kind=Kind.NULL):
            return "null"
        case Scalar(kind=Kind.BOOLEAN):
            return "boolean"
        case Scalar(kind=kind) if json_texts.is_number(kind):
            return "number"
        case Scalar() | Symbols():
            return "text"
        case Items():
            return "list"
        case Nullable(inner=inner):
            return group_of(inner)
        case _:
            return "object"


def _flattened(shape: Shape) -> tuple[Shape, ...]:
    inner = shape.inner if isinstance(shape, Nullable) else shape
    return inner.branches if isinstance(inner, Choice) else (inner,)


def _meant(node: Node) -> Node:
    """The node that another one only leads to."""
    while node.only_includes:
        leads_to = [*node.all_of, *((node.ref,) if node.ref is not None else ())]
        if len(leads_to) > 1:
            break
        node = leads_to[0]
    return node


def _parts(node: Node) -> list[Node]:
    """The node and all that hold whenever it holds."""
    found = [node]
    for part in found:
        found.extend(part.all_of)
        if part.ref is not None:
            found.append(part.ref)
    return found


def _alternatives(node: Node) -> tuple[Node, ...]:
    return node.any_of or node.one_of


def _says_more(node: Node) -> bool:
    """Whether it says what a value is besides its alternatives, which then only narrow that down."""
    has_both = bool(node.any_of and node.one_of)
    return has_both or node.kinds != ALL_KINDS or bool(node.all_of) or node.ref is not None or bool(node.properties)


def _is_map(parts: list[Node]) -> bool:
    if any(part.properties for part in parts):
        return False
    values = [
        part.additional.node for part in parts if part.additional is not None and part.additional.node.outer_kinds
    ]
    return bool(values) or any(part.patterns for part in parts)


def _lowest(parts: list[Node]) -> Fraction | None:
    return max((_limit(part.minimum) for part in parts if part.minimum is not None), default=None)


def _highest(parts: list[Node]) -> Fraction | None:
    return min((_limit(part.maximum) for part in parts if part.maximum is not None), default=None)


def _limit(bound: Bound) -> Fraction:
    return bound.limit


def _raw(node: Node) -> dict[str, Any]:
    """The keywords of a node; those beside a reference that stands alone do not count."""
    if not isinstance(node.raw, dict):
        return {}
    stands_alone = node.source is not None and node.source.draft.ref_stands_alone and "$ref" in node.raw
    return {} if stands_alone else node.raw


def _own_name(node: Node) -> str | None:
    title = _raw(node).get("title")
    if isinstance(title, str) and is_full_name(title):
        return title
    key = node.path[-1] if len(node.path) > 1 and node.path[-2] in ("$defs", "definitions") else None
    return key if isinstance(key, str) and is_full_name(key) else None


def _doc(node: Node) -> str | None:
    described = _raw(node).get("description")
    return described if isinstance(described, str) else None


def _cut(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
