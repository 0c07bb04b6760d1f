"""Other forms of a schema's text: `format=resolved` and `format=serialized`, and the tags inside it."""

import base64
import json
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tallystick.errors import InvalidArgument
from tallystick.formats import Schema, json_source
from tallystick.formats.avro import names
from tallystick.formats.avro.types import AvroSchema
from tallystick.formats.protobuf.types import ProtobufSchema
from tallystick.registry.parsed import referenced
from tallystick.registry.ports import StoredSchema
from tallystick.registry.service import Registry

_NAMED = ("record", "error", "enum", "fixed")
_AS_IT_IS = {"", "default"}
_FORMATS = {"resolved", "serialized"}

TAGS = "confluent:tags"


def parsed(registry: Registry, stored: StoredSchema) -> Schema:
    return registry.read(lambda tx: registry.parsed.get(tx, stored.namespace, [stored.id]))[stored.id]


def formatted(registry: Registry, stored: StoredSchema, wanted: str) -> str | None:
    """The text in a format; None where it is the text itself. A format that a type does not have changes nothing."""
    if wanted in _AS_IT_IS:
        return None
    if wanted not in _FORMATS:
        raise InvalidArgument("format", f"{wanted[:50]!r} is not known; known are {', '.join(sorted(_FORMATS))}")
    schema = parsed(registry, stored)
    if isinstance(schema, AvroSchema) and wanted == "resolved" and stored.definition.references:
        return _resolved(registry, stored)
    if isinstance(schema, ProtobufSchema) and wanted == "serialized":
        return _serialized(schema)
    return None


def _serialized(schema: ProtobufSchema) -> str:
    file = FileDescriptorProto()
    file.CopyFrom(schema.types.main)
    file.ClearField("source_code_info")
    return base64.b64encode(file.SerializeToString(deterministic=True)).decode()


def _resolved(registry: Registry, stored: StoredSchema) -> str:
    """The text with every type that it takes from a reference written out where it is used first."""
    texts = registry.read(lambda tx: referenced(tx, stored.definition, stored.namespace))
    elsewhere = _Types()
    for definition in texts.values():
        elsewhere.collect(_raw(definition.text), "")
    try:
        whole = elsewhere.written_out(_raw(stored.definition.text), "", set())
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    except RecursionError as e:
        raise InvalidArgument("format", "the references nest too deep to be written out in one text") from e


def _raw(text: str) -> Any:
    """The JSON of an Avro text, which may also be the bare name of a primitive."""
    return text.strip() if text.strip() in names.PRIMITIVES else json_source.load(text)


class _Types:
    """Named Avro types by their full names, each with the namespace around it."""

    def __init__(self) -> None:
        self._types: dict[str, tuple[dict[str, Any], str]] = {}

    def collect(self, raw: Any, namespace: str) -> None:
        if isinstance(raw, list):
            for branch in raw:
                self.collect(branch, namespace)
        elif isinstance(raw, dict):
            if raw.get("type") in _NAMED:
                name = _full_name(raw, namespace)
                self._types.setdefault(name, (raw, namespace))
                namespace = names.namespace_of(name)
            for inner in _inner(raw):
                self.collect(inner, namespace)

    def written_out(self, raw: Any, namespace: str, defined: set[str]) -> Any:
        if isinstance(raw, str):
            return self._named(raw, namespace, defined)
        if isinstance(raw, list):
            return [self.written_out(branch, namespace, defined) for branch in raw]
        whole = dict(raw)
        if raw.get("type") in _NAMED:
            name = _full_name(raw, namespace)
            if name in defined:
                return name
            defined.add(name)
            namespace = names.namespace_of(name)
            whole.update(name=name.rpartition(".")[2], namespace=namespace)
        if isinstance(raw.get("fields"), list):
            whole["fields"] = [
                {**field, "type": self.written_out(field["type"], namespace, defined)} for field in raw["fields"]
            ]
        for key in ("items", "values"):
            if key in raw:
                whole[key] = self.written_out(raw[key], namespace, defined)
        if not isinstance(raw.get("type"), str):
            whole["type"] = self.written_out(raw["type"], namespace, defined)
        return whole

    def _named(self, name: str, namespace: str, defined: set[str]) -> Any:
        if name in names.PRIMITIVES:
            return name
        full = names.full_name(name, namespace)
        if full in defined or full not in self._types:
            return full
        raw, around = self._types[full]
        return self.written_out(raw, around, defined)


def _full_name(raw: dict[str, Any], namespace: str) -> str:
    own = raw.get("namespace")
    return names.full_name(raw["name"], namespace if own is None else own)


def _inner(raw: dict[str, Any]) -> Iterator[Any]:
    for field in raw.get("fields") or ():
        yield field["type"]
    for key in ("items", "values"):
        if key in raw:
            yield raw[key]
    if not isinstance(raw.get("type"), str):
        yield raw["type"]


def tagged(schema: Schema, wanted: list[str]) -> list[dict[str, Any]]:
    """The records and fields of an Avro text that carry one of the tags (`*`: any)."""
    if not isinstance(schema, AvroSchema):
        raise InvalidArgument(
            "findTags", f"tags inside a schema are found in AVRO only, not in {schema.definition.type}"
        )
    found = []
    for path, kind, raw in _entities(_raw(schema.definition.text), ""):
        tags = raw.get(TAGS)
        if isinstance(tags, list) and tags and ("*" in wanted or set(wanted) & {str(tag) for tag in tags}):
            found.append({"schemaEntity": {"entityPath": path, "entityType": kind}, "tags": tags})
    return found


def with_tags(text: str, add: dict[str, list[str]], remove: dict[str, list[str]]) -> str:
    """An Avro text with tags added to and removed from its records and fields, by their paths."""
    whole = _raw(text)
    entities = {path: raw for path, _, raw in _entities(whole, "")}
    for path in dict.fromkeys([*add, *remove]):
        if path not in entities:
            raise InvalidArgument("tags", f"the schema has no {path!r}; it has {', '.join(list(entities)[:10])}")
        before = entities[path].get(TAGS)
        kept = [tag for tag in (before if isinstance(before, list) else []) if tag not in remove.get(path, ())]
        tags = list(dict.fromkeys([*kept, *add.get(path, ())]))
        entities[path].pop(TAGS, None)
        if tags:
            entities[path][TAGS] = tags
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def _entities(raw: Any, namespace: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Records and fields with their paths, as Confluent writes them: `.namespace.Record.field`."""
    if isinstance(raw, list):
        for branch in raw:
            yield from _entities(branch, namespace)
    elif isinstance(raw, dict):
        if raw.get("type") in _NAMED:
            name = _full_name(raw, namespace)
            namespace = names.namespace_of(name)
            if "fields" in raw:
                yield f".{name}", "sr_record", raw
                for field in raw["fields"]:
                    yield f".{name}.{field['name']}", "sr_field", field
        for inner in _inner(raw):
            yield from _entities(inner, namespace)
