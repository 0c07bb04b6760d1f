"""The stores that the store's contract runs over."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tallystick.registry.ports import SchemaStore
from tallystick.stores.postgres import PostgresStore
from tallystick.stores.sqlite import SqliteStore
from tests.postgres import own_database


def _sqlite(request: pytest.FixtureRequest, folder: Path, stack: ExitStack) -> SchemaStore:
    return SqliteStore(folder / "registry.db")


def _postgres(request: pytest.FixtureRequest, folder: Path, stack: ExitStack) -> SchemaStore:
    return PostgresStore(stack.enter_context(own_database(request.getfixturevalue("postgres"))))


STORES: dict[str, Callable[[pytest.FixtureRequest, Path, ExitStack], SchemaStore]] = {
    "sqlite": _sqlite,
    "postgres": _postgres,
}
