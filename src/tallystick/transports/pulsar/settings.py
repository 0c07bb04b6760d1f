"""How to reach a cluster, and who we are to it."""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tallystick.errors import InvalidArgument, TallystickError, Unauthenticated

_PORTS = {"pulsar": 6650, "pulsar+ssl": 6651}


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int
    is_tls: bool = False

    def __str__(self) -> str:
        scheme = "pulsar+ssl" if self.is_tls else "pulsar"
        return f"{scheme}://{self.logical}"

    @property
    def logical(self) -> str:
        """As the protocol names a broker."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PulsarSettings:
    url: str
    """`pulsar://host:port` or `pulsar+ssl://host:port`; more hosts of the same cluster may follow after commas."""
    token: str | Callable[[], str] | None = field(default=None, repr=False)
    """A function is asked anew for every connection, and whenever the broker asks; it may block."""
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    """Whom to trust, and our own certificate; the system's authorities where there is none."""
    connect_timeout_s: float = 10.0
    operation_timeout_s: float = 30.0
    """How long it is tried to open, to look up, to ask."""
    keep_alive_s: float = 30.0
    """A broker that is silent for so long is asked whether it is there, and left after twice as long."""
    client_name: str = "Tallystick"

    def addresses(self) -> list[Address]:
        """Raises `InvalidArgument` for what is no address of a cluster."""
        scheme, separator, hosts = self.url.partition("://")
        if scheme not in _PORTS or not separator:
            raise InvalidArgument("url", f"{self.url!r} does not begin with pulsar:// or pulsar+ssl://")
        return [address_of(f"{scheme}://{host}") for host in hosts.rstrip("/").split(",")]

    async def current_token(self) -> str | None:
        if not callable(self.token):
            return self.token
        try:
            return await asyncio.to_thread(self.token)
        except TallystickError:
            raise
        except Exception as e:  # somebody else's function: whatever it raises means that there is no token
            raise Unauthenticated(f"no token for {self.url}: the function that gives it failed: {e}") from e


def address_of(url: str) -> Address:
    """The address in a broker's URL."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as e:
        raise InvalidArgument("url", f"{url!r} is none: {e}") from e
    if parts.scheme not in _PORTS or not host or parts.path.strip("/") or parts.query or parts.username is not None:
        raise InvalidArgument("url", f"{url!r} is not of the form pulsar://host:port or pulsar+ssl://host:port")
    return Address(host, port or _PORTS[parts.scheme], parts.scheme == "pulsar+ssl")
