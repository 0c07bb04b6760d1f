"""Rights that are asked for beside the obvious one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.access import Action, Caller, Grant, Principal
from tallystick.errors import Forbidden, IncompatibleSchema
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO
from tallystick.model.subject import Subject
from tallystick.registry import lookup, policies, registration
from tallystick.registry.ports import Page
from tallystick.registry.service import Registry
from tallystick.stores.sqlite import SqliteStore

ANYBODY = Caller()
OWN, OTHER = Subject("public/default", "own-a"), Subject("public/default", "other")


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    opened = Registry(SqliteStore(tmp_path / "registry.db"))
    registration.register(opened, ANYBODY, OTHER, SchemaDefinition(AVRO, '"int"'))
    registration.register(opened, ANYBODY, OWN, SchemaDefinition(AVRO, '"long"'))
    yield opened
    opened.close()


def _with(role: Action, pattern: str = "own-*") -> Caller:
    return Caller(Principal("somebody", (Grant(role, pattern),)))


def test_an_alias_leads_only_where_its_maker_may_go(registry: Registry) -> None:
    alias = Subject("public/default", "own-b")
    with pytest.raises(Forbidden):
        policies.change(registry, _with(Action.CONFIGURE), {"alias": "other"}, alias)
    policies.change(registry, _with(Action.CONFIGURE), {"alias": "own-a"}, alias)
    assert lookup.meant_by(registry, alias) == OWN


def test_force_is_for_those_who_may_change_the_policy(registry: Registry) -> None:
    broken = SchemaDefinition(AVRO, '"string"')
    with pytest.raises(IncompatibleSchema):
        registration.register(registry, _with(Action.REGISTER), OWN, broken)
    with pytest.raises(Forbidden):
        registration.register(registry, _with(Action.REGISTER), OWN, broken, force=True)
    assert registration.register(registry, _with(Action.CONFIGURE), OWN, broken, force=True).version == 2


def test_settings_of_a_subject_are_read_by_those_who_may_read_it(registry: Registry) -> None:
    reader = _with(Action.READ)
    policies.own(registry, OWN, caller=reader)
    policies.in_force(registry, None, caller=reader)
    for read in (policies.own, policies.in_force):
        with pytest.raises(Forbidden):
            read(registry, OTHER, caller=reader)


def test_a_namespace_is_configured_by_those_who_may_configure_all_of_it(registry: Registry) -> None:
    sales = _with(Action.CONFIGURE, ":.acme.sales:*")
    policies.change(registry, sales, {"normalize": True}, None, "acme/sales")
    for namespace in ("acme/other", None):
        with pytest.raises(Forbidden):
            policies.change(registry, sales, {"normalize": True}, None, namespace)


def test_pages_are_pages_of_what_the_caller_sees(registry: Registry) -> None:
    registration.register(registry, ANYBODY, Subject("public/default", "own-b"), SchemaDefinition(AVRO, '"int"'))
    reader = _with(Action.READ)
    first = lookup.subjects(registry, reader, None, page=Page(0, 1))
    second = lookup.subjects(registry, reader, None, page=Page(1, 1))
    assert [row.subject.name for row in [*first, *second]] == ["own-a", "own-b"]
    listed = lookup.schemas(registry, reader, None, page=Page(1, 5), types=[AVRO])
    assert [version.row.subject.name for version in listed] == ["own-b"]


def test_aliases_are_listed_for_those_who_may_read_them(registry: Registry) -> None:
    policies.change(registry, ANYBODY, {"alias": "other"}, Subject("public/default", "hidden"))
    policies.change(registry, ANYBODY, {"alias": "other"}, Subject("public/default", "own-c"))
    found = policies.aliases(registry, _with(Action.READ), "public/default", "")
    assert found == {OTHER: [Subject("public/default", "own-c")]}
