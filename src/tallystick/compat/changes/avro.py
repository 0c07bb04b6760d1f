"""Changes between two Avro schemas."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tallystick.compat.change import Change, ChangeKind
from tallystick.formats.avro import places, resolution
from tallystick.formats.avro.places import Spot
from tallystick.formats.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Record,
    Union,
    describe,
    enumerated,
)


def changes(old: AvroSchema, new: AvroSchema) -> Iterator[Change]:
    """Every change once, in the order of the new text, however often a type is used."""
    waiting = [_Pair(old, new, old.root, new.root, places.ROOT, places.ROOT, "the schema")]
    seen: set[tuple[AvroType, AvroType]] = set()
    while waiting:
        pair = waiting.pop()
        if pair.old is not pair.new and (pair.old, pair.new) not in seen:
            if isinstance(pair.old, Named) and pair.old.kind == pair.new.kind:
                seen.add((pair.old, pair.new))
            inner: list[_Pair] = []
            yield from _changes_of(pair, inner)
            waiting.extend(reversed(inner))


@dataclass(frozen=True, slots=True)
class _Pair:
    old_schema: AvroSchema
    new_schema: AvroSchema
    old: Any
    new: Any
    old_spot: Spot
    new_spot: Spot
    what: str

    def inner(self, old: AvroType, new: AvroType, old_spot: Spot, new_spot: Spot, what: str) -> "_Pair":
        return _Pair(self.old_schema, self.new_schema, old, new, old_spot, new_spot, what)

    def named(self) -> "_Pair":
        """The same pair, seen from where the named types are defined."""
        what = f"{self.new.kind} `{self.new.name}`"
        return self.inner(self.old, self.new, Spot(self.old.name, ()), Spot(self.new.name, ()), what)

    def change(
        self,
        kind: ChangeKind,
        what: str,
        was: str | None = None,
        now: str | None = None,
        old: tuple[str | int, ...] = (),
        new: tuple[str | int, ...] = (),
    ) -> Change:
        """A change at these steps from the pair; `was` or `now` is None for what is added or removed."""
        return Change(
            kind=kind,
            what=what,
            old=None if was is None else places.place(self.old_schema, self.old_spot.step(*old)),
            new=None if now is None else places.place(self.new_schema, self.new_spot.step(*new)),
            was=was,
            now=now,
        )


def _changes_of(pair: _Pair, inner: list[_Pair]) -> Iterator[Change]:
    old, new = pair.old, pair.new
    if isinstance(old, Union) or isinstance(new, Union):
        yield from _union_changes(pair, inner)
    elif old.kind != new.kind:
        yield _type_change(pair)
    elif isinstance(old, Named):
        yield from _heading_changes(pair.named())
        if isinstance(old, Record):
            yield from _record_changes(pair.named(), inner)
        elif isinstance(old, Enum):
            yield from _enum_changes(pair.named())
        elif isinstance(old, Fixed) and isinstance(new, Fixed) and (old.size, old.logical) != (new.size, new.logical):
            yield pair.named().change(ChangeKind.CHANGED, pair.named().what, describe(old), describe(new))
    elif isinstance(old, Array):
        inner.append(_part(pair, "items"))
    elif isinstance(old, Map):
        inner.append(_part(pair, "values"))
    else:
        yield pair.change(ChangeKind.CHANGED, f"logical type of {pair.what}", describe(old), describe(new))


def _part(pair: _Pair, key: str) -> _Pair:
    old, new = getattr(pair.old, key), getattr(pair.new, key)
    return pair.inner(old, new, pair.old_spot.step(key), pair.new_spot.step(key), f"the {key} of {pair.what}")


def _type_change(pair: _Pair) -> Change:
    kind = ChangeKind.CHANGED
    if resolution.is_promotable(pair.old, pair.new):
        kind = ChangeKind.WIDENED
    elif resolution.is_promotable(pair.new, pair.old):
        kind = ChangeKind.NARROWED
    return pair.change(kind, f"type of {pair.what}", describe(pair.old), describe(pair.new))


def _heading_changes(pair: _Pair) -> Iterator[Change]:
    old, new = pair.old, pair.new
    if old.name != new.name:
        yield pair.change(ChangeKind.RENAMED, f"{old.kind} `{old.name}`", old.name, new.name, ("name",), ("name",))
    if old.aliases != new.aliases:
        yield _attribute(pair, "aliases", ", ".join(old.aliases), ", ".join(new.aliases))
    if old.doc != new.doc:
        yield _attribute(pair, "doc", old.doc, new.doc)


def _attribute(pair: _Pair, key: str, was: str | None, now: str | None, steps: tuple[str | int, ...] = ()) -> Change:
    kind = ChangeKind.ADDED if not was else ChangeKind.REMOVED if not now else ChangeKind.CHANGED
    return pair.change(kind, f"{key} of {pair.what}", was or None, now or None, (*steps, key), (*steps, key))


def _record_changes(pair: _Pair, inner: list[_Pair]) -> Iterator[Change]:
    old, new = pair.old, pair.new
    sources = {name: resolution.source_of(field, new, old) for name, field in new.by_name.items()}
    for name, source in sources.items():
        if source is None:
            at = ("fields", new.index[name])
            yield pair.change(ChangeKind.ADDED, _field(name, new), now=_text(new.by_name[name]), new=at)
        elif new.by_name[name] is not old.by_name[source]:
            yield from _field_changes(pair, old.by_name[source], new.by_name[name], inner)
    kept = set(sources.values())
    for name in old.by_name:
        if name not in kept:
            at = ("fields", old.index[name])
            yield pair.change(ChangeKind.REMOVED, _field(name, old), was=_text(old.by_name[name]), old=at)
    order = [name for name in new.by_name if name in old.by_name]
    if order != [name for name in old.by_name if name in new.by_name]:
        was, now = (enumerated([f.name for f in record.fields]) for record in (old, new))
        yield pair.change(ChangeKind.CHANGED, f"order of the fields of record `{new.name}`", was, now)


def _field_changes(pair: _Pair, old: Field, new: Field, inner: list[_Pair]) -> Iterator[Change]:
    steps = ("fields", pair.old.index[old.name]), ("fields", pair.new.index[new.name])
    spots = pair.old_spot.step(*steps[0]), pair.new_spot.step(*steps[1])
    field = pair.inner(old.type, new.type, *spots, _field(new.name, pair.new))
    if old.name != new.name:
        yield field.change(ChangeKind.RENAMED, _field(old.name, pair.old), old.name, f"{new.name} (alias {old.name})")
    if old.default != new.default:
        yield _attribute(field, "default", old.default, new.default)
    if old.aliases != new.aliases:
        yield _attribute(field, "aliases", ", ".join(old.aliases), ", ".join(new.aliases))
    if old.doc != new.doc:
        yield _attribute(field, "doc", old.doc, new.doc)
    if old.order != new.order:
        yield field.change(ChangeKind.CHANGED, f"sort order of {field.what}", old.order, new.order)
    inner.append(pair.inner(old.type, new.type, spots[0].step("type"), spots[1].step("type"), field.what))


def _enum_changes(pair: _Pair) -> Iterator[Change]:
    old, new = pair.old, pair.new
    before, after = set(old.symbols), set(new.symbols)
    for i, symbol in enumerate(new.symbols):
        if symbol not in before:
            what = f"symbol `{symbol}` of {pair.what}"
            yield pair.change(ChangeKind.ADDED, what, now=symbol, new=("symbols", i))
    for i, symbol in enumerate(old.symbols):
        if symbol not in after:
            what = f"symbol `{symbol}` of {pair.what}"
            yield pair.change(ChangeKind.REMOVED, what, was=symbol, old=("symbols", i))
    kept = [symbol for symbol in new.symbols if symbol in before]
    if kept != [symbol for symbol in old.symbols if symbol in after]:
        was, now = enumerated(old.symbols), enumerated(new.symbols)
        yield pair.change(
            ChangeKind.CHANGED, f"order of the symbols of {pair.what}", was, now, ("symbols",), ("symbols",)
        )
    if old.default != new.default:
        yield _attribute(pair, "default", old.default, new.default)


def _union_changes(pair: _Pair, inner: list[_Pair]) -> Iterator[Change]:
    old, new = _branches(pair.old), _branches(pair.new)
    common = {tag for tag in new if tag in old and _is_readable_both_ways(old[tag][0], new[tag][0])}
    for tag in (tag for tag in new if tag in common):
        spots = pair.old_spot.step(*old[tag][1]), pair.new_spot.step(*new[tag][1])
        inner.append(pair.inner(old[tag][0], new[tag][0], *spots, pair.what))
    if not common or isinstance(pair.old, Union) != isinstance(pair.new, Union):
        yield _type_change(pair)
    else:
        yield from _branch_changes(pair, common)
    if list(old) != list(new) and set(old) == set(new):
        what = f"order of the union of {pair.what}"
        yield pair.change(ChangeKind.CHANGED, what, describe(pair.old), describe(pair.new))


def _branch_changes(pair: _Pair, common: set[str]) -> Iterator[Change]:
    old, new = _branches(pair.old), _branches(pair.new)
    for tag, (branch, steps) in new.items():
        if tag in old and tag not in common:
            was, old_steps = old[tag]
            what = f"{branch.kind} in the type of {pair.what}"
            yield pair.change(ChangeKind.CHANGED, what, describe(was), describe(branch), old_steps, steps)
        elif tag not in old:
            what = f"{describe(branch)} in the type of {pair.what}"
            yield pair.change(ChangeKind.ADDED, what, now=describe(branch), new=steps)
    for tag, (branch, steps) in old.items():
        if tag not in new:
            what = f"{describe(branch)} in the type of {pair.what}"
            yield pair.change(ChangeKind.REMOVED, what, was=describe(branch), old=steps)


def _is_readable_both_ways(old: AvroType, new: AvroType) -> bool:
    return resolution.matches(old, new) and resolution.matches(new, old)


def _branches(type_: AvroType) -> dict[str, tuple[AvroType, tuple[int, ...]]]:
    """The branches by what tells them apart, with the steps to each; any other type is like a union of one."""
    if not isinstance(type_, Union):
        return {_tag(type_): (type_, ())}
    return {_tag(branch): (branch, (i,)) for i, branch in enumerate(type_.branches)}


def _tag(type_: AvroType) -> str:
    return type_.name if isinstance(type_, Named) else type_.kind


def _field(name: str, record: Record) -> str:
    return f"field `{name}` of record `{record.name}`"


def _text(field: Field) -> str:
    return describe(field.type) + ("" if field.default is None else f" = {field.default}")
