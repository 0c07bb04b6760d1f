"""The schemas of many writers as one: a union, in which a number before each payload tells the branch.

Spark's `from_avro` reads by one schema. With a CASE over many of them each record pays for those that it is not of;
Avro's library finds the branch of a union at once, so a hundred schemas cost what one does.

A name stands for one type in a whole schema. Types that the reader takes have the reader's names, so writers whose
types of one name differ cannot be in one union, and there are several.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tallystick.formats.avro.types import AvroSchema, Record, Union
from tallystick.spark.decoding import avro_texts
from tallystick.spark.decoding.avro_seal import Seal

VALUE = "v"
_OWN = "tally."
"""Where the names are that no reader knows."""
_SEVEN_BITS = 127


@dataclass(frozen=True, slots=True)
class Joint:
    """One schema for some writers and one reader."""

    writer: str
    reader: str
    is_bare: bool
    """Whether it reads the value itself, and not a record around it."""
    members: tuple[int, ...]
    """Which writers, in the order of the branches."""

    def heads(self) -> dict[int, bytes]:
        """What stands before the payloads of each writer."""
        return {member: _number(branch) for branch, member in enumerate(self.members)}


def join(writers: Sequence[AvroSchema], reader: AvroSchema, seal: Seal) -> list[Joint]:
    """Each writer is in one of them. Raises `Unsupported` for a writer or reader that Spark cannot read."""
    unions: list[_Union] = []
    for member, writer in enumerate(writers):
        type_ = avro_texts.writer_type(writer, reader)
        branch = _Branch.of(type_, reader, seal, member)
        fitting = next((union for union in unions if union.takes(branch)), None)
        if fitting is None:
            fitting = _Union(branch.is_bare)
            unions.append(fitting)
        fitting.add(branch)
    texts = {is_bare: reader_text(reader, is_bare=is_bare) for is_bare in {union.is_bare for union in unions}}
    return [union.joint(texts[union.is_bare]) for union in unions]


def reader_text(reader: AvroSchema, *, is_bare: bool) -> str:
    type_ = avro_texts.reader_type(reader)
    return json.dumps(type_ if is_bare else _record(f"{_OWN}Value", [{"name": VALUE, "type": type_}]))


def certain_field(reader: AvroSchema) -> str | None:
    """A field that is null only in a record that could not be read: Spark makes a record of nulls of such a one."""
    if not isinstance(reader.root, Record):
        return None
    return next((f.name for f in reader.root.fields if not _may_be_null(f.type)), None)


def _may_be_null(type_: Any) -> bool:
    branches = type_.branches if isinstance(type_, Union) else (type_,)
    return any(branch.kind == "null" for branch in branches)


@dataclass(frozen=True, slots=True)
class _Branch:
    member: int
    type: dict[str, Any]
    is_bare: bool
    named: dict[str, str]
    """Its types that other branches may have too, by their names."""

    @classmethod
    def of(cls, type_: Any, reader: AvroSchema, seal: Seal, member: int) -> "_Branch":
        own = _renamed(type_, f"{_OWN}w{member}.")
        is_bare = certain_field(reader) is not None and isinstance(own, dict) and own["type"] == "record"
        fields = own["fields"] if is_bare else [{"name": VALUE, "type": own}]
        taken = {f["name"] for f in fields} | (reader.root.by_name.keys() if isinstance(reader.root, Record) else set())
        free = next(name for name in (f"seal{i or ''}" for i in range(len(taken) + 1)) if name not in taken)
        whole = _record(f"{_OWN}Writer{member}", [*fields, {"name": free, "type": seal.type}])
        named = {name: shallow for name, shallow in _named(whole) if name != whole["name"]}
        return cls(member, whole, is_bare, named)


@dataclass(slots=True)
class _Union:
    is_bare: bool
    branches: list[_Branch] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)

    def takes(self, branch: _Branch) -> bool:
        return branch.is_bare == self.is_bare and all(
            self.named.get(name, shallow) == shallow for name, shallow in branch.named.items()
        )

    def add(self, branch: _Branch) -> None:
        self.branches.append(branch)
        self.named |= branch.named

    def joint(self, reader: str) -> Joint:
        written: set[str] = set()
        types = [_once(branch.type, written) for branch in self.branches]
        return Joint(json.dumps(types), reader, self.is_bare, tuple(branch.member for branch in self.branches))


def _record(name: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": fields}


def _renamed(type_: Any, prefix: str) -> Any:
    """With names of its own for the types that no reader knows."""
    match type_:
        case str():
            return prefix + type_.removeprefix(_OWN) if type_.startswith(_OWN) else type_
        case list():
            return [_renamed(branch, prefix) for branch in type_]
        case {"name": str(name)}:
            return _mapped({**type_, "name": _renamed(name, prefix)}, lambda inner: _renamed(inner, prefix))
    return _mapped(type_, lambda inner: _renamed(inner, prefix))


def _mapped(type_: dict[str, Any], change: Any) -> dict[str, Any]:
    """With its parts changed."""
    told = dict(type_)
    if "fields" in told:
        told["fields"] = [{**f, "type": change(f["type"])} for f in told["fields"]]
    for part in ("items", "values"):
        if part in told:
            told[part] = change(told[part])
    return told


def _named(type_: Any) -> Iterator[tuple[str, str]]:
    """The types that are defined in a type, each with only the names of those in it."""
    match type_:
        case list():
            for branch in type_:
                yield from _named(branch)
        case dict():
            if "name" in type_:
                yield type_["name"], json.dumps(_mapped(type_, _by_name))
            for f in type_.get("fields", ()):
                yield from _named(f["type"])
            for part in ("items", "values"):
                yield from _named(type_.get(part, []))


def _by_name(type_: Any) -> Any:
    match type_:
        case list():
            return [_by_name(branch) for branch in type_]
        case {"name": name}:
            return name
        case dict():
            return _mapped(type_, _by_name)
    return type_


def _once(type_: Any, written: set[str]) -> Any:
    """With each type defined where it stands first."""
    match type_:
        case list():
            return [_once(branch, written) for branch in type_]
        case {"name": name} if name in written:
            return name
        case dict():
            written |= {type_["name"]} if "name" in type_ else set()
            return _mapped(type_, lambda inner: _once(inner, written))
    return type_


def _number(number: int) -> bytes:
    """As Avro writes the number of a branch."""
    left, out = 2 * number, bytearray()
    while left > _SEVEN_BITS:
        out.append(left & _SEVEN_BITS | _SEVEN_BITS + 1)
        left >>= 7
    return bytes([*out, left])
