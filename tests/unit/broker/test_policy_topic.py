"""Policies as records: out of the journal once and in order, into another cluster's store, and not back again."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick.access import Action, Caller, Grant, Principal
from tallystick.broker import policy_topic
from tallystick.broker.policy_topic import PolicyChange, PolicyFollower, apply, decode, encode
from tallystick.errors import Forbidden, InvalidRecord, Unavailable, Unsupported
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO
from tallystick.model.settings import Enforce, Mode, PayloadValidation, Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import Subject
from tallystick.registry import description, policies
from tallystick.registry.service import Registry
from tallystick.stores.sqlite import SqliteStore

ANYBODY = Caller()
NAMESPACE = "acme/sales"
ORDERS = Subject(NAMESPACE, "orders")


class Topics:
    """Stands where the log stands: records by namespace, each with its sequence id."""

    def __init__(self) -> None:
        self.records: dict[str, list[tuple[int, bytes]]] = {}
        self.failures = 0
        self.fails_after_writing = False

    async def append(self, namespace: str, payload: bytes, sequence: int) -> None:
        failing, self.failures = self.failures > 0, max(self.failures - 1, 0)
        if not failing or self.fails_after_writing:
            self.records.setdefault(namespace, []).append((sequence, payload))
        if failing:
            raise Unavailable("the log does not answer")

    def last_sequence(self, namespace: str) -> int:
        return self.records.get(namespace, [(0, b"")])[-1][0]

    def changes(self, namespace: str = NAMESPACE) -> list[PolicyChange]:
        return [decode(payload) for _, payload in self.records.get(namespace, [])]


class Cluster:
    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.registry = Registry(SqliteStore(folder / f"{name}.db"))
        self.topics = Topics()
        self.follower = self.new_follower()

    def new_follower(self) -> PolicyFollower:
        return PolicyFollower(self.registry, self.name, self.topics.append, self.topics.last_sequence)

    def set_(self, subject: Subject | None = None, namespace: str | None = None, **changes: object) -> None:
        policies.change(self.registry, ANYBODY, changes, subject, namespace)

    def follow(self) -> None:
        async def all_of_it() -> None:
            while await self.follower.step():
                pass

        asyncio.run(all_of_it())

    def own(self, subject: Subject | None = None, namespace: str | None = None) -> Settings:
        return policies.own(self.registry, subject, namespace)


@pytest.fixture
def east(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster("east", tmp_path)
    yield cluster
    cluster.registry.close()


@pytest.fixture
def west(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster("west", tmp_path)
    yield cluster
    cluster.registry.close()


def replicate(source: Cluster, target: Cluster, caller: Caller = ANYBODY) -> list[bool]:
    return [
        apply(target.registry, caller, NAMESPACE, payload, target.name)
        for _, payload in source.topics.records[NAMESPACE]
    ]


def test_each_change_of_a_namespace_and_its_topics_is_a_record_in_order(east: Cluster) -> None:
    east.set_(namespace=NAMESPACE, strategy=Strategy.BACKWARD, auto_update=False)
    east.set_(ORDERS, enforce=Enforce.WARN, payload_validation=PayloadValidation.REGISTERED)
    east.set_(ORDERS, enforce=None)
    description.describe(east.registry, ANYBODY, ORDERS, {"app": "shop"}, Strategy.FULL)
    east.follow()
    assert [(c.subject, c.changes) for c in east.topics.changes()] == [
        (None, {"strategy": "BACKWARD", "auto_update": False}),
        ("orders", {"enforce": "warn", "payload_validation": "registered"}),
        ("orders", {"enforce": None}),
        ("orders", {"strategy": "FULL"}),
    ]
    first = east.topics.changes()[0]
    assert (first.namespace, first.origin, first.principal, first.number) == (NAMESPACE, "east", "anybody", 1)
    assert [sequence for sequence, _ in east.topics.records[NAMESPACE]] == [c.number for c in east.topics.changes()]


def test_what_is_no_policy_of_a_namespace_is_no_record(east: Cluster) -> None:
    east.set_(strategy=Strategy.FULL)
    east.set_(ORDERS, normalize=True)
    east.set_(ORDERS, mode=Mode.READONLY)
    description.describe(east.registry, ANYBODY, Subject(NAMESPACE, "other"), {"app": "shop"})
    east.follow()
    assert east.topics.records == {}


def test_the_topic_takes_clients_with_its_own_schema_or_none() -> None:
    policy_topic.require_own_schema(None)
    policy_topic.require_own_schema(policy_topic.definition())
    with pytest.raises(Unsupported, match="schema of its own"):
        policy_topic.require_own_schema(SchemaDefinition(AVRO, '"string"'))
    assert str(policy_topic.topic_of(NAMESPACE)) == "persistent://acme/sales/__policy_changes"


def test_a_closed_namespace_has_its_records_all_the_same(east: Cluster) -> None:
    east.set_(namespace=NAMESPACE, auto_update=False)
    east.set_(namespace=NAMESPACE, mode=Mode.READONLY)
    east.follow()
    assert len(east.topics.changes()) == 1


def test_a_new_follower_goes_on_where_the_last_one_stopped(east: Cluster) -> None:
    for number in range(5):
        east.set_(namespace=f"acme/n{number % 2}", auto_update=bool(number % 3))
    east.follow()
    east.follower = east.new_follower()
    east.set_(namespace="acme/n0", auto_update=False)
    east.follow()
    assert [len(east.topics.changes(f"acme/n{n}")) for n in (0, 1)] == [4, 2]


@pytest.mark.parametrize("fails_after_writing", [False, True])
def test_a_failed_try_is_made_again_and_never_twice(east: Cluster, fails_after_writing: bool) -> None:
    east.topics.failures, east.topics.fails_after_writing = 1, fails_after_writing
    east.set_(namespace=NAMESPACE, auto_update=False)
    east.set_(namespace=NAMESPACE, auto_update=True)
    with pytest.raises(Unavailable):
        east.follow()
    east.follow()
    assert [c.changes for c in east.topics.changes()] == [{"auto_update": False}, {"auto_update": True}]


def test_run_goes_on_after_a_failure(east: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_topic, "_PAUSE_SECONDS", 0.01)
    east.topics.failures = 2
    east.set_(namespace=NAMESPACE, auto_update=False)

    async def wait() -> None:
        running = asyncio.create_task(east.follower.run())
        async with asyncio.timeout(10):
            while not east.topics.records:
                await asyncio.sleep(0.01)
        running.cancel()

    asyncio.run(wait())
    assert len(east.topics.changes()) == 1


def test_a_record_is_applied_elsewhere_and_does_not_come_back(east: Cluster, west: Cluster) -> None:
    east.set_(namespace=NAMESPACE, strategy=Strategy.FORWARD, validation_enforced=True)
    east.set_(ORDERS, payload_validation=PayloadValidation.ALL, enforce=Enforce.WARN)
    east.follow()
    assert replicate(east, west) == [True, True]
    assert west.own(namespace=NAMESPACE) == east.own(namespace=NAMESPACE)
    assert west.own(ORDERS) == east.own(ORDERS)
    west.follow()
    assert west.topics.records == {}
    assert replicate(east, west) == [False, False]
    assert [apply(east.registry, ANYBODY, NAMESPACE, p, "east") for _, p in east.topics.records[NAMESPACE]] == [
        False,
        False,
    ]


def test_what_is_taken_back_is_taken_back_elsewhere(east: Cluster, west: Cluster) -> None:
    east.set_(ORDERS, enforce=Enforce.WARN)
    east.set_(ORDERS, enforce=None)
    east.follow()
    assert replicate(east, west) == [True, True]
    assert west.own(ORDERS) == Settings()


def test_the_journal_tells_where_a_change_was_made(east: Cluster, west: Cluster) -> None:
    east.set_(namespace=NAMESPACE, auto_update=False)
    east.follow()
    replicate(east, west)
    (entry,) = west.registry.read(lambda tx: tx.journal.after(0, 10))
    assert (entry.kind, entry.data["origin"]) == ("settings.changed", "east")


def test_applying_needs_the_right_to_configure(east: Cluster, west: Cluster) -> None:
    east.set_(ORDERS, auto_update=False)
    east.follow()
    producer = Caller(Principal("p", (Grant(Action.PRODUCE),)))
    with pytest.raises(Forbidden):
        replicate(east, west, producer)
    assert west.own(ORDERS) == Settings()


def test_records_that_cannot_be_applied_are_refused(east: Cluster, west: Cluster) -> None:
    east.set_(namespace=NAMESPACE, auto_update=False)
    east.follow()
    (good,) = east.topics.changes()
    faults: dict[str, list[Any]] = {
        "RECORD_POLICY_VALUE_UNKNOWN": [
            {"strategy": "SIDEWAYS"},
            {"strategy": True},
            {"auto_update": "true"},
            {"mode": "READONLY"},
            {"unheard-of": None},
        ],
        "AVRO_PAYLOAD_UNREADABLE": [None],
    }
    for rule, broken in faults.items():
        for changes in broken:
            values = {name: getattr(good, name) for name in PolicyChange.__dataclass_fields__}
            payload = b"no record" if changes is None else encode(PolicyChange(**{**values, "changes": changes}))
            with pytest.raises(InvalidRecord) as e:
                apply(west.registry, ANYBODY, NAMESPACE, payload, "west")
            assert [finding.rule for finding in e.value.findings] == [rule]
    with pytest.raises(InvalidRecord) as e:
        apply(west.registry, ANYBODY, "acme/other", encode(good), "west")
    assert [finding.rule for finding in e.value.findings] == ["RECORD_POLICY_MISPLACED"]
    assert west.own(namespace=NAMESPACE) == Settings()
