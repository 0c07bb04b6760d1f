"""Which Avro texts are the same."""

import json
from typing import Any

from tallystick.formats import json_source
from tallystick.formats.avro import names
from tallystick.formats.avro.types import AvroSchema

_NAMED = ("record", "error", "enum", "fixed")
_DEFAULTS = {"order": "ascending", "aliases": []}


def canonical_text(text: str) -> str:
    return json_source.without_white_space(text)


def normal_form(schema: AvroSchema) -> str:
    """Full names, one order of attributes, no documentation. Everything else counts, unknown attributes too."""
    text = schema.definition.text
    raw = text.strip() if text.strip().isidentifier() else json_source.load(text)
    return json.dumps(_normal(raw, ""), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _normal(raw: Any, namespace: str) -> Any:
    if isinstance(raw, str):
        return raw if raw in names.PRIMITIVES else names.full_name(raw, namespace)
    if isinstance(raw, list):
        return [_normal(branch, namespace) for branch in raw]
    kept = {key: value for key, value in raw.items() if key not in ("doc", "namespace")}
    if raw["type"] in _NAMED:
        kept["name"] = names.full_name(raw["name"], raw["namespace"] if raw.get("namespace") is not None else namespace)
        namespace = names.namespace_of(kept["name"])
        kept["aliases"] = [names.full_name(alias, namespace) for alias in raw.get("aliases", [])]
    elif raw["type"] == "array":
        kept["items"] = _normal(raw["items"], namespace)
    elif raw["type"] == "map":
        kept["values"] = _normal(raw["values"], namespace)
    else:
        kept["type"] = _normal(raw["type"], namespace)
    if raw["type"] in ("record", "error"):
        kept["fields"] = [_field(field, namespace) for field in kept["fields"]]
    return _simplest(_without_defaults(kept))


def _field(raw: dict[str, Any], namespace: str) -> dict[str, Any]:
    kept = {key: value for key, value in raw.items() if key != "doc"}
    return _without_defaults({**kept, "type": _normal(raw["type"], namespace)})


def _without_defaults(attributes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if _DEFAULTS.get(key, ...) != value}


def _simplest(attributes: dict[str, Any]) -> Any:
    return attributes["type"] if attributes.keys() == {"type"} else attributes
