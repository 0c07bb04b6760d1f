"""The rules of Avro, and of Pulsar's JSON and Protobuf types, which are described by Avro text.

A comparison walks pairs of a reader's and a writer's type that stand for each other. Pairs wait in a list rather
than in recursive calls: records may hold each other, and chains of them may be long.
"""

from collections.abc import Iterator

from tallystick.compat.options import Options
from tallystick.compat.rule import BACKWARD, Rule
from tallystick.compat.rules.avro import named_types, records, type_changes, unions
from tallystick.compat.rules.avro.pair import Pair
from tallystick.finding import Direction, Finding
from tallystick.formats.avro import places, resolution
from tallystick.formats.avro.places import Spot
from tallystick.formats.avro.types import Array, AvroSchema, AvroType, Enum, Fixed, Map, Named, Record, Union


def compare(old: AvroSchema, new: AvroSchema, direction: Direction, options: Options) -> Iterator[Finding]:
    reader, writer = (new, old) if direction is BACKWARD else (old, new)
    if reader.root is writer.root:
        return
    waiting = [Pair(old, new, direction, reader.root, writer.root, places.ROOT, places.ROOT, "the schema")]
    seen: set[tuple[AvroType, AvroType]] = set()
    while waiting:
        pair = waiting.pop()
        if pair.reader is pair.writer or (pair.reader, pair.writer) in seen:
            continue
        if isinstance(pair.reader, Named) and pair.reader.kind == pair.writer.kind:
            seen.add((pair.reader, pair.writer))
        inner: list[Pair] = []
        yield from _compare_one(pair, inner)
        waiting.extend(reversed(inner))


def _compare_one(pair: Pair, inner: list[Pair]) -> Iterator[Finding]:
    reader, writer = pair.reader, pair.writer
    if isinstance(writer, Union):
        yield from _union_written(pair, inner)
    elif isinstance(reader, Union):
        yield from _union_read(pair, inner)
    elif reader.kind != writer.kind:
        yield from _first(
            pair,
            type_changes.type_narrowed,
            type_changes.type_widened,
            type_changes.type_changed,
            type_changes.logical_type_changed,
        )
    elif isinstance(reader, Named) and not resolution.has_same_name(reader, writer):
        yield from _all(pair, named_types.name_changed)
    elif isinstance(reader, Record):
        own = _where_defined(pair)
        yield from _all(
            own,
            records.field_alias_ambiguous,
            records.field_added_needs_default,
            records.field_renamed,
            records.field_removed_needs_default,
        )
        _pair_fields(own, inner)
    elif isinstance(reader, Enum):
        yield from _all(pair, named_types.enum_symbol_removed, named_types.enum_symbol_added)
    elif isinstance(reader, Array):
        inner.append(pair.part("items"))
    elif isinstance(reader, Map):
        inner.append(pair.part("values"))
    else:
        yield from _first(
            _where_defined(pair) if isinstance(reader, Fixed) else pair,
            named_types.fixed_size_changed,
            type_changes.decimal_changed,
            type_changes.logical_type_changed,
        )


def _where_defined(pair: Pair) -> Pair:
    """A pair of named types, seen from where they are defined rather than from where they are used."""
    spots = Spot(pair.reader.name, ()), Spot(pair.writer.name, ())
    return pair.inner(pair.reader, pair.writer, *spots, f"{pair.new.kind} `{pair.new.name}`")


def _all(pair: Pair, *rules: Rule) -> Iterator[Finding]:
    for each in rules:
        if pair.direction in each.breaks:
            yield from each(pair)


def _first(pair: Pair, *rules: Rule) -> Iterator[Finding]:
    """The findings of the first rule that has any: they explain the same thing, the most telling first."""
    for each in rules:
        found = list(_all(pair, each))
        if found:
            yield from found
            return


def _pair_fields(pair: Pair, inner: list[Pair]) -> None:
    reader, writer = pair.reader, pair.writer
    # Equal fields are one object, so this leaves the few that changed, at the speed of a set operation.
    changed = {name for name, _ in reader.by_name.items() - writer.by_name.items()}
    for name in sorted(changed, key=reader.index.__getitem__):
        source = resolution.source_of(reader.by_name[name], reader, writer)
        if source is not None:
            inner.append(_field_pair(pair, name, source))


def _field_pair(pair: Pair, name: str, source: str) -> Pair:
    reader, writer = pair.reader, pair.writer
    newer = name if pair.direction is BACKWARD else source
    return pair.inner(
        reader.by_name[name].type,
        writer.by_name[source].type,
        pair.reader_spot.step("fields", reader.index[name], "type"),
        pair.writer_spot.step("fields", writer.index[source], "type"),
        f"field `{newer}` of record `{pair.new.name}`",
    )


def _union_written(pair: Pair, inner: list[Pair]) -> Iterator[Finding]:
    """Each branch that may have been written is read on its own."""
    reader, writer = pair.reader, pair.writer
    taken = [unions.taker(reader, branch) for branch in writer.branches]
    if not any(found is not None for found in taken) and writer.branches:
        yield from _all(pair, unions.union_replaced)
        return
    yield from _all(pair, unions.union_branch_removed, unions.union_branch_added)
    for i, found in enumerate(taken):
        if found is not None:
            type_, steps = found
            spots = pair.reader_spot.step(*steps), pair.writer_spot.step(i)
            inner.append(pair.inner(type_, writer.branches[i], *spots, pair.what))


def _union_read(pair: Pair, inner: list[Pair]) -> Iterator[Finding]:
    found = unions.taker(pair.reader, pair.writer)
    if found is None:
        yield from _all(pair, unions.union_replaced)
    else:
        type_, steps = found
        inner.append(pair.inner(type_, pair.writer, pair.reader_spot.step(*steps), pair.writer_spot, pair.what))
