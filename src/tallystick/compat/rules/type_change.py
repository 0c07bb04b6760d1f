"""Rules across schema types: they ask what kind of schema stands there, not what is in it."""

from collections.abc import Iterator

from tallystick.compat.options import Options
from tallystick.compat.rule import BACKWARD, FORWARD, rule
from tallystick.compat.rules import key_value
from tallystick.compat.rules.primitive import primitive_type_changed
from tallystick.finding import Direction, Finding, Place
from tallystick.formats import Schema, is_same
from tallystick.formats.key_value.parse import KeyValueSchema, leaf_types
from tallystick.formats.key_value.source import HALVES
from tallystick.formats.primitive import PrimitiveSchema
from tallystick.model import schema_type as types
from tallystick.model.strategy import Strategy

_ROOT = Place("")


def compare(old: Schema, new: Schema, direction: Direction) -> Iterator[Finding]:
    """Findings for two schemas of different types; at most one, and the one that says most."""
    if is_external(old) != is_external(new):
        yield from external_mixed_with_native(old, new, direction)
    elif isinstance(old, PrimitiveSchema) and isinstance(new, PrimitiveSchema):
        yield from primitive_type_changed(old, new, direction)
    else:
        yield from schema_type_changed(old, new, direction)


def compare_without_rules(old: Schema, new: Schema, direction: Direction, options: Options) -> Iterator[Finding]:
    """Findings for two schemas of one type that has no rules of its own: a changed schema may be anything."""
    if not is_same(old, new):
        yield from schema_type_changed(old, new, direction)


def external_with_native(old: Schema, new: Schema) -> Iterator[Finding]:
    """Findings that no strategy lets pass."""
    if isinstance(old, KeyValueSchema) and isinstance(new, KeyValueSchema):
        for half in HALVES:
            for finding in external_with_native(old.half(half), new.half(half)):
                yield key_value.in_half(old, new, half, finding)
    elif is_external(old) != is_external(new):
        for direction in Direction:
            yield from external_mixed_with_native(old, new, direction)


def is_external(schema: Schema) -> bool:
    """Whether another registry keeps the schema, or a half of it."""
    return types.EXTERNAL in leaf_types(schema)


@rule(
    "SCHEMA_TYPE_CHANGED",
    "A schema of another type does not fit, in neither direction; nor does a changed one of a type without rules.",
    BACKWARD,
    FORWARD,
    source="Apache Pulsar 4.2, observed: a schema of another type is refused, but under ALWAYS_COMPATIBLE",
    has_witness=False,
)
def schema_type_changed(old: Schema, new: Schema, direction: Direction) -> Iterator[Finding]:
    was, now = old.definition.type, new.definition.type
    reason = (
        f"the schema was of type {was} and is now of type {now}: the payloads of the two are of different kinds"
        if was != now
        else f"the schema of type {was} changed, and there are no rules that say whether such a change fits"
    )
    fix = f"give a schema of type {was}" if was != now else "give the schema unchanged"
    yield schema_type_changed.finding(
        direction, reason, f"{fix}, or use another subject", old=_ROOT, new=_ROOT, was=was, now=now
    )


@rule(
    "EXTERNAL_MIXED_WITH_NATIVE",
    "A schema that another registry keeps fits only schemas of that registry, under every strategy.",
    BACKWARD,
    FORWARD,
    source="PIP-420, SchemaType EXTERNAL: it is compatible with no other schema type",
    has_witness=False,
    under=tuple(Strategy),
)
def external_mixed_with_native(old: Schema, new: Schema, direction: Direction) -> Iterator[Finding]:
    was, now = _kept_by(old), _kept_by(new)
    yield external_mixed_with_native.finding(
        direction,
        f"the schema was {was} and is now {now}: the two cannot be compared, and their payloads cannot be told apart",
        f"give a schema that is {was}, or use another subject",
        old=_ROOT,
        new=_ROOT,
        was=_outline(old),
        now=_outline(new),
    )


def _kept_by(schema: Schema) -> str:
    return "kept by an outside registry (EXTERNAL)" if is_external(schema) else "kept here"


def _outline(schema: Schema) -> str:
    kind, leaves = schema.definition.type, list(leaf_types(schema))
    return kind if leaves == [kind] else f"{kind} of {', '.join(leaves)}"


@rule(
    "SCHEMA_FROZEN",
    "No schema but a registered one is let in.",
    source="Apache Pulsar 4.2, observed: ALWAYS_INCOMPATIBLE refuses every other schema",
    has_witness=False,
    under=(Strategy.ALWAYS_INCOMPATIBLE,),
)
def frozen(old: Schema, new: Schema) -> Iterator[Finding]:
    if not is_same(old, new):
        yield frozen.finding(
            None,
            "the strategy ALWAYS_INCOMPATIBLE lets no change in, and this is not the registered schema",
            "give the registered schema, or ask for another strategy",
            old=_ROOT,
            new=_ROOT,
            was=_outline(old),
            now=_outline(new),
        )
