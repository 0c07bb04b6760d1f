"""Schemas in a few characters."""

import json
from typing import Any

from tallystick.formats.avro.parse import parse
from tallystick.formats.avro.types import AvroSchema
from tallystick.model.definition import NO_REFERENCES, Reference, References, SchemaDefinition
from tallystick.model.schema_type import AVRO


def schema(raw: Any, *references: str) -> AvroSchema:
    """The schema of a text or of its JSON; each reference is a text, named by its place."""
    text = raw if isinstance(raw, str) else json.dumps(raw)
    known = {
        Reference(f"reference {i}", f"subject {i}", 1): SchemaDefinition(AVRO, t) for i, t in enumerate(references)
    }
    all_references: References = known or NO_REFERENCES
    return parse(SchemaDefinition(AVRO, text, tuple(known)), all_references)


def record(name: str, *fields: Any, **attributes: Any) -> dict[str, Any]:
    """Fields are pairs or triples: name, type, default."""
    return {"type": "record", "name": name, **attributes, "fields": [_field(*field) for field in fields]}


def _field(name: str, type_: Any, *default: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **({"default": default[0]} if default else {})}


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def enum(name: str, *symbols: str, **attributes: Any) -> dict[str, Any]:
    return {"type": "enum", "name": name, "symbols": list(symbols), **attributes}


def fixed(name: str, size: int, **attributes: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": name, "size": size, **attributes}


def logical(kind: str, name: str, **attributes: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **attributes}
