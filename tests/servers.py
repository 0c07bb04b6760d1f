"""A registry server for the tests: the whole of `tally serve` in this process, on free loopback ports."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tallystick.registry.service import Registry
from tallystick.serve.compose import Applications, open_store, serve_until
from tallystick.serve.config import Address, ServeConfig
from tests.ports import free_ports


@dataclass(frozen=True)
class RunningRegistry:
    http: str
    """OpenSchema at the root, with the other dialects at their prefixes."""
    confluent: str
    """Confluent's API at the root of its own port."""
    registry: Registry
    """What answers behind both."""
    pulsar: str = ""
    """The broker, where there is one."""

    @property
    def confluent_on_http(self) -> str:
        return f"{self.http}/confluent"

    @property
    def pulsar_admin(self) -> str:
        return f"{self.http}/admin/v2"


@contextmanager
def running_registry(
    data: Path, store: str | None = None, *, security: Path | None = None, broker: bool = False
) -> Iterator[RunningRegistry]:
    """A server on SQLite in the data folder, or on `postgresql://…`, until the context ends."""
    http, confluent, pulsar = (Address("127.0.0.1", port, is_requested=True) for port in free_ports(3))
    config = ServeConfig(data, store, http, confluent, pulsar if broker else None, security)
    addresses = {"http": http, "confluent": confluent} | ({"pulsar": pulsar} if broker else {})
    applications = Applications(config, open_store(config))
    loop, stop, is_ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()
    work = serve_until(stop, config, addresses, applications, lambda _: is_ready.set())
    serving = threading.Thread(target=loop.run_until_complete, args=[work])
    serving.start()
    try:
        assert is_ready.wait(30), "the server does not answer"
        yield RunningRegistry(
            f"http://{http}", f"http://{confluent}", applications.registry, f"pulsar://{pulsar}" if broker else ""
        )
    finally:
        loop.call_soon_threadsafe(stop.set)
        serving.join()
        loop.close()
