"""What `tally serve` is told."""

from dataclasses import dataclass, field
from pathlib import Path

from tallystick.server.app import HttpLimits


@dataclass(frozen=True, slots=True)
class Address:
    """`is_requested`: the user asked for this port; a default that is taken is skipped instead."""

    host: str
    port: int
    is_requested: bool = False

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Tls:
    certificate: Path
    key: Path
    client_ca: Path | None = None
    """Where set, clients must show a certificate that it signed."""


@dataclass(frozen=True, slots=True)
class ServeConfig:
    data: Path = Path("tallystick-data")
    store: str | None = None
    """`postgresql://…`; None is SQLite in the data folder."""
    http: Address = Address("127.0.0.1", 8080)
    confluent: Address = Address("127.0.0.1", 8081)
    pulsar: Address | None = Address("127.0.0.1", 6650)
    """None: without a broker."""
    security: Path | None = None
    """The file of users and tokens."""
    tls: Tls | None = None
    is_plain_http_allowed: bool = False
    """Serves other machines without TLS: something in front of us ends it."""
    log_level: str = "info"
    limits: HttpLimits = field(default_factory=HttpLimits)
