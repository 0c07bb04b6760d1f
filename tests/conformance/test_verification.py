"""Every case of `conformance/verification`: who is let in, as which version, and why not.

Through two doors: the function, and the registry that clients of a broker attach to.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from typing import Any

import pytest

from tallystick.access import Caller
from tallystick.compat.evolution import Registered
from tallystick.compat.rules import catalogue
from tallystick.compat.verification import (
    CHECKS,
    Attached,
    Refused,
    Register,
    Verdict,
    check_consumer,
    check_producer,
)
from tallystick.errors import IncompatibleSchema
from tallystick.finding import Direction
from tallystick.formats import Schema, parse
from tallystick.model.definition import SchemaDefinition
from tallystick.model.policy import Policy
from tallystick.model.schema_type import SchemaType
from tallystick.model.strategy import Strategy
from tallystick.model.subject import Subject
from tallystick.registry import attachment, policies, registration
from tallystick.registry.ports import State
from tallystick.registry.service import Registry
from tallystick.stores.sqlite import SqliteStore
from tests.conformance.cases import CONFORMANCE, load

FOLDER = CONFORMANCE / "verification"
TABLE = load(FOLDER / "table.yaml")


@cache
def _schema(kind: str, text: str) -> Schema:
    return parse(SchemaDefinition(SchemaType(kind), text))


Door = Callable[[str, list[Registered], Schema | None, Policy, bool], Verdict]
"""Role, history, the client's schema, policy, whether the topic is in use."""


def _through_function(
    role: str, history: list[Registered], schema: Schema | None, policy: Policy, in_use: bool
) -> Verdict:
    if role == "producer":
        return check_producer(history, schema, policy)
    return check_consumer(history, schema, policy, topic_in_use=in_use)


class _RegistryDoor:
    """Each client comes to a topic of its own."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._numbers = count()

    def __call__(
        self, role: str, history: list[Registered], schema: Schema | None, policy: Policy, in_use: bool
    ) -> Verdict:
        topic = Subject("public/default", f"topic-{next(self._numbers)}")
        self._set_up(topic, history, policy)
        before = self._versions(topic)
        try:
            version = self._attach(role, topic, None if schema is None else schema.definition, in_use)
        except IncompatibleSchema as e:
            assert self._versions(topic) == before
            return Refused(e.findings)
        if self._versions(topic) == before:
            return Attached(version)
        assert self._versions(topic) == [*before, version]
        return Register()

    def _set_up(self, topic: Subject, history: list[Registered], policy: Policy) -> None:
        for registered in history:
            registration.register(self._registry, Caller(), topic, registered.schema.definition, force=True)
        facts = {
            "strategy": policy.strategy,
            "auto_update": policy.auto_update,
            "validation_enforced": policy.validation_enforced,
        }
        policies.change(self._registry, Caller(), facts, topic)

    def _attach(self, role: str, topic: Subject, definition: SchemaDefinition | None, in_use: bool) -> int | None:
        if role == "producer":
            return attachment.attach_producer(self._registry, Caller(), topic, definition).version
        attach = attachment.attach_consumer
        return attach(self._registry, Caller(), topic, definition, topic_in_use=in_use).version

    def _versions(self, topic: Subject) -> list[int]:
        rows = self._registry.read(lambda tx: tx.subjects.history(topic))
        return [row.version for row in rows if row.state is State.LIVE]


@pytest.fixture(scope="module")
def registry_door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    registry = Registry(SqliteStore(tmp_path_factory.mktemp("store") / "registry.db"))
    yield _RegistryDoor(registry)
    registry.close()


@pytest.fixture(params=["function", "registry"])
def door(request: pytest.FixtureRequest) -> Door:
    found: Door = _through_function if request.param == "function" else request.getfixturevalue("registry_door")
    return found


def _cells() -> Iterator[Any]:
    for kind in TABLE["types"]:
        for strategy, row in TABLE["rows"].items():
            for column, cell in row.items():
                for role, mark in zip(("producer", "consumer"), cell.split("/"), strict=True):
                    cell_id = f"{kind}-{strategy}-{column}-{role}"
                    yield pytest.param(kind, Strategy(strategy), column, role, mark == "✓", id=cell_id)


@pytest.mark.parametrize(("kind", "strategy", "column", "role", "is_let_in"), list(_cells()))
def test_table(door: Door, kind: str, strategy: Strategy, column: str, role: str, is_let_in: bool) -> None:
    client = TABLE["columns"][column]
    history = [Registered(1, _schema(kind, TABLE["registered"]))]
    verdict = door(role, history, _schema(client.get("type", kind), client["text"]), Policy(strategy), True)
    if is_let_in:
        is_registered = column == "the registered schema"
        assert verdict == (
            Attached(1 if is_registered else None) if is_registered or role == "consumer" else Register()
        )
    else:
        assert isinstance(verdict, Refused)
        assert [finding.rule for finding in verdict.findings] == _reasons(strategy, role, client["reasons"])
        assert {finding.version for finding in verdict.findings} == {1}


def _reasons(strategy: Strategy, role: str, of_column: dict[str, str]) -> list[str]:
    if strategy is Strategy.ALWAYS_INCOMPATIBLE:
        return ["SCHEMA_FROZEN"]
    asked: set[str] = set(strategy.directions) if role == "producer" else {Direction.BACKWARD}
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        asked = set(Direction)
    return [of_column[direction] for direction in Direction if direction in asked and direction in of_column]


def test_table_has_a_cell_for_every_strategy_and_column() -> None:
    assert set(TABLE["rows"]) == set(Strategy)
    assert all(set(row) == set(TABLE["columns"]) for row in TABLE["rows"].values())


def _cases() -> Iterator[Any]:
    for name in ("histories", "policies"):
        file = load(FOLDER / f"{name}.yaml")
        for case in file["cases"]:
            yield pytest.param(file, case, id=f"{name}/{case['name']}")


@pytest.mark.parametrize(("file", "case"), list(_cases()))
def test_case(door: Door, file: dict[str, Any], case: dict[str, Any]) -> None:
    def named(name: str | None) -> Schema | None:
        if name is None:
            return None
        facts = file["schemas"][name]
        return _schema(facts.get("type", file["type"]), facts.get("text", ""))

    history = [Registered(i, schema) for i, name in enumerate(case["history"], 1) if (schema := named(name))]
    policy = Policy(Strategy(case["strategy"]), case.get("auto_update", True), case.get("validation_enforced", False))
    role = "producer" if "producer" in case else "consumer"
    in_use = case.get("topic_in_use", bool(history))
    assert _as_facts(door(role, history, named(case[role]), policy, in_use)) == _expected(case)


def _as_facts(verdict: Verdict) -> dict[str, Any]:
    match verdict:
        case Attached(version=version):
            return {"attached": version}
        case Register():
            return {"register": True}
        case Refused(findings=findings):
            assert all(finding.message and finding.fix for finding in findings)
            return {"refused": [_short(finding.rule, finding.version) for finding in findings]}


def _short(rule: str, version: int | None) -> dict[str, Any]:
    return {"rule": rule} if version is None else {"rule": rule, "version": version}


def _expected(case: dict[str, Any]) -> dict[str, Any]:
    return {key: case[key] for key in ("attached", "register", "refused") if key in case}


def test_every_check_of_verification_strikes_and_is_no_rule() -> None:
    named = {f["rule"] for p in _cases() for f in p.values[1].get("refused", ())}
    assert set(CHECKS) <= named
    assert not set(CHECKS) & set(catalogue())
