"""The two servers of the comparison, and both asked at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.integration.servers import serving
from tests.ports import free_port
from tests.pulsar.standalone import running_pulsar

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Server:
    service_url: str
    admin_url: str


@dataclass(frozen=True, slots=True)
class Both:
    pulsar: Server
    ours: Server

    def ask(self, work: Callable[[Server], Outcome]) -> tuple[Outcome, Outcome]:
        """Pulsar's outcome and ours. Both work at the same time, because most of it is waiting."""
        with ThreadPoolExecutor(2) as threads:
            pulsar, ours = threads.map(work, (self.pulsar, self.ours))
        return pulsar, ours


@contextmanager
def running_ours(data: Path, *arguments: str, tls: bool = False) -> Iterator[Server]:
    """`tally serve` as a process of its own."""
    port, (clients, web) = free_port(), ("pulsar+ssl", "https") if tls else ("pulsar", "http")
    with serving(data, f"--pulsar=127.0.0.1:{port}", "--log-level=warning", *arguments, scheme=web) as served:
        yield Server(f"{clients}://127.0.0.1:{port}", served.url)


@contextmanager
def running_both(data: Path) -> Iterator[Both]:
    with running_pulsar() as pulsar, running_ours(data) as ours:
        yield Both(Server(pulsar.service_url, pulsar.admin_url), ours)
