"""Texts with their references written out, and the tags inside them."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tallystick.access import Caller
from tallystick.errors import InvalidArgument
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, SchemaType
from tallystick.model.subject import SchemaId, Subject
from tallystick.registry import lookup, registration
from tallystick.registry.service import Registry
from tallystick.server.dialects.confluent import entities, texts
from tallystick.stores.sqlite import SqliteStore


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    opened = Registry(SqliteStore(tmp_path / "registry.db"))
    yield opened
    opened.close()


def _put(registry: Registry, name: str, schema: Any, *references: Reference, type_: SchemaType = AVRO) -> int:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    definition = SchemaDefinition(type_, text, references)
    return registration.register(registry, Caller(), Subject("public/default", name), definition).id


def _formatted(registry: Registry, id_: Any, wanted: str) -> str | None:
    return texts.formatted(registry, lookup.by_id(registry, "public/default", id_), wanted)


def _resolved(registry: Registry, id_: int) -> Any:
    text = _formatted(registry, id_, "resolved")
    assert text is not None
    whole = json.loads(text)
    fastavro.parse_schema(json.loads(text))  # on its own
    return whole


def _record(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": key, "type": type_} for key, type_ in fields.items()]}


def test_a_type_is_written_out_where_it_is_used_first(registry: Registry) -> None:
    _put(registry, "address", _record("shop.Address", city="string"))
    uses = _record("shop.Order", to="Address", back=["null", "shop.Address"], all={"type": "map", "values": "Address"})
    whole = _resolved(registry, _put(registry, "order", uses, Reference("shop.Address", "address", 1)))
    first, second, third = (field["type"] for field in whole["fields"])
    assert (first["name"], first["namespace"]) == ("Address", "shop")
    assert second == ["null", "shop.Address"]
    assert third == {"type": "map", "values": "shop.Address"}


def test_references_of_references_and_types_inside_them(registry: Registry) -> None:
    _put(
        registry,
        "a",
        _record("n.A", inner=_record("Inner", x="int"), kind={"type": "enum", "name": "K", "symbols": ["X"]}),
    )
    _put(registry, "b", _record("n.B", a="n.A"), Reference("n.A", "a", 1))
    uses = _record("m.C", inner="n.Inner", b="n.B", kind="n.K")
    id_ = _put(registry, "c", uses, Reference("n.B", "b", 1), Reference("n.A", "a", 1))
    whole = _resolved(registry, id_)
    inner, b, kind = (field["type"] for field in whole["fields"])
    assert inner["fields"] == [{"name": "x", "type": "int"}]
    assert b["fields"][0]["type"]["fields"][0]["type"] == "n.Inner"
    assert kind == "n.K"


def test_a_type_without_a_namespace_keeps_having_none(registry: Registry) -> None:
    _put(registry, "a", _record("A", x="int"))
    whole = _resolved(
        registry, _put(registry, "b", _record("B", a={"type": "array", "items": "A"}), Reference("A", "a", 1))
    )
    assert whole["fields"][0]["type"]["items"]["namespace"] == ""


def test_a_type_that_contains_itself(registry: Registry) -> None:
    _put(registry, "node", _record("n.Node", next=["null", "n.Node"]))
    whole = _resolved(registry, _put(registry, "list", _record("n.List", first="Node"), Reference("n.Node", "node", 1)))
    assert whole["fields"][0]["type"]["fields"][0]["type"] == ["null", "n.Node"]


def test_formats_that_change_nothing(registry: Registry) -> None:
    plain = _put(registry, "plain", "string")
    json_schema = _put(registry, "json", '{"type":"object"}', type_=JSON_SCHEMA)
    for id_ in (plain, json_schema):
        for wanted in ("", "default", "resolved", "serialized"):
            assert _formatted(registry, id_, wanted) is None
    with pytest.raises(InvalidArgument):
        _formatted(registry, plain, "logical")


def test_protobuf_as_a_descriptor(registry: Registry) -> None:
    id_ = _put(registry, "p", 'syntax = "proto3"; package n; message M { int32 a = 1; }', type_=PROTOBUF)
    text = _formatted(registry, id_, "serialized")
    assert text is not None
    file = FileDescriptorProto.FromString(base64.b64decode(text))
    assert (file.package, file.message_type[0].name, file.syntax) == ("n", "M", "proto3")
    assert not file.HasField("source_code_info")


def _with_tags(text: str, add: dict[str, list[str]], remove: dict[str, list[str]], type_: SchemaType = AVRO) -> str:
    return entities.with_tags(SchemaDefinition(type_, text), add, remove)


def _tagged(registry: Registry, text: str, type_: SchemaType) -> dict[str, list[str]]:
    stored = lookup.by_id(registry, "public/default", SchemaId(_put(registry, "tagged", text, type_=type_)))
    found = entities.tagged(texts.parsed(registry, stored), ["*"])
    return {f"{f['schemaEntity']['entityType']} {f['schemaEntity']['entityPath']}": f["tags"] for f in found}


def test_tags_of_a_json_schema(registry: Registry) -> None:
    inner = {"type": "object", "properties": {"y": {"type": "string"}}}
    text = json.dumps(
        {
            "type": "object",
            "properties": {"list": {"type": "array", "items": inner}, "one": {"oneOf": [{"type": "null"}, inner]}},
            "definitions": {"D": inner},
        }
    )
    wanted = {
        "object": ["A"],
        "object.list": ["B"],
        "object.list.array.object": ["C"],
        "object.list.array.object.y": ["D"],
        "object.one.oneof.1.object.y": ["E"],
        "object.definitions.D.object.y": ["F"],
    }
    assert _tagged(registry, _with_tags(text, wanted, {}, JSON_SCHEMA), JSON_SCHEMA) == {
        f"{'sr_field' if path.endswith(('list', 'y')) else 'sr_record'} {path}": tags for path, tags in wanted.items()
    }


def test_tags_of_a_protobuf_text(registry: Registry) -> None:
    text = """syntax = "proto3"; package n; import "confluent/meta.proto";
    message M {
      option (confluent.message_meta).tags = "A";
      int32 x = 1 [(confluent.field_meta).tags = "B", (confluent.field_meta).tags = "C"];
      int32 bare = 2;
      message Inner { map<string, string> y = 1 [(confluent.field_meta) = { tags: "D" }]; }
    }"""
    found = _tagged(registry, text, PROTOBUF)
    assert found == {"sr_record .n.M": ["A"], "sr_field .n.M.x": ["B", "C"], "sr_field .n.M.Inner.y": ["D"]}


def test_tags_are_added_and_removed() -> None:
    text = json.dumps(_record("n.R", x="int", inner=_record("I", y="int")))
    once = _with_tags(text, {".n.R": ["A"], ".n.I.y": ["B", "B"]}, {})
    twice = _with_tags(once, {".n.R": ["A", "C"]}, {".n.I.y": ["B"], ".n.R": ["A"]})
    whole = json.loads(twice)
    assert whole[entities.TAGS] == ["A", "C"]
    assert entities.TAGS not in whole["fields"][1]["type"]["fields"][0]
    assert json.loads(once)["fields"][1]["type"]["fields"][0][entities.TAGS] == ["B"]
    with pytest.raises(InvalidArgument):
        _with_tags(text, {".n.R.z": ["A"]}, {})
