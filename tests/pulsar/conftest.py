"""One pair of servers for all tests of a run, however many workers it has."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pulsar.maven import missing
from tests.pulsar.servers import Both, running_both
from tests.pulsar.shared import shared_servers


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder of this run that all its workers see."""
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "pulsar"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def both(common: Path) -> Iterator[Both]:
    reason = missing()
    if reason is not None:
        pytest.skip(f"a real Pulsar cannot run here: {reason}")
    with shared_servers(common, lambda: running_both(common / "ours")) as servers:
        yield servers
