"""Rules for two enums that write and read the same field."""

from collections.abc import Iterator

from tallystick.compat.rule import BACKWARD, FORWARD, rule
from tallystick.compat.rules.protobuf.messages import is_reserved, reserved_number_used
from tallystick.compat.rules.protobuf.pair import Sides
from tallystick.compat.rules.protobuf.sources import ENUMS
from tallystick.finding import Finding, Place
from tallystick.formats.protobuf.schema import Enum


def compare_enums(sides: Sides, old: Enum, new: Enum) -> Iterator[Finding]:
    if old == new:
        return
    written, read = sides.written_and_read(old, new)
    moved = [name for name, number in old.numbers.items() if new.numbers.get(name, number) != number]
    for name in moved:
        yield value_number_changed(sides, old, new, name)
    if read.is_closed and not written.is_closed:
        yield enum_closed(sides, old, new) if sides.direction is BACKWARD else enum_opened(sides, old, new)
    elif read.is_closed:
        gone = [name for number, name in written.names.items() if number not in read.names and name not in moved]
        for name in gone:
            yield (
                value_removed(sides, old, new, name)
                if sides.direction is BACKWARD
                else value_added(sides, old, new, name)
            )
    if sides.direction is BACKWARD:
        for number, name in new.names.items():
            if is_reserved(number, old.reserved) and number not in old.names:
                yield reserved_number_used(
                    sides, number, f"value `{name}`", _place(sides, old, True), sides.new.value_place(new, name)
                )


def _place(sides: Sides, enum: Enum, is_old: bool) -> Place:
    return (sides.old if is_old else sides.new).place(enum.full_name, enum.path)


@rule(
    "PROTOBUF_ENUM_VALUE_REMOVED",
    "A closed enum keeps its values.",
    BACKWARD,
    source=ENUMS,
)
def value_removed(sides: Sides, old: Enum, new: Enum, name: str) -> Finding:
    finding: Finding = value_removed.finding(
        sides.direction,
        f"the closed enum {new.full_name} lost {name} = {old.numbers[name]}: the new schema reads a field with that"
        " value as if it were not set",
        f"keep {name} = {old.numbers[name]}",
        old=sides.old.value_place(old, name),
        new=_place(sides, new, False),
        was=f"{name} = {old.numbers[name]}",
    )
    return finding


@rule(
    "PROTOBUF_ENUM_VALUE_ADDED",
    "A closed enum gets no new values.",
    FORWARD,
    source=ENUMS,
)
def value_added(sides: Sides, old: Enum, new: Enum, name: str) -> Finding:
    finding: Finding = value_added.finding(
        sides.direction,
        f"the closed enum {new.full_name} gained {name} = {new.numbers[name]}: the old schema reads a field with that"
        " value as if it were not set",
        f"leave {name} out until every reader knows it, or add a field with an enum of its own",
        old=_place(sides, old, True),
        new=sides.new.value_place(new, name),
        now=f"{name} = {new.numbers[name]}",
    )
    return finding


def _openness(sides: Sides, old: Enum, new: Enum) -> dict[str, Place]:
    return {"old": _place(sides, old, True), "new": _place(sides, new, False)}


@rule(
    "PROTOBUF_ENUM_CLOSED",
    "An open enum stays open.",
    BACKWARD,
    source=f"{ENUMS}: a closed enum drops numbers that it does not name",
)
def enum_closed(sides: Sides, old: Enum, new: Enum) -> Finding:
    finding: Finding = enum_closed.finding(
        sides.direction,
        f"the enum {new.full_name} was open and is now closed: numbers without a name could be written and are now"
        " read as if the field were not set",
        "keep the enum open (features.enum_type = OPEN)",
        **_openness(sides, old, new),
        was="open",
        now="closed",
    )
    return finding


@rule(
    "PROTOBUF_ENUM_OPENED",
    "A closed enum stays closed.",
    FORWARD,
    source=f"{ENUMS}: a closed enum drops numbers that it does not name",
)
def enum_opened(sides: Sides, old: Enum, new: Enum) -> Finding:
    finding: Finding = enum_opened.finding(
        sides.direction,
        f"the enum {new.full_name} was closed and is now open: numbers without a name can be written, and the old"
        " schema reads them as if the field were not set",
        "keep the enum closed (features.enum_type = CLOSED)",
        **_openness(sides, old, new),
        was="closed",
        now="open",
    )
    return finding


@rule(
    "PROTOBUF_ENUM_VALUE_NUMBER_CHANGED",
    "The name of an enum value keeps its number.",
    BACKWARD,
    FORWARD,
    source=f"{ENUMS}; only the number is written",
)
def value_number_changed(sides: Sides, old: Enum, new: Enum, name: str) -> Finding:
    was, now = old.numbers[name], new.numbers[name]
    who = "the new schema" if sides.direction is BACKWARD else "the old schema"
    finding: Finding = value_number_changed.finding(
        sides.direction,
        f"{name} of the enum {new.full_name} was {was} and is now {now}: only the number is written, so {who} reads it"
        " as something else",
        f"keep {name} = {was}, and give a new value a new number",
        old=sides.old.value_place(old, name),
        new=sides.new.value_place(new, name),
        was=f"{name} = {was}",
        now=f"{name} = {now}",
    )
    return finding
