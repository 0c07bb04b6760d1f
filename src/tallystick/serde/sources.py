"""What a schema is made from: text, its JSON as a dict, or a class."""

import json
from collections.abc import Mapping
from typing import Any

from tallystick.errors import InvalidArgument
from tallystick.model.definition import NO_REFERENCES, Reference, References, SchemaDefinition
from tallystick.model.schema_type import SchemaType

JsonText = str | Mapping[str, Any] | list[Any]
"""A JSON text, or what it says."""


def text_of(source: object, takes: str) -> str:
    """The text of a source that is no class; raises `InvalidArgument` that names what the schema takes."""
    if isinstance(source, str):
        return source
    if isinstance(source, Mapping | list):
        return json.dumps(source, ensure_ascii=False)
    raise InvalidArgument("source", f"{_named(source)} is not {takes}")


def _named(source: object) -> str:
    return f"class {source.__name__}" if isinstance(source, type) else f"a {type(source).__name__}"


def definition_of(
    schema_type: SchemaType,
    text: str,
    references: References = NO_REFERENCES,
    properties: Mapping[str, str] | None = None,
) -> SchemaDefinition:
    return SchemaDefinition(schema_type, text, _direct(references), dict(properties or {}))


def _direct(references: References) -> tuple[Reference, ...]:
    """Those that the text itself must name: the ones that no other of them brings along."""
    brought = {each for definition in references.values() for each in definition.references}
    return tuple(each for each in references if each not in brought)
