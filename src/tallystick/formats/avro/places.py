"""Where a type stands in its text.

A place is given by the named type around it (None for the text's outermost) and the steps from there, so that it
can be found wherever the type is used: `("shop.Order", ("fields", 2, "type", "items"))`.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from tallystick.finding import Place
from tallystick.formats import json_source
from tallystick.formats.avro import names
from tallystick.formats.avro.types import AvroSchema
from tallystick.formats.json_source import Path


class Spot(NamedTuple):
    owner: str | None
    steps: Path

    def step(self, *steps: str | int) -> "Spot":
        return Spot(self.owner, self.steps + steps)


ROOT = Spot(None, ())


class _Definition(NamedTuple):
    raw: Any
    path: Path
    text: str
    reference: str | None


def place(schema: AvroSchema, spot: Spot) -> Place:
    definition = _definitions(schema)[spot.owner]
    path = definition.path + _written(definition.raw, spot.steps)
    if definition.reference is not None:
        return Place(f"{definition.reference}#{json_source.pointer(path)}")
    return json_source.place(definition.text, path)


def _written(raw: Any, steps: Path) -> Path:
    """The steps as they are in the text, where a type may be wrapped: `{"type": {"type": "array", …}}`."""
    path: list[str | int] = []
    for step in steps:
        while isinstance(raw, dict) and _is_inside_type(step) and isinstance(raw["type"], dict | list):
            path.append("type")
            raw = raw["type"]
        path.append(step)
        raw = raw[step]
    return tuple(path)


def _is_inside_type(step: str | int) -> bool:
    return step in ("items", "values") or isinstance(step, int)


@lru_cache(maxsize=8)
def _definitions(schema: AvroSchema) -> dict[str | None, _Definition]:
    found: dict[str | None, _Definition] = {}
    for reference, text in schema.referenced:
        _collect(_load(text), "", (), text, reference, found)
    raw = _load(schema.definition.text)
    _collect(raw, "", (), schema.definition.text, None, found)
    found[None] = _Definition(raw, (), schema.definition.text, None)
    return found


def _load(text: str) -> Any:
    return text.strip() if text.strip().isidentifier() else json_source.load(text)


def _collect(
    raw: Any, namespace: str, path: Path, text: str, reference: str | None, found: dict[str | None, _Definition]
) -> None:
    if isinstance(raw, list):
        for i, branch in enumerate(raw):
            _collect(branch, namespace, (*path, i), text, reference, found)
    if not isinstance(raw, dict):
        return
    kind = raw["type"]
    if kind in ("record", "error", "enum", "fixed"):
        declared = raw.get("namespace")
        name = names.full_name(raw["name"], namespace if declared is None else declared)
        namespace = names.namespace_of(name)
        found[name] = _Definition(raw, path, text, reference)
        for i, field in enumerate(raw["fields"] if kind in ("record", "error") else []):
            _collect(field["type"], namespace, (*path, "fields", i, "type"), text, reference, found)
        return
    # Only where a type stands: any other attribute may hold anything.
    key = {"array": "items", "map": "values"}.get(kind, "type") if isinstance(kind, str) else "type"
    _collect(raw[key], namespace, (*path, key), text, reference, found)
