"""A process's way to a cluster: driver, planner and workers each open their own."""

from collections.abc import Coroutine
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tallystick.errors import Unsupported
from tallystick.messaging.engine import Engine
from tallystick.transports.pulsar.bulk import BulkTransport
from tallystick.transports.pulsar.settings import PulsarSettings

if TYPE_CHECKING:
    from tallystick.rest.credentials import Credentials

T = TypeVar("T")


class Link:
    """Runs the transport's coroutines on a loop of its own, so that the broker is answered while Spark works."""

    def __init__(self, url: str, credentials: "Credentials | None", timeout_s: float) -> None:
        self._settings = pulsar_settings(url, credentials, timeout_s)
        self._timeout_s = timeout_s
        self._engine = Engine()
        try:
            self.bulk = self.run(self._opened())
        except BaseException:
            self._engine.close()
            raise

    async def _opened(self) -> BulkTransport:
        return BulkTransport(self._settings)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What it gives. Nothing may take much longer than a time-out of its own."""
        return self._engine.run(work).result(4 * self._timeout_s)

    def close(self) -> None:
        try:
            self.run(self.bulk.close())
        finally:
            self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def pulsar_settings(url: str, credentials: "Credentials | None", timeout_s: float) -> PulsarSettings:
    """Raises `InvalidArgument` for what is no URL, `Unsupported` for another kind of cluster."""
    if url.startswith("kafka"):
        raise Unsupported("the source tally speaks Pulsar's protocol; Kafka has Spark's own: use read_topic(…)")
    if credentials is not None and credentials.username is not None:
        raise Unsupported("a Pulsar cluster knows its clients by token or certificate, not by user and password")
    has_tls = url.startswith("pulsar+ssl")
    settings = PulsarSettings(
        url=url,
        token=None if credentials is None else credentials.token,
        tls=credentials.tls() if credentials is not None and has_tls else None,
        operation_timeout_s=timeout_s,
        client_name="Tallystick-Spark",
    )
    return replace(settings, connect_timeout_s=min(settings.connect_timeout_s, timeout_s))
