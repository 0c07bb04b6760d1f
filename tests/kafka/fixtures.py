"""One Kafka for all tests of a run, however many workers it has."""

from collections.abc import Iterator

import pytest

from tests.kafka.server import Kafka, running_kafka
from tests.maven import missing
from tests.shared import folder_of_run, shared_servers


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Kafka]:
    reason = missing()
    if reason is not None:
        pytest.skip(f"a real Kafka cannot run here: {reason}")
    folder = folder_of_run(tmp_path_factory, worker_id, "kafka")
    with shared_servers(folder, running_kafka, lambda known: Kafka(**known)) as server:
        yield server
