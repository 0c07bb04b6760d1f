"""Which texts are the same schema."""

import json
from typing import Any

from tallystick.formats import json_source
from tallystick.formats.json_schema.kinds import equal_text
from tallystick.formats.json_schema.parse import JsonSchema

canonical_text = json_source.without_white_space

_DOCUMENTATION = frozenset({"$comment", "default", "deprecated", "description", "examples", "title"})
_UNORDERED = frozenset({"enum", "required", "type"})
_VALUES = frozenset({"const", "enum"})
_OF_NAMES = frozenset(
    {"$defs", "definitions", "dependencies", "dependentRequired", "dependentSchemas", "patternProperties", "properties"}
)


def normal_form(schema: JsonSchema) -> str:
    """Keys in order, without documentation, 1.0 as 1, and lists whose order says nothing in order."""
    return json.dumps(_normal(schema.source.value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _normal(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    return {keyword: _of(keyword, value) for keyword, value in schema.items() if keyword not in _DOCUMENTATION}


def _of(keyword: str, value: Any) -> Any:
    if keyword in _VALUES or not isinstance(value, dict | list):
        plain = json.loads(equal_text(value))
        return sorted(plain, key=equal_text) if keyword == "enum" else plain
    if isinstance(value, list):
        items = [_normal(item) for item in value]
        return sorted(items, key=equal_text) if keyword in _UNORDERED else items
    if keyword in _OF_NAMES:
        return {name: sorted(inner) if _is_names(inner) else _normal(inner) for name, inner in value.items()}
    return _normal(value)


def _is_names(value: Any) -> bool:
    return isinstance(value, list)
