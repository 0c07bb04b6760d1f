"""Rules for two fields of one number."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tallystick.compat.rule import BACKWARD, FORWARD, Rule, rule
from tallystick.compat.rules.protobuf.pair import Sides, type_phrase
from tallystick.compat.rules.protobuf.scalars import Survival, survival
from tallystick.compat.rules.protobuf.sources import EDITIONS, ENCODING, GUIDE, GUIDE_2
from tallystick.finding import Finding
from tallystick.formats.protobuf.schema import Field


@dataclass(frozen=True, slots=True)
class FieldPair:
    """Two fields, and the part of them that is compared: the whole, or the keys or values of two maps."""

    sides: Sides
    old: Field
    new: Field
    old_part: Field
    new_part: Field
    what: str

    @property
    def survival(self) -> Survival:
        written, read = self.sides.written_and_read(self.old_part, self.new_part)
        return survival(written, self.sides.writer, read, self.sides.reader)

    @property
    def was(self) -> str:
        return declaration(self.old)

    @property
    def now(self) -> str:
        return declaration(self.new)

    def finding(self, of: Rule, message: str, fix: str) -> Finding:
        return of.finding(
            self.sides.direction,
            message,
            fix,
            **self.sides.places(self.old, self.new),
            was=self.was,
            now=self.now,
        )


def declaration(field: Field) -> str:
    """A field as a text would declare it, without its options."""
    label = "repeated " if field.is_repeated and not field.is_map else "required " if field.is_required else ""
    return f"{label}{type_phrase(field)} {field.name} = {field.number}"


def compare_fields(sides: Sides, old: Field, new: Field) -> Iterator[Finding]:
    """Everything that is wrong with reading the one field as the other."""
    pairs = list(_parts(sides, old, new))
    readable = True
    for pair in pairs:
        if pair.survival is Survival.NONE:
            readable = False
            yield _unreadable(pair)
        elif pair.survival is Survival.SOME:
            yield type_narrowed(pair) if sides.direction is BACKWARD else type_widened(pair)
    if readable:
        yield from _cardinality(FieldPair(sides, old, new, old, new, f"the field `{new.name}`"))
        yield from _default(FieldPair(sides, old, new, old, new, f"the field `{new.name}`"))


def is_readable(sides: Sides, old: Field, new: Field) -> bool:
    return all(pair.survival is not Survival.NONE for pair in _parts(sides, old, new))


def _parts(sides: Sides, old: Field, new: Field) -> Iterator[FieldPair]:
    if old.entry is None or new.entry is None:
        yield FieldPair(sides, old, new, old, new, f"the field `{new.name}`")
        return
    for part, old_part, new_part in zip(("keys", "values"), old.entry, new.entry, strict=True):
        yield FieldPair(sides, old, new, old_part, new_part, f"the {part} of the map `{new.name}`")


def _unreadable(pair: FieldPair) -> Finding:
    finding: Finding
    if {pair.old_part.kind, pair.new_part.kind} == {"message", "group"}:
        finding = message_encoding_changed(pair)
    elif pair.old.name != pair.new.name:
        finding = number_reused(pair)
    else:
        finding = type_changed(pair)
    return finding


def _cardinality(pair: FieldPair) -> Iterator[Finding]:
    written, read = pair.sides.written_and_read(pair.old, pair.new)
    is_backward = pair.sides.direction is BACKWARD
    if written.is_repeated and not read.is_repeated:
        yield made_singular(pair) if is_backward else made_repeated(pair)
    elif read.is_map and written.is_repeated and not written.is_map:
        yield made_map(pair) if is_backward else made_list(pair)


def _default(pair: FieldPair) -> Iterator[Finding]:
    written, read = pair.sides.written_and_read(pair.old, pair.new)
    if written.is_repeated or read.is_repeated or written.is_required or (written.is_message and read.is_message):
        return
    if _comparable(written.default) != _comparable(read.default):
        yield default_changed(pair)


def _comparable(default: Any) -> Any:
    if default is None:  # an unset message, read as bytes
        return b""
    if isinstance(default, str):
        return default.encode("utf-8", "surrogateescape")
    return "nan" if isinstance(default, float) and math.isnan(default) else default


def _reader(pair: FieldPair) -> str:
    return "the new schema" if pair.sides.direction is BACKWARD else "the old schema"


@rule(
    "PROTOBUF_FIELD_TYPE_CHANGED",
    "A field keeps a type whose bytes mean the same.",
    BACKWARD,
    FORWARD,
    source=f"{GUIDE}; {ENCODING}",
)
def type_changed(pair: FieldPair) -> Finding:
    old, new = type_phrase(pair.old_part), type_phrase(pair.new_part)
    return pair.finding(
        type_changed,
        f"{pair.what} changed from {old} to {new}, which are written differently: {_reader(pair)} does not see"
        " the value that was written",
        f"keep {old} under number {pair.old.number}, and give the {new} a field with a number of its own",
    )


@rule(
    "PROTOBUF_FIELD_TYPE_NARROWED",
    "The new type of a field holds every value of the old one.",
    BACKWARD,
    source=GUIDE,
)
def type_narrowed(pair: FieldPair) -> Finding:
    old, new = type_phrase(pair.old_part), type_phrase(pair.new_part)
    return pair.finding(
        type_narrowed,
        f"{pair.what} changed from {old} to {new}, which does not hold every {old}: {_loss(pair, old, new)}",
        f"keep {old}, or add a field of type {new} under a new number",
    )


@rule(
    "PROTOBUF_FIELD_TYPE_WIDENED",
    "The old type of a field holds every value of the new one.",
    FORWARD,
    source=GUIDE,
)
def type_widened(pair: FieldPair) -> Finding:
    old, new = type_phrase(pair.old_part), type_phrase(pair.new_part)
    return pair.finding(
        type_widened,
        f"{pair.what} changed from {old} to {new}; readers that still have {old} do not hold every {new}:"
        f" {_loss(pair, new, old)}",
        f"keep {old}, or add a field of type {new} under a new number",
    )


def _loss(pair: FieldPair, written: str, read: str) -> str:
    part = pair.sides.written_and_read(pair.old_part, pair.new_part)[1]
    if part.kind == "string":
        return "bytes that are no UTF-8 are refused"
    if part.kind == "message":
        return f"bytes that are no encoded {read} are refused"
    if part.kind == "enum":
        return f"numbers that {read} does not have are lost"
    if part.kind == "bool":
        return "every number but 0 is read as true"
    return f"{written} values outside its range are read as other numbers"


@rule(
    "PROTOBUF_FIELD_NUMBER_REUSED",
    "A field number is not given to another field.",
    BACKWARD,
    FORWARD,
    source=f"{GUIDE}; Protocol Buffers language guide, Reserved Fields",
)
def number_reused(pair: FieldPair) -> Finding:
    return pair.finding(
        number_reused,
        f"number {pair.old.number} belonged to `{pair.old.name}` ({type_phrase(pair.old)}) and now to"
        f" `{pair.new.name}` ({type_phrase(pair.new)}): each schema takes the one for the other",
        f"give `{pair.new.name}` a number that was never used, and write `reserved {pair.old.number};`",
    )


@rule(
    "PROTOBUF_MESSAGE_ENCODING_CHANGED",
    "A message field keeps its encoding: with a length, or between a start and an end mark (group, DELIMITED).",
    BACKWARD,
    FORWARD,
    source=f"{EDITIONS}, message_encoding; {ENCODING}, Groups",
)
def message_encoding_changed(pair: FieldPair) -> Finding:
    old, new = _encoding(pair.old_part), _encoding(pair.new_part)
    return pair.finding(
        message_encoding_changed,
        f"{pair.what} was written {old} and is now written {new}: {_reader(pair)} skips it as an unknown field",
        f"keep it {old}, or add a field under a new number",
    )


def _encoding(field: Field) -> str:
    return "as a group (DELIMITED)" if field.kind == "group" else "with its length (LENGTH_PREFIXED)"


@rule(
    "PROTOBUF_FIELD_MADE_SINGULAR",
    "A repeated field stays repeated.",
    BACKWARD,
    source=GUIDE,
)
def made_singular(pair: FieldPair) -> Finding:
    return pair.finding(
        made_singular,
        f"the field `{pair.new.name}` was {_plural(pair.old)} and is now single: of several written elements the new"
        " schema sees at most one",
        f"keep `{pair.new.name}` {_plural(pair.old)}, or add a single field under a new number",
    )


@rule(
    "PROTOBUF_FIELD_MADE_REPEATED",
    "A single field stays single.",
    FORWARD,
    source=GUIDE,
)
def made_repeated(pair: FieldPair) -> Finding:
    return pair.finding(
        made_repeated,
        f"the field `{pair.new.name}` was single and is now {_plural(pair.new)}: of several written elements the old"
        " schema sees at most one",
        f"keep `{pair.new.name}` single, or add the {_plural(pair.new)} field under a new number",
    )


def _plural(field: Field) -> str:
    return "a map" if field.is_map else "repeated"


@rule(
    "PROTOBUF_FIELD_MADE_MAP",
    "A list of entries does not become a map.",
    BACKWARD,
    source="Protocol Buffers language guide, Maps: backward compatibility; of equal keys the last one counts",
)
def made_map(pair: FieldPair) -> Finding:
    return pair.finding(
        made_map,
        f"the field `{pair.new.name}` was a list and is now a map: of elements with the same key the new schema keeps"
        " only the last",
        f"keep `{pair.new.name}` repeated, or add the map under a new number",
    )


@rule(
    "PROTOBUF_FIELD_MADE_LIST",
    "A map does not become a list of entries.",
    FORWARD,
    source="Protocol Buffers language guide, Maps: backward compatibility; of equal keys the last one counts",
)
def made_list(pair: FieldPair) -> Finding:
    return pair.finding(
        made_list,
        f"the field `{pair.new.name}` was a map and is now a list: of elements with the same key the old schema keeps"
        " only the last",
        f"keep `{pair.new.name}` a map, or add the list under a new number",
    )


@rule(
    "PROTOBUF_DEFAULT_CHANGED",
    "A field that was not written means the same to both sides.",
    BACKWARD,
    FORWARD,
    source=f"{GUIDE_2}: each side sees its own default; buf, FIELD_SAME_DEFAULT (WIRE)",
)
def default_changed(pair: FieldPair) -> Finding:
    old, new = pair.old.default, pair.new.default
    finding: Finding = default_changed.finding(
        pair.sides.direction,
        f"the default of the field `{pair.new.name}` changed from {_short(old)} to {_short(new)}: defaults are not"
        " written, so a record without the field means the one to its writer and the other to its reader",
        f"keep the default {_short(old)}",
        **pair.sides.places(pair.old, pair.new),
        was=_short(old),
        now=_short(new),
    )
    return finding


def _short(default: Any) -> str:
    text = (
        str(default).lower()
        if isinstance(default, bool)
        else str(default)
        if not isinstance(default, str)
        else repr(default)
    )
    return text if len(text) <= 60 else text[:59] + "…"
