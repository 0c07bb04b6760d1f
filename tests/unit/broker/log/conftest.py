from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.broker.log.log import Log
from tests.unit.broker.log.appending import Appending, appending


@pytest.fixture
def append() -> Iterator[Appending]:
    with appending() as made:
        yield made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "broker.db"


@pytest.fixture
def log(path: Path, append: Appending) -> Iterator[Log]:
    opened = Log.open(path)
    yield opened
    opened.close()
