"""A topic as it is in the wild: three versions of a schema, some tombstones, and records that are broken in every way.

Each record is known by its key, so that whoever reads the topic can be asked what became of it.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from pyspark.sql import SparkSession

from tallystick import AvroSchema, Client, RegistryClient, SchemaDefinition
from tallystick.formats import encoder_of, parse
from tallystick.model.schema_type import AVRO
from tallystick.spark.cluster import KAFKA, Cluster
from tallystick.spark.columns import FRAMES
from tallystick.spark.topics import write_topic

_FIELDS: list[dict[str, Any]] = [
    {"name": "id", "type": "long"},
    {"name": "customer", "type": "string"},
    {"name": "total", "type": "double"},
    {"name": "note", "type": ["null", "string"], "default": None},
    {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
]
VERSIONS = [json.dumps({"type": "record", "name": "Order", "fields": _FIELDS[:n]}) for n in (3, 4, 5)]
_ENCODERS = [encoder_of(parse(SchemaDefinition(AVRO, text))) for text in VERSIONS]

DOES_NOT_FIT, UNKNOWN, UNFRAMED = "fit", "unknown", "unframed"
"""What is the matter with a broken record."""


@dataclass(slots=True)
class Filled:
    """What a topic was filled with, by key."""

    good: dict[str, int] = field(default_factory=dict)
    """With the version that it was written with."""
    bad: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)

    @property
    def count(self) -> int:
        return len(self.good) + len(self.bad) + len(self.deleted)


@dataclass(frozen=True, slots=True)
class _Told:
    """How records of a cluster tell their schema."""

    ids: list[int]
    unknown: int
    is_framed: bool

    def columns(self, number: int | None) -> tuple[int | None, int | None, bytes | None]:
        if number is None:
            return None, None, b"" if self.is_framed else None
        return (number, None, None) if self.is_framed else (None, number, None)


def fill(spark: SparkSession, cluster: Cluster, topic: str, count: int, *, seed: int, bad: float = 0.02) -> Filled:
    """Writes so many records, of which about this part is broken."""
    told = _registered(cluster, topic)
    random, filled = Random(seed), Filled()
    rows: list[tuple[Any, ...]] = []
    for n in range(count):
        key = f"{n:06}"
        payload, number = _record(random, told, filled, key, n, bad)
        told_by = (None, None, None) if payload is None else told.columns(number)
        rows.append((topic, 0, (0, n, -1), key.encode(), payload, *told_by, {}, None, None, None, None))
    write_topic(spark.createDataFrame(rows, FRAMES).coalesce(1), cluster, topic)
    return filled


def _record(
    random: Random, told: _Told, filled: Filled, key: str, n: int, bad: float
) -> tuple[bytes | None, int | None]:
    """The payload, and what tells its schema."""
    version = random.randrange(3)
    payload = _ENCODERS[version](_order(n, version))
    drawn = random.random()
    if drawn < bad:
        broken, number, why = random.choice(_WAYS)(payload, told.ids[version], told, random)
        filled.bad[key] = why
        return broken, number
    if drawn < bad * 1.5:
        filled.deleted.add(key)
        return None, None
    filled.good[key] = version + 1
    return payload, told.ids[version]


def _order(n: int, version: int) -> dict[str, Any]:
    whole = {"id": n, "customer": f"customer-{n}", "total": n / 4, "note": "ä" if n % 2 else None, "tags": ["a", "b"]}
    return {name: whole[name] for name in list(whole)[: version + 3]}


_Way = Callable[[bytes, int, _Told, Random], tuple[bytes, int | None, str]]
_WAYS: list[_Way] = [
    lambda payload, number, told, random: (payload[: random.randrange(1, len(payload))], number, DOES_NOT_FIT),
    lambda payload, number, told, random: (payload + random.randbytes(random.randrange(1, 9)), number, DOES_NOT_FIT),
    lambda payload, number, told, random: (b"", number, DOES_NOT_FIT),
    lambda payload, number, told, random: (payload, told.unknown, UNKNOWN),
    lambda payload, number, told, random: (b"\x10tariff-7", number, DOES_NOT_FIT),
    lambda payload, number, told, random: (b"{no frame}", None, UNFRAMED),
]


def _registered(cluster: Cluster, topic: str) -> _Told:
    if cluster.kind == KAFKA:
        assert cluster.registry is not None
        with RegistryClient(cluster.registry) as registry:
            ids = [registry.register(f"{topic}-value", SchemaDefinition(AVRO, text)).id for text in VERSIONS]
        return _Told([id_ for id_ in ids if id_ is not None], 999_999, is_framed=True)
    with Client(cluster.url) as client:
        for text in VERSIONS:
            client.producer(topic, AvroSchema(text)).close()
    return _Told([1, 2, 3], 77, is_framed=False)


def problems(filled: Filled, landed: list[tuple[str, int, bool]], quarantined: list[tuple[str, str]]) -> list[str]:
    """What is wrong with what became of a topic: rows are (key, version, is a tombstone) and (key, rule)."""
    found = []
    twice = [key for key, times in Counter([row[0] for row in landed + quarantined]).items() if times > 1]
    if twice:
        found.append(f"more than once: {sorted(twice)[:10]}")
    good = {key: version for key, version, is_deleted in landed if not is_deleted}
    if good != filled.good:
        found.append(f"landed wrongly: {sorted(good.items() ^ filled.good.items())[:10]}")
    deleted = {key for key, _, is_deleted in landed if is_deleted}
    if deleted != filled.deleted:
        found.append(f"deleted wrongly: {sorted(deleted ^ filled.deleted)[:10]}")
    if {key for key, _ in quarantined} != set(filled.bad):
        found.append(f"quarantined wrongly: {sorted({key for key, _ in quarantined} ^ set(filled.bad))[:10]}")
    wrong = [
        (key, rule, filled.bad[key])
        for key, rule in quarantined
        if key in filled.bad and not _is_why(rule, filled.bad[key])
    ]
    if wrong:
        found.append(f"for another reason: {wrong[:10]}")
    return found


def _is_why(rule: str, why: str) -> bool:
    expected = _RULES.get(why)
    return rule in expected if expected is not None else not any(rule in rules for rules in _RULES.values())


_RULES = {
    UNKNOWN: {"RECORD_SCHEMA_UNKNOWN"},
    UNFRAMED: {"SCHEMA_FRAME_UNREADABLE", "RECORD_SCHEMA_UNTOLD"},
}
"""All else is a record that does not fit, for a reason that its codec names."""
