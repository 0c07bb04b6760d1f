"""Databases that the program of version 1 wrote, opened by this one."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, inspect

from tallystick.errors import Unavailable
from tallystick.model.schema_type import AVRO, BOOLEAN, JSON_SCHEMA, SchemaType
from tallystick.model.subject import Subject, Version
from tallystick.registry.ports import ALL, SchemaStore, State
from tallystick.stores.migrations import NEWEST
from tallystick.stores.postgres import PostgresStore
from tallystick.stores.sqlite import SqliteStore
from tests.contracts.test_store import append, text
from tests.postgres import own_database

WRITTEN = Path(__file__).parent / "version_1"

Opening = Callable[[], SchemaStore]
Databases = Callable[[str], tuple[Opening, str]]
"""Makes a database by a script: how to open it, and its address."""


def _sqlite(request: pytest.FixtureRequest, path: Path, stack: ExitStack, script: str) -> tuple[Opening, str]:
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    return lambda: SqliteStore(path), f"sqlite:///{path}"


def _postgres(request: pytest.FixtureRequest, path: Path, stack: ExitStack, script: str) -> tuple[Opening, str]:
    url = stack.enter_context(own_database(request.getfixturevalue("postgres")))
    with psycopg.connect(url) as connection:
        connection.execute(script.encode())
    return lambda: PostgresStore(url), url.replace("postgresql:", "postgresql+psycopg:")


DATABASES = {"sqlite": _sqlite, "postgres": _postgres}


@pytest.fixture(params=DATABASES)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def databases(request: pytest.FixtureRequest, kind: str, tmp_path: Path) -> Iterator[Databases]:
    with ExitStack() as stack:
        yield lambda script: DATABASES[kind](request, tmp_path / f"{len(script)}.db", stack, script)


@pytest.fixture
def old(kind: str, databases: Databases) -> tuple[Opening, str]:
    return databases((WRITTEN / f"{kind}.sql").read_text())


@pytest.fixture
def store(old: tuple[Opening, str]) -> Iterator[SchemaStore]:
    opened = old[0]()
    yield opened
    opened.close()


def names(store: SchemaStore, states: set[State], types: list[SchemaType] | None, described: bool = False) -> list[str]:
    rows = store.read(lambda tx: tx.subjects.names(None, "", states, ALL, types=types, described=described))
    return [str(row.subject) for row in rows]


def test_subjects_of_an_old_database_are_listed_by_type_and_state(store: SchemaStore) -> None:
    live, deleted = {State.LIVE}, {State.DELETED}
    assert names(store, live, None) == [":.acme.sales:orders", "both", "flag", "moved", "orders"]
    assert names(store, live, [AVRO]) == ["both", "orders"]
    assert names(store, live, [JSON_SCHEMA]) == [":.acme.sales:orders", "both", "moved"]
    assert names(store, live, [BOOLEAN]) == ["flag"]
    assert names(store, deleted, [AVRO]) == ["buried", "moved"]
    assert names(store, deleted, [JSON_SCHEMA]) == ["gone"]
    assert "planned" in names(store, live, None, described=True)
    assert "settings-only" not in names(store, live | deleted, None, described=True)


def test_an_old_database_goes_on_where_it_was(store: SchemaStore) -> None:
    moved = Subject("public/default", "moved")
    assert store.change(lambda tx: append(tx, moved, text("New"))) == 3
    store.change(lambda tx: tx.subjects.set_state(moved, [Version(2)], State.DELETED))
    assert names(store, {State.LIVE}, [JSON_SCHEMA]) == [":.acme.sales:orders", "both"]
    assert "moved" in names(store, {State.LIVE}, [AVRO])
    assert store.read(lambda tx: tx.journal.last()) == 14


def test_a_migrated_database_has_the_tables_of_a_new_one(old: tuple[Opening, str], databases: Databases) -> None:
    new = databases("SELECT 1")
    for opening, _ in (old, new):
        opening().close()
    assert _tables(old[1]) == _tables(new[1])


def _tables(url: str) -> dict[str, object]:
    engine = create_engine(url)
    try:
        return {name: _table(engine, name) for name in sorted(inspect(engine).get_table_names())}
    finally:
        engine.dispose()


def _table(engine: Engine, name: str) -> object:
    found = inspect(engine)
    columns = {c["name"]: (str(c["type"]), c["nullable"]) for c in found.get_columns(name)}
    indexes = {(i["name"], *i["column_names"], *i.get("include_columns", ())) for i in found.get_indexes(name)}
    unique = {tuple(u["column_names"]) for u in found.get_unique_constraints(name)}
    return columns, indexes, unique, found.get_pk_constraint(name)["constrained_columns"]


def test_a_database_is_migrated_once(old: tuple[Opening, str]) -> None:
    for _ in range(2):
        opened = old[0]()
        listed = names(opened, {State.LIVE}, None)
        opened.close()
    assert len(listed) == 5


def test_a_database_of_a_newer_program_is_refused(databases: Databases) -> None:
    table = "CREATE TABLE tallystick_schema (version INTEGER NOT NULL);"
    opening, _ = databases(f"{table} INSERT INTO tallystick_schema VALUES ({NEWEST + 1})")
    with pytest.raises(Unavailable, match=f"tables of version {NEWEST + 1}"):
        opening()
