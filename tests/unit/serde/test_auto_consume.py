"""Messages as values of their writers' schemas."""

from collections.abc import Iterator
from typing import Any

import pytest

from tallystick.errors import InvalidRecord, SchemaSerializationError, Unavailable, Unsupported
from tallystick.model import schema_type as types
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.key_value import KeyValue, KeyValueEncoding
from tallystick.rest import RegistryClient
from tallystick.serde import (
    BYTES,
    INT64,
    STRING,
    AutoConsume,
    AvroSchema,
    JsonSchema,
    KeyValueSchema,
    NativeSchema,
    ProtobufNativeSchema,
    ProtobufSchema,
    PulsarJsonSchema,
    RegistrySettings,
)
from tallystick.wire import external_id
from tallystick.wire.external_id import ExternalId
from tallystick.wire.pulsar.schemas import KeyValueIds
from tests.ports import free_ports
from tests.servers import running_registry
from tests.unit.serde.classes import Point
from tests.unit.serde.test_protobuf import SHOP, generated

EXTERNAL = SchemaDefinition(types.EXTERNAL)
MONEY = SchemaDefinition(types.AVRO, '{"type": "record", "name": "Money", "fields": [{"name": "c", "type": "int"}]}')


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegistryClient]:
    with (
        running_registry(tmp_path_factory.mktemp("registry")) as server,
        RegistryClient(server.confluent, "confluent") as client,
    ):
        yield client


@pytest.fixture
def consume(registry: RegistryClient) -> AutoConsume:
    schema = AutoConsume()
    schema.configure(RegistrySettings(registry))
    return schema


def registered(registry: RegistryClient, definition: SchemaDefinition, subject: str = "points") -> bytes:
    found = registry.register(subject, definition)
    assert found.id is not None
    return external_id.write(ExternalId(found.id))


@pytest.mark.parametrize(
    ("writer", "value", "read"),
    [
        (AvroSchema(Point), Point(1, 2), {"x": 1, "y": 2}),
        (PulsarJsonSchema(Point), Point(1, 2), {"x": 1, "y": 2}),
        (JsonSchema(Point), Point(1, 2), {"x": 1, "y": 2}),
        (ProtobufSchema(SHOP), {"id": 5, "lines": []}, {"id": 5, "lines": []}),
        (ProtobufNativeSchema(generated(SHOP, "shop.Line")), {"sku": "a"}, {"sku": "a"}),
        (INT64, 5, 5),
        (STRING, "text", "text"),
        (BYTES, b"any", b"any"),
    ],
    ids=str,
)
def test_each_type_is_read_by_the_writers_schema(writer: NativeSchema[Any], value: Any, read: Any) -> None:
    assert AutoConsume().reader_of("t", writer.definition, None)(writer.to_payload(value), None) == read


def test_bytes_where_there_is_no_schema() -> None:
    assert AutoConsume().reader_of("t", None, None)(b"any", None) == b"any"
    assert AutoConsume().decode("t", b"any", None) == b"any"


@pytest.mark.parametrize("encoding", KeyValueEncoding)
def test_pairs(encoding: KeyValueEncoding) -> None:
    writer = KeyValueSchema(STRING, AvroSchema(Point), encoding)
    encoded = writer.encode("t", ("k", Point(1, 2)))
    read = AutoConsume().reader_of("t", writer.definition, None)
    assert read(encoded.data or b"", encoded.key) == KeyValue("k", {"x": 1, "y": 2})


def test_payloads_that_do_not_fit_have_findings() -> None:
    with pytest.raises(InvalidRecord):
        AutoConsume().reader_of("t", AvroSchema(Point).definition, None)(b"", None)
    for broken in (SchemaDefinition(types.AVRO, "{"), SchemaDefinition(types.KEY_VALUE, "{")):
        with pytest.raises(InvalidRecord, match="cannot be read: invalid schema"):
            AutoConsume().reader_of("t", broken, None)(b"", None)


def test_it_only_reads() -> None:
    with pytest.raises(Unsupported, match="AutoConsume only reads"):
        AutoConsume().encode("t", 5)
    assert AutoConsume().definition.type in types.CLIENT_SIDE


@pytest.mark.parametrize("writer", [EXTERNAL, None])
def test_external_messages_are_read_by_their_ids(
    registry: RegistryClient, consume: AutoConsume, writer: SchemaDefinition | None
) -> None:
    schema = AvroSchema(Point)
    schema_id = registered(registry, schema.definition)
    consume.prepare("t", schema_id)
    assert consume.reader_of("t", writer, schema_id)(schema.to_payload(Point(1, 2)), None) == {"x": 1, "y": 2}


def test_ids_count_in_the_namespace_of_the_topic(registry: RegistryClient, consume: AutoConsume) -> None:
    schema = AvroSchema(Point, namespace="elsewhere")
    schema_id = registered(registry, schema.definition, ":.acme.shop:points")
    payload = schema.to_payload(Point(1, 2))
    read = consume.reader_of("persistent://acme/shop/points", EXTERNAL, schema_id)
    assert read(payload, None) == {"x": 1, "y": 2}


def test_external_schemas_bring_what_they_refer_to(registry: RegistryClient, consume: AutoConsume) -> None:
    registry.register("money", MONEY)
    price = SchemaDefinition(
        types.AVRO,
        '{"type": "record", "name": "Price", "fields": [{"name": "m", "type": "Money"}]}',
        (Reference("Money", "money", 1),),
    )
    schema_id = registered(registry, price, "prices")
    assert consume.reader_of("t", EXTERNAL, schema_id)(b"\x04", None) == {"m": {"c": 2}}
    assert consume.reader_of("t", price, None)(b"\x04", None) == {"m": {"c": 2}}


def test_external_protobuf_says_which_message(registry: RegistryClient, consume: AutoConsume) -> None:
    line = generated(SHOP, "shop.Line")
    found = registry.register("shop", ProtobufSchema(SHOP).definition)
    assert found.id is not None
    schema_id = external_id.write(ExternalId(found.id, (1,)))
    assert consume.reader_of("t", EXTERNAL, schema_id)(line(sku="a").SerializeToString(), None) == {"sku": "a"}
    with pytest.raises(SchemaSerializationError, match="message 7 of the file, which has no such message"):
        consume.reader_of("t", EXTERNAL, external_id.write(ExternalId(found.id, (7,))))


@pytest.mark.parametrize("encoding", KeyValueEncoding)
def test_external_pairs(registry: RegistryClient, consume: AutoConsume, encoding: KeyValueEncoding) -> None:
    schema = AvroSchema(Point)
    ids = KeyValueIds(b"", registered(registry, schema.definition))
    text = f'{{"encoding": "{encoding}", "key": {{"type": "STRING"}}, "value": {{"type": "EXTERNAL"}}}}'
    consume.prepare("t", ids)
    read = consume.reader_of("t", SchemaDefinition(types.KEY_VALUE, text), ids)
    written = KeyValueSchema(STRING, schema, encoding).encode("t", ("k", Point(1, 2)))
    assert read(written.data or b"", written.key) == KeyValue("k", {"x": 1, "y": 2})


def test_without_a_registry_the_fix_is_told() -> None:
    with pytest.raises(SchemaSerializationError, match=r"topic t: .* 00 00 00 07 .*; give the client registry='http"):
        AutoConsume().reader_of("t", EXTERNAL, external_id.write(ExternalId(7)))  # type: ignore[arg-type]


def test_messages_without_an_id_are_told() -> None:
    with pytest.raises(SchemaSerializationError, match="carries no schema id"):
        AutoConsume().reader_of("t", EXTERNAL, None)
    with pytest.raises(SchemaSerializationError, match="the ids of a pair, and the topic has no KEY_VALUE schema"):
        AutoConsume().reader_of("t", EXTERNAL, KeyValueIds(b"\x01", b"\x02"))


def test_ids_that_the_registry_does_not_know_are_told(consume: AutoConsume) -> None:
    for unknown in (b"\x00\x00\xff\xff", b"\x01"):
        with pytest.raises(SchemaSerializationError, match=r"does not know.*give the client the registry that"):
            consume.reader_of("t", EXTERNAL, unknown)


def test_a_registry_that_does_not_answer_is_worth_a_retry() -> None:
    with RegistryClient(f"http://127.0.0.1:{free_ports(1)[0]}", "confluent") as nobody:
        schema = AutoConsume()
        schema.configure(RegistrySettings(nobody))
        with pytest.raises(Unavailable):
            schema.prepare("t", b"\x00\x00\x00\x01")
