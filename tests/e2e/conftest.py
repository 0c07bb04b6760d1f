"""A server with a broker, and `tally topic` speaking to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.topics import FIRST, ORDERS, Call, Folder, commands, unused
from tests.kafka.fixtures import kafka
from tests.pulsar.fixtures import both, common
from tests.servers import RunningRegistry, running_registry

__all__ = ["both", "common", "kafka"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("data"), broker=True) as running:
        yield running


@pytest.fixture
def tally(server: RunningRegistry, capsys: pytest.CaptureFixture[str]) -> Call:
    """Commands that speak to the broker."""
    return commands(capsys, "--cluster", server.pulsar, "--timeout", "30")


@pytest.fixture
def admin(server: RunningRegistry, capsys: pytest.CaptureFixture[str]) -> Call:
    """Commands that speak to the admin API."""
    return commands(capsys, "--registry", server.http)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def topic(tally: Call, folder: Folder) -> str:
    """With the three orders."""
    name = unused()
    sent = tally("produce", name, folder.lines(*ORDERS), "--schema", folder.schema(FIRST), "--key-field", "id")
    assert sent.code == 0, sent.err
    return name
