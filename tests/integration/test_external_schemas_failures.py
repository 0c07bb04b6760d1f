"""What is told when a third-party registry, a value, a payload or an id is not as it should be."""

import pickle
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
import yaml

from tallystick.connect.registries import ConfluentSchemas, OpenSchemas, RegistrySchemas
from tallystick.errors import (
    Forbidden,
    IncompatibleSchema,
    InvalidArgument,
    SchemaSerializationError,
    Unauthenticated,
    Unavailable,
)
from tallystick.rest import Credentials
from tallystick.server.security import hashed
from tallystick.wire.pulsar.schemas import KeyValueIds
from tests.integration import external_orders as orders
from tests.ports import free_port
from tests.servers import RunningRegistry, running_registry
from tests.unit.rest.scripted import Reply, running_script

MAKE: dict[str, Callable[..., RegistrySchemas]] = {
    "confluent": lambda server, **settings: ConfluentSchemas(server.confluent, **settings),
    "openschema": lambda server, **settings: OpenSchemas(server.http, **settings),
}
PASSWORDS = {"admin": "adminpw", "reader": "readpw"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture(params=MAKE)
def schemas(request: pytest.FixtureRequest, server: RunningRegistry) -> Iterator[RegistrySchemas]:
    with MAKE[request.param](server) as made:
        yield made


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    folder = tmp_path_factory.mktemp("guarded")
    accounts = {
        "users": {
            "admin": {"password": hashed("adminpw"), "roles": [{"role": "administer"}]},
            "reader": {"password": hashed("readpw"), "roles": [{"role": "read"}]},
        },
        "tokens": {"ci": {"secret": hashed("s3cret"), "roles": [{"role": "register"}]}},
    }
    (folder / "accounts.yaml").write_text(yaml.safe_dump(accounts))
    with running_registry(folder / "data", security=folder / "accounts.yaml") as running:
        yield running


def raised(kind: type[BaseException], call: Callable[[], object]) -> Any:
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    return caught.value


def test_a_value_that_does_not_fit(schemas: RegistrySchemas) -> None:
    schema = schemas.avro(orders.AVRO_1)
    schema_id = int.from_bytes(schema.schema_id_for("orders"))
    error = raised(SchemaSerializationError, lambda: schema.encode("orders", {"id": "seven"}))
    assert error.message.startswith(
        f"topic orders, subject orders-value, schema id {schema_id}: the value does not fit"
    )
    for told in ("[AVRO_VALUE_TYPE_WRONG]", "/id", "fix: send a value of type long"):
        assert told in error.message
    assert [(f.rule, f.new and f.new.path) for f in error.findings] == [("AVRO_VALUE_TYPE_WRONG", "/id")]
    assert (error.topic, error.subject, error.schema_id, error.url) == (
        "orders",
        "orders-value",
        schema_id,
        schemas.url,
    )
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.findings, again.subject) == (error.message, error.findings, error.subject)


@pytest.mark.parametrize(
    ("kind", "source", "payload", "rule"),
    [
        ("avro", orders.AVRO_1, b"", "AVRO_PAYLOAD_UNREADABLE"),
        ("json", orders.JSON_1, b'{"id":', "JSON_SCHEMA_PAYLOAD_NOT_JSON"),
        ("json", orders.JSON_1, b'{"id":"7"}', "JSON_SCHEMA_VALUE_TYPE"),
        ("protobuf", orders.PROTO_1, b"\xff", "PROTOBUF_PAYLOAD_CORRUPT"),
    ],
)
def test_a_payload_that_does_not_fit(
    schemas: RegistrySchemas, kind: str, source: Any, payload: bytes, rule: str
) -> None:
    schema = getattr(schemas, kind)(source)
    schema_id = schema.schema_id_for(f"unfit-{kind}")
    error = raised(SchemaSerializationError, lambda: schema.decode(f"unfit-{kind}", payload, schema_id))
    assert f"topic unfit-{kind}, schema id {int.from_bytes(schema_id)}: the payload cannot be read" in error.message
    assert [finding.rule for finding in error.findings] == [rule]


def test_an_id_that_the_registry_does_not_have(schemas: RegistrySchemas) -> None:
    schema = schemas.avro(orders.AVRO_1)
    for ask in (lambda i: schema.decode("orders", b"\x0e", i), lambda i: schema.prepare("orders", i)):
        error = raised(SchemaSerializationError, lambda ask=ask: ask((12345).to_bytes(4)))  # type: ignore[misc]
        assert f"topic orders, schema id 12345: the registry at {schemas.url} does not have it" in error.message
        assert "read with the registry that the producer used" in error.message
        assert error.schema_id == 12345


@pytest.mark.parametrize(
    ("schema_id", "told"),
    [
        (None, "the message has no schema id"),
        (b"", "no bytes is not the number of a schema"),
        (b"\x01\x02\x03", "01 02 03 is not the number of a schema"),
        (b"0123456789abcdef!", " … is not the number of a schema"),
        (KeyValueIds(b"\x00\x00\x00\x01", b"\x00\x00\x00\x01"), "the message has two schema ids"),
    ],
)
def test_an_id_that_is_none(schemas: RegistrySchemas, schema_id: Any, told: str) -> None:
    schema = schemas.avro(orders.AVRO_1)
    error = raised(SchemaSerializationError, lambda: schema.decode("orders", b"\x0e", schema_id))
    assert told in error.message


def test_an_id_of_another_type(schemas: RegistrySchemas) -> None:
    schema_id = schemas.json(orders.JSON_1).schema_id_for("of-json")
    error = raised(SchemaSerializationError, lambda: schemas.avro(orders.AVRO_1).decode("of-json", b"{}", schema_id))
    assert "written with a schema of type JSON_SCHEMA, and is read with one of type AVRO" in error.message


def test_an_id_with_the_path_to_no_message(schemas: RegistrySchemas) -> None:
    schema = schemas.protobuf(orders.PROTO_1)
    wrong = schema.schema_id_for("paths") + b"\x02\x0a"
    error = raised(SchemaSerializationError, lambda: schema.decode("paths", b"", wrong))
    assert "names message 5 of the file, which has no such message" in error.message


def test_a_schema_that_is_none(schemas: RegistrySchemas) -> None:
    error = raised(SchemaSerializationError, lambda: schemas.avro('{"type": "recrod"}').encode("orders", {}))
    assert "recrod" in error.message


def test_a_topic_that_is_none(schemas: RegistrySchemas) -> None:
    error = raised(SchemaSerializationError, lambda: schemas.avro(orders.AVRO_1).encode("http://orders", {"id": 7}))
    assert "persistent://tenant/namespace/name" in error.message


@pytest.mark.parametrize("dialect", MAKE)
def test_credentials(guarded: RunningRegistry, dialect: str) -> None:
    make = MAKE[dialect]

    def encoded(topic: str, **settings: Any) -> Any:
        with make(guarded, **settings) as schemas:
            return schemas.avro(orders.AVRO_1).encode(topic, {"id": 7})

    for wrong in (None, Credentials(username="admin", password="guess"), Credentials(token="ci.guess")):
        error = raised(Unauthenticated, lambda wrong=wrong: encoded("orders", credentials=wrong))  # type: ignore[misc]
        assert "give credentials that it knows" in error.message
        assert "guess" not in error.message
    reader = Credentials(username="reader", password="readpw")
    error = raised(Forbidden, lambda: encoded("orders", credentials=reader))
    assert f"topic orders, subject orders-value: the registry at {error.url} does not permit it" in error.message
    for right in (Credentials(username="admin", password="adminpw"), Credentials(token="ci.s3cret")):
        message = encoded("orders", credentials=right)
    with make(guarded, credentials=reader) as schemas:
        assert schemas.avro(orders.AVRO_1).decode("orders", message.data, message.schema_id) == {"id": 7}


def test_credentials_in_the_url(guarded: RunningRegistry) -> None:
    with ConfluentSchemas(guarded.confluent.replace("://", "://admin:adminpw@")) as schemas:
        schemas.avro(orders.AVRO_1).encode("orders", {"id": 7})
        assert "adminpw" not in schemas.url
        assert "adminpw" not in repr(schemas.avro(orders.AVRO_1))


@pytest.mark.parametrize("make", [ConfluentSchemas, OpenSchemas])
@pytest.mark.parametrize("url", ["localhost:8081", "ftp://h", "http://h:x"])
def test_a_url_that_is_none_is_told_at_once(make: Callable[[str], RegistrySchemas], url: str) -> None:
    with pytest.raises(InvalidArgument):
        make(url)


@pytest.mark.parametrize("make", [ConfluentSchemas, OpenSchemas])
def test_a_registry_that_is_not_there(make: Callable[[str], RegistrySchemas]) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with make(url) as schemas:
        schema = schemas.avro(orders.AVRO_1)
        for call in (
            lambda: schema.encode("orders", {"id": 7}),
            lambda: schema.decode("orders", b"\x0e", bytes(3) + b"\x01"),
        ):
            error = raised(Unavailable, call)
            assert "topic orders" in error.message
            assert f"the registry at {url} cannot be reached" in error.message
            assert (error.transient, error.url) == (True, url)


def test_a_registry_that_never_answers() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with ConfluentSchemas(url, timeout_s=0.9) as schemas:
            begin = time.monotonic()
            error = raised(Unavailable, lambda: schemas.avro(orders.AVRO_1).encode("orders", {"id": 7}))
            took_s = time.monotonic() - begin
    assert f"the registry at {url} does not answer in time" in error.message
    assert took_s < 20


def test_a_registry_that_is_out_of_order() -> None:
    with running_script() as script:
        script.replies = [Reply(200, []), Reply(503, {"error_code": 50301, "message": "warming up"})]
        with ConfluentSchemas(script.url) as schemas:
            error = raised(Unavailable, lambda: schemas.avro(orders.AVRO_1).encode("orders", {"id": 7}))
        assert f"the registry at {script.url}: warming up" in error.message
        assert len(script.asked) == 4  # once for the dialect, three times for the schema
        script.replies = [Reply(200, []), Reply(200, {"id": 9, "version": 1})]
        with ConfluentSchemas(script.url) as schemas:
            assert schemas.avro(orders.AVRO_1).encode("orders", {"id": 7}).schema_id == b"\x00\x00\x00\x09"


def test_what_failed_is_tried_again() -> None:
    with running_script() as script:
        script.replies = [Reply(200, []), Reply(409, {"error_code": 409, "message": "refused"})]
        with ConfluentSchemas(script.url) as schemas:
            schema = schemas.avro(orders.AVRO_1)
            with pytest.raises(IncompatibleSchema, match="refused; change the schema as it says, or the compatibility"):
                schema.encode("orders", {"id": 7})
            script.replies = [Reply(200, {"id": 9, "version": 1})]
            assert schema.encode("orders", {"id": 7}).schema_id == b"\x00\x00\x00\x09"


def test_something_that_is_no_registry() -> None:
    with running_script() as script:
        script.replies = [Reply(200, "<html>Hello</html>")]
        with ConfluentSchemas(script.url) as schemas:
            error = raised(SchemaSerializationError, lambda: schemas.avro(orders.AVRO_1).encode("orders", {"id": 7}))
        assert "is the path complete?" in error.message


def test_an_id_too_large_for_a_message() -> None:
    with running_script() as script:
        script.replies = [Reply(200, []), Reply(200, {"id": 2**32, "version": 1})]
        with ConfluentSchemas(script.url) as schemas:
            error = raised(SchemaSerializationError, lambda: schemas.avro(orders.AVRO_1).encode("orders", {"id": 7}))
        assert "4294967296 does not fit into 32 bits" in error.message
