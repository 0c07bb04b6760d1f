"""Servers that are killed and come back on the same ports."""

import http.client
import json
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.integration.servers import Served, start
from tests.ports import free_port


@dataclass(slots=True)
class MortalServer:
    data: Path
    store: str | None = None
    ports: tuple[int, int] = field(default_factory=lambda: (free_port(), free_port()))
    served: Served | None = None

    def start(self) -> None:
        store = [f"--store={self.store}"] if self.store else []
        self.served = start(self.data, *store, "--log-level=error", ports=self.ports)
        assert self.served.process.poll() is None, "".join(self.served.errors)

    def stop(self, number: int = signal.SIGTERM) -> None:
        assert self.served is not None
        self.served.stop(number)
        self.served.close()

    def die(self) -> None:
        self.stop(signal.SIGKILL)


def call(port: int, method: str, path: str, body: Any = None, seconds: float = 10) -> tuple[int, Any]:
    """One request on a connection of its own. Raises OSError or HTTPException where no answer comes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"content-type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()
