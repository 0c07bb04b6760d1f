"""Where to listen, and where not."""

import ipaddress
import socket
from collections.abc import Callable

from tallystick.errors import InvalidArgument
from tallystick.serve.config import Address, ServeConfig


def require_safe(config: ServeConfig) -> None:
    """Other machines are served only where it is settled who they are and that nobody listens in."""
    for address in (config.http, config.confluent, config.pulsar):
        if address is None or is_loopback(address.host):
            continue
        if config.security is None:
            raise InvalidArgument(
                str(address), "other machines can reach this address; name the users who may ask with --security FILE"
            )
        if config.tls is None and not config.is_plain_http_allowed:
            raise InvalidArgument(
                str(address),
                "passwords would cross the network readable; give --tls-cert and --tls-key, or --plain-http where "
                "something in front of this server ends TLS",
            )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def usable(addresses: dict[str, Address], say: Callable[[str], None]) -> dict[str, Address]:
    """The addresses that are free. A default one that is taken is left out; one that was asked for is an error."""
    free = {}
    for name, address in addresses.items():
        reason = _why_not(address)
        if reason is None:
            free[name] = address
        elif address.is_requested:
            raise InvalidArgument(f"--{name} {address}", reason)
        else:
            say(f"{address}: {reason}; going on without it (choose another with --{name} HOST:PORT)")
    if not free:
        raise InvalidArgument("ports", "every default port is taken; choose others, for example with --http")
    return free


def _why_not(address: Address) -> str | None:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except OSError as e:
            return f"cannot listen there ({e.strerror})"
    return None
