"""Can a Protobuf schema read what another wrote?

It can if the bytes of every record parse, and every field that both know, by its number or by its name, has the
value that was written. Messages are matched by their names within the package; a changed package changes no byte.
Field types are compared by structure: a field may get another message type if that reads the same. Names of fields
are not written, so a new name under the same number breaks nothing here (the JSON mapping does use them; the diff
lists them). Services carry no records and are not compared.
"""

from collections import deque
from collections.abc import Iterator

from tallystick.compat.options import Options
from tallystick.compat.rule import BACKWARD
from tallystick.compat.rules.protobuf.enums import compare_enums
from tallystick.compat.rules.protobuf.messages import (
    compare_messages,
    message_added,
    message_removed,
    root_message_changed,
)
from tallystick.compat.rules.protobuf.pair import Sides
from tallystick.finding import Direction, Finding
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.formats.protobuf.schema import Message

__all__ = ["compare"]

_Pair = tuple[str, str]
"""The full names of two types, old and new."""


def compare(old: ProtobufSchema, new: ProtobufSchema, direction: Direction, options: Options) -> Iterator[Finding]:
    sides = Sides(old.types, new.types, direction)
    if old.types.fingerprint == new.types.fingerprint and old.root == new.root:
        return
    if new.is_native and old.root is not None and new.root is not None:
        if old.types.relative(old.root) != new.types.relative(new.root):
            yield root_message_changed(sides, old.types.message(old.root), new.types.message(new.root))
        else:
            yield from _compare_all(sides, [(old.root, new.root)])
        return
    yield from _only_on_one_side(sides)
    own = [(o, n) for n in sides.new.own if (o := sides.old.absolute(sides.new.relative(n))) in sides.old.own]
    yield from _compare_all(sides, own)


def _only_on_one_side(sides: Sides) -> Iterator[Finding]:
    if sides.direction is BACKWARD:
        for name in sides.old.records:
            if sides.new.absolute(sides.old.relative(name)) not in sides.new.own:
                yield message_removed(sides, sides.old.message(name))
    else:
        for name in sides.new.records:
            if sides.old.absolute(sides.new.relative(name)) not in sides.old.own:
                yield message_added(sides, sides.new.message(name))


def _compare_all(sides: Sides, messages: list[_Pair]) -> Iterator[Finding]:
    """Compares pairs of messages and all pairs that their fields lead to, each once."""
    waiting, seen = deque(messages), set(messages)
    enums: dict[_Pair, None] = {}
    while waiting:
        old_name, new_name = waiting.popleft()
        old, new = sides.old.message(old_name), sides.new.message(new_name)
        if old != new:
            yield from compare_messages(sides, old, new)
        for is_enum, pair in _inner_pairs(old, new):
            if is_enum:
                enums[pair] = None
            elif pair not in seen:
                seen.add(pair)
                waiting.append(pair)
    for old_name, new_name in enums:
        yield from compare_enums(sides, sides.old.enum(old_name), sides.new.enum(new_name))


def _inner_pairs(old: Message, new: Message) -> Iterator[tuple[bool, _Pair]]:
    for number in new.typed:
        if number not in old.fields:
            continue
        old_field, new_field = old.fields[number], new.fields[number]
        if old_field.entry and new_field.entry:
            old_field, new_field = old_field.entry[1], new_field.entry[1]
        if old_field.kind == new_field.kind and old_field.type_full_name and new_field.type_full_name:
            yield old_field.kind == "enum", (old_field.type_full_name, new_field.type_full_name)
