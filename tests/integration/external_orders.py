"""The orders that the tests of third-party registries send."""

from dataclasses import dataclass
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from pydantic import BaseModel

from tallystick.formats.protobuf.protoc import Sources, compile_sources

AVRO_1: dict[str, Any] = {"type": "record", "name": "shop.Order", "fields": [{"name": "id", "type": "long"}]}
AVRO_2: dict[str, Any] = {**AVRO_1, "fields": [*AVRO_1["fields"], {"name": "note", "type": "string", "default": "-"}]}
AVRO_BROKEN: dict[str, Any] = {**AVRO_1, "fields": [{"name": "id", "type": "string"}]}

JSON_1: dict[str, Any] = {
    "title": "Order",
    "type": "object",
    "properties": {"id": {"type": "integer"}},
    "required": ["id"],
    "additionalProperties": False,
}
JSON_2: dict[str, Any] = {**JSON_1, "properties": {**JSON_1["properties"], "note": {"type": "string"}}}
JSON_BROKEN: dict[str, Any] = {**JSON_1, "properties": {"id": {"type": "boolean"}}}

PROTO_1 = 'syntax = "proto3"; package shop; message Order { int64 id = 1; } message Parcel { string to = 1; }'
PROTO_2 = PROTO_1.replace("int64 id = 1;", "int64 id = 1; string note = 2;")
PROTO_BROKEN = PROTO_1.replace("int64 id", "string id")


@dataclass
class Order:
    id: int
    note: str | None = None


class OrderModel(BaseModel):
    id: int
    note: str | None = None


def generated(files: dict[str, str], name: str) -> Any:
    """A class of the last of some files, as protoc would generate it."""
    compiled = compile_sources(Sources(list(files)[-1], tuple(files.items())))
    pool = DescriptorPool()
    for file in compiled.file:
        pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
