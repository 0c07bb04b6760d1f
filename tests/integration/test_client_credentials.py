"""Who the client says it is, to clusters and to registries."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml

from tallystick import AvroSchema, Client, Credentials, Forbidden, Unauthenticated, Unavailable, Unsupported
from tallystick.server.security import hashed
from tests.integration.servers import serving
from tests.kafka.server import PASSWORD, USER, Kafka
from tests.ports import free_port
from tests.servers import running_registry

SECRET, WAIT_S = "s3cret", 30.0
ORDERS = AvroSchema({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]})
ROLES: dict[str, list[dict[str, str]]] = {
    "admin": [{"role": "administer"}],
    "reader": [{"role": "consume", "on": "orders*"}],
}


@dataclass(frozen=True)
class Secure:
    url: str
    registry: str
    ca: Path

    def credentials(self, token: str | None) -> Credentials:
        return Credentials(token=token, ca=self.ca)

    def client(self, token: str | None, **more: Any) -> Client:
        return Client(self.url, credentials=self.credentials(token), **more)


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    folder, port = tmp_path_factory.mktemp("secure"), free_port()
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost", "127.0.0.1")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    tokens = {name: {"secret": hashed(SECRET), "roles": roles} for name, roles in ROLES.items()}
    (folder / "accounts.yaml").write_text(yaml.safe_dump({"tokens": tokens}))
    arguments = [
        f"--pulsar=127.0.0.1:{port}",
        f"--security={folder / 'accounts.yaml'}",
        f"--tls-cert={folder / 'cert.pem'}",
        f"--tls-key={folder / 'key.pem'}",
    ]
    with serving(folder / "data", *arguments, scheme="https") as served:
        yield Secure(f"pulsar+ssl://localhost:{port}", served.confluent_url, folder / "ca.pem")


def test_a_token_over_tls_lets_in(secure: Secure) -> None:
    with secure.client(f"admin.{SECRET}") as client:
        with client.producer("orders", ORDERS) as producer:
            producer.send({"id": 1})
        with client.reader("orders", ORDERS) as reader:
            assert reader.receive(WAIT_S).value == {"id": 1}


@pytest.mark.parametrize("token", [None, "admin.wrong", "nobody.s3cret", ""])
def test_a_wrong_token_is_told_at_once(secure: Secure, token: str | None) -> None:
    with secure.client(token) as client:
        for opened in (lambda: client.producer("orders"), lambda: client.consumer("orders", "s")):
            began = time.monotonic()
            with pytest.raises(Unauthenticated):
                opened()
            assert time.monotonic() - began < WAIT_S / 3


def test_what_the_token_may_not_do_is_forbidden(secure: Secure) -> None:
    with secure.client(f"admin.{SECRET}") as client:
        client.producer("orders", ORDERS).close()
    with secure.client(f"reader.{SECRET}") as client:
        with pytest.raises(Forbidden, match="orders"):
            client.producer("orders", ORDERS)
        with pytest.raises(Forbidden, match="others"):
            client.consumer("others", "s")
        client.consumer("orders", "s", ORDERS).close()


def test_a_certificate_that_is_not_trusted_keeps_us_away(secure: Secure) -> None:
    with (
        Client(secure.url, credentials=Credentials(token=f"admin.{SECRET}"), timeout_s=2) as client,
        pytest.raises((Unauthenticated, Unavailable), match="certificate"),
    ):
        client.producer("orders")


def test_the_registry_has_credentials_of_its_own(secure: Secure) -> None:
    right = secure.credentials(f"admin.{SECRET}")
    with Client(secure.url, registry=secure.registry, credentials=right, registry_credentials=right) as client:
        with client.producer("kept-elsewhere", ORDERS) as producer:
            producer.send({"id": 1})
        with client.reader("kept-elsewhere", ORDERS) as reader:
            assert reader.receive(WAIT_S).value == {"id": 1}
    without = Credentials(ca=secure.ca)
    with (
        Client(secure.url, registry=secure.registry, credentials=right, registry_credentials=without) as client,
        client.producer("kept-elsewhere", ORDERS) as producer,
        pytest.raises(Unauthenticated),
    ):
        producer.send({"id": 1})


def test_a_pulsar_has_no_users_with_passwords() -> None:
    with pytest.raises(Unsupported, match="token"):
        Client("pulsar://127.0.0.1:6650", credentials=Credentials(username="alice", password="x"))


@pytest.mark.jvm
def test_user_and_password_on_kafka(kafka: Kafka, tmp_path: Path) -> None:
    credentials = Credentials(username=USER, password=PASSWORD)
    with running_registry(tmp_path) as registry:
        url = f"kafka://{kafka.sasl_servers}"
        with Client(url, registry=registry.confluent, credentials=credentials) as client:
            with client.producer("credentials", ORDERS) as producer:
                producer.send({"id": 1})
            with client.reader("credentials", ORDERS) as reader:
                assert reader.receive(WAIT_S).value == {"id": 1}


@pytest.mark.jvm
def test_a_wrong_password_on_kafka_is_told_at_once(kafka: Kafka) -> None:
    credentials = Credentials(username=USER, password="wrong")
    with Client(f"kafka://{kafka.sasl_servers}", credentials=credentials) as client:
        for opened in (lambda: client.producer("credentials"), lambda: client.consumer("credentials", "s")):
            began = time.monotonic()
            with pytest.raises(Unauthenticated, match=kafka.sasl_servers):
                opened()
            assert time.monotonic() - began < WAIT_S / 2
