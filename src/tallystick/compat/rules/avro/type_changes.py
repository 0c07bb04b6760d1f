"""Rules for a type that is replaced by another, and for logical types."""

from collections.abc import Iterator

from tallystick.compat.rule import BACKWARD, FORWARD, rule
from tallystick.compat.rules.avro.pair import LOGICAL, RESOLUTION, Pair, type_finding
from tallystick.finding import Finding
from tallystick.formats.avro import resolution
from tallystick.formats.avro.types import Fixed, Primitive, describe


@rule(
    "AVRO_TYPE_NARROWED",
    "A type may be replaced by a wider one, not by a narrower one.",
    BACKWARD,
    source=f"{RESOLUTION}, primitive types",
)
def type_narrowed(pair: Pair) -> Iterator[Finding]:
    if resolution.is_promotable(pair.reader, pair.writer) and not resolution.is_promotable(pair.writer, pair.reader):
        yield from type_finding(
            pair,
            type_narrowed,
            "which does not hold every value that was written",
            f"keep {describe(pair.old)}, or add a new field of type {describe(pair.new)} with a default",
        )


@rule(
    "AVRO_TYPE_WIDENED",
    "A type that old readers are to read may not be replaced by a wider one.",
    FORWARD,
    source=f"{RESOLUTION}, primitive types",
)
def type_widened(pair: Pair) -> Iterator[Finding]:
    if resolution.is_promotable(pair.reader, pair.writer) and not resolution.is_promotable(pair.writer, pair.reader):
        yield from type_finding(
            pair,
            type_widened,
            "which holds values that readers with the old schema cannot take",
            f"keep {describe(pair.old)}, or add a new field of type {describe(pair.new)} with a default",
        )


@rule(
    "AVRO_TYPE_CHANGED",
    "A type may not be replaced by one that it cannot be read as.",
    BACKWARD,
    FORWARD,
    source=RESOLUTION,
)
def type_changed(pair: Pair) -> Iterator[Finding]:
    if not resolution.matches(pair.reader, pair.writer):
        yield from type_finding(
            pair,
            type_changed,
            "and the one cannot be read as the other",
            f"keep {describe(pair.old)}, or add a new field of another name with a default",
        )


@rule(
    "AVRO_DECIMAL_CHANGED",
    "A decimal keeps its precision and scale.",
    BACKWARD,
    FORWARD,
    source=f"{LOGICAL}, decimal",
    has_witness=False,
)
def decimal_changed(pair: Pair) -> Iterator[Finding]:
    old, new = pair.old.logical, pair.new.logical
    if old is not None and new is not None and old.name == new.name == "decimal" and old != new:
        yield from type_finding(
            pair,
            decimal_changed,
            "so the same bytes mean another number",
            f"keep precision {old.precision} and scale {old.scale}, or add a new field with a default",
        )


@rule(
    "AVRO_LOGICAL_TYPE_CHANGED",
    "A logical type may not be replaced by another one: the same number would mean something else.",
    BACKWARD,
    FORWARD,
    source=LOGICAL,
    has_witness=False,
)
def logical_type_changed(pair: Pair) -> Iterator[Finding]:
    if not isinstance(pair.old, Primitive | Fixed) or not isinstance(pair.new, Primitive | Fixed):
        return
    old, new = pair.old.logical, pair.new.logical
    if old is not None and new is not None and old.name != new.name:
        yield from type_finding(
            pair,
            logical_type_changed,
            "so what was written is taken for something else",
            f"keep {old.name}, or add a new field with a default",
        )
