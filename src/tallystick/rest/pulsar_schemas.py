"""Schemas as Pulsar's admin API writes them."""

from typing import Any

from tallystick.errors import Unsupported
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.rest import bodies
from tallystick.wire.pulsar import key_value, schema_types


def body_of(definition: SchemaDefinition) -> dict[str, Any]:
    if definition.references or definition.metadata or definition.rule_set:
        raise Unsupported("Pulsar's API has no references, no metadata and no rule sets")
    text, properties = definition.text, dict(definition.properties)
    if definition.type == types.KEY_VALUE:
        text, told = key_value.to_json(definition.text)
        properties |= told
    return {"type": schema_types.name_of(definition.type), "schema": text, "properties": properties}


def definition_of(body: dict[str, Any]) -> SchemaDefinition:
    word, text = bodies.text(body, "type"), body.get("data") or ""
    told = body.get("properties") or {}
    properties = {str(name): str(value) for name, value in bodies.an_object(told).items()}
    kind = schema_types.type_named(word)
    if kind == types.KEY_VALUE:
        return SchemaDefinition(kind, key_value.from_json(str(text), properties), (), properties)
    return SchemaDefinition(kind, str(text), (), properties)
