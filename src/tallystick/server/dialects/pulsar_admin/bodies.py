"""Pulsar's schema payloads to our definitions, and back."""

import json
from typing import Any

from tallystick.errors import InvalidArgument, InvalidSchema
from tallystick.formats import json_source
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.strategy import Strategy
from tallystick.registry.ports import StoredSchema, VersionRow
from tallystick.server.http import MalformedRequest

_PRIMITIVES = (
    types.NONE,
    types.BYTES,
    types.STRING,
    types.BOOLEAN,
    types.INT8,
    types.INT16,
    types.INT32,
    types.INT64,
    types.FLOAT,
    types.DOUBLE,
    types.DATE,
    types.TIME,
    types.TIMESTAMP,
    types.INSTANT,
    types.LOCAL_DATE,
    types.LOCAL_TIME,
    types.LOCAL_DATE_TIME,
    types.EXTERNAL,
)
_TYPE_OF: dict[str, SchemaType] = {
    **{str(kind): kind for kind in _PRIMITIVES},
    "AVRO": types.AVRO,
    "JSON": types.PULSAR_JSON,
    "PROTOBUF": types.PULSAR_PROTOBUF,
    "PROTOBUF_NATIVE": types.PROTOBUF_NATIVE,
    "KEY_VALUE": types.KEY_VALUE,
}
_NAME_OF = {kind: name for name, kind in _TYPE_OF.items()}
TYPE_NAMES = sorted(_TYPE_OF)

_ENCODING = "kv.encoding.type"
_HALVES = ("key", "value")

_BY_CAMEL_CASE = {
    "AutoUpdateDisabled": Strategy.ALWAYS_INCOMPATIBLE,
    "AlwaysCompatible": Strategy.ALWAYS_COMPATIBLE,
    "Backward": Strategy.BACKWARD,
    "Forward": Strategy.FORWARD,
    "Full": Strategy.FULL,
    "BackwardTransitive": Strategy.BACKWARD_TRANSITIVE,
    "ForwardTransitive": Strategy.FORWARD_TRANSITIVE,
    "FullTransitive": Strategy.FULL_TRANSITIVE,
}
_CAMEL_CASE = {strategy: name for name, strategy in _BY_CAMEL_CASE.items()}
AUTO_UPDATE_NAMES = list(_BY_CAMEL_CASE)
STRATEGY_NAMES = ["UNDEFINED", *map(str, Strategy)]


def definition_of(payload: dict[str, Any]) -> SchemaDefinition:
    """A `PostSchemaPayload`: type, schema, properties."""
    name, text, properties = payload.get("type"), payload.get("schema"), payload.get("properties") or {}
    if not isinstance(name, str) or not isinstance(text or "", str):
        raise MalformedRequest("a schema has a type and a schema, both texts")
    if not isinstance(properties, dict) or not all(isinstance(value, str) for value in properties.values()):
        raise MalformedRequest("the properties of a schema are an object of texts")
    kind = schema_type_of(name)
    if kind == types.KEY_VALUE:
        return SchemaDefinition(kind, _key_value_text(text or "", properties), (), properties)
    return SchemaDefinition(kind, text or "", (), properties)


def schema_type_of(name: str) -> SchemaType:
    try:
        return _TYPE_OF[name.upper()]
    except KeyError as e:
        raise InvalidSchema(
            f"{name[:40]!r} is not a schema type that can be kept", fix=f"use one of {', '.join(TYPE_NAMES)}"
        ) from e


def _key_value_text(text: str, properties: dict[str, str]) -> str:
    """`{"key": …, "value": …}` with the halves' types in the properties → our text, which has all in one place."""
    halves = json_source.load(text)
    if not isinstance(halves, dict) or not set(halves) <= set(_HALVES):
        raise InvalidSchema('the schema of a KEY_VALUE is {"key": …, "value": …}')
    parts: dict[str, Any] = {"encoding": properties.get(_ENCODING, "INLINE")}
    for half in _HALVES:
        parts[half] = _half(half, halves.get(half), properties)
    return json.dumps(parts, ensure_ascii=False)


def _half(half: str, schema: Any, properties: dict[str, str]) -> dict[str, Any]:
    inner = schema if isinstance(schema, str) else "" if schema is None else json.dumps(schema, ensure_ascii=False)
    name = properties.get(f"{half}.schema.type")
    if name is None and inner:
        raise InvalidSchema(f"the type of the {half} is missing", fix=f"set the property {half}.schema.type")
    told = _properties_of_half(half, properties)
    return {"type": schema_type_of(name or "BYTES"), "schema": inner, "properties": told}


def _properties_of_half(half: str, properties: dict[str, str]) -> dict[str, str]:
    text = properties.get(f"{half}.schema.properties")
    told = json_source.load(text) if text else {}
    if not isinstance(told, dict) or not all(isinstance(value, str) for value in told.values()):
        raise InvalidSchema(f"the property {half}.schema.properties is a JSON object of texts")
    return told


def has_pulsar_type(definition: SchemaDefinition) -> bool:
    if definition.type != types.KEY_VALUE:
        return definition.type in _NAME_OF
    halves = json.loads(definition.text)
    return all(halves[half]["type"] in _NAME_OF for half in _HALVES)


def schema_body(row: VersionRow, stored: StoredSchema) -> dict[str, Any]:
    """A `GetSchemaResponse`; versions count from 0 there."""
    definition = stored.definition
    data, properties = definition.text, dict(row.properties)
    if definition.type == types.KEY_VALUE:
        data, told = _key_value_data(definition.text)
        properties |= told
    return {
        "version": row.version - 1,
        "type": _NAME_OF[definition.type],
        "timestamp": int(row.created_at.timestamp() * 1000),
        "data": data,
        "properties": properties,
    }


def _key_value_data(text: str) -> tuple[str, dict[str, str]]:
    parts = json.loads(text)
    properties = {_ENCODING: parts.get("encoding", "INLINE")}
    data: dict[str, Any] = {}
    for half in _HALVES:
        inner = parts[half]
        kind = SchemaType(inner["type"])
        schema = inner.get("schema", "")
        data[half] = schema if kind in _PRIMITIVES or not schema else json.loads(schema)
        properties[f"{half}.schema.type"] = _NAME_OF[kind]
        properties[f"{half}.schema.properties"] = json.dumps(inner.get("properties", {}), ensure_ascii=False)
    return json.dumps(data, ensure_ascii=False), properties


def strategy_of(value: Any) -> Strategy | None:
    """A `SchemaCompatibilityStrategy`; UNDEFINED takes it back."""
    if value is None or value == "UNDEFINED":
        return None
    try:
        return Strategy(value)
    except ValueError as e:
        known = ", ".join(STRATEGY_NAMES)
        raise InvalidArgument("compatibility", f"{str(value)[:40]!r} is none; use one of {known}") from e


def auto_update_strategy_of(value: Any) -> Strategy:
    if not isinstance(value, str) or value not in _BY_CAMEL_CASE:
        raise InvalidArgument("compatibility", f"{str(value)[:40]!r} is none; use one of {', '.join(_BY_CAMEL_CASE)}")
    return _BY_CAMEL_CASE[value]


def auto_update_name(strategy: Strategy) -> str:
    return _CAMEL_CASE[strategy]
