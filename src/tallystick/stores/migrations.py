"""Migrations: the versions of the tables, applied in order when a store opens.

A migration that has been released is never edited. A database of a newer program is refused, not guessed at.
"""

from collections.abc import Callable

from sqlalchemy import Column, Connection, Integer, MetaData, Table, insert, inspect, select, update

from tallystick.errors import Unavailable
from tallystick.stores.tables import metadata

_meta = MetaData()
_schema_version = Table("tallystick_schema", _meta, Column("version", Integer, nullable=False))


def _first(connection: Connection) -> None:
    metadata.create_all(connection)


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (_first,)


def migrate(connection: Connection) -> None:
    """Brings the tables up to date. The caller keeps other programs out and commits."""
    if not inspect(connection).has_table(_schema_version.name):
        _meta.create_all(connection)
        connection.execute(insert(_schema_version).values(version=0))
    version = connection.execute(select(_schema_version.c.version)).scalar_one()
    if version > len(MIGRATIONS):
        raise Unavailable(
            f"the database has tables of version {version}, this program knows up to {len(MIGRATIONS)}; "
            "start the newer program that wrote them",
            version=version,
        )
    for migration in MIGRATIONS[version:]:
        migration(connection)
    connection.execute(update(_schema_version).values(version=len(MIGRATIONS)))
