"""Rules of KEY_VALUE: the key is compared with the key and the value with the value, each by its own type's rules."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from tallystick.compat.options import Options
from tallystick.compat.rule import BACKWARD, FORWARD, rule
from tallystick.finding import Direction, Finding, Place
from tallystick.formats import Schema, json_source
from tallystick.formats.key_value import KeyValueSchema
from tallystick.formats.key_value.source import HALVES, Half

Reading = Callable[[Schema, Schema, Direction, Options], Iterable[Finding]]


def compare(
    old: KeyValueSchema, new: KeyValueSchema, direction: Direction, options: Options, reading: Reading
) -> Iterator[Finding]:
    """`reading` compares the halves, of whatever type they are."""
    yield from encoding_changed(old, new, direction)
    for half in HALVES:
        for finding in reading(old.half(half), new.half(half), direction, options):
            yield in_half(old, new, half, finding)


def in_half(old: KeyValueSchema, new: KeyValueSchema, half: Half, finding: Finding) -> Finding:
    """A finding of two halves as one of the pairs that they belong to."""
    return replace(
        finding,
        message=f"in the {half}: {finding.message}",
        fix=f"in the {half}, {finding.fix}",
        old=finding.old and old.place(half, finding.old),
        new=finding.new and new.place(half, finding.new),
    )


@rule(
    "KEY_VALUE_ENCODING_CHANGED",
    "Key and value stay together (INLINE) or apart (SEPARATED): the one is not read as the other.",
    BACKWARD,
    FORWARD,
    source="Apache Pulsar 4.2, KeyValue payloads: INLINE frames key and value, SEPARATED is the value alone",
    has_witness=False,
)
def encoding_changed(old: KeyValueSchema, new: KeyValueSchema, direction: Direction) -> Iterator[Finding]:
    if old.encoding != new.encoding:
        yield encoding_changed.finding(
            direction,
            f"the encoding changed from {old.encoding} to {new.encoding}, so the payload holds other parts",
            f"keep the encoding {old.encoding}, or use another subject",
            old=encoding_place(old),
            new=encoding_place(new),
            was=old.encoding,
            now=new.encoding,
        )


def encoding_place(schema: KeyValueSchema) -> Place:
    return json_source.place(schema.definition.text, ("encoding",))
