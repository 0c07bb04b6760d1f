"""Schemas that a third-party registry keeps, on our own registry in both of its dialects."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from tallystick.connect.external import ExternalSchema, as_external
from tallystick.connect.registries import ConfluentSchemas, OpenSchemas, RegistrySchemas
from tallystick.errors import IncompatibleSchema, SchemaSerializationError, Unsupported
from tallystick.model.key_value import KeyValue, KeyValueEncoding
from tallystick.model.naming import KafkaNaming
from tallystick.model.schema_type import AVRO, EXTERNAL, KEY_VALUE
from tallystick.rest import RegistryClient
from tallystick.serde.auto_produce import AutoProduceBytes
from tallystick.serde.avro import AvroSchema
from tallystick.serde.json_schema import JsonSchema
from tallystick.serde.key_value import KeyValueSchema
from tallystick.serde.primitive import STRING
from tallystick.serde.protobuf import ProtobufSchema
from tallystick.serde.pulsar_json import PulsarJsonSchema
from tallystick.wire.pulsar.schemas import KeyValueIds
from tests.integration import external_orders as orders
from tests.integration.external_orders import Order, OrderModel
from tests.servers import RunningRegistry, running_registry

_numbers = count(1)
MakeSchemas = Callable[..., RegistrySchemas]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture(params=["confluent", "openschema"])
def make(request: pytest.FixtureRequest, server: RunningRegistry) -> Iterator[MakeSchemas]:
    """Factories of one dialect, closed in the end."""
    made: list[RegistrySchemas] = []

    def make_schemas(**settings: Any) -> RegistrySchemas:
        is_confluent = request.param == "confluent"
        new = ConfluentSchemas(server.confluent, **settings) if is_confluent else OpenSchemas(server.http, **settings)
        made.append(new)
        return new

    yield make_schemas
    for each in made:
        each.close()


@pytest.fixture
def schemas(make: MakeSchemas) -> RegistrySchemas:
    return make()


@pytest.fixture
def registry(server: RunningRegistry) -> Iterator[RegistryClient]:
    with RegistryClient(server.confluent, "confluent") as client:
        yield client


@pytest.fixture
def topic() -> str:
    return f"orders-{next(_numbers)}"


def in_fours(number: int | None) -> bytes:
    assert number is not None
    return number.to_bytes(4)


PROTO_CLASS = orders.generated({"shop/order.proto": orders.PROTO_1}, "shop.Order")
PARCEL_CLASS = orders.generated({"shop/order.proto": orders.PROTO_1}, "shop.Parcel")

SOURCES: dict[str, tuple[Callable[[RegistrySchemas], ExternalSchema[Any]], Any, Any]] = {
    "avro text": (lambda s: s.avro('"long"'), AvroSchema('"long"'), 7),
    "avro dict": (lambda s: s.avro(orders.AVRO_1), AvroSchema(orders.AVRO_1), {"id": 7}),
    "avro dataclass": (lambda s: s.avro(Order, namespace="shop"), AvroSchema(Order, namespace="shop"), Order(7, "n")),
    "avro pydantic": (lambda s: s.avro(OrderModel), AvroSchema(OrderModel), OrderModel(id=7)),
    "json dict": (lambda s: s.json(orders.JSON_1), JsonSchema(orders.JSON_1), {"id": 7}),
    "json dataclass": (lambda s: s.json(Order), JsonSchema(Order), Order(7)),
    "json pydantic": (lambda s: s.json(OrderModel), JsonSchema(OrderModel), OrderModel(id=7, note="n")),
    "protobuf text": (lambda s: s.protobuf(orders.PROTO_1), ProtobufSchema(orders.PROTO_1), {"id": 7}),
    "protobuf class": (lambda s: s.protobuf(PROTO_CLASS), ProtobufSchema(PROTO_CLASS), PROTO_CLASS(id=7)),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source(schemas: RegistrySchemas, registry: RegistryClient, topic: str, source: str) -> None:
    build, native, value = SOURCES[source]
    writer, reader = build(schemas), build(schemas)
    encoded = writer.encode(topic, value)
    assert encoded.data == native.to_payload(value)  # bare: no frame, no path of a message
    assert encoded.schema_id == in_fours(registry.by_version(f"{topic}-value").id)
    assert reader.decode(topic, encoded.data or b"", encoded.schema_id) == value


def test_the_broker_is_told_the_type_alone(schemas: RegistrySchemas) -> None:
    schema = schemas.avro(orders.AVRO_1)
    assert (schema.definition.type, schema.definition.text, schema.definition.properties) == (EXTERNAL, "", {})


@pytest.mark.parametrize(
    ("kind", "first", "second", "old", "new", "old_seen"),
    [
        ("avro", orders.AVRO_1, orders.AVRO_2, {"id": 7}, {"id": 8, "note": "n"}, {"id": 7, "note": "-"}),
        ("json", orders.JSON_1, orders.JSON_2, {"id": 7}, {"id": 8, "note": "n"}, {"id": 7}),
        ("protobuf", orders.PROTO_1, orders.PROTO_2, {"id": 7}, {"id": 8, "note": "n"}, {"id": 7, "note": ""}),
    ],
)
def test_one_reader_reads_two_versions(
    schemas: RegistrySchemas, topic: str, kind: str, first: Any, second: Any, old: Any, new: Any, old_seen: Any
) -> None:
    build = getattr(schemas, kind)
    writer_1, writer_2, reader = build(first), build(second), build(second)
    messages = [writer_1.encode(topic, old), writer_2.encode(topic, new), writer_1.encode(topic, old)]
    assert messages[0].schema_id == messages[2].schema_id != messages[1].schema_id
    assert [reader.decode(topic, m.data, m.schema_id) for m in messages] == [old_seen, new, old_seen]


@pytest.mark.parametrize(
    ("kind", "first", "broken", "value", "rule"),
    [
        ("avro", orders.AVRO_1, orders.AVRO_BROKEN, {"id": "7"}, "AVRO_TYPE_CHANGED"),
        ("json", orders.JSON_1, orders.JSON_BROKEN, {"id": True}, "JSON_SCHEMA_TYPE_CHANGED"),
        ("protobuf", orders.PROTO_1, orders.PROTO_BROKEN, {"id": "7"}, "PROTOBUF_FIELD_TYPE_CHANGED"),
    ],
)
def test_an_incompatible_schema_is_refused_with_findings(
    schemas: RegistrySchemas, topic: str, kind: str, first: Any, broken: Any, value: Any, rule: str
) -> None:
    build = getattr(schemas, kind)
    build(first).schema_id_for(topic)
    with pytest.raises(IncompatibleSchema, match=f"topic {topic}, subject {topic}-value: .*{schemas.url}") as refusal:
        build(broken).encode(topic, value)
    assert rule in [finding.rule for finding in refusal.value.findings]


def test_a_topic_of_pulsar_has_the_subject_of_its_name(
    schemas: RegistrySchemas, registry: RegistryClient, topic: str
) -> None:
    schema = schemas.avro(orders.AVRO_1)
    names = [topic, f"public/default/{topic}", f"persistent://public/default/{topic}-partition-3"]
    assert {schema.schema_id_for(name) for name in names} == {in_fours(registry.by_version(f"{topic}-value").id)}
    assert registry.versions(f"{topic}-value") == [1]


def test_namespaces_are_contexts(schemas: RegistrySchemas, registry: RegistryClient, topic: str) -> None:
    elsewhere = f"persistent://acme/shop/{topic}"
    here, there = schemas.avro(orders.AVRO_1), schemas.avro(orders.AVRO_BROKEN)
    here.schema_id_for(topic)
    encoded = there.encode(elsewhere, {"id": "7"})
    assert encoded.schema_id == in_fours(registry.by_version(f":.acme.shop:{topic}-value").id)
    assert schemas.avro(orders.AVRO_BROKEN).decode(elsewhere, encoded.data or b"", encoded.schema_id) == {"id": "7"}


@pytest.mark.parametrize("namespace", ["acme/all", ".acme.all"])
def test_one_namespace_for_all_topics(make: MakeSchemas, registry: RegistryClient, topic: str, namespace: str) -> None:
    schema = make(namespace=namespace).avro(orders.AVRO_1)
    encoded = [schema.encode(name, {"id": 7}) for name in (topic, f"public/other/{topic}")]
    assert encoded[0] == encoded[1]
    assert encoded[0].schema_id == in_fours(registry.by_version(f":.acme.all:{topic}-value").id)
    assert schema.decode(topic, encoded[0].data or b"", encoded[0].schema_id) == {"id": 7}


@pytest.mark.parametrize(
    ("naming", "subject"),
    [(KafkaNaming.RECORD_NAME, "shop.{0}"), ("TopicRecordNameStrategy", "{1}-shop.{0}")],
)
def test_subjects_after_records(
    make: MakeSchemas, registry: RegistryClient, topic: str, naming: KafkaNaming, subject: str
) -> None:
    record = f"Order{next(_numbers)}"
    schemas = make(naming=naming)
    sources = [
        schemas.avro({**orders.AVRO_1, "name": f"shop.{record}"}),
        schemas.json({**orders.JSON_1, "title": f"shop.{record}J"}),
        schemas.protobuf(orders.PROTO_1.replace("Order", f"{record}P")),
    ]
    for schema, ending in zip(sources, ("", "J", "P"), strict=True):
        found = registry.by_version(subject.format(record + ending, topic)) if schema.schema_id_for(topic) else None
        assert found is not None


def test_a_record_without_a_name_cannot_name_a_subject(make: MakeSchemas, topic: str) -> None:
    schema: ExternalSchema[Any] = make(naming=KafkaNaming.RECORD_NAME).avro('"long"')
    with pytest.raises(SchemaSerializationError, match="takes it from the name of a record, and the schema has none"):
        schema.encode(topic, 7)


@pytest.mark.parametrize("of", ["text", "class"])
def test_a_message_that_is_not_the_first_of_its_file(schemas: RegistrySchemas, topic: str, of: str) -> None:
    build: dict[str, Callable[[], ExternalSchema[Any]]] = {
        "text": lambda: schemas.protobuf(orders.PROTO_1, message="shop.Parcel"),
        "class": lambda: schemas.protobuf(PARCEL_CLASS),
    }
    value = {"to": "Zoë"} if of == "text" else PARCEL_CLASS(to="Zoë")
    encoded = build[of]().encode(topic, value)
    assert isinstance(encoded.schema_id, bytes)
    assert encoded.schema_id[4:] == b"\x02\x02"
    assert build[of]().decode(topic, encoded.data or b"", encoded.schema_id) == value
    with pytest.raises(SchemaSerializationError, match=r"written as shop\.Parcel, and is read as shop\.Order"):
        schemas.protobuf(orders.PROTO_1).decode(topic, encoded.data or b"", encoded.schema_id)


def test_auto_register_off_takes_what_is_there(make: MakeSchemas, registry: RegistryClient, topic: str) -> None:
    schemas = make(auto_register=False)
    with pytest.raises(SchemaSerializationError, match=r"register the schema first, or .* auto_register=True"):
        schemas.avro(orders.AVRO_1).encode(topic, {"id": 7})
    found = registry.register(f"{topic}-value", AvroSchema(orders.AVRO_1).definition)
    assert schemas.avro(orders.AVRO_1).encode(topic, {"id": 7}).schema_id == in_fours(found.id)
    with pytest.raises(SchemaSerializationError, match="auto_register=True"):
        schemas.avro(orders.AVRO_2).encode(topic, {"id": 7, "note": "n"})
    assert registry.versions(f"{topic}-value") == [1]


@pytest.mark.parametrize(
    ("kind", "own", "latest", "value", "seen"),
    [
        ("avro", orders.AVRO_1, orders.AVRO_2, {"id": 7}, {"id": 7, "note": "-"}),
        ("avro", orders.AVRO_2, orders.AVRO_1, {"id": 7, "note": "n"}, {"id": 7}),
        ("json", orders.JSON_1, orders.JSON_2, {"id": 7}, {"id": 7}),
        ("protobuf", orders.PROTO_1, orders.PROTO_2, {"id": 7}, {"id": 7, "note": ""}),
    ],
)
def test_the_latest_version_is_written(
    make: MakeSchemas, registry: RegistryClient, topic: str, kind: str, own: Any, latest: Any, value: Any, seen: Any
) -> None:
    there = getattr(make(), kind)(latest)
    latest_id = there.schema_id_for(topic)
    encoded = getattr(make(use_latest=True), kind)(own).encode(topic, value)
    assert encoded.schema_id == latest_id
    assert there.decode(topic, encoded.data, encoded.schema_id) == seen
    assert registry.versions(f"{topic}-value") == [1]


def test_the_latest_version_must_take_what_is_written(make: MakeSchemas, topic: str) -> None:
    latest = make(use_latest=True)
    with pytest.raises(SchemaSerializationError, match="register a first version"):
        latest.avro(orders.AVRO_1).encode(topic, {"id": 7})
    make().avro(orders.AVRO_BROKEN).schema_id_for(topic)
    with pytest.raises(IncompatibleSchema, match="its latest version, 1, cannot take") as refusal:
        latest.avro(orders.AVRO_1).encode(topic, {"id": 7})
    assert [finding.rule for finding in refusal.value.findings] == ["AVRO_TYPE_CHANGED"]


def test_schemas_that_differ_in_the_text_alone(server: RunningRegistry, registry: RegistryClient, topic: str) -> None:
    spelled = {**orders.AVRO_1, "name": "Order", "namespace": "shop"}
    with ConfluentSchemas(server.confluent, normalize=True) as schemas:
        ids = {schemas.avro(source).schema_id_for(topic) for source in (orders.AVRO_1, spelled)}
    assert (len(ids), registry.versions(f"{topic}-value")) == (1, [1])


@pytest.mark.parametrize("encoding", KeyValueEncoding)
def test_a_pair_has_two_ids(
    schemas: RegistrySchemas, registry: RegistryClient, topic: str, encoding: KeyValueEncoding
) -> None:
    def pair() -> KeyValueSchema[Any, Any]:
        return KeyValueSchema(schemas.avro('"string"'), schemas.json(orders.JSON_1), encoding)

    value = KeyValue("k", {"id": 7})
    schema = pair()
    encoded = schema.encode(topic, value)
    key, inner = (registry.by_version(f"{topic}-{half}").id for half in ("key", "value"))
    assert encoded.schema_id == KeyValueIds(in_fours(key), in_fours(inner)) == schema.schema_id_for(topic)
    assert schema.definition.type == KEY_VALUE
    reader = pair()
    reader.prepare(topic, encoded.schema_id)
    assert reader.reader_of(topic, schema.definition, encoded.schema_id)(encoded.data or b"", encoded.key) == value


def test_a_half_that_is_not_there_has_no_id(schemas: RegistrySchemas, topic: str) -> None:
    schema = KeyValueSchema(schemas.avro('"string"'), schemas.json(orders.JSON_1))
    encoded = schema.encode(topic, KeyValue(None, {"id": 7}))
    assert isinstance(encoded.schema_id, KeyValueIds)
    assert encoded.schema_id.key == b""
    assert schema.decode(topic, encoded.data or b"", encoded.schema_id) == KeyValue(None, {"id": 7})


def test_bytes_that_are_encoded_already(schemas: RegistrySchemas, topic: str) -> None:
    schema = schemas.avro(orders.AVRO_1)
    auto = AutoProduceBytes(schema)
    assert auto.encode(topic, b"\x0e") == schema.encode(topic, {"id": 7})
    with pytest.raises(SchemaSerializationError, match="left over"):
        auto.encode(topic, b"\x0e\x0e")


def test_native_schemas_of_a_client_with_a_registry(registry: RegistryClient, topic: str) -> None:
    schema = as_external(AvroSchema(orders.AVRO_1), registry)
    assert schema.encode(topic, {"id": 7}).schema_id == in_fours(registry.by_version(f"{topic}-value").id)
    pair = as_external(KeyValueSchema(STRING, AvroSchema(orders.AVRO_1), KeyValueEncoding.SEPARATED), registry)
    encoded = pair.encode(topic, KeyValue("k", {"id": 7}))
    assert (encoded.key, encoded.schema_id) == (b"k", KeyValueIds(b"", schema.schema_id_for(topic) or b""))  # type: ignore[arg-type]
    assert as_external(STRING, registry) is STRING
    with pytest.raises(Unsupported, match="PULSAR_JSON are known to Pulsar's own registry alone"):
        as_external(PulsarJsonSchema(orders.AVRO_1), registry)


def test_the_native_schema_stays_as_it_was(registry: RegistryClient, topic: str) -> None:
    native = AvroSchema(orders.AVRO_1)
    as_external(native, registry).schema_id_for(topic)
    assert (native.definition.type, native.encode(topic, {"id": 7}).schema_id) == (AVRO, None)
