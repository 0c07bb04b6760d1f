"""Schema resolution: how a reader's type takes what a writer's type wrote (Avro 1.12, "Schema Resolution").

These are the facts of the specification only. What follows for the user is in the rules.
"""

from tallystick.formats.avro.types import Array, AvroType, Enum, Field, Fixed, Map, Named, Record, Union, unqualified

_PROMOTIONS = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}


def is_promotable(writer: AvroType, reader: AvroType) -> bool:
    return reader.kind in _PROMOTIONS.get(writer.kind, ())


def has_same_name(reader: Named, writer: Named) -> bool:
    """By the name without its namespace, or by an alias of the reader."""
    return unqualified(reader.name) == unqualified(writer.name) or writer.name in reader.aliases


def matches(reader: AvroType, writer: AvroType) -> bool:
    """The specification's first look, which chooses the branch of a union; the inside may still not fit."""
    if isinstance(writer, Union) or isinstance(reader, Union):
        return True
    if isinstance(reader, Array) and isinstance(writer, Array):
        return matches(reader.items, writer.items)
    if isinstance(reader, Map) and isinstance(writer, Map):
        return matches(reader.values, writer.values)
    if isinstance(reader, Fixed) and isinstance(writer, Fixed):
        return reader.size == writer.size and has_same_name(reader, writer)
    if isinstance(reader, Enum | Record):
        return writer.kind == reader.kind and has_same_name(reader, writer)  # type: ignore[arg-type]
    return reader.kind == writer.kind or is_promotable(writer, reader)


def branch_for(reader: Union, writer: AvroType) -> int | None:
    """The branch of the reader's union that takes what the writer's type wrote: the first that matches."""
    return next((i for i, branch in enumerate(reader.branches) if matches(branch, writer)), None)


def source_of(field: Field, reader: Record, writer: Record) -> str | None:
    """The writer's field that a reader's field is read from: the one of its name, else of one of its aliases."""
    if field.name in writer.by_name:
        return field.name
    own = (alias for alias in field.aliases if reader.by_alias[alias] is field and alias not in reader.by_name)
    return next((alias for alias in own if alias in writer.by_name), None)
