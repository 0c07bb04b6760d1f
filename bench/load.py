"""Load from wrk, and what came of it."""

import itertools
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.benchmark import NotMeasured
from bench.servers import KNOWN_IDS, Server

_SCRIPTS = Path(__file__).parent / "registry"
_tags = (f"Run{os.getpid()}x{number}" for number in itertools.count())


@dataclass(frozen=True, slots=True)
class Outcome:
    rate: float
    """Requests in a second."""
    p99_ms: float


@dataclass(slots=True)
class Load:
    """A kind of load on one server; keeps what each run of it showed."""

    server: Server
    connections: int
    seconds: int
    p99s: list[float] = field(default_factory=list)

    def register(self) -> float:
        return self._run("register.lua", next(_tags)).rate

    def get(self) -> float:
        return self._run("get.lua", "1", str(KNOWN_IDS)).rate

    def gets_per_cpu_second(self) -> float:
        before = self.server.cpu_seconds()
        rate = self.get()
        return rate * self.seconds / (self.server.cpu_seconds() - before)

    @property
    def p99_ms(self) -> float:
        # The first run only warms up.
        return median(self.p99s[1:] or self.p99s)

    def _run(self, script: str, *arguments: str) -> Outcome:
        outcome = _wrk(script, self.server.url, self.connections, self.seconds, arguments)
        self.p99s.append(outcome.p99_ms)
        return outcome


def require_wrk() -> None:
    if shutil.which("wrk") is None:
        raise NotMeasured("the load comes from wrk, which is not on the PATH; get it with: apt-get install wrk")


def _wrk(script: str, url: str, connections: int, seconds: int, arguments: tuple[str, ...]) -> Outcome:
    options = ["--threads=1", f"--connections={connections}", f"--duration={seconds}s", "--timeout=30s"]
    command = ["wrk", *options, f"--script={_SCRIPTS / script}", url, "--", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures = next(line for line in done.stdout.splitlines() if line.startswith("load ")).split()
    rate, p99_ms, errors = float(figures[1]), float(figures[2]), int(figures[3])
    assert errors == 0, f"{errors} requests to {url} failed"
    return Outcome(rate, p99_ms)
