"""A broker in a process of its own, what it takes, and a client that wants to be served whatever others do."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pulsar

from tests.integration.servers import Served, start
from tests.ports import free_port


@dataclass(slots=True)
class WatchedBroker:
    served: Served
    port: int

    @property
    def url(self) -> str:
        return f"pulsar://127.0.0.1:{self.port}"

    def status_kib(self, field: str) -> int:
        lines = Path(f"/proc/{self.served.process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(f"{field}:")).split()[1])

    @property
    def resident_mib(self) -> float:
        return self.status_kib("VmRSS") / 1024

    @property
    def peak_mib(self) -> float:
        return self.status_kib("VmHWM") / 1024

    def forget_peak(self) -> None:
        Path(f"/proc/{self.served.process.pid}/clear_refs").write_text("5")

    def complaints(self) -> list[str]:
        return [line for line in self.served.errors if "Traceback" in line or '"level": "error"' in line]


@contextmanager
def watched_broker(data: Path, *arguments: str) -> Iterator[WatchedBroker]:
    port = free_port()
    served = start(data, f"--pulsar=127.0.0.1:{port}", "--log-level=warning", *arguments)
    assert served.process.poll() is None, "".join(served.errors)
    try:
        yield WatchedBroker(served, port)
    finally:
        served.stop()
        served.close()


class Witness:
    """Sends and receives on connections that it never opens anew."""

    def __init__(self, url: str, log: Path) -> None:
        self._client = pulsar.Client(url, logger=pulsar.FileLogger(pulsar.LoggerLevel.Warn, str(log)))
        self._consumer: Any = self._client.subscribe("witness", "witness")
        self._producer: Any = self._client.create_producer("witness")
        self._numbers = count()

    def is_served(self) -> bool:
        sent = f"message {next(self._numbers)}".encode()
        self._producer.send(sent)
        received = self._consumer.receive(20_000)
        self._consumer.acknowledge(received)
        return bool(received.data() == sent)

    def close(self) -> None:
        self._client.close()


@contextmanager
def others_are_served(broker: WatchedBroker, witness: Witness, what: str, most_mib: float) -> Iterator[None]:
    """Whatever happens in the context: the broker is there, serves others, takes no more than so much memory, and
    has no failure of its own to tell of."""
    broker.forget_peak()
    yield
    assert broker.served.process.poll() is None, "".join(broker.served.errors)
    assert witness.is_served()
    print(f"{what}: {broker.peak_mib:.0f} MiB at most, {broker.resident_mib:.0f} MiB afterwards")
    assert broker.complaints() == []
    assert broker.peak_mib < most_mib


@contextmanager
def many_files(wanted: int) -> Iterator[None]:
    """Lets this process have so many files open, where the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(wanted, hard)), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
