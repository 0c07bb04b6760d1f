"""Who may do what on the broker: tokens, roles on topics, TLS, with the client that people use."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulsar
import pytest
import trustme
import yaml

from tallystick.server.security import hashed
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tests.integration.broker_sockets import CONNECT, Bare, bare, frame, producer_frame
from tests.integration.broker_watch import WatchedBroker, watched_broker
from tests.integration.servers import start
from tests.ports import free_port

SECRET = "s3cret"
ROLES = {
    "admin": [{"role": "administer"}],
    "writer": [{"role": "produce", "on": "orders-*"}],
    "reader": [{"role": "consume", "on": "orders-*"}],
    "nobody": [],
}


@dataclass(frozen=True, slots=True)
class SecureBroker:
    watched: WatchedBroker
    certificate: Path
    log: Path

    @contextmanager
    def client(self, token: str | None, *, is_trusting: bool = True) -> Iterator[Any]:
        made = pulsar.Client(
            f"pulsar+ssl://localhost:{self.watched.port}",
            authentication=pulsar.AuthenticationToken(token) if token is not None else None,
            tls_trust_certs_file_path=str(self.certificate) if is_trusting else None,
            tls_validate_hostname=True,
            operation_timeout_seconds=2,
            logger=pulsar.FileLogger(pulsar.LoggerLevel.Warn, str(self.log)),
        )
        try:
            yield made
        finally:
            made.close()


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureBroker]:
    folder = tmp_path_factory.mktemp("secure")
    tokens = {name: {"secret": hashed(SECRET), "roles": roles} for name, roles in ROLES.items()}
    (folder / "accounts.yaml").write_text(yaml.safe_dump({"tokens": tokens}))
    arguments = [f"--security={folder / 'accounts.yaml'}", *tls_arguments(folder)]
    with watched_broker(folder / "data", *arguments) as watched:
        yield SecureBroker(watched, folder / "ca.pem", folder / "client.log")


def tls_arguments(folder: Path) -> list[str]:
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost", "127.0.0.1")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    return [f"--tls-cert={folder / 'cert.pem'}", f"--tls-key={folder / 'key.pem'}"]


def token_of(name: str) -> str:
    return f"{name}.{SECRET}"


def test_the_right_token_lets_in(secure: SecureBroker) -> None:
    with secure.client(token_of("admin")) as connection:
        consumer = connection.subscribe("mine", "s")
        producer = connection.create_producer("mine")
        producer.send(b"x" * 3_000_000)
        assert consumer.receive(10_000).data() == b"x" * 3_000_000


def test_much_at_once_goes_through_tls(secure: SecureBroker) -> None:
    with secure.client(token_of("admin")) as connection:
        consumer = connection.subscribe("much", "s", receiver_queue_size=5)
        producer = connection.create_producer("much", block_if_queue_full=True, max_pending_messages=500)
        for number in range(60):
            producer.send_async(str(number).encode().ljust(1_000_000), lambda *_: None)
        assert [int(consumer.receive(20_000).data()) for _ in range(60)] == list(range(60))
    assert secure.watched.complaints() == []


@pytest.mark.parametrize("token", [None, "", SECRET, "admin.wrong", "stranger.s3cret", "x" * 100_000, "admin.\n\0"])
def test_the_wrong_token_does_not(secure: SecureBroker, token: str | None) -> None:
    with secure.client(token) as connection, pytest.raises(pulsar.PulsarException):
        connection.create_producer("mine")


def test_who_does_not_trust_the_certificate_stays_away(secure: SecureBroker) -> None:
    with secure.client(token_of("admin"), is_trusting=False) as connection, pytest.raises(pulsar.PulsarException):
        connection.create_producer("mine")


def test_nothing_goes_without_tls(secure: SecureBroker) -> None:
    with bare(secure.watched.port) as connection:
        connection.send(CONNECT)
        assert b"Tallystick" not in _everything(connection)


def _everything(connection: Bare) -> bytes:
    found = b""
    try:
        while data := connection.socket.recv(1 << 16):
            found += data
    except ConnectionResetError:
        pass
    return found


@pytest.mark.parametrize(
    ("name", "topic", "may_produce", "may_consume"),
    [
        ("writer", "orders-1", True, False),
        ("writer", "payments", False, False),
        ("reader", "orders-1", False, True),
        ("reader", "payments", False, False),
        ("nobody", "orders-1", False, False),
        ("admin", "payments", True, True),
    ],
)
def test_roles_on_topics(secure: SecureBroker, name: str, topic: str, may_produce: bool, may_consume: bool) -> None:
    with secure.client(token_of(name)) as connection:
        attempts: list[tuple[bool, Callable[[], Any]]] = [
            (may_produce, lambda: connection.create_producer(topic)),
            (may_consume, lambda: connection.subscribe(topic, f"of-{name}")),
            (may_consume, lambda: connection.create_reader(topic, pulsar.MessageId.earliest)),
        ]
        for is_allowed, attempt in attempts:
            if is_allowed:
                attempt()
            else:
                with pytest.raises(pulsar.AuthorizationError):
                    attempt()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WatchedBroker]:
    """With tokens, on loopback without TLS: for what a client library does not show."""
    folder = tmp_path_factory.mktemp("plain")
    tokens = {name: {"secret": hashed(SECRET), "roles": roles} for name, roles in ROLES.items()}
    (folder / "accounts.yaml").write_text(yaml.safe_dump({"tokens": tokens}))
    with watched_broker(folder / "data", f"--security={folder / 'accounts.yaml'}") as watched:
        yield watched


def connect_frame(method: str, data: bytes) -> bytes:
    return frame(pb.CommandConnect(client_version="bare", protocol_version=21, auth_method_name=method, auth_data=data))


@pytest.mark.parametrize(
    ("method", "data", "words"),
    [
        ("token", b"admin.wrong", "wrong"),
        ("token", b"\xff\xfe", "wrong"),
        ("basic", b"admin:wrong", "wrong"),
        ("kerberos", b"ticket", "use token or basic"),
        ("", b"", "say who you are"),
        ("none", b"", "say who you are"),
    ],
)
def test_a_refusal_says_why(plain: WatchedBroker, method: str, data: bytes, words: str) -> None:
    with bare(plain.port) as connection:
        answer = connection.answer(connect_frame(method, data))
        assert answer is not None
        assert answer.error.error == pb.AuthenticationError
        assert words in answer.error.message
        assert connection.next() is None


def test_a_role_that_is_missing_is_named(plain: WatchedBroker) -> None:
    with bare(plain.port) as connection:
        connection.answer(connect_frame("token", token_of("reader").encode()))
        answer = connection.answer(producer_frame("orders-1"))
        assert answer is not None
        assert answer.error.error == pb.AuthorizationError
        assert "'reader' may not produce orders-1" in answer.error.message


def test_a_connection_keeps_who_it_was(plain: WatchedBroker) -> None:
    """Who says a second time who they are gains nothing by a wrong answer, and loses the connection."""
    with bare(plain.port) as connection:
        connection.answer(connect_frame("token", token_of("reader").encode()))
        answer = connection.answer(connect_frame("token", b"admin.wrong"))
        assert answer is not None
        assert answer.error.error == pb.AuthenticationError
        assert connection.next() is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--pulsar=0.0.0.0:{port}"], "--security"),
        (["--pulsar=[::]:{port}"], "--security"),
        (["--pulsar=0.0.0.0:{port}", "--security={file}"], "--tls-cert"),
    ],
)
def test_other_machines_are_refused_until_security_is_settled(tmp_path: Path, arguments: list[str], told: str) -> None:
    (tmp_path / "accounts.yaml").write_text(yaml.safe_dump({"tokens": {}}))
    given = [argument.format(port=free_port(), file=tmp_path / "accounts.yaml") for argument in arguments]
    served = start(tmp_path / "data", *given)
    assert served.process.wait(20) != 0
    served.close()
    assert any(told in line for line in served.errors), served.errors
