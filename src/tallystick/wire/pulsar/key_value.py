"""KEY_VALUE definitions as Pulsar writes them.

Our text has all in one place: the encoding, and type, schema and properties of each half. Pulsar's schema data has the
schemas of the halves alone, and the properties of the whole tell the rest: `kv.encoding.type`, `key.schema.type`,
`key.schema.properties`, and the same for the value. The data is bytes in the protocol and JSON in the admin API.
"""

import json
import struct
from collections.abc import Mapping
from typing import Any

from tallystick.errors import InvalidSchema
from tallystick.formats import json_source
from tallystick.formats.key_value import source
from tallystick.formats.key_value.source import HALVES, Half, HalfText
from tallystick.model.key_value import KeyValueEncoding
from tallystick.wire.pulsar import schema_types

_ENCODING = "kv.encoding.type"
_LENGTH = struct.Struct(">i")
_NOT_THERE = -1


def from_bytes(data: bytes, properties: Mapping[str, str]) -> str:
    """Our text for schema data of the protocol: each half after its length, −1 for one without a schema."""
    key, rest = _taken(data, 0, "key")
    value, rest = _taken(data, rest, "value")
    if rest != len(data):
        raise InvalidSchema(f"{len(data) - rest} bytes are left over after the schemas of key and value")
    return _joined({"key": key, "value": value}, properties)


def to_bytes(text: str) -> tuple[bytes, dict[str, str]]:
    """Schema data of the protocol, and the properties that tell of its halves."""
    parts = source.load(text)
    schemas = [half.schema.encode() for half in (parts.key, parts.value)]
    return b"".join(_LENGTH.pack(len(schema)) + schema for schema in schemas), _properties(parts)


def from_json(text: str, properties: Mapping[str, str]) -> str:
    """Our text for schema data of the admin API: `{"key": …, "value": …}`."""
    halves = json_source.load(text)
    if not isinstance(halves, dict) or not set(halves) <= set(HALVES):
        raise InvalidSchema('the schema of a KEY_VALUE is {"key": …, "value": …}')
    return _joined({half: _as_text(halves.get(half)) for half in HALVES}, properties)


def to_json(text: str) -> tuple[str, dict[str, str]]:
    """Schema data of the admin API, and the properties that tell of its halves."""
    parts = source.load(text)
    data = {"key": _as_json(parts.key), "value": _as_json(parts.value)}
    return json.dumps(data, ensure_ascii=False), _properties(parts)


def _taken(data: bytes, start: int, half: Half) -> tuple[str, int]:
    """The schema whose length stands at `start`, and where the next one begins."""
    begin = start + _LENGTH.size
    if len(data) < begin:
        raise InvalidSchema(f"the schema data ends before the length of the {half}")
    (length,) = _LENGTH.unpack_from(data, start)
    end = begin + max(length, 0)
    if length < _NOT_THERE or end > len(data):
        raise InvalidSchema(f"the schema of the {half} says it has {length} bytes, but {len(data) - begin} follow")
    try:
        return data[begin:end].decode(), end
    except UnicodeDecodeError as e:
        raise InvalidSchema(f"the schema of the {half} is not UTF-8 text") from e


def _as_text(schema: Any) -> str:
    if schema is None:
        return ""
    return schema if isinstance(schema, str) else json.dumps(schema, ensure_ascii=False)


def _as_json(half: HalfText) -> Any:
    is_json = half.type in schema_types.WITH_JSON_TEXT and half.schema
    return json_source.load(half.schema) if is_json else half.schema


def _joined(schemas: Mapping[Half, str], properties: Mapping[str, str]) -> str:
    parts: dict[str, Any] = {"encoding": properties.get(_ENCODING) or KeyValueEncoding.INLINE}
    for half in HALVES:
        parts[half] = _half(half, schemas[half], properties)
    return json.dumps(parts, ensure_ascii=False)


def _half(half: Half, schema: str, properties: Mapping[str, str]) -> dict[str, Any]:
    name = properties.get(f"{half}.schema.type")
    if name is None and schema:
        raise InvalidSchema(f"the type of the {half} is missing", fix=f"set the property {half}.schema.type")
    kind = schema_types.type_named(name or "BYTES")
    return {"type": kind, "schema": schema, "properties": _properties_of_half(half, properties)}


def _properties_of_half(half: Half, properties: Mapping[str, str]) -> dict[str, str]:
    text = properties.get(f"{half}.schema.properties")
    told = json_source.load(text) if text else {}
    if not isinstance(told, dict) or not all(isinstance(value, str) for value in told.values()):
        raise InvalidSchema(f"the property {half}.schema.properties is a JSON object of texts")
    return told


def _properties(parts: source.Source) -> dict[str, str]:
    told = {_ENCODING: str(parts.encoding)}
    for half, inner in (("key", parts.key), ("value", parts.value)):
        told[f"{half}.schema.type"] = schema_types.name_of(inner.type)
        told[f"{half}.schema.properties"] = json.dumps(dict(inner.properties), ensure_ascii=False)
    return told
