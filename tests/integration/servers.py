"""`tally serve` as a process of its own, for tests."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.ports import free_port

_SERVE = "from tallystick.cli.serve import serve; serve()"
_START_SECONDS = 30.0


@dataclass
class Served:
    process: subprocess.Popen[str]
    http_port: int
    confluent_port: int
    scheme: str = "http"
    output: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.http_port}"

    @property
    def confluent_url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.confluent_port}"

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(20)

    def close(self) -> None:
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


def start(
    data: Path, *arguments: str, scheme: str = "http", ports: tuple[int, int] | None = None, command: str = _SERVE
) -> Served:
    ports = ports or (free_port(), free_port())
    listen = [f"--http=127.0.0.1:{ports[0]}", f"--confluent=127.0.0.1:{ports[1]}"]
    if not any(argument.startswith(("--pulsar", "--no-broker")) for argument in arguments):
        # The default port may be another server's, and then there would be no broker.
        listen.append(f"--pulsar=127.0.0.1:{free_port()}")
    process = subprocess.Popen(
        [sys.executable, "-c", command, f"--data={data}", *listen, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    served = Served(process, *ports, scheme)
    assert process.stdout is not None
    assert process.stderr is not None
    for stream, lines in ((process.stdout, served.output), (process.stderr, served.errors)):
        threading.Thread(target=lambda s=stream, kept=lines: kept.extend(s), daemon=True).start()
    wait_until(lambda: any("ready" in line for line in served.output) or process.poll() is not None, _START_SECONDS)
    return served


def wait_until(condition: object, seconds: float = 5.0) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@contextmanager
def serving(data: Path, *arguments: str, scheme: str = "http", command: str = _SERVE) -> Iterator[Served]:
    served = start(data, *arguments, scheme=scheme, command=command)
    assert served.process.poll() is None, "".join(served.errors)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.stop()
        served.close()


def client(served: Served) -> httpx.Client:
    return httpx.Client(base_url=served.url, timeout=20)
