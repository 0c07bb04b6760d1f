"""The registry's own counters: what `enforce: warn` lets pass is counted by rule."""

from pathlib import Path

import pytest

from tallystick.access import Caller
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO
from tallystick.model.settings import Enforce
from tallystick.model.strategy import Strategy
from tallystick.model.subject import Subject
from tallystick.registry import description, lookup, policies, registration
from tallystick.registry.service import Registry
from tallystick.server.dialects.openschema import listing
from tallystick.server.metrics import Metrics
from tallystick.stores.sqlite import SqliteStore

OLD = SchemaDefinition(AVRO, '{"type": "record", "name": "O", "fields": []}')
NEW = SchemaDefinition(AVRO, '{"type": "record", "name": "O", "fields": [{"name": "a", "type": "int"}]}')


def test_warnings_are_counted_by_rule(tmp_path: Path) -> None:
    metrics = Metrics()
    registry = Registry(SqliteStore(tmp_path / "r.db"), observer=metrics)
    subject = Subject("public/default", "warned")
    try:
        registration.register(registry, Caller(), subject, OLD)
        policies.change(registry, Caller(), {"enforce": Enforce.WARN}, subject)
        assert registration.register(registry, Caller(), subject, NEW).version == 2
    finally:
        registry.close()
    text = metrics.text().decode()
    assert 'tallystick_warnings_total{rule="AVRO_FIELD_ADDED_NEEDS_DEFAULT"} 1.0' in text
    assert 'tallystick_registrations_total{type="AVRO"} 2.0' in text
    assert 'tallystick_store_seconds_count{kind="change"} 3.0' in text


def test_many_subjects_are_described_as_each_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry(SqliteStore(tmp_path / "r.db"))
    try:
        registration.register(registry, Caller(), Subject("public/default", "a"), OLD)
        registration.register(registry, Caller(), Subject("acme/sales", "b"), NEW)
        policies.change(registry, Caller(), {"strategy": Strategy.FORWARD}, None, "acme/sales")
        description.describe(registry, Caller(), Subject("acme/sales", "c"), {"format": "PB"}, Strategy.FULL)
        rows = lookup.subjects(registry, Caller(), None, described=True)
        alone = registry.read(lambda tx: listing.described(tx, rows))
        monkeypatch.setattr(listing, "_FEW", 0)
        together = registry.read(lambda tx: listing.described(tx, rows))
    finally:
        registry.close()
    assert together == alone
    assert [(s["subject"], s["compatibility"], s["format"]) for s in together] == [
        ("b", "FORWARD", "AVRO"),
        ("c", "FULL", "PB"),
        ("a", "BACKWARD", "AVRO"),
    ]
