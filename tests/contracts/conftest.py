from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tallystick import Client
from tallystick.registry.ports import SchemaStore
from tests.contracts.clusters import CLUSTERS, ROWS, Cluster, Served, shared_server
from tests.contracts.stores import STORES
from tests.postgres import running_postgres
from tests.pulsar.fixtures import both, common

__all__ = ["both", "common"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        params = getattr(item, "callspec", None)
        for gap in item.iter_markers("gap"):
            if params is not None and gap.args[0] in params.params.values():
                item.add_marker(pytest.mark.xfail(raises=gap.kwargs["raises"], strict=True))


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with running_postgres() as url:
        yield url


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SchemaStore]:
    with ExitStack() as stack:
        opened = STORES[request.param](request, tmp_path, stack)
        stack.callback(opened.close)
        yield opened


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Served]:
    with shared_server(tmp_path_factory, worker_id) as server:
        yield server


@pytest.fixture(params=ROWS)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    return CLUSTERS[request.param](request)


@pytest.fixture
def client(cluster: Cluster) -> Iterator[Client]:
    with cluster.client() as opened:
        yield opened


@pytest.fixture
def topic(cluster: Cluster) -> str:
    return cluster.topic()
