"""Subjects with what counts for them: their strategy and the format of their latest version."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from tallystick.formats import schema_types
from tallystick.model.settings import SERVER_DEFAULTS, Settings, effective
from tallystick.model.strategy import Strategy
from tallystick.model.subject import SchemaId, Subject
from tallystick.registry.lookup import LIVE
from tallystick.registry.ports import ALL, SubjectRow, Transaction
from tallystick.registry.service import settings_of
from tallystick.server.dialects.openschema import bodies

_FEW = 200
"""Up to here each subject is asked about on its own; for more, everything is read at once."""
_AT_ONCE = 500


def described(tx: Transaction, rows: Sequence[SubjectRow]) -> list[dict[str, Any]]:
    if len(rows) <= _FEW:
        return [_one(tx, row) for row in rows]
    strategies, formats = _strategies(tx, rows), _formats(tx)
    return [bodies.subject_body(row, strategies[row.subject], formats.get(row.subject)) for row in rows]


def _one(tx: Transaction, row: SubjectRow) -> dict[str, Any]:
    strategy = settings_of(tx, row.subject).strategy
    assert strategy is not None
    live = [version for version in tx.subjects.history(row.subject) if version.state in LIVE]
    stored = tx.schemas.get(row.subject.namespace, [live[-1].schema_id]) if live else []
    return bodies.subject_body(row, strategy, bodies.format_name(stored[0].definition) if stored else None)


def _strategies(tx: Transaction, rows: Sequence[SubjectRow]) -> dict[Subject, Strategy]:
    own = tx.settings.of_subjects(None)
    server = tx.settings.get(None, None) or Settings()
    below = {name: tx.settings.get(None, name) or Settings() for name in {row.subject.namespace for row in rows}}
    found = {}
    for row in rows:
        levels = [own.get(row.subject) or Settings(), below[row.subject.namespace], server, SERVER_DEFAULTS]
        strategy = effective(levels).strategy
        assert strategy is not None
        found[row.subject] = strategy
    return found


def _formats(tx: Transaction) -> dict[Subject, str]:
    latest = tx.subjects.versions(None, "", LIVE, ALL, types=schema_types(), latest_only=True)
    ids: dict[str, set[SchemaId]] = {}
    for row in latest:
        ids.setdefault(row.subject.namespace, set()).add(row.schema_id)
    # Only the names are kept: the texts of a whole registry would not fit in memory.
    names = {
        (namespace, stored.id): bodies.format_name(stored.definition)
        for namespace, wanted in ids.items()
        for some in _batched(wanted)
        for stored in tx.schemas.get(namespace, some)
    }
    return {row.subject: names[row.subject.namespace, row.schema_id] for row in latest}


def _batched(ids: set[SchemaId]) -> Iterator[list[SchemaId]]:
    left = iter(sorted(ids))
    while some := list(islice(left, _AT_ONCE)):
        yield some
