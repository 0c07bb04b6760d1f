"""The process of `tally serve`: how it starts, what it says, and how it stops."""

import socket
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.integration.servers import Served, client, serving, start, wait_until
from tests.ports import free_port

EMPTY = '{"type": "record", "name": "Order", "fields": []}'


def close(served: Served) -> None:
    for stream in (served.process.stdout, served.process.stderr):
        assert stream is not None
        stream.close()


def resident_mb(served: Served) -> float:
    for line in Path(f"/proc/{served.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


def cpu_seconds(served: Served) -> float:
    fields = Path(f"/proc/{served.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_it_is_ready_soon_in_little_memory_and_says_what_to_paste(tmp_path: Path) -> None:
    with serving(tmp_path / "new" / "data") as served:
        # The machine may be busy; what the process itself needed is what counts.
        assert cpu_seconds(served) < 1.5
        assert resident_mb(served) < 120
        text = "".join(served.output)
        assert f"curl {served.url}/subjects" in text
        assert f"schema.registry.url={served.confluent_url}" in text
        assert f"pulsar-admin --admin-url {served.url}" in text
        assert f'SchemaRegistryClient({{"url": "{served.confluent_url}"}})' in text
        assert "from_avro" in text
        assert httpx.get(f"{served.confluent_url}/subjects").json() == []


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        served = start(tmp_path, ports=(port, free_port()))
        assert served.process.wait(20) != 0
    wait_until(lambda: served.errors)
    assert any(f"127.0.0.1:{port}" in line and "cannot listen" in line for line in served.errors)
    close(served)


def test_sigterm_finishes_what_runs_and_keeps_it(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        outcomes: list[int] = []
        is_refused = threading.Event()

        def register() -> None:
            with client(served) as http:
                for number in range(1000):
                    body = {"schema": {"schemaDefinition": EMPTY.replace("Order", f"O{number}")}}
                    try:
                        outcomes.append(http.post(f"/subjects/s{number}/versions", json=body).status_code)
                    except httpx.TransportError:
                        is_refused.set()
                        return

        worker = threading.Thread(target=register)
        worker.start()
        wait_until(lambda: len(outcomes) > 5)
        assert served.stop() == 0
        worker.join(20)
        assert is_refused.is_set()
        assert set(outcomes) == {200}
    with serving(tmp_path) as served, client(served) as http:
        kept = len(http.get("/subjects").json()["subjects"])
    assert kept in (len(outcomes), len(outcomes) + 1)


def test_sigterm_ends_streams_too(tmp_path: Path) -> None:
    with serving(tmp_path) as served, client(served) as http, http.stream("GET", "/events") as answer:
        lines = answer.iter_lines()
        next(lines)
        started = time.monotonic()
        assert served.stop() == 0
        assert time.monotonic() - started < 5


def test_slow_bodies_and_slow_requests_end(tmp_path: Path) -> None:
    limits = "limits=HttpLimits(body_seconds=0.3)"
    with serving(tmp_path, command=_limited(tmp_path, limits)) as served:
        with socket.create_connection(("127.0.0.1", served.http_port), timeout=10) as slow:
            slow.sendall(b"POST /subjects/x HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
            answer = slow.recv(4096)
        assert answer.split()[1] == b"408"
        assert b"did not arrive" in answer


def _limited(data: Path, limits: str) -> str:
    return f"""
import sys
from pathlib import Path
from tallystick.serve.compose import run
from tallystick.serve.config import Address, ServeConfig
from tallystick.server.app import HttpLimits
ports = [int(a.rpartition(":")[2]) for a in sys.argv if a.startswith(("--http", "--confluent"))]
run(ServeConfig(data=Path({str(data)!r}), http=Address("127.0.0.1", ports[0]),
    confluent=Address("127.0.0.1", ports[1]), {limits}), ready=lambda _: print("ready", flush=True))
"""


@pytest.mark.parametrize("argument", ["--http=nonsense", "--http=127.0.0.1:99999", "--tls-cert=/nonexistent"])
def test_arguments_that_are_none(tmp_path: Path, argument: str) -> None:
    served = start(tmp_path, argument)
    assert served.process.wait(20) == 2
    close(served)


def test_a_store_that_does_not_answer_is_told(tmp_path: Path) -> None:
    served = start(tmp_path, f"--store=postgresql://nobody@127.0.0.1:{free_port()}/none")
    assert served.process.wait(20) != 0
    wait_until(lambda: any("PostgreSQL" in line for line in served.errors))
    close(served)
