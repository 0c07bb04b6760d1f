"""What changed between two KEY_VALUE schemas: the encoding, and whatever changed in the halves."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from tallystick.compat.change import Change, ChangeKind
from tallystick.compat.rules.key_value import encoding_place
from tallystick.formats import Schema
from tallystick.formats.key_value import KeyValueSchema
from tallystick.formats.key_value.source import HALVES, Half

Changes = Callable[[Schema, Schema], Iterable[Change]]


def changes(old: KeyValueSchema, new: KeyValueSchema, of_half: Changes) -> Iterator[Change]:
    """`of_half` lists the changes of a half, of whatever type it is."""
    if old.encoding != new.encoding:
        yield Change(
            kind=ChangeKind.CHANGED,
            what="encoding of key and value",
            old=encoding_place(old),
            new=encoding_place(new),
            was=old.encoding,
            now=new.encoding,
        )
    for half in HALVES:
        yield from _of_half(old, new, half, of_half)


def _of_half(old: KeyValueSchema, new: KeyValueSchema, half: Half, of_half: Changes) -> Iterator[Change]:
    was, now = old.half(half), new.half(half)
    if was.definition.type != now.definition.type:
        yield Change(
            kind=ChangeKind.CHANGED,
            what=f"type of the {half}",
            old=old.place(half, None),
            new=new.place(half, None),
            was=was.definition.type,
            now=now.definition.type,
        )
        return
    for change in of_half(was, now):
        yield replace(
            change,
            what=f"{change.what} in the {half}",
            old=change.old and old.place(half, change.old),
            new=change.new and new.place(half, change.new),
        )
