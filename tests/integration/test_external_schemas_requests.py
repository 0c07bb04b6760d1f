"""How often third-party registries are asked, who closes the connection, and what goes on without them."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tallystick.connect.registries import ConfluentSchemas, OpenSchemas, RegistrySchemas
from tallystick.errors import Closed, Unavailable
from tallystick.model.definition import SchemaDefinition
from tallystick.rest import RegistryClient
from tallystick.serde.ports import RegisteredSchema
from tallystick.serde.schema import RegistrySettings
from tests.integration import external_orders as orders
from tests.integration.counted import Counted, counted
from tests.integration.servers import wait_until
from tests.servers import RunningRegistry, running_registry

DETECTION = "GET /subjects"
UNUSED = RegistrySettings()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path) as running:
        yield running


@pytest.fixture
def proxy(server: RunningRegistry) -> Iterator[Counted]:
    with counted(server.confluent) as proxy:
        yield proxy


@pytest.fixture
def schemas(proxy: Counted) -> Iterator[ConfluentSchemas]:
    with ConfluentSchemas(proxy.url) as made:
        yield made


def test_a_schema_is_registered_once_for_each_topic(schemas: ConfluentSchemas, proxy: Counted) -> None:
    schema = schemas.avro(orders.AVRO_1)
    for topic in ["orders", "parcels"] * 3:
        for number in range(100):
            schema.encode(topic, {"id": number})
    assert proxy.requests == [
        DETECTION,
        "POST /subjects/orders-value/versions",
        "POST /subjects/parcels-value/versions",
    ]


def test_a_writers_schema_is_fetched_once(schemas: ConfluentSchemas, proxy: Counted) -> None:
    messages = [
        schemas.avro(orders.AVRO_1).encode("orders", {"id": 7}),
        schemas.avro(orders.AVRO_2).encode("orders", {"id": 7, "note": "n"}),
    ]
    proxy.taken()
    reader = schemas.avro(orders.AVRO_2)
    for _ in range(100):
        for message in messages:
            reader.decode("orders", message.data or b"", message.schema_id)
    assert proxy.taken() == ["GET /schemas/ids/1", "GET /schemas/ids/2"]
    # Schemas of one factory share what was fetched.
    schemas.avro(orders.AVRO_1).decode("orders", messages[0].data or b"", messages[0].schema_id)
    assert proxy.taken() == []


def test_what_is_prepared_is_not_fetched_when_it_is_read(schemas: ConfluentSchemas, proxy: Counted) -> None:
    encoded = schemas.avro(orders.AVRO_1).encode("orders", {"id": 7})
    assert encoded.schema_id is not None
    reader = schemas.avro(orders.AVRO_2)
    proxy.taken()
    reader.prepare("orders", encoded.schema_id)
    assert proxy.taken() == ["GET /schemas/ids/1"]
    assert reader.decode("orders", encoded.data or b"", encoded.schema_id) == {"id": 7, "note": "-"}
    assert proxy.taken() == []


def test_threads_that_come_at_once_register_once(schemas: ConfluentSchemas, proxy: Counted) -> None:
    schema, start = schemas.avro(orders.AVRO_1), threading.Barrier(8)

    def encode(number: int) -> Any:
        start.wait(30)
        return schema.encode("orders", {"id": number}).schema_id

    with ThreadPoolExecutor(8) as threads:
        ids = set(threads.map(encode, range(8)))
    assert len(ids) == 1
    assert proxy.requests == [DETECTION, "POST /subjects/orders-value/versions"]


class HangingClient(RegistryClient):
    """Does not answer for one subject until it is let go."""

    held: threading.Event
    free: threading.Event

    def register(self, subject: str, definition: SchemaDefinition, *, normalize: bool = False) -> RegisteredSchema:
        if subject == "slow-value":
            self.held.set()
            assert self.free.wait(30)
        return super().register(subject, definition, normalize=normalize)


def test_a_registration_that_hangs_holds_up_its_own_topic_alone(server: RunningRegistry) -> None:
    with closing(HangingClient(server.confluent, "confluent")) as client, ThreadPoolExecutor(1) as threads:
        client.held, client.free = threading.Event(), threading.Event()
        schema = ConfluentSchemas(server.confluent, lookup=client).avro(orders.AVRO_1)
        slow = threads.submit(schema.encode, "slow", {"id": 7})
        try:
            assert client.held.wait(30)
            schema.encode("quick", {"id": 7})
            assert not slow.done()
        finally:
            client.free.set()
        assert slow.result(30).schema_id == schema.schema_id_for("quick")


def test_openschema_is_asked_no_more_often(server: RunningRegistry) -> None:
    with counted(server.http) as proxy, OpenSchemas(proxy.url) as schemas:
        schema = schemas.json(orders.JSON_1)
        messages = [schema.encode("orders", {"id": number}) for number in range(100)]
        assert proxy.taken() == [
            "POST /subjects/orders-value/versions",
            "GET /subjects/orders-value/versions/latest/schema",
        ]
        for message in messages:
            schema.decode("orders", message.data or b"", message.schema_id)
        assert proxy.taken() == ["GET /schemas/ids/1"]


def test_what_is_known_outlives_the_registry(tmp_path: Path) -> None:
    """A consumer's values are read when the program asks for them: that may be after it is closed."""
    with running_registry(tmp_path) as server:
        schemas = ConfluentSchemas(server.confluent, timeout_s=3)
        schema = schemas.avro(orders.AVRO_1)
        encoded = schema.encode("orders", {"id": 7})
        schema.decode("orders", encoded.data or b"", encoded.schema_id)
    schema.close()
    assert schema.encode("orders", {"id": 7}) == encoded
    assert schema.decode("orders", encoded.data or b"", encoded.schema_id) == {"id": 7}
    with pytest.raises(Unavailable, match=f"topic other, subject other-value: the registry at {schemas.url}"):
        schema.encode("other", {"id": 7})
    schema.close()


def test_the_last_user_closes_the_connection(schemas: ConfluentSchemas, proxy: Counted) -> None:
    schema = schemas.avro(orders.AVRO_1)
    schema.configure(UNUSED)
    schema.configure(UNUSED)
    schema.encode("orders", {"id": 7})
    schema.close()
    assert proxy.connections == 1
    schema.encode("parcels", {"id": 7})
    schema.close()
    wait_until(lambda: proxy.connections == 0, 30)
    schema.close()  # once more does no harm


def test_a_user_that_configures_late_is_still_one(schemas: ConfluentSchemas, proxy: Counted) -> None:
    schema = schemas.avro(orders.AVRO_1)
    schema.encode("orders", {"id": 7})
    schema.configure(UNUSED)
    schema.close()
    wait_until(lambda: proxy.connections == 0, 30)


def test_a_closed_schema_may_be_used_by_the_next_producer(schemas: ConfluentSchemas, proxy: Counted) -> None:
    schema = schemas.avro(orders.AVRO_1)
    for topic in ("orders", "parcels"):
        schema.configure(UNUSED)
        schema.encode(topic, {"id": 7})
        assert proxy.connections == 1
        schema.close()
        wait_until(lambda: proxy.connections == 0, 30)


def test_the_schemas_of_a_factory_share_a_connection(schemas: ConfluentSchemas, proxy: Counted) -> None:
    first, second = schemas.avro(orders.AVRO_1), schemas.avro(orders.AVRO_1)
    for schema in (first, second):
        schema.encode("orders", {"id": 7})
    first.close()
    second.encode("parcels", {"id": 7})
    assert proxy.connections == 1
    second.close()
    wait_until(lambda: proxy.connections == 0, 30)


def test_a_closed_factory_says_so(server: RunningRegistry) -> None:
    with ConfluentSchemas(server.confluent) as schemas:
        used, unused = schemas.avro(orders.AVRO_1), schemas.avro(orders.AVRO_1)
        used.encode("orders", {"id": 7})
    for schema in (used, unused, schemas.avro(orders.AVRO_1)):
        with pytest.raises(Closed, match=f"the schemas of the registry at {server.confluent} are closed"):
            schema.encode("parcels", {"id": 7})
    used.close()


def test_closing_while_the_registry_is_asked_ends_the_question() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent, ThreadPoolExecutor(1) as threads:
        schemas = ConfluentSchemas(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=3)
        asking = threads.submit(schemas.avro(orders.AVRO_1).encode, "orders", {"id": 7})
        connection, _ = silent.accept()
        with connection:
            assert connection.recv(1)  # it waits for an answer now
            schemas.close()
            with pytest.raises((Closed, Unavailable)):
                asking.result(30)


@pytest.mark.parametrize("make", [ConfluentSchemas, OpenSchemas])
def test_a_given_client_stays_open(server: RunningRegistry, make: type[RegistrySchemas]) -> None:
    with RegistryClient(server.confluent, "confluent") as client:
        with make(server.confluent, lookup=client) as schemas:  # type: ignore[call-arg, arg-type]
            schema = schemas.avro(orders.AVRO_1)
            schema.encode("orders", {"id": 7})
            schema.close()
        assert client.versions("orders-value") == [1]
    with pytest.raises(Closed, match=f"the client of the registry at {server.confluent} is closed"):
        client.versions("orders-value")
