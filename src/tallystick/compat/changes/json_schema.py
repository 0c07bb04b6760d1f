"""What changed between two JSON Schemas, schema object by schema object."""

import json
from collections.abc import Iterator
from typing import Any

from tallystick.compat.change import Change, ChangeKind
from tallystick.compat.rules.json_schema.breach import at, quoted, where
from tallystick.compat.rules.json_schema.sameness import Sameness
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.json_schema.kinds import Kinds, equal_text
from tallystick.formats.json_schema.node import Node
from tallystick.formats.json_source import Path

_ADDED, _REMOVED, _CHANGED = ChangeKind.ADDED, ChangeKind.REMOVED, ChangeKind.CHANGED
_WIDENED, _NARROWED = ChangeKind.WIDENED, ChangeKind.NARROWED

_LESS_IS_WIDER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"})
_MORE_IS_WIDER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
_SINGLE = (
    "items", "additionalItems", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else",
    "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_LISTS = ("items", "prefixItems", "allOf", "anyOf", "oneOf")
_MAPS = ("properties", "patternProperties", "dependentSchemas", "dependencies")
_DEFINITIONS = frozenset({"$defs", "definitions"})
_NAMES = frozenset({"required"})
_INNER = frozenset(_SINGLE) | frozenset(_LISTS) | frozenset(_MAPS)

_Pair = tuple[Node, Node]


def changes(old: JsonSchema, new: JsonSchema) -> Iterator[Change]:
    """Every difference in what is reachable from the roots, each schema object looked at once."""
    seen: set[_Pair] = set()
    pairs = [(old.root, new.root)]
    while pairs:
        pair = pairs.pop()
        if pair in seen:
            continue
        seen.add(pair)
        inner: list[_Pair] = []
        yield from _of_pair(*pair, inner)
        pairs.extend(reversed(inner))


def _of_pair(old: Node, new: Node, inner: list[_Pair]) -> Iterator[Change]:
    if not isinstance(old.raw, dict) or not isinstance(new.raw, dict):
        if old.raw != new.raw:
            kind = _NARROWED if new.raw is False else _WIDENED if new.raw is True else _CHANGED
            yield _change(kind, f"the schema of {where(new.path)}", old, new)
        return
    yield from _keywords(old, new)
    yield from _named(old, new, inner)
    yield from _listed(old, new, inner)
    inner.extend(_common(old, new))
    if old.ref is not None and new.ref is not None:
        inner.append((old.ref, new.ref))


def _keywords(old: Node, new: Node) -> Iterator[Change]:
    for keyword in dict.fromkeys([*old.raw, *new.raw]):
        if keyword in _DEFINITIONS or _is_inner(keyword, old.raw, new.raw):
            continue
        was, now = old.raw.get(keyword), new.raw.get(keyword)
        if keyword in _NAMES:
            yield from _required(old, new)
        elif keyword not in new.raw:
            yield _change(_REMOVED, f"`{keyword}` of {where(old.path)}", old, new, keyword)
        elif keyword not in old.raw:
            yield _change(_ADDED, f"`{keyword}` of {where(new.path)}", old, new, keyword)
        elif equal_text(was) != equal_text(now):
            yield _change(_kind(keyword, old, new), f"`{keyword}` of {where(new.path)}", old, new, keyword)


def _is_inner(keyword: str, *raws: dict[str, Any]) -> bool:
    """Whether the keyword holds schemas on both sides that are paired, or names that are listed one by one."""
    if keyword in _MAPS:
        return True
    return keyword in _INNER and all(isinstance(raw.get(keyword), dict | list | bool) for raw in raws)


def _required(old: Node, new: Node) -> Iterator[Change]:
    for name in sorted(old.required ^ new.required):
        kind = _ADDED if name in new.required else _REMOVED
        yield _change(kind, f"the demand that {where(new.path)} holds `{name}`", old, new, "required")


def _kind(keyword: str, old: Node, new: Node) -> ChangeKind:
    was, now = old.raw[keyword], new.raw[keyword]
    if keyword in _LESS_IS_WIDER | _MORE_IS_WIDER and not isinstance(was, bool) and not isinstance(now, bool):
        return _WIDENED if (now > was) == (keyword in _MORE_IS_WIDER) else _NARROWED
    if keyword == "type":
        return _by_inclusion(old.kinds, new.kinds)
    if keyword == "enum":
        return _by_inclusion(frozenset(map(equal_text, was)), frozenset(map(equal_text, now)))
    return _CHANGED


def _by_inclusion(was: Kinds, now: Kinds) -> ChangeKind:
    return _WIDENED if was < now else _NARROWED if now < was else _CHANGED


def _named(old: Node, new: Node, inner: list[_Pair]) -> Iterator[Change]:
    """What stands under names: properties, patterns, dependencies."""
    for keyword in _MAPS:
        was, now = _children(old, keyword), _children(new, keyword)
        for name in dict.fromkeys([*was, *now]):
            what = f"{_NOUNS[keyword]} `{name}` of {where(new.path)}"
            if name not in now:
                yield _change(_REMOVED, what, old, new, keyword, name)
            elif name not in was:
                yield _change(_ADDED, what, old, new, keyword, name)
            elif isinstance(was[name], Node) and isinstance(now[name], Node):
                inner.append((was[name], now[name]))
            elif json.dumps(_raw(was[name])) != json.dumps(_raw(now[name])):
                yield _change(_CHANGED, what, old, new, keyword, name)


_NOUNS = {
    "properties": "property",
    "patternProperties": "pattern",
    "dependentSchemas": "schema on",
    "dependencies": "dependency on",
}


def _raw(value: Any) -> Any:
    return value.raw if isinstance(value, Node) else sorted(value)


def _children(node: Node, keyword: str) -> dict[str, Any]:
    raw = node.raw.get(keyword)
    if not isinstance(raw, dict):
        return {}
    nodes = {"properties": node.properties, "patternProperties": node.patterns}.get(keyword, node.dependent_schemas)
    return {name: nodes.get(name, node.dependent_required.get(name, ())) for name in raw}


def _listed(old: Node, new: Node, inner: list[_Pair]) -> Iterator[Change]:
    """Branches and the first items of lists. Branches that stayed are paired first, wherever they stand now."""
    for attribute in ("prefix", "all_of", "any_of", "one_of"):
        was, now = list(getattr(old, attribute)), list(getattr(new, attribute))
        if attribute != "prefix":
            _drop_same(was, now)
        inner.extend(zip(was, now, strict=False))
        for node in was[len(now) :]:
            yield _part(_REMOVED, node, old, new)
        for node in now[len(was) :]:
            yield _part(_ADDED, node, old, new)


def _drop_same(was: list[Node], now: list[Node]) -> None:
    same = Sameness()
    for node in list(was):
        twin = next((other for other in now if same(node, other)), None)
        if twin is not None:
            was.remove(node)
            now.remove(twin)


def _part(kind: ChangeKind, node: Node, old: Node, new: Node) -> Change:
    outer = new if kind is _ADDED else old
    steps = node.path[len(outer.path) :]
    return _change(kind, f"`{'/'.join(map(str, steps))}` of {where(outer.path)}", old, new, *steps)


def _common(old: Node, new: Node) -> Iterator[_Pair]:
    """The schemas without names that both sides have in the same place."""
    for attribute in (
        "rest",
        "property_names",
        "not_",
        "if_",
        "then",
        "else_",
        "unevaluated_items",
        "unevaluated_properties",
    ):
        was, now = getattr(old, attribute), getattr(new, attribute)
        if was is not None and now is not None:
            yield was, now
    if old.contains is not None and new.contains is not None:
        yield old.contains.node, new.contains.node
    if old.additional is not None and new.additional is not None:
        yield old.additional.node, new.additional.node


def _change(kind: ChangeKind, what: str, old: Node, new: Node, *steps: str | int) -> Change:
    is_of_list = steps == ("required",)
    has_old = _has(old, steps) and (kind is not _ADDED or is_of_list)
    has_new = _has(new, steps) and (kind is not _REMOVED or is_of_list)
    return Change(
        kind=kind,
        what=what,
        old=old.place(*steps) if has_old else None,
        new=new.place(*steps) if has_new else None,
        was=quoted(_value(old, steps)) if has_old else None,
        now=quoted(_value(new, steps)) if has_new else None,
    )


def _has(node: Node, steps: Path) -> bool:
    return not steps or _value(node, steps) is not None


def _value(node: Node, steps: Path) -> Any:
    return at(node.raw, steps)
