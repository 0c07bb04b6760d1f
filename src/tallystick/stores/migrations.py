"""Migrations: the versions of the tables, applied in order when a store opens.

A new database gets the tables as they are now. A migration that has been released is never edited: it says in SQL of
its own what it changes. A database of a newer program is refused, not guessed at.
"""

from collections.abc import Callable

from sqlalchemy import Column, Connection, Integer, MetaData, Table, insert, inspect, select, text, update

from tallystick.errors import Unavailable
from tallystick.stores.tables import metadata

_meta = MetaData()
_schema_version = Table("tallystick_schema", _meta, Column("version", Integer, nullable=False))


def _summarise_types(connection: Connection) -> None:
    """To 2: a subject's own row knows the types of its versions, so that a listing reads nothing else."""
    for column in ("live_types VARCHAR NOT NULL DEFAULT ''", "deleted_types VARCHAR NOT NULL DEFAULT ''"):
        connection.execute(text(f"ALTER TABLE subjects ADD COLUMN {column}"))
    connection.execute(text("ALTER TABLE subjects ADD COLUMN described BOOLEAN NOT NULL DEFAULT false"))
    connection.execute(text("UPDATE subjects SET described = true WHERE CAST(about AS TEXT) <> '{}'"))
    for type_ in connection.execute(text("SELECT DISTINCT type FROM schemas ORDER BY type")).scalars().all():
        for state in ("live", "deleted"):
            connection.execute(text(_ADD_TYPE.format(column=f"{state}_types")), {"type": type_, "state": state})
    for count in ("live", "deleted"):
        connection.execute(text(f"ALTER TABLE subjects DROP COLUMN {count}"))
    include = " INCLUDE (id)" if connection.dialect.name == "postgresql" else ""
    connection.execute(text(_LISTED + include))


_ADD_TYPE = """
UPDATE subjects SET {column} = {column} || '/' || CAST(:type AS TEXT) || '/' WHERE id IN (
    SELECT v.subject_id FROM versions v JOIN schemas s ON s.namespace = v.namespace AND s.id = v.schema_id
    WHERE v.state = :state AND s.type = :type)
"""
_LISTED = "CREATE INDEX subjects_listed ON subjects (namespace, name, live_types, deleted_types, described)"


def _keep_pipelines(connection: Connection) -> None:
    """To 3: pipelines say how far they are."""
    connection.execute(text(_PIPELINES[connection.dialect.name]))


_PIPELINES = {
    "sqlite": """
CREATE TABLE pipelines (
    name VARCHAR NOT NULL, status JSON NOT NULL, principal VARCHAR NOT NULL, updated_at DATETIME NOT NULL,
    PRIMARY KEY (name))
""",
    "postgresql": """
CREATE TABLE pipelines (
    name VARCHAR COLLATE "C" NOT NULL, status JSON NOT NULL, principal VARCHAR NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL, PRIMARY KEY (name))
""",
}

MIGRATIONS: tuple[Callable[[Connection], None], ...] = (_summarise_types, _keep_pipelines)
NEWEST = 1 + len(MIGRATIONS)


def migrate(connection: Connection) -> None:
    """Brings the tables up to date. The caller keeps other programs out and commits."""
    if not inspect(connection).has_table(_schema_version.name):
        _meta.create_all(connection)
        metadata.create_all(connection)
        connection.execute(insert(_schema_version).values(version=NEWEST))
        return
    version = connection.execute(select(_schema_version.c.version)).scalar_one()
    if version > NEWEST:
        raise Unavailable(
            f"the database has tables of version {version}, this program knows up to {NEWEST}; "
            "start the newer program that wrote them",
            version=version,
        )
    for migration in MIGRATIONS[version - 1 :]:
        migration(connection)
    connection.execute(update(_schema_version).values(version=NEWEST))
