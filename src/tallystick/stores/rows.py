"""Rows to values."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row

from tallystick.model.subject import SchemaId, Subject, Version
from tallystick.registry.ports import State, VersionRow


def version_row(row: Row[Any]) -> VersionRow:
    return VersionRow(
        Subject(row.namespace, row.name),
        Version(row.version),
        SchemaId(row.schema_id),
        State(row.state),
        aware(row.created_at),
        row.properties,
    )


def aware(at: datetime) -> datetime:
    # SQLite keeps no time zone; what we write is UTC.
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
