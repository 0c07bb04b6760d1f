"""The schemas of the transport's contract: versions of one order, and what does not fit."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from pydantic import BaseModel

from tallystick.messaging.consumer import Consumer
from tallystick.messaging.message import Message

WAIT_S = 30.0
"""Far more than anything here takes: a busy machine is no fault."""


def avro(*fields: dict[str, Any], name: str = "shop.Order") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


ID = {"name": "id", "type": "long"}
ITEM = {"name": "item", "type": "string"}
NOTE = {"name": "note", "type": ["null", "string"], "default": None}
PRICE = {"name": "price", "type": "double", "default": 1.5}

FIRST = avro(ID, ITEM)
SECOND = avro(ID, ITEM, NOTE)
THIRD = avro(ID, ITEM, NOTE, PRICE)
FOREIGN = avro({"name": "id", "type": "string"}, ITEM)
"""Cannot be read as an order, and no order as this, whatever the strategy."""

JSON_SCHEMA = {
    "title": "Order",
    "type": "object",
    "properties": {"id": {"type": "integer"}, "item": {"type": "string"}},
    "required": ["id"],
}
PROTO = """syntax = "proto3";
package shop;
message Order {
  int64 id = 1;
  string item = 2;
}
"""


@dataclasses.dataclass
class Order:
    id: int
    item: str
    note: str | None = None


class OrderModel(BaseModel):
    id: int
    item: str
    note: str | None = None


def generated_class(file_name: str = "contract/order.proto") -> Any:
    """A class of Protobuf, as protoc would make it."""
    file = descriptor_pb2.FileDescriptorProto(name=file_name, package="shop", syntax="proto3")
    message = file.message_type.add(name="Order")
    message.field.add(name="id", number=1, type="TYPE_INT64", label="LABEL_OPTIONAL")
    message.field.add(name="item", number=2, type="TYPE_STRING", label="LABEL_OPTIONAL")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))


def order(number: int) -> dict[str, Any]:
    return {"id": number, "item": f"item {number}"}


def ids(messages: Sequence[Message[Any]]) -> list[int]:
    return [message.value["id"] for message in messages]


def received(consumer: Consumer[Any], count: int) -> list[Message[Any]]:
    return [consumer.receive(WAIT_S) for _ in range(count)]


def marks(messages: Sequence[Message[Any]]) -> list[int]:
    """What messages say of their schemas, whatever it is, numbered in the order of first appearance: 1, 1, 2 …"""
    said = [(message.schema_version, message.schema_id) for message in messages]
    assert (None, None) not in said
    numbers = {mark: number for number, mark in enumerate(dict.fromkeys(said), 1)}
    return [numbers[mark] for mark in said]


def text(schema: dict[str, Any]) -> str:
    return json.dumps(schema)
