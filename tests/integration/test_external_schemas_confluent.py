"""Messages of third-party registries' schemas, in frames as on Kafka: Confluent's own code reads and writes them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tallystick.connect.external import ExternalSchema
from tallystick.connect.registries import ConfluentSchemas
from tallystick.wire import confluent_frame, external_id
from tallystick.wire.confluent_frame import FIRST_MESSAGE, SchemaMark
from tallystick.wire.external_id import ExternalId
from tests.integration import external_orders as orders
from tests.servers import running_registry

FILES = {"shop/order.proto": orders.PROTO_1}
ORDER, PARCEL = orders.generated(FILES, "shop.Order"), orders.generated(FILES, "shop.Parcel")
VALUE = SerializationContext("orders", MessageField.VALUE)

Build = Callable[[ConfluentSchemas], ExternalSchema[Any]]
Theirs = Callable[[SchemaRegistryClient], Any]


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with running_registry(tmp_path) as running:
        yield running.confluent


@pytest.fixture
def schemas(url: str) -> Iterator[ConfluentSchemas]:
    with ConfluentSchemas(url) as made:
        yield made


@pytest.fixture
def registry(url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": url}) as client:
        yield client


@pytest.mark.parametrize(
    ("build", "theirs", "value"),
    [
        (lambda s: s.avro(orders.AVRO_1), AvroDeserializer, {"id": 7}),
        (lambda s: s.json(orders.JSON_1), lambda r: JSONDeserializer(None, schema_registry_client=r), {"id": 7}),
        (lambda s: s.protobuf(ORDER), lambda r: ProtobufDeserializer(ORDER, {}, r), ORDER(id=7)),
        (lambda s: s.protobuf(PARCEL), lambda r: ProtobufDeserializer(PARCEL, {}, r), PARCEL(to="Zoë")),
    ],
    ids=["avro", "json", "protobuf", "protobuf, second message"],
)
def test_confluents_deserializers_read_what_we_frame(
    schemas: ConfluentSchemas, registry: SchemaRegistryClient, build: Build, theirs: Theirs, value: Any
) -> None:
    encoded = build(schemas).encode("orders", value)
    assert isinstance(encoded.schema_id, bytes)
    id_ = external_id.read(encoded.schema_id)
    is_protobuf = not isinstance(value, dict)
    mark = SchemaMark(id_.schema, id_.message if is_protobuf else None)
    assert theirs(registry)(confluent_frame.write(mark) + (encoded.data or b""), VALUE) == value


@pytest.mark.parametrize(
    ("theirs", "build", "value", "seen"),
    [
        (
            lambda r: AvroSerializer(r, json.dumps(orders.AVRO_1)),
            lambda s: s.avro(orders.AVRO_2),
            {"id": 7},
            {"id": 7, "note": "-"},
        ),
        (
            lambda r: JSONSerializer(json.dumps(orders.JSON_1), r),
            lambda s: s.json(orders.JSON_2),
            {"id": 7},
            {"id": 7},
        ),
        (lambda r: ProtobufSerializer(ORDER, r), lambda s: s.protobuf(ORDER), ORDER(id=7), ORDER(id=7)),
        (
            lambda r: ProtobufSerializer(PARCEL, r),
            lambda s: s.protobuf(orders.PROTO_2, message="Parcel"),
            PARCEL(to="Zoë"),
            {"to": "Zoë"},
        ),
    ],
    ids=["avro", "json", "protobuf", "protobuf, second message"],
)
def test_what_confluents_serializers_frame_is_read(
    schemas: ConfluentSchemas, registry: SchemaRegistryClient, theirs: Theirs, build: Build, value: Any, seen: Any
) -> None:
    framed = theirs(registry)(value, VALUE)
    mark, begin = confluent_frame.read(framed, is_protobuf=not isinstance(value, dict))
    assert isinstance(mark.schema, int)
    schema_id = external_id.write(ExternalId(mark.schema, mark.message or FIRST_MESSAGE))
    assert build(schemas).decode("orders", framed[begin:], schema_id) == seen
