"""A broker in a process of its own that is killed or stopped, and comes back on the same ports."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.integration.servers import Served, start
from tests.ports import free_ports


class MortalBroker:
    def __init__(self, data: Path) -> None:
        self._data = data
        self._ports = free_ports(3)
        self._served: Served | None = None

    @property
    def port(self) -> int:
        return self._ports[2]

    @property
    def process_id(self) -> int:
        assert self._served is not None
        return self._served.process.pid

    @property
    def url(self) -> str:
        return f"pulsar://127.0.0.1:{self.port}"

    def start(self) -> None:
        http, confluent, pulsar_port = self._ports
        listen = f"--pulsar=127.0.0.1:{pulsar_port}"
        self._served = start(self._data, listen, "--log-level=warning", ports=(http, confluent))
        assert self._served.process.poll() is None, "".join(self._served.errors)

    def die(self) -> None:
        """Also where it is dead already."""
        assert self._served is not None
        self._served.process.kill()
        self._served.process.wait(20)
        self._served.close()

    def restart(self) -> None:
        """Cleanly, and without a word of complaint."""
        assert self._served is not None
        assert self._served.stop() == 0, "".join(self._served.errors)
        self._served.close()
        assert [line for line in self._served.errors if "Traceback" in line or '"level": "error"' in line] == []
        self.start()


@contextmanager
def broker_on(data: Path) -> Iterator[MortalBroker]:
    broker = MortalBroker(data)
    broker.start()
    try:
        yield broker
    finally:
        broker.die()
