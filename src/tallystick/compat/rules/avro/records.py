"""Rules for the fields of records."""

from collections.abc import Iterator

from tallystick.compat.rule import BACKWARD, FORWARD, rule
from tallystick.compat.rules.avro.pair import ALIASES, RESOLUTION, Pair
from tallystick.finding import Finding
from tallystick.formats.avro import resolution
from tallystick.formats.avro.types import Array, AvroType, Enum, Field, Map, Primitive, Union, describe


def _unread(pair: Pair) -> list[Field]:
    """Fields of the reader that nothing was written for and that have no default."""
    reader, writer = pair.reader, pair.writer
    missing = (reader.by_name[name] for name in reader.by_name.keys() - writer.by_name.keys())
    unread = [f for f in missing if f.default is None and resolution.source_of(f, reader, writer) is None]
    return sorted(unread, key=lambda field: reader.index[field.name])


def _field_text(field: Field) -> str:
    return f"{field.name}: {describe(field.type)}" + ("" if field.default is None else f" = {field.default}")


@rule(
    "AVRO_FIELD_ADDED_NEEDS_DEFAULT",
    "A field that is added needs a default.",
    BACKWARD,
    source=f"{RESOLUTION}, records",
)
def field_added_needs_default(pair: Pair) -> Iterator[Finding]:
    unread = _unread(pair)
    gone = _gone_by_type(pair) if unread else {}
    for field in unread:
        spot = pair.reader_spot.step("fields", pair.reader.index[field.name])
        yield pair.finding(
            field_added_needs_default,
            f"field `{field.name}` of record `{pair.reader.name}` is new and has no default, so records written "
            "without it cannot be read",
            _default_or_alias(field, gone.get(describe(field.type), [])),
            reader=spot,
            was="no such field",
            now=_field_text(field),
        )


def _gone_by_type(pair: Pair) -> dict[str, list[str]]:
    """The names that only the writer has, by the descriptions of their types."""
    gone: dict[str, list[str]] = {}
    for field in pair.writer.fields:
        if field.name not in pair.reader.by_name:
            gone.setdefault(describe(field.type), []).append(field.name)
    return gone


def _default_or_alias(field: Field, gone: list[str]) -> str:
    fix = f"give `{field.name}` a default, for example {_default_example(field.type)}"
    if len(gone) == 1 and gone[0] not in field.aliases:
        fix += f'; or, if it is `{gone[0]}` under a new name, add "aliases": ["{gone[0]}"] to it'
    return fix


def _default_example(type_: AvroType) -> str:
    match type_:
        case Union(branches=branches) if any(branch.kind == "null" for branch in branches):
            return '"default": null'
        case Array():
            return '"default": []'
        case Map():
            return '"default": {}'
        case Enum(symbols=symbols) if symbols:
            return f'"default": "{symbols[0]}"'
        case Primitive(kind="string" | "bytes"):
            return '"default": ""'
        case Primitive(kind="boolean"):
            return '"default": false'
        case Primitive(kind="int" | "long" | "float" | "double"):
            return '"default": 0'
    return 'by making it optional: "type": ["null", …], "default": null'


@rule(
    "AVRO_FIELD_REMOVED_NEEDS_DEFAULT",
    "A field that is removed needs a default in the schema that had it.",
    FORWARD,
    source=f"{RESOLUTION}, records",
)
def field_removed_needs_default(pair: Pair) -> Iterator[Finding]:
    for field in _unread(pair):
        if field.name not in pair.writer.by_alias:
            yield pair.finding(
                field_removed_needs_default,
                f"field `{field.name}` of record `{pair.reader.name}` is gone and had no default, so readers that "
                "still expect it cannot read new records",
                f"keep `{field.name}`; or first register a version in which it has a default, move all readers to it, "
                "and remove it then",
                reader=pair.reader_spot.step("fields", pair.reader.index[field.name]),
                was=_field_text(field),
                now="no such field",
            )


@rule(
    "AVRO_FIELD_RENAMED",
    "A field keeps its name: an alias helps new readers, but old readers do not know it.",
    FORWARD,
    source=ALIASES,
)
def field_renamed(pair: Pair) -> Iterator[Finding]:
    for field in _unread(pair):
        if field.name in pair.writer.by_alias:
            now = pair.writer.by_alias[field.name]
            yield pair.finding(
                field_renamed,
                f"field `{field.name}` of record `{pair.reader.name}` is now called `{now.name}`, which old readers do "
                "not look for, and it had no default",
                f"keep the name `{field.name}`; or first register a version in which `{field.name}` has a default and "
                "move all readers to it",
                reader=pair.reader_spot.step("fields", pair.reader.index[field.name]),
                writer=pair.writer_spot.step("fields", pair.writer.index[now.name]),
                was=field.name,
                now=f"{now.name} (alias {field.name})",
            )


@rule(
    "AVRO_FIELD_ALIAS_AMBIGUOUS",
    "A field is read from one field: its name and its aliases must not name several that were written.",
    BACKWARD,
    FORWARD,
    source=ALIASES,
    has_witness=False,
)
def field_alias_ambiguous(pair: Pair) -> Iterator[Finding]:
    written = pair.writer.by_name
    for field in dict.fromkeys(pair.reader.by_alias.values()):
        named = [alias for alias in field.aliases if alias in written and alias != field.name]
        candidates = [*([field.name] if field.name in written else []), *named]
        taken = [alias for alias in named if alias in pair.reader.by_name]
        if named and (len(candidates) > 1 or taken):
            yield pair.finding(
                field_alias_ambiguous,
                f"field `{field.name}` of record `{pair.reader.name}` has the alias `{named[-1]}`, but "
                + (
                    f"`{taken[0]}` is also a field of its own"
                    if taken
                    else f"both `{candidates[0]}` and `{candidates[1]}` were written"
                )
                + ", so readers disagree on which one it is read from",
                f"remove the alias `{named[-1]}`, or the field that it names",
                reader=pair.reader_spot.step("fields", pair.reader.index[field.name], "aliases"),
                writer=pair.writer_spot.step("fields", pair.writer.index[named[-1]]),
                was=", ".join(candidates if pair.direction is BACKWARD else [field.name, *field.aliases]),
                now=", ".join([field.name, *field.aliases] if pair.direction is BACKWARD else candidates),
            )
