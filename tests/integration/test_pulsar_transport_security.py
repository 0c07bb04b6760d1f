"""Tokens, roles and TLS, with our own client."""

import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme
import yaml

from tallystick.errors import Forbidden, Unauthenticated, Unavailable
from tallystick.server.security import hashed
from tests.integration.fault_proxy import fault_proxy
from tests.integration.pulsar_loop import SECONDS, client_of, put, send, wait_until
from tests.integration.servers import serving
from tests.ports import free_port

SECRET = "s3cret"
ROLES = {
    "admin": [{"role": "administer"}],
    "writer": [{"role": "produce", "on": "orders-*"}],
    "reader": [{"role": "consume", "on": "orders-*"}],
}


def token_of(name: str) -> str:
    return f"{name}.{SECRET}"


def accounts(folder: Path) -> Path:
    tokens = {name: {"secret": hashed(SECRET), "roles": roles} for name, roles in ROLES.items()}
    (folder / "accounts.yaml").write_text(yaml.safe_dump({"tokens": tokens}))
    return folder / "accounts.yaml"


@dataclass(frozen=True, slots=True)
class Secure:
    url: str
    ca: Path

    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.ca)


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    folder, port = tmp_path_factory.mktemp("secure"), free_port()
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost", "127.0.0.1")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    arguments = [
        f"--pulsar=127.0.0.1:{port}",
        f"--security={accounts(folder)}",
        f"--tls-cert={folder / 'cert.pem'}",
        f"--tls-key={folder / 'key.pem'}",
    ]
    with serving(folder / "data", *arguments, scheme="https"):
        yield Secure(f"pulsar+ssl://localhost:{port}", folder / "ca.pem")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """With tokens, on loopback without TLS."""
    folder, port = tmp_path_factory.mktemp("plain"), free_port()
    with serving(folder / "data", f"--pulsar=127.0.0.1:{port}", f"--security={accounts(folder)}"):
        yield f"pulsar://127.0.0.1:{port}"


def test_tls_with_a_token(secure: Secure) -> None:
    with client_of(secure.url, token=token_of("admin"), tls=secure.tls()) as client:
        box = client.inbox("mine", subscription="s")
        send(client.outlet("mine"), b"x" * 3_000_000)
        assert box.payloads(1) == [b"x" * 3_000_000]


def test_a_certificate_that_is_not_trusted(secure: Secure) -> None:
    with client_of(secure.url, token=token_of("admin")) as client, pytest.raises(Unauthenticated, match="not trusted"):
        client.outlet("mine")


def test_without_tls_there_is_no_answer(secure: Secure) -> None:
    url = secure.url.replace("+ssl", "")
    with client_of(url, operation_timeout_s=0.5) as client, pytest.raises(Unavailable, match=url):
        client.outlet("mine")


@pytest.mark.parametrize("token", [None, "admin.wrong", "stranger.s3cret"])
def test_a_wrong_token_is_told_at_once(plain: str, token: str | None) -> None:
    with client_of(plain, token=token) as client, pytest.raises(Unauthenticated):
        client.outlet("mine")


def test_roles(plain: str) -> None:
    with client_of(plain, token=token_of("reader")) as client:
        client.inbox("orders-1", subscription="s")
        with pytest.raises(Forbidden, match="orders-1"):
            client.outlet("orders-1")
        with pytest.raises(Forbidden, match="payments"):
            client.inbox("payments", subscription="s")


def test_a_token_is_asked_for_anew_on_every_connection(plain: str) -> None:
    tokens = [token_of("admin")]
    asked: list[str] = []

    def supply() -> str:
        asked.append(tokens[-1])
        return tokens[-1]

    with fault_proxy(plain) as proxy, client_of(proxy.url, token=supply) as client:
        outlet = client.outlet("mine")
        before = len(asked)
        tokens.append("admin.expired")
        proxy.cut()
        # A token that is not valid any more: what waits is told so, and does not wait for its time-out.
        wait_until(lambda: len(asked) > before)
        sent = put(outlet)
        outlet.flush()
        with pytest.raises(Unauthenticated):
            sent.result(SECONDS)
        assert outlet.pending == 0
        tokens.append(token_of("admin"))
        wait_until(lambda: _is_sent(outlet))


def _is_sent(outlet: object) -> bool:
    try:
        send(outlet)  # type: ignore[arg-type]
    except Unauthenticated:
        return False
    return True


def test_a_function_that_fails_to_give_a_token(plain: str) -> None:
    def fail() -> str:
        raise OSError("no such file")

    with client_of(plain, token=fail) as client, pytest.raises(Unauthenticated, match="no such file"):
        client.outlet("mine")
