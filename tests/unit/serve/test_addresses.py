"""Where the server listens, and where it refuses to."""

import socket
from pathlib import Path

import pytest

from tallystick.errors import InvalidArgument
from tallystick.serve.addresses import require_safe, usable
from tallystick.serve.config import Address, ServeConfig, Tls
from tallystick.serve.ready import lines

FILE = Path("accounts.yaml")
TLS = Tls(Path("cert.pem"), Path("key.pem"))


def test_a_default_port_that_is_taken_is_skipped_and_said() -> None:
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = Address("127.0.0.1", probe.getsockname()[1])
        probe.close()
        addresses = {"http": Address("127.0.0.1", taken.getsockname()[1]), "confluent": free}
        assert usable(addresses, said.append) == {"confluent": free}
    assert len(said) == 1
    assert "going on without it" in said[0]
    assert "--http" in said[0]


def test_a_port_that_was_asked_for_is_an_error_and_so_is_no_port_at_all() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidArgument, match="cannot listen"):
            usable({"http": Address("127.0.0.1", port, is_requested=True)}, print)
        with pytest.raises(InvalidArgument, match="every default port"):
            usable({"http": Address("127.0.0.1", port)}, lambda _: None)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_no_security(host: str) -> None:
    require_safe(ServeConfig(http=Address(host, 1)))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org"])
def test_other_addresses_need_users_and_tls(host: str) -> None:
    address = Address(host, 1)
    with pytest.raises(InvalidArgument, match="--security"):
        require_safe(ServeConfig(http=address))
    with pytest.raises(InvalidArgument, match="--tls-cert"):
        require_safe(ServeConfig(confluent=address, security=FILE))
    require_safe(ServeConfig(http=address, security=FILE, tls=TLS))
    require_safe(ServeConfig(http=address, security=FILE, is_plain_http_allowed=True))


def test_the_lines_name_only_what_is_served() -> None:
    only_http = "\n".join(lines({"http": Address("127.0.0.1", 8080)}, is_tls=False, has_users=False))
    assert "http://127.0.0.1:8080/confluent" in only_http
    only_confluent = "\n".join(lines({"confluent": Address("::1", 8081)}, is_tls=True, has_users=True))
    assert "https://[::1]:8081" in only_confluent
    assert "pulsar-admin" not in only_confluent
    assert "basic.auth.user.info" in only_confluent
