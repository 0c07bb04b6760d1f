"""`tally check --registry`: a file against the versions of a subject, on a real server."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.ports import free_ports
from tests.servers import RunningRegistry, running_registry

V1 = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
GOOD = V1.replace("]}", ', {"name": "note", "type": "string", "default": ""}]}')
BAD = V1.replace("]}", ', {"name": "note", "type": "string"}]}')


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("data")) as running:
        answer = httpx.post(f"{running.confluent}/subjects/orders-value/versions", json={"schema": V1})
        assert answer.status_code == 200
        yield running


def check(url: str, text: str, folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    file = folder / "order.avsc"
    file.write_text(text)
    tally = Path(sys.executable).with_name("tally")
    command = [str(tally), "check", str(file), "--registry", url, "--subject", "orders-value", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("door", ["http", "confluent", "confluent_on_http"])
def test_what_fits_and_what_does_not(registry: RunningRegistry, door: str, tmp_path: Path) -> None:
    url = getattr(registry, door)
    assert check(url, GOOD, tmp_path).returncode == 0
    refused = check(url, BAD, tmp_path, "--output", "json")
    assert refused.returncode == 1
    report = json.loads(refused.stdout)
    assert [(f["rule"], f["version"]) for f in report["findings"]] == [("AVRO_FIELD_ADDED_NEEDS_DEFAULT", 1)]


def test_a_registry_that_does_not_answer_has_its_own_exit_code(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    unreachable = check(f"http://127.0.0.1:{port}", GOOD, tmp_path, "--timeout", "1")
    assert unreachable.returncode == 3
    assert "Traceback" not in unreachable.stderr


def test_bad_input_is_bad_input(registry: RunningRegistry, tmp_path: Path) -> None:
    assert check(registry.http, "{", tmp_path).returncode == 2
