"""Schema resolution: how a reader's type takes what a writer's type wrote (Avro 1.12, "Schema Resolution").

These are the facts of the specification only. What follows for the user is in the rules.
"""

from functools import lru_cache

from tallystick.formats.avro.types import (
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Primitive,
    Record,
    Union,
    unqualified,
)

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
    """The branch of the reader's union that takes what the writer's type wrote: the first that matches.

    A primitive goes to the branch of its own type where there is one. By the letter an int would go to a long that
    stands before it, which holds the same values but may have another logical type.
    """
    candidates = _candidates(reader, writer)
    if isinstance(writer, Primitive):
        same = next((i for i in candidates if reader.branches[i].kind == writer.kind), None)
        if same is not None:
            return same
    return next((i for i in candidates if matches(reader.branches[i], writer)), None)


def _candidates(reader: Union, writer: AvroType) -> list[int]:
    """The branches worth a look. Named ones are found by name: a union may hold thousands of records."""
    unnamed, by_name = _branches(reader)
    if not isinstance(writer, Named):
        return unnamed
    return sorted({*by_name.get(unqualified(writer.name), ()), *by_name.get(f"alias {writer.name}", ())})


@lru_cache(maxsize=256)
def _branches(union: Union) -> tuple[list[int], dict[str, list[int]]]:
    unnamed = [i for i, branch in enumerate(union.branches) if not isinstance(branch, Named)]
    by_name: dict[str, list[int]] = {}
    for i, branch in enumerate(union.branches):
        if isinstance(branch, Named):
            for key in (unqualified(branch.name), *(f"alias {alias}" for alias in branch.aliases)):
                by_name.setdefault(key, []).append(i)
    return unnamed, by_name


def source_of(field: Field, reader: Record, writer: Record) -> str | None:
    """The writer's field that a reader's field is read from: the one of its name, else of one of its aliases."""
    if field.name in writer.by_name:
        return field.name
    own = (alias for alias in field.aliases if reader.by_alias[alias] is field and alias not in reader.by_name)
    return next((alias for alias in own if alias in writer.by_name), None)
