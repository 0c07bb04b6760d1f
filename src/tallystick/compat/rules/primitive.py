"""Rules of the types without a text. Two schemas of one such type are the same, so only a change of type can break."""

from collections.abc import Iterator

from tallystick.compat.rule import BACKWARD, FORWARD, rule
from tallystick.finding import Direction, Finding, Place
from tallystick.formats.primitive import PrimitiveSchema
from tallystick.model import schema_type as types
from tallystick.model.schema_type import SchemaType

_ROOT = Place("")
_OPAQUE = {types.BYTES, types.NONE}
_PAYLOADS = {
    types.BYTES: "bytes of any meaning",
    types.NONE: "bytes of any meaning",
    types.STRING: "a text",
    types.BOOLEAN: "one byte for true or false",
    types.INT8: "an integer of 1 byte",
    types.INT16: "an integer of 2 bytes",
    types.INT32: "an integer of 4 bytes",
    types.INT64: "an integer of 8 bytes",
    types.FLOAT: "a floating-point number of 4 bytes",
    types.DOUBLE: "a floating-point number of 8 bytes",
    types.DATE: "the milliseconds of a date",
    types.TIME: "the milliseconds of a time of day",
    types.TIMESTAMP: "the milliseconds of a point in time",
    types.INSTANT: "the seconds and nanoseconds of a point in time",
    types.LOCAL_DATE: "the number of a day",
    types.LOCAL_TIME: "the nanoseconds of a time of day",
    types.LOCAL_DATE_TIME: "the number of a day and the nanoseconds of its time",
    types.EXTERNAL: "bytes that an outside registry explains",
}


@rule(
    "PRIMITIVE_TYPE_CHANGED",
    "A primitive type does not become another one: no primitive reads the bytes of another.",
    BACKWARD,
    FORWARD,
    source="Apache Pulsar 4.2, observed: no primitive is promoted, not even INT32 to INT64; BYTES and NONE are one",
    has_witness=False,
)
def primitive_type_changed(old: PrimitiveSchema, new: PrimitiveSchema, direction: Direction) -> Iterator[Finding]:
    was, now = old.definition.type, new.definition.type
    if was != now and {was, now} != _OPAQUE:
        yield primitive_type_changed.finding(
            direction,
            f"the type changed from {_outline(was)} to {_outline(now)}: the one does not read the payload of the other",
            f"keep the type {was}, or use another subject",
            old=_ROOT,
            new=_ROOT,
            was=was,
            now=now,
        )


def _outline(kind: SchemaType) -> str:
    return f"{kind} ({_PAYLOADS[kind]})"
