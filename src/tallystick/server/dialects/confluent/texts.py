"""Other forms of a schema's text: `format=resolved` and `format=serialized`."""

import base64
import json
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tallystick.errors import InvalidArgument
from tallystick.formats import Schema, json_source
from tallystick.formats.avro import names
from tallystick.formats.avro.types import AvroSchema
from tallystick.formats.protobuf.parse import is_base64
from tallystick.formats.protobuf.types import ProtobufSchema
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import PROTOBUF
from tallystick.registry import lookup
from tallystick.registry.parsed import referenced
from tallystick.registry.ports import StoredSchema
from tallystick.registry.registration import Registration
from tallystick.registry.service import Registry
from tallystick.server.dialects.confluent.proto_text import proto_text

NAMED = ("record", "error", "enum", "fixed")
_AS_IT_IS = {"", "default"}
_FORMATS = {"resolved", "serialized"}


def parsed(registry: Registry, stored: StoredSchema) -> Schema:
    return registry.read(lambda tx: registry.parsed.get(tx, stored.namespace, [stored.id]))[stored.id]


def formatted(registry: Registry, stored: StoredSchema, wanted: str) -> str | None:
    """The text in a format; None where it is the text itself. A format that a type does not have changes nothing.

    A Protobuf descriptor is shown as the `.proto` text that it stands for, unless it is asked for.
    """
    if wanted in _AS_IT_IS and not is_descriptor(stored.definition):
        return None
    if wanted not in _AS_IT_IS | _FORMATS:
        raise InvalidArgument("format", f"{wanted[:50]!r} is not known; known are {', '.join(sorted(_FORMATS))}")
    schema = parsed(registry, stored)
    if isinstance(schema, AvroSchema) and wanted == "resolved" and stored.definition.references:
        return _resolved(registry, stored)
    if isinstance(schema, ProtobufSchema) and wanted == "serialized":
        return _serialized(schema)
    if isinstance(schema, ProtobufSchema) and is_descriptor(stored.definition):
        return proto_text(schema.types.files, schema.types.main)
    return None


def is_descriptor(definition: SchemaDefinition) -> bool:
    """Whether a schema was registered as a descriptor in base64, as clients do that have no text."""
    return definition.type == PROTOBUF and is_base64(definition.text)


def of_registration(registry: Registry, found: Registration, sent: SchemaDefinition | None, wanted: str) -> str | None:
    """The text to show for what was registered or found; None for its own.

    Who sent a descriptor gets one back: Confluent's client keeps the answer, and its deserializer reads it as one.
    """
    if wanted in _AS_IT_IS:
        takes_descriptors = sent is not None and is_descriptor(sent)
        if is_descriptor(found.definition) == takes_descriptors:
            return None
        wanted = "serialized" if takes_descriptors else wanted
    return formatted(registry, lookup.by_id(registry, found.subject.namespace, found.id), wanted)


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
        elsewhere.collect(avro_json(definition.text), "")
    try:
        whole = elsewhere.written_out(avro_json(stored.definition.text), "", set())
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    except RecursionError as e:
        raise InvalidArgument("format", "the references nest too deep to be written out in one text") from e


def avro_json(text: str) -> Any:
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
            if raw.get("type") in NAMED:
                name = full_name_in(raw, namespace)
                self._types.setdefault(name, (raw, namespace))
                namespace = names.namespace_of(name)
            for inner in inner_types(raw):
                self.collect(inner, namespace)

    def written_out(self, raw: Any, namespace: str, defined: set[str]) -> Any:
        if isinstance(raw, str):
            return self._named(raw, namespace, defined)
        if isinstance(raw, list):
            return [self.written_out(branch, namespace, defined) for branch in raw]
        whole = dict(raw)
        if raw.get("type") in NAMED:
            name = full_name_in(raw, namespace)
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


def full_name_in(raw: dict[str, Any], namespace: str) -> str:
    own = raw.get("namespace")
    return names.full_name(raw["name"], namespace if own is None else own)


def inner_types(raw: dict[str, Any]) -> Iterator[Any]:
    for field in raw.get("fields") or ():
        yield field["type"]
    for key in ("items", "values"):
        if key in raw:
            yield raw[key]
    if not isinstance(raw.get("type"), str):
        yield raw["type"]
