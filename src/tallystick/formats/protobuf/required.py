"""Which required fields a message lacks.

The runtime's own `FindInitializationErrors` ends the process where a map of scalars stands beside the message that
lacks one, so payloads must never reach it.
"""

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message as Record


def missing_required(record: Record) -> list[str]:
    """Their paths, such as `lines[0].sku`."""
    return [] if record.IsInitialized() else list(_missing(record, ""))


def _missing(record: Record, path: str) -> Iterator[str]:
    for f in record.DESCRIPTOR.fields:
        if f.is_required and not record.HasField(f.name):
            yield path + f.name
    for f, value in record.ListFields():
        name = f"({f.full_name})" if f.is_extension else f.name
        for step, inner in _inner(f, value):
            yield from _missing(inner, f"{path}{name}{step}.")


def _inner(f: Any, value: Any) -> Iterator[tuple[str, Record]]:
    if f.message_type is None:
        return
    if f.message_type.GetOptions().map_entry:
        if f.message_type.fields_by_name["value"].message_type is not None:
            yield from ((f"[{key}]", value[key]) for key in value)
    elif f.is_repeated:
        yield from ((f"[{i}]", item) for i, item in enumerate(value))
    else:
        yield "", value
