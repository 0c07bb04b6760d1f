"""Servers for the benchmarks, each a process of its own on a free loopback port: ours, Apicurio, and a bare handler."""

import functools
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from bench.benchmark import NotMeasured, shared
from tests.apicurio import running_apicurio
from tests.ports import free_ports
from tests.postgres import binaries, own_database, running_postgres

_START_SECONDS = 60.0
_TICKS = os.sysconf("SC_CLK_TCK")
KNOWN_IDS = 100
"""Schemas that every shared server has before it is measured, with the ids from 1 on."""


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    """Where Confluent's API begins."""
    pid: int
    pulsar_url: str = ""
    """Of its broker, where it has one."""

    def cpu_seconds(self) -> float:
        """What the process used so far, in user mode and in the kernel."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def resident_mib(self) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return int(next(line for line in status if line.startswith("VmRSS:")).split()[1]) / 1024


@contextmanager
def serving(data: Path, *arguments: str) -> Iterator[Server]:
    """`tally serve` as users start it, from the start of the process to `/health/ready`."""
    http, confluent, pulsar = free_ports(3)
    listen = [f"--http=127.0.0.1:{http}", f"--confluent=127.0.0.1:{confluent}", f"--pulsar=127.0.0.1:{pulsar}"]
    serve = "from tallystick.cli.main import main; main()"
    command = [sys.executable, "-c", serve, "serve", f"--data={data}", *listen, *arguments]
    with _process(command, f"http://127.0.0.1:{confluent}/health/ready") as pid:
        yield Server(f"http://127.0.0.1:{confluent}", pid, f"pulsar://127.0.0.1:{pulsar}")


@contextmanager
def _process(command: list[str], answers: str) -> Iterator[int]:
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        try:
            _wait(answers, process)
            yield process.pid
        finally:
            process.terminate()
            process.wait(30)


def _wait(url: str, process: "subprocess.Popen[bytes]") -> None:
    limit = time.monotonic() + _START_SECONDS
    while time.monotonic() < limit:
        assert process.poll() is None, f"the server of {url} ended with status {process.returncode}"
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.01)
            continue
        return
    raise AssertionError(f"{url} did not answer within {_START_SECONDS} s")


@functools.cache
def ours() -> Server:
    """On SQLite as it is by default: every commit reaches the disk."""
    server = shared.enter_context(serving(_folder()))
    _fill(server)
    return server


@functools.cache
def ours_with_broker() -> Server:
    """A process apart from the one that the registry is measured with."""
    return shared.enter_context(serving(_folder()))


@functools.cache
def ours_on_postgres() -> Server:
    if binaries() is None:
        raise NotMeasured("PostgreSQL is not installed; get it with: apt-get install postgresql")
    database = shared.enter_context(own_database(shared.enter_context(running_postgres())))
    return shared.enter_context(serving(_folder(), f"--store={database}"))


@functools.cache
def apicurio() -> Server | None:
    """With its memory store; None where it cannot be had."""
    try:
        found = shared.enter_context(running_apicurio())
    except FileNotFoundError:
        print(f"{NO_APICURIO}; Maven downloads it: apt-get install maven", file=sys.stderr)
        return None
    except AssertionError as e:
        print(f"{NO_APICURIO}: {e}", file=sys.stderr)
        return None
    server = Server(found.url, found.pid)
    _fill(server)
    return server


NO_APICURIO = "Apicurio is not measured"


@functools.cache
def bare() -> Server:
    """The HTTP server that ours runs on, with a handler of one line."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "bench.bare_server", str(port)]
    pid = shared.enter_context(_process(command, f"http://127.0.0.1:{port}/"))
    return Server(f"http://127.0.0.1:{port}", pid)


def _folder() -> Path:
    return Path(shared.enter_context(tempfile.TemporaryDirectory(prefix="tallystick-bench-")))


def _fill(server: Server) -> None:
    ask = asking(server)
    for i in range(KNOWN_IDS):
        fields = [
            {"name": "id", "type": "long"},
            {"name": "name", "type": "string"},
            {"name": "email", "type": ["null", "string"], "default": None},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        ]
        text = json.dumps({"type": "record", "name": f"Known{i}", "namespace": "bench", "fields": fields})
        found = ask("POST", f"/subjects/known-{i}/versions", {"schema": text})
        assert found["id"] == i + 1, found


class Ask(Protocol):
    def __call__(self, method: str, path: str, body: object = None) -> Any: ...


def asking(server: Server) -> Ask:
    """Requests on one connection that stays open, as clients have it."""
    url = urlsplit(server.url)
    connection = http.client.HTTPConnection(url.netloc, timeout=60)
    headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}

    def ask(method: str, path: str, body: object = None) -> Any:
        connection.request(method, url.path + path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return json.loads(content)

    return ask
