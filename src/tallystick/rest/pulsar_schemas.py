"""Schemas as Pulsar's admin API writes them."""

import json
from typing import Any

from tallystick.errors import InvalidSchema, Unsupported
from tallystick.formats import json_source
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.rest import bodies

_TYPE_OF = {"JSON": types.PULSAR_JSON, "PROTOBUF": types.PULSAR_PROTOBUF}
_NAME_OF = {schema_type: name for name, schema_type in _TYPE_OF.items()}
_TEXTS = {types.AVRO, types.PULSAR_JSON, types.PULSAR_PROTOBUF, types.PROTOBUF_NATIVE}
_LACKING = {types.JSON_SCHEMA, types.PROTOBUF}
_HALVES = ("key", "value")
_ENCODING = "kv.encoding.type"


def body_of(definition: SchemaDefinition) -> dict[str, Any]:
    if definition.references or definition.metadata or definition.rule_set:
        raise Unsupported("Pulsar's API has no references, no metadata and no rule sets")
    text, properties = definition.text, dict(definition.properties)
    if definition.type == types.KEY_VALUE:
        text, told = _split(definition.text)
        properties |= told
    return {"type": _name(definition.type), "schema": text, "properties": properties}


def definition_of(body: dict[str, Any]) -> SchemaDefinition:
    word, text = bodies.text(body, "type"), body.get("data") or ""
    told = body.get("properties") or {}
    properties = {str(name): str(value) for name, value in bodies.an_object(told).items()}
    kind = _type(word)
    if kind == types.KEY_VALUE:
        return SchemaDefinition(kind, _joined(str(text), properties), (), properties)
    return SchemaDefinition(kind, str(text), (), properties)


def _name(schema_type: SchemaType) -> str:
    if schema_type in _LACKING:
        raise Unsupported(f"Pulsar has no schema type {schema_type}; its JSON and PROTOBUF hold Avro text")
    return _NAME_OF.get(schema_type, str(schema_type))


def _type(name: str) -> SchemaType:
    return _TYPE_OF.get(name.upper(), SchemaType(name.upper()))


def _split(text: str) -> tuple[str, dict[str, str]]:
    """Our text has all in one place; Pulsar's has the halves' types in the properties."""
    parts = json_source.load(text)
    if not isinstance(parts, dict) or not all(isinstance(parts.get(half), dict) for half in _HALVES):
        raise InvalidSchema("a KEY_VALUE has a key and a value")
    data: dict[str, Any] = {}
    properties = {_ENCODING: str(parts.get("encoding", "INLINE"))}
    for half in _HALVES:
        inner = parts[half]
        kind, schema = SchemaType(str(inner.get("type", types.BYTES))), str(inner.get("schema", ""))
        data[half] = json_source.load(schema) if kind in _TEXTS and schema else schema
        properties[f"{half}.schema.type"] = _name(kind)
        properties[f"{half}.schema.properties"] = json.dumps(inner.get("properties", {}), ensure_ascii=False)
    return json.dumps(data, ensure_ascii=False), properties


def _joined(text: str, properties: dict[str, str]) -> str:
    data = bodies.an_object(json_source.load(text))
    parts: dict[str, Any] = {"encoding": properties.get(_ENCODING, "INLINE")}
    for half in _HALVES:
        schema = data.get(half, "")
        parts[half] = {
            "type": _type(properties.get(f"{half}.schema.type", "BYTES")),
            "schema": schema if isinstance(schema, str) else json.dumps(schema, ensure_ascii=False),
            "properties": json_source.load(properties.get(f"{half}.schema.properties") or "{}"),
        }
    return json.dumps(parts, ensure_ascii=False)
