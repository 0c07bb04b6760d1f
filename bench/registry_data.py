"""Large registries, written to their file in bulk: over HTTP they would take hours."""

import hashlib
import itertools
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import create_engine, insert

from tallystick.model.schema_type import AVRO
from tallystick.model.subject import DEFAULT_NAMESPACE
from tallystick.registry.ports import State
from tallystick.stores.sqlite import SqliteStore
from tallystick.stores.tables import counters, schemas, subjects, versions

_SUBJECTS_AT_ONCE = 2_000
_NOW = datetime.now(UTC)


def fill(folder: Path, subject_count: int, version_count: int) -> None:
    """Subjects `team-00.subject-0000000` … with schemas that nobody else has, without their journal."""
    path = folder / "registry.db"
    SqliteStore(path).close()
    engine = create_engine(f"sqlite:///{path}")
    numbers = range(1, subject_count + 1)
    for some in _batched(iter(numbers), _SUBJECTS_AT_ONCE):
        with engine.begin() as connection:
            connection.exec_driver_sql("PRAGMA synchronous=OFF")
            connection.execute(insert(subjects), [_subject(number, version_count) for number in some])
            connection.execute(insert(schemas), [row for n in some for row in _schemas(n, version_count)])
            connection.execute(insert(versions), [row for n in some for row in _versions(n, version_count)])
    with engine.begin() as connection:
        last = {"name": DEFAULT_NAMESPACE, "last": subject_count * version_count}
        connection.execute(insert(counters), last)
    engine.dispose()


def name_of(number: int) -> str:
    return f"team-{number % 100:02}.subject-{number:07}"


def _batched(numbers: Iterator[int], size: int) -> Iterator[list[int]]:
    while some := list(itertools.islice(numbers, size)):
        yield some


def _subject(number: int, version_count: int) -> dict[str, Any]:
    return {
        "id": number,
        "namespace": DEFAULT_NAMESPACE,
        "name": name_of(number),
        "last_version": version_count,
        "live_types": f"/{AVRO}/",
        "created_at": _NOW,
        "modified_at": _NOW,
        "about": {},
    }


def _schema_id(number: int, version: int, version_count: int) -> int:
    return (number - 1) * version_count + version


def _schemas(number: int, version_count: int) -> Iterator[dict[str, Any]]:
    for version in range(1, version_count + 1):
        fields = ",".join(f'{{"name":"f{i}","type":["null","long"],"default":null}}' for i in range(version))
        text = f'{{"type":"record","name":"Record{number}","fields":[{fields}]}}'
        identity = hashlib.sha256(text.encode()).digest()
        yield {
            "namespace": DEFAULT_NAMESPACE,
            "id": _schema_id(number, version, version_count),
            "identity": identity,
            "guid": UUID(bytes=identity[:16]),
            "type": AVRO,
            "text": text,
            "properties": {},
        }


def _versions(number: int, version_count: int) -> Iterator[dict[str, Any]]:
    for version in range(1, version_count + 1):
        yield {
            "subject_id": number,
            "version": version,
            "namespace": DEFAULT_NAMESPACE,
            "schema_id": _schema_id(number, version, version_count),
            "state": State.LIVE,
            "created_at": _NOW,
            "properties": {},
        }
