"""Pulsar's schema payloads to our definitions, and back."""

from typing import Any

from tallystick.errors import InvalidArgument
from tallystick.formats.key_value import source
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.strategy import Strategy
from tallystick.registry.ports import StoredSchema, VersionRow
from tallystick.server.http import MalformedRequest
from tallystick.wire.pulsar import key_value, schema_types

TYPE_NAMES = schema_types.NAMES

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
    kind = schema_types.type_named(name)
    if kind == types.KEY_VALUE:
        return SchemaDefinition(kind, key_value.from_json(text or "", properties), (), properties)
    return SchemaDefinition(kind, text or "", (), properties)


def has_pulsar_type(definition: SchemaDefinition) -> bool:
    if definition.type != types.KEY_VALUE:
        return schema_types.is_known(definition.type)
    pair = source.load(definition.text)
    return all(schema_types.is_known(half.type) for half in (pair.key, pair.value))


def schema_body(row: VersionRow, stored: StoredSchema) -> dict[str, Any]:
    """A `GetSchemaResponse`; versions count from 0 there."""
    definition = stored.definition
    data, properties = definition.text, dict(row.properties)
    if definition.type == types.KEY_VALUE:
        data, told = key_value.to_json(definition.text)
        properties |= told
    return {
        "version": row.version - 1,
        "type": schema_types.name_of(definition.type),
        "timestamp": int(row.created_at.timestamp() * 1000),
        "data": data,
        "properties": properties,
    }


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
