"""Rules for two messages, and for messages that only one schema has."""

from collections.abc import Iterator

from tallystick.compat.rule import BACKWARD, FORWARD, rule
from tallystick.compat.rules.protobuf.fields import compare_fields, declaration, is_readable
from tallystick.compat.rules.protobuf.pair import Sides
from tallystick.compat.rules.protobuf.sources import GUIDE, GUIDE_2
from tallystick.finding import Finding, Place
from tallystick.formats.protobuf.schema import Field, Message, Ranges


def compare_messages(sides: Sides, old: Message, new: Message) -> Iterator[Finding]:
    """What is wrong between two messages themselves; the types of their fields are compared on their own."""
    for number, new_field in new.fields.items():
        old_field = old.fields.get(number)
        if old_field is not None and old_field != new_field:
            yield from compare_fields(sides, old_field, new_field)
        elif old_field is None and sides.direction is BACKWARD and is_reserved(number, old.reserved):
            place = sides.new.place(new_field.full_name, new_field.path)
            yield reserved_number_used(sides, number, f"field `{new_field.name}`", _place(sides, old, True), place)
    yield from _numbers(sides, old, new)
    yield from _required(sides, old, new)
    yield from _oneofs(sides, old, new)


def is_reserved(number: int, ranges: Ranges) -> bool:
    return any(start <= number < end for start, end in ranges)


def _place(sides: Sides, element: Message | Field, is_old: bool) -> Place:
    return (sides.old if is_old else sides.new).place(element.full_name, element.path)


def _numbers(sides: Sides, old: Message, new: Message) -> Iterator[Finding]:
    for name, new_field in new.by_name.items():
        old_field = old.by_name.get(name)
        if old_field is not None and old_field.number != new_field.number:
            yield number_changed(sides, old_field, new_field)


def _required(sides: Sides, old: Message, new: Message) -> Iterator[Finding]:
    written, read = sides.written_and_read(old, new)
    for number, field in read.fields.items():
        if field.is_required and not (number in written.fields and written.fields[number].is_required):
            if sides.direction is BACKWARD:
                yield required_added(sides, old.fields.get(number) or old, field)
            else:
                yield required_removed(sides, field, new.fields.get(number) or new)


def _oneofs(sides: Sides, old: Message, new: Message) -> Iterator[Finding]:
    written, read = sides.written_and_read(old, new)
    for oneof, members in read.oneofs.items():
        known = [n for n in members if n in written.fields and is_readable(sides, old.fields[n], new.fields[n])]
        groups = {written.fields[n].oneof or n for n in known}
        if len(groups) > 1:
            if sides.direction is BACKWARD:
                yield oneof_fields_moved_in(sides, old, new, oneof, known)
            else:
                yield oneof_fields_moved_out(sides, old, new, oneof, known)


@rule(
    "PROTOBUF_FIELD_NUMBER_CHANGED",
    "A field keeps its number.",
    BACKWARD,
    FORWARD,
    source=GUIDE,
)
def number_changed(sides: Sides, old: Field, new: Field) -> Finding:
    who = "the new schema" if sides.direction is BACKWARD else "the old schema"
    finding: Finding = number_changed.finding(
        sides.direction,
        f"the field `{new.name}` had number {old.number} and now has {new.number}: only the number is written, so"
        f" {who} does not find the value of `{new.name}`",
        f"give `{new.name}` its number {old.number} back",
        **sides.places(old, new),
        was=declaration(old),
        now=declaration(new),
    )
    return finding


@rule(
    "PROTOBUF_REQUIRED_ADDED",
    "No field becomes required.",
    BACKWARD,
    source=GUIDE_2,
)
def required_added(sides: Sides, old: Field | Message, new: Field) -> Finding:
    finding: Finding = required_added.finding(
        sides.direction,
        f"the field `{new.name}` is now required: the new schema refuses every record that was written without it",
        f"make `{new.name}` optional",
        **sides.places(old, new),
        was=declaration(old) if isinstance(old, Field) else None,
        now=declaration(new),
    )
    return finding


@rule(
    "PROTOBUF_REQUIRED_REMOVED",
    "A required field stays, and stays required.",
    FORWARD,
    source=GUIDE_2,
)
def required_removed(sides: Sides, old: Field, new: Field | Message) -> Finding:
    what = "no longer required" if isinstance(new, Field) else "gone"
    finding: Finding = required_removed.finding(
        sides.direction,
        f"the field `{old.name}` was required and is {what}: the old schema refuses every record that is written"
        " without it",
        f"keep `{old.name}` required",
        **sides.places(old, new),
        was=declaration(old),
        now=declaration(new) if isinstance(new, Field) else None,
    )
    return finding


def _names(message: Message, numbers: list[int]) -> str:
    return ", ".join(f"`{message.fields[n].name}`" for n in numbers)


@rule(
    "PROTOBUF_ONEOF_FIELDS_MOVED_IN",
    "Fields that could be set together do not move into one oneof.",
    BACKWARD,
    source=f"{GUIDE}; Protocol Buffers language guide, Oneof: backwards-compatibility issues",
)
def oneof_fields_moved_in(sides: Sides, old: Message, new: Message, oneof: str, numbers: list[int]) -> Finding:
    names = _names(new, numbers)
    finding: Finding = oneof_fields_moved_in.finding(
        sides.direction,
        f"{names} could be set together and now share the oneof `{oneof}`: the new schema keeps only the last of them"
        " that was written",
        f"leave at most one of {names} in `{oneof}`",
        old=_place(sides, old, True),
        new=sides.new.oneof_place(new, oneof),
        now=f"oneof {oneof}",
    )
    return finding


@rule(
    "PROTOBUF_ONEOF_FIELDS_MOVED_OUT",
    "Fields of one oneof do not become fields that can be set together.",
    FORWARD,
    source=f"{GUIDE}; Protocol Buffers language guide, Oneof: backwards-compatibility issues",
)
def oneof_fields_moved_out(sides: Sides, old: Message, new: Message, oneof: str, numbers: list[int]) -> Finding:
    names = _names(new, numbers)
    finding: Finding = oneof_fields_moved_out.finding(
        sides.direction,
        f"{names} shared the oneof `{oneof}` and can now be set together: the old schema keeps only the last of them"
        " that was written",
        f"leave {names} in one oneof",
        old=sides.old.oneof_place(old, oneof),
        new=_place(sides, new, False),
        was=f"oneof {oneof}",
    )
    return finding


@rule(
    "PROTOBUF_RESERVED_NUMBER_USED",
    "A reserved number is not used.",
    BACKWARD,
    source="Protocol Buffers language guide, Reserved Fields and Reserved Values",
    has_witness=False,
)
def reserved_number_used(sides: Sides, number: int, what: str, old: Place, new: Place) -> Finding:
    finding: Finding = reserved_number_used.finding(
        sides.direction,
        f"the {what} has the number {number}, which was reserved: records of earlier versions may hold something else"
        " under it",
        f"give the {what} a number that was never used, and keep {number} reserved",
        old=old,
        new=new,
        was=f"reserved {number}",
    )
    return finding


@rule(
    "PROTOBUF_MESSAGE_REMOVED",
    "A message that records may be is kept.",
    BACKWARD,
    source="Confluent, ProtobufSchemaDiff: MESSAGE_REMOVED; buf, MESSAGE_NO_DELETE (FILE)",
)
def message_removed(sides: Sides, old: Message) -> Finding:
    finding: Finding = message_removed.finding(
        sides.direction,
        f"the message {old.full_name} is gone: the new schema cannot read its records",
        f"keep the message {sides.old.relative(old.full_name)}",
        old=_place(sides, old, True),
        was=f"message {sides.old.relative(old.full_name)}",
    )
    return finding


@rule(
    "PROTOBUF_MESSAGE_ADDED",
    "No message is added that records may be.",
    FORWARD,
    source="Confluent, ProtobufSchemaDiff: MESSAGE_REMOVED with the two schemas exchanged",
)
def message_added(sides: Sides, new: Message) -> Finding:
    finding: Finding = message_added.finding(
        sides.direction,
        f"the message {new.full_name} is new and no other message contains it, so records may be written with it: the"
        " old schema cannot read them",
        f"register {sides.new.relative(new.full_name)} under a subject of its own",
        new=_place(sides, new, False),
        now=f"message {sides.new.relative(new.full_name)}",
    )
    return finding


@rule(
    "PROTOBUF_ROOT_MESSAGE_CHANGED",
    "A descriptor set keeps the name of its root message.",
    BACKWARD,
    FORWARD,
    source="Apache Pulsar, ProtobufNativeSchemaCompatibilityCheck: the root message may not change",
    has_witness=False,
)
def root_message_changed(sides: Sides, old: Message, new: Message) -> Finding:
    finding: Finding = root_message_changed.finding(
        sides.direction,
        f"the root message was {old.full_name} and is now {new.full_name}: a record does not say which message it is,"
        " so the one would be taken for the other",
        f"name {sides.old.relative(old.full_name)} as the root message, or use another topic",
        **sides.places(old, new),
        was=old.full_name,
        now=new.full_name,
    )
    return finding
