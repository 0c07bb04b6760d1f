"""Which transport a URL has."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.messaging.ports import Transport
from tallystick.rest import Credentials

_PULSAR, _PULSAR_TLS, _KAFKA = "pulsar", "pulsar+ssl", "kafka"
SCHEMES = (_PULSAR, _PULSAR_TLS, _KAFKA)


@dataclass(frozen=True, slots=True)
class Cluster:
    url: str
    keeps_schemas: bool
    open: Callable[[], Awaitable[Transport]]


def of(url: str, credentials: Credentials | None, options: Mapping[str, Any], timeout_s: float) -> Cluster:
    """Raises `InvalidArgument` for what is no URL of a cluster."""
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or not parts.netloc:
        raise InvalidArgument(
            "url",
            f"{url[:60]!r} names no cluster; write pulsar://HOST:PORT, pulsar+ssl://HOST:PORT or kafka://HOST:PORT",
        )
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise InvalidArgument("url", f"{url[:60]!r} ends with its host and port; topics are named where they are used")
    known = credentials or Credentials()
    if parts.scheme == _KAFKA:
        return _kafka(url, parts.netloc, known, options, timeout_s)
    if options:
        raise InvalidArgument("options", "they are for Kafka's client library; Pulsar's clusters have none")
    return _pulsar(url, known, timeout_s, is_tls=parts.scheme == _PULSAR_TLS)


def _pulsar(url: str, credentials: Credentials, timeout_s: float, *, is_tls: bool) -> Cluster:
    if credentials.username is not None:
        raise Unsupported("a Pulsar cluster knows its clients by token or certificate, not by user and password")

    async def connected() -> Transport:
        from tallystick.transports.pulsar import PulsarSettings, PulsarTransport

        tls = credentials.tls() if is_tls else None
        settings = PulsarSettings(url=url, token=credentials.token, tls=tls, operation_timeout_s=timeout_s)
        return PulsarTransport(replace(settings, connect_timeout_s=min(settings.connect_timeout_s, timeout_s)))

    return Cluster(url, True, connected)


def _kafka(url: str, servers: str, credentials: Credentials, options: Mapping[str, Any], timeout_s: float) -> Cluster:
    async def connected() -> Transport:
        try:
            from tallystick.transports.kafka import KafkaSettings, KafkaTransport
        except ImportError as e:
            raise Unsupported("Kafka's client library is not installed; pip install 'tallystick[kafka]'") from e

        told = _kafka_options(credentials, options)
        return KafkaTransport(KafkaSettings(servers=servers, options=told, operation_timeout_s=timeout_s))

    return Cluster(url, False, connected)


def _kafka_options(credentials: Credentials, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the credentials say, in the words of Kafka's library; the program's own options go over it."""
    told: dict[str, Any] = {}
    has_tls = credentials.ca is not None or credentials.certificate is not None
    if credentials.username is not None:
        told |= {"sasl.mechanism": "PLAIN", "sasl.username": credentials.username}
        told |= {"sasl.password": credentials.password or ""}
        told["security.protocol"] = "SASL_SSL" if has_tls else "SASL_PLAINTEXT"
    elif has_tls:
        told["security.protocol"] = "SSL"
    files = {"ssl.ca.location": credentials.ca, "ssl.certificate.location": credentials.certificate}
    files["ssl.key.location"] = credentials.key
    told |= {name: str(path) for name, path in files.items() if path is not None}
    return told | dict(options)
