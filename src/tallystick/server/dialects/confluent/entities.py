"""The records and fields inside a schema's text, by Confluent's paths, and the tags that they carry."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto

from tallystick.errors import InvalidArgument
from tallystick.formats import Schema, json_source
from tallystick.formats.avro import names
from tallystick.formats.protobuf.types import ProtobufSchema
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA
from tallystick.server.dialects.confluent.proto_text import KnownOptions
from tallystick.server.dialects.confluent.texts import NAMED, avro_json, full_name_in, inner_types

TAGS = "confluent:tags"

_RECORD, _FIELD = "sr_record", "sr_field"
_COMBINATIONS = ("allOf", "anyOf", "oneOf")
_CONDITIONS = ("if", "then", "else")
_DEFINITIONS = ("definitions", "$defs")

_Entity = tuple[str, str, dict[str, Any]]
"""Path, kind, and the part of the text that carries its tags."""


def tagged(schema: Schema, wanted: list[str]) -> list[dict[str, Any]]:
    """The records and fields that carry one of the tags (`*`: any)."""
    if isinstance(schema, ProtobufSchema):
        carried: list[tuple[str, str, Any]] = list(_in_protobuf(schema))
    else:
        carried = [(path, kind, raw.get(TAGS)) for path, kind, raw in _entities(schema.definition)[1]]
    return [
        {"schemaEntity": {"entityPath": path, "entityType": kind}, "tags": tags}
        for path, kind, tags in carried
        if isinstance(tags, list) and tags and ("*" in wanted or set(wanted) & {str(tag) for tag in tags})
    ]


def with_tags(definition: SchemaDefinition, add: dict[str, list[str]], remove: dict[str, list[str]]) -> str:
    """The text with tags added to and removed from its records and fields, by their paths."""
    if definition.type not in (AVRO, JSON_SCHEMA):
        raise InvalidArgument(
            "tags", f"tags inside a schema are not changed in {definition.type}; send it with its tags"
        )
    whole, found = _entities(definition)
    entities = {path: raw for path, _, raw in found}
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


def _entities(definition: SchemaDefinition) -> tuple[Any, list[_Entity]]:
    """The JSON of an Avro or JSON Schema text, and what is in it."""
    if definition.type == AVRO:
        whole = avro_json(definition.text)
        return whole, list(_in_avro(whole, ""))
    whole = json_source.load(definition.text)
    return whole, list(_in_json_schema(whole, "", in_field=False))


def _in_avro(raw: Any, namespace: str) -> Iterator[_Entity]:
    """`.namespace.Record.field`"""
    if isinstance(raw, list):
        for branch in raw:
            yield from _in_avro(branch, namespace)
    elif isinstance(raw, dict):
        if raw.get("type") in NAMED:
            name = full_name_in(raw, namespace)
            namespace = names.namespace_of(name)
            if "fields" in raw:
                yield f".{name}", _RECORD, raw
                for field in raw["fields"]:
                    yield f".{name}.{field['name']}", _FIELD, field
        for inner in inner_types(raw):
            yield from _in_avro(inner, namespace)


def _in_json_schema(raw: Any, scope: str, *, in_field: bool) -> Iterator[_Entity]:
    """`object.field.array.object.inner`: what a schema is, then the name of a property, and so on.

    The tags of a property are its own, not those of the object that it holds.
    """
    if not isinstance(raw, dict):
        return
    properties = raw.get("properties")
    if isinstance(properties, dict) or raw.get("type") == "object":
        if not in_field:
            yield f"{scope}object", _RECORD, raw
        for name, inner in (properties or {}).items():
            if isinstance(inner, dict):
                yield f"{scope}object.{name}", _FIELD, inner
                yield from _in_json_schema(inner, f"{scope}object.{name}.", in_field=True)
    for step, inner in _inside(raw):
        yield from _in_json_schema(inner, f"{scope}{step}.", in_field=False)


def _inside(raw: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas within a schema that are no properties, with the step of the path that leads to each."""
    yield "array", raw.get("items")
    yield "not", raw.get("not")
    for keyword in _CONDITIONS:
        yield f"conditional.{keyword}", raw.get(keyword)
    for keyword in _COMBINATIONS:
        branches = raw.get(keyword)
        for i, branch in enumerate(branches if isinstance(branches, list) else ()):
            yield f"{keyword.lower()}.{i}", branch
    for keyword in _DEFINITIONS:
        defined = raw.get(keyword)
        for name, inner in (defined if isinstance(defined, dict) else {}).items():
            yield f"object.{keyword}.{name}", inner


def _in_protobuf(schema: ProtobufSchema) -> Iterator[tuple[str, str, list[str]]]:
    """`.package.Message.field`; the tags stand in the options `confluent.message_meta` and `confluent.field_meta`."""
    main = schema.types.main
    scope = f".{main.package}" if main.package else ""
    yield from _in_messages(main.message_type, scope, KnownOptions(schema.types.files))


def _in_messages(
    messages: Sequence[DescriptorProto], scope: str, known: KnownOptions
) -> Iterator[tuple[str, str, list[str]]]:
    for message in messages:
        if not message.options.map_entry:
            path = f"{scope}.{message.name}"
            yield path, _RECORD, known.tags(message.options)
            for field in message.field:
                yield f"{path}.{field.name}", _FIELD, known.tags(field.options)
            yield from _in_messages(message.nested_type, path, known)
