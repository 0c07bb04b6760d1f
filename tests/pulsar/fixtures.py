"""One pair of servers for all tests of a run, however many workers it has."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.maven import missing
from tests.pulsar.servers import Both, Server, running_both
from tests.shared import folder_of_run, shared_servers


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    return folder_of_run(tmp_path_factory, worker_id, "pulsar")


@pytest.fixture(scope="session")
def both(common: Path) -> Iterator[Both]:
    reason = missing()
    if reason is not None:
        pytest.skip(f"a real Pulsar cannot run here: {reason}")
    with shared_servers(common, lambda: running_both(common / "ours"), _read) as servers:
        yield servers


def _read(known: dict[str, dict[str, str]]) -> Both:
    return Both(**{name: Server(**urls) for name, urls in known.items()})
