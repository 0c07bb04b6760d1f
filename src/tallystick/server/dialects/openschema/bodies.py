"""OpenSchema's subjects and schemas to ours, and back."""

import json
from datetime import UTC, datetime
from typing import Any

from tallystick.errors import InvalidArgument, InvalidSchema
from tallystick.model import schema_type as types
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.naming import namespace_named
from tallystick.model.schema_type import SchemaType
from tallystick.model.strategy import Strategy
from tallystick.model.subject import SchemaId, Version
from tallystick.registry.contract import canonical_json
from tallystick.registry.ports import SubjectRow
from tallystick.server.http import MalformedRequest

_TYPE_OF = {
    "NONE": types.NONE,
    "JSON": types.JSON_SCHEMA,
    "PB": types.PROTOBUF,
    "AVRO": types.AVRO,
    "INT": types.INT32,
    "LONG": types.INT64,
    "STRING": types.STRING,
}
_NAME_OF = {
    types.JSON_SCHEMA: "JSON",
    types.PROTOBUF: "PB",
    types.INT32: "Int",
    types.INT64: "Long",
    types.STRING: "String",
}
# Formats whose meaning the registry does not know: bytes to it, whatever their text says. The text is part of the
# metadata, and so of the identity: two of them are not one schema.
_OPAQUE = {"USER-DEFINED": "USER-DEFINED", "MAP": "Map"}
_FORMAT_PROPERTY = "openschema.format"
_TEXT_PROPERTY = "openschema.definition"

_KEPT = ("name", "comment", "validator")
_ABOUT = ("app", "description", "status", "coordinate", "format")

_WITHOUT_CHECK = {"NONE": Strategy.ALWAYS_COMPATIBLE}


def about_of(body: dict[str, Any]) -> dict[str, str]:
    """What a body says of a subject."""
    return {field: text_in(body, field) for field in _ABOUT if body.get(field) is not None}


def text_in(body: dict[str, Any], field: str, default: str = "") -> str:
    value = body.get(field)
    if value is None:
        return default
    if not isinstance(value, str):
        raise MalformedRequest(f"{field} is a text, not {json.dumps(value)[:60]}")
    return value


def wrapped(body: dict[str, Any], name: str) -> dict[str, Any]:
    """The object that the body wraps; the later draft sends it without a wrapper."""
    inner = body.get(name, body)
    if isinstance(inner, dict):
        return inner
    if name == "subject":  # a flat subject has a field of this name
        return body
    raise MalformedRequest(f"{name} is an object, not {json.dumps(inner)[:60]}")


def namespace_in(body: dict[str, Any]) -> str | None:
    """The namespace that a body names; a tenant alone means its default namespace."""
    tenant, namespace = text_in(body, "tenant"), text_in(body, "namespace")
    if not tenant and not namespace:
        return None
    return namespace_named(tenant or "public", namespace or "default")


def strategy_of(text: str) -> Strategy | None:
    """None takes a strategy back."""
    word = text.strip().upper()
    if word == "UNDEFINED":
        return None
    if word in _WITHOUT_CHECK:
        return _WITHOUT_CHECK[word]
    try:
        return Strategy(word)
    except ValueError as e:
        known = ", ".join(["NONE", *(s for s in Strategy if not s.startswith("ALWAYS"))])
        raise InvalidArgument("compatibility", f"{text[:60]!r} is none; use one of {known}") from e


def strategy_name(strategy: Strategy) -> str:
    return "NONE" if strategy is Strategy.ALWAYS_COMPATIBLE else str(strategy)


def definition_of(body: dict[str, Any]) -> SchemaDefinition:
    word = text_in(body, "serialization") or text_in(body, "schemaType") or "AVRO"
    text = _text(body)
    properties = {f"openschema.{field}": text_in(body, field) for field in _KEPT if body.get(field) is not None}
    references = tuple(_reference(one) for one in _list(body, "references"))
    opaque = _OPAQUE.get(word.upper())
    if opaque is not None:
        said = {_FORMAT_PROPERTY: opaque, _TEXT_PROPERTY: text}
        metadata = canonical_json({"properties": said})
        return SchemaDefinition(types.BYTES, "", references, properties, metadata)
    kind = _TYPE_OF.get(word.upper(), SchemaType(word.upper()))
    return SchemaDefinition(kind, text, references, properties)


def _text(body: dict[str, Any]) -> str:
    value = body.get("schemaDefinition", "")
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _list(body: dict[str, Any], field: str) -> list[Any]:
    value = body.get(field) or []
    if not isinstance(value, list):
        raise MalformedRequest(f"{field} is a list, not {json.dumps(value)[:60]}")
    return value


def _reference(body: Any) -> Reference:
    match body:
        case {"name": str(name), "subject": str(subject), "version": int(version)} if 0 < version < 2**31:
            return Reference(name, subject, version)
    raise InvalidSchema(f"a reference has name, subject and version, not {json.dumps(body)[:60]}")


def schema_body(
    id_: SchemaId, definition: SchemaDefinition, properties: dict[str, str], name: str, version: Version | None
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": properties.get("openschema.name", name),
        "id": str(id_),
        "comment": properties.get("openschema.comment", ""),
        "serialization": format_name(definition),
        "schemaDefinition": _opaque(definition).get(_TEXT_PROPERTY, definition.text),
        "validator": properties.get("openschema.validator", ""),
        "version": version,
    }
    if definition.references:
        body["references"] = [
            {"name": r.name, "subject": r.subject, "version": r.version} for r in definition.references
        ]
    return body


def format_name(definition: SchemaDefinition) -> str:
    return _opaque(definition).get(_FORMAT_PROPERTY) or _NAME_OF.get(definition.type, definition.type)


def _opaque(definition: SchemaDefinition) -> dict[str, str]:
    if definition.type != types.BYTES or definition.metadata is None:
        return {}
    properties: dict[str, str] = json.loads(definition.metadata).get("properties", {})
    return properties


def subject_body(row: SubjectRow, strategy: Strategy, latest_format: str | None) -> dict[str, Any]:
    tenant, _, namespace = row.subject.namespace.partition("/")
    return {
        "tenant": tenant,
        "namespace": namespace,
        "subject": row.subject.name,
        "app": row.about.get("app", ""),
        "description": row.about.get("description", ""),
        "status": row.about.get("status", "active"),
        "compatibility": strategy_name(strategy),
        "coordinate": row.about.get("coordinate", ""),
        "createdTime": time_text(row.created_at),
        "lastModifiedTime": time_text(row.modified_at),
        "format": latest_format or row.about.get("format", ""),
    }


def time_text(at: datetime) -> str:
    """UTC with milliseconds and without a zone: `2021-09-14T02:26:09.018`."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
