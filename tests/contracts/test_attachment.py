"""Clients attach to topics through the registry, on every store. The verdicts themselves are in `conformance/`."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tallystick.access import Action, Caller, Grant, Principal
from tallystick.compat import verification
from tallystick.errors import Forbidden, IncompatibleSchema, InvalidSchema, NotPermitted, SchemaTooLarge
from tallystick.finding import Finding
from tallystick.formats import parse
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, EXTERNAL, KEY_VALUE, PULSAR_JSON, STRING
from tallystick.model.settings import Enforce, Mode, Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import Subject, Version
from tallystick.registry import deletion, policies, registration
from tallystick.registry.attachment import attach_consumer, attach_producer, get_schema, parsed_version
from tallystick.registry.ports import Entry, SchemaStore, State
from tallystick.registry.registration import Registration
from tallystick.registry.service import Limits, Observer, Registry

TOPIC = Subject("public/default", "orders")
ANYBODY = Caller()


class Seen(Observer):
    def __init__(self) -> None:
        self.transactions: list[str] = []
        self.new: list[Registration] = []
        self.refusals: list[str] = []
        self.warnings: list[str] = []

    def registered(self, registration: Registration) -> None:
        self.new.append(registration)

    def refused(self, findings: Sequence[Finding]) -> None:
        self.refusals += [finding.rule for finding in findings]

    def warned(self, findings: Sequence[Finding]) -> None:
        self.warnings += [finding.rule for finding in findings]

    def stored(self, kind: str, seconds: float) -> None:
        self.transactions.append(kind)


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def registry(store: SchemaStore, seen: Seen) -> Registry:
    return Registry(store, Limits(schema_bytes=10_000), seen)


def order(*names: str, **attributes: Any) -> SchemaDefinition:
    """A record whose first field is required and whose others have defaults."""
    fields: list[dict[str, Any]] = [{"name": name, "type": "int", "default": 0} for name in names]
    fields[0].pop("default")
    return SchemaDefinition(AVRO, json.dumps({"type": "record", "name": "Order", "fields": fields, **attributes}))


def set_(registry: Registry, **changes: object) -> None:
    policies.change(registry, ANYBODY, changes, TOPIC)


def versions(registry: Registry) -> list[tuple[int, str]]:
    return registry.read(lambda tx: [(row.version, str(row.state)) for row in tx.subjects.history(TOPIC)])


def journal(registry: Registry, kind: str) -> list[Entry]:
    return [entry for entry in registry.read(lambda tx: tx.journal.after(0, 1000)) if entry.kind == kind]


def test_a_registered_text_costs_one_read_and_no_parsing(registry: Registry, seen: Seen) -> None:
    attach_producer(registry, ANYBODY, TOPIC, order("a"))
    registry.parsed.forget()
    seen.transactions.clear()
    assert attach_producer(registry, ANYBODY, TOPIC, order("a")).version == 1
    assert seen.transactions == ["read"]
    assert not registry.parsed._kept


def test_a_schema_that_is_written_otherwise_is_the_same(registry: Registry, seen: Seen) -> None:
    attach_producer(registry, ANYBODY, TOPIC, order("a"))
    seen.transactions.clear()
    assert attach_producer(registry, ANYBODY, TOPIC, order("a", doc="An order.")).version == 1
    assert attach_consumer(registry, ANYBODY, TOPIC, order("a", doc="One."), topic_in_use=True).version == 1
    assert seen.transactions == ["read", "read"]
    assert versions(registry) == [(1, "live")]


def test_a_new_schema_is_in_the_journal_with_who_brought_it(registry: Registry, seen: Seen) -> None:
    producer = Caller(Principal("shop", (Grant(Action.PRODUCE, "orders"),)), "10.0.0.7")
    attach_producer(registry, producer, TOPIC, order("a"))
    (entry,) = journal(registry, "schema.registered")
    assert (entry.principal, entry.address, entry.data["version"]) == ("shop", "10.0.0.7", 1)
    assert [new.version for new in seen.new] == [1]


def test_clients_that_come_at_once_share_one_version(registry: Registry) -> None:
    schemas = [order("a", f"b{n % 3}") for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda schema: attach_producer(registry, ANYBODY, TOPIC, schema).version, schemas))
    assert versions(registry) == [(1, "live"), (2, "live"), (3, "live")]
    assert [{found[n] for n in range(k, 24, 3)} for k in range(3)] == [{found[0]}, {found[1]}, {found[2]}]


def test_first_consumers_of_an_idle_topic_share_the_version_that_fits(registry: Registry) -> None:
    schemas = [order("a"), order("a", "b")] * 8

    def attach(schema: SchemaDefinition) -> int | None:
        return attach_consumer(registry, ANYBODY, TOPIC, schema, topic_in_use=False).version

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(attach, schemas))
    assert versions(registry) == [(1, "live")]
    assert found == {1, None}


def test_policies_of_the_topic_count_over_the_namespace_and_full_is_the_default(registry: Registry) -> None:
    attach_producer(registry, ANYBODY, TOPIC, order("a"))
    with pytest.raises(IncompatibleSchema):
        attach_producer(registry, ANYBODY, TOPIC, order("b"))
    policies.change(registry, ANYBODY, {"strategy": Strategy.ALWAYS_COMPATIBLE}, None, TOPIC.namespace)
    assert attach_producer(registry, ANYBODY, TOPIC, order("b")).version == 2
    set_(registry, strategy=Strategy.FULL)
    with pytest.raises(IncompatibleSchema):
        attach_producer(registry, ANYBODY, TOPIC, order("c"))


def test_a_refusal_says_everything_and_leaves_nothing(registry: Registry, seen: Seen) -> None:
    attach_producer(registry, ANYBODY, TOPIC, order("a"))
    with pytest.raises(IncompatibleSchema) as e:
        attach_producer(registry, ANYBODY, TOPIC, order("b"))
    assert [f.rule for f in e.value.findings] == ["AVRO_FIELD_ADDED_NEEDS_DEFAULT", "AVRO_FIELD_REMOVED_NEEDS_DEFAULT"]
    assert seen.refusals == [f.rule for f in e.value.findings]
    text = e.value.message
    assert text.startswith(
        "the producer does not fit the schemas of orders: [AVRO_FIELD_ADDED_NEEDS_DEFAULT] version 1"
    )
    assert all(part in text for f in e.value.findings for part in (f.rule, f.message, f.fix))
    assert versions(registry) == [(1, "live")]


def test_many_findings_are_cut_short_in_the_text_alone(registry: Registry) -> None:
    attach_producer(registry, ANYBODY, TOPIC, order("a"))
    record = {"type": "record", "name": "Order", "fields": [{"name": f"f{n}", "type": "int"} for n in range(9)]}
    with pytest.raises(IncompatibleSchema, match=r"; and 5 more$") as e:
        attach_producer(registry, ANYBODY, TOPIC, SchemaDefinition(AVRO, json.dumps(record)))
    assert len(e.value.findings) == 10


def test_without_automatic_updates_only_registered_schemas_pass(registry: Registry) -> None:
    set_(registry, auto_update=False)
    with pytest.raises(IncompatibleSchema) as e:
        attach_producer(registry, ANYBODY, TOPIC, order("a"))
    assert [f.rule for f in e.value.findings] == [verification.SCHEMA_NOT_REGISTERED]
    registration.register(registry, ANYBODY, TOPIC, order("a"))
    assert attach_producer(registry, ANYBODY, TOPIC, order("a")).version == 1


# Warnings


def test_a_warning_lets_an_evolution_pass_and_tells(registry: Registry, seen: Seen) -> None:
    attach_producer(registry, ANYBODY, TOPIC, order("a"))
    set_(registry, enforce=Enforce.WARN)
    found = attach_producer(registry, ANYBODY, TOPIC, order("b"))
    rules = [finding.rule for finding in found.warnings]
    assert (found.version, len(rules)) == (2, 2)
    assert [finding.rule for finding in seen.new[-1].warnings] == rules
    told: Any = journal(registry, "schema.registered")[-1].data["warnings"]
    assert [finding["rule"] for finding in told] == rules


def test_a_warning_lets_a_new_schema_pass_where_updates_are_off(registry: Registry) -> None:
    set_(registry, enforce=Enforce.WARN, auto_update=False)
    found = attach_consumer(registry, ANYBODY, TOPIC, order("a"), topic_in_use=False)
    assert (found.version, [f.rule for f in found.warnings]) == (1, [verification.SCHEMA_NOT_REGISTERED])


@pytest.mark.parametrize(
    ("role", "definition", "rule"),
    [
        ("producer", None, verification.PRODUCER_WITHOUT_SCHEMA),
        ("consumer", SchemaDefinition(STRING), "SCHEMA_TYPE_CHANGED"),
    ],
)
def test_a_warning_without_a_new_version_is_told_as_well(
    registry: Registry, seen: Seen, role: str, definition: SchemaDefinition | None, rule: str
) -> None:
    attach_producer(registry, ANYBODY, TOPIC, order("a"))
    set_(registry, enforce=Enforce.WARN, validation_enforced=True)
    if role == "producer":
        found = attach_producer(registry, ANYBODY, TOPIC, definition)
    else:
        found = attach_consumer(registry, ANYBODY, TOPIC, definition, topic_in_use=True)
    assert (found.version, [f.rule for f in found.warnings], seen.warnings) == (None, [rule], [rule])
    (event,) = journal(registry, "client.warned")
    assert (event.subject, event.data["client"]) == (TOPIC, role)
    assert versions(registry) == [(1, "live")]


def test_a_warning_on_a_topic_in_use_without_a_schema_registers_nothing(registry: Registry) -> None:
    set_(registry, enforce=Enforce.WARN)
    found = attach_consumer(registry, ANYBODY, TOPIC, order("a"), topic_in_use=True)
    assert (found.version, [f.rule for f in found.warnings]) == (None, [verification.TOPIC_WITHOUT_SCHEMA])
    assert versions(registry) == []


# Rights and modes


def test_producing_and_consuming_are_rights_of_their_own(registry: Registry) -> None:
    producer = Caller(Principal("p", (Grant(Action.PRODUCE, "orders"),)))
    consumer = Caller(Principal("c", (Grant(Action.CONSUME, "orders"),)))
    registrar = Caller(Principal("r", (Grant(Action.REGISTER, "orders"),)))
    attach_producer(registry, producer, TOPIC, order("a"))
    assert attach_consumer(registry, consumer, TOPIC, order("a"), topic_in_use=True).version == 1
    for caller in (consumer, registrar):
        with pytest.raises(Forbidden):
            attach_producer(registry, caller, TOPIC, order("a"))
    for caller in (producer, registrar):
        with pytest.raises(Forbidden):
            attach_consumer(registry, caller, TOPIC, order("a"), topic_in_use=True)
    for caller in (producer, consumer):
        found = get_schema(registry, caller, TOPIC, None)
        assert found is not None
        assert found.definition == order("a")


@pytest.mark.parametrize("mode", [Mode.READONLY, Mode.IMPORT])
def test_a_mode_keeps_new_schemas_out_and_lets_registered_ones_in(registry: Registry, mode: Mode) -> None:
    attach_producer(registry, ANYBODY, TOPIC, order("a"))
    policies.change(registry, ANYBODY, {"mode": mode}, TOPIC, force=True)
    assert attach_producer(registry, ANYBODY, TOPIC, order("a")).version == 1
    assert attach_consumer(registry, ANYBODY, TOPIC, order("a", "b"), topic_in_use=True).version is None
    with pytest.raises(NotPermitted):
        attach_producer(registry, ANYBODY, TOPIC, order("a", "b"))


# Schemas


def test_an_external_schema_is_its_type_alone(registry: Registry) -> None:
    brought = SchemaDefinition(EXTERNAL, "whatever", properties={"token": "secret"})
    assert attach_producer(registry, ANYBODY, TOPIC, brought).version == 1
    found = get_schema(registry, ANYBODY, TOPIC, Version(1))
    assert found is not None
    assert (found.definition, dict(found.definition.properties)) == (SchemaDefinition(EXTERNAL), {})
    set_(registry, strategy=Strategy.ALWAYS_COMPATIBLE)
    with pytest.raises(IncompatibleSchema):
        attach_producer(registry, ANYBODY, TOPIC, order("a"))
    assert attach_consumer(registry, ANYBODY, TOPIC, SchemaDefinition(EXTERNAL), topic_in_use=True).version == 1


def test_what_java_s_clients_derive_is_taken_and_kept(registry: Registry) -> None:
    text = json.dumps(
        {
            "type": "record",
            "name": "Inner",
            "namespace": "com.acme.Outer$",
            "fields": [{"name": "a", "type": "long", "default": None}],
        }
    )
    pair = json.dumps({"key": {"type": "STRING"}, "value": {"type": "AVRO", "schema": text}})
    for number, definition in enumerate(
        [SchemaDefinition(AVRO, text), SchemaDefinition(PULSAR_JSON, text), SchemaDefinition(KEY_VALUE, pair)]
    ):
        topic = Subject("public/default", f"java-{number}")
        assert attach_producer(registry, ANYBODY, topic, definition).version == 1
        registry.parsed.forget()
        assert attach_consumer(registry, ANYBODY, topic, definition, topic_in_use=True).version == 1
    with pytest.raises(InvalidSchema):
        registration.register(registry, ANYBODY, TOPIC, SchemaDefinition(AVRO, text))
    with pytest.raises(InvalidSchema):
        parse(SchemaDefinition(AVRO, text))


def test_deleted_schemas_are_not_there_and_come_back_under_a_new_number(registry: Registry) -> None:
    attach_producer(registry, ANYBODY, TOPIC, order("a"))
    deletion.delete_like_pulsar(registry, ANYBODY, TOPIC)
    assert get_schema(registry, ANYBODY, TOPIC, None) is None
    assert get_schema(registry, ANYBODY, TOPIC, Version(1)) is None
    assert parsed_version(registry, TOPIC, Version(1)) is None
    with pytest.raises(IncompatibleSchema):
        attach_consumer(registry, ANYBODY, TOPIC, order("b"), topic_in_use=True)
    assert attach_producer(registry, ANYBODY, TOPIC, order("b")).version == 3
    assert versions(registry) == [(1, State.DELETED), (2, State.TOMBSTONE), (3, State.LIVE)]
    assert parsed_version(registry, TOPIC, Version(3)) is not None


def test_a_version_has_the_properties_that_it_was_brought_with(registry: Registry) -> None:
    other = Subject("public/default", "other")
    for topic, told in ((TOPIC, "here"), (other, "there")):
        attach_producer(registry, ANYBODY, topic, SchemaDefinition(STRING, properties={"told": told}))
    found = get_schema(registry, ANYBODY, other, None)
    assert found is not None
    assert found.definition.properties == {"told": "there"}


def test_an_alias_is_followed(registry: Registry) -> None:
    attach_producer(registry, ANYBODY, TOPIC, order("a"))
    alias = Subject("public/default", "alias")
    policies.change(registry, ANYBODY, {"alias": "orders"}, alias)
    assert attach_producer(registry, ANYBODY, alias, order("a", "b")).version == 2
    assert [number for number, _ in versions(registry)] == [1, 2]
    assert parsed_version(registry, alias, Version(2)) is not None


def test_only_versions_of_the_same_group_are_compared(registry: Registry) -> None:
    metadata = json.dumps({"properties": {"major": "2"}})
    other = SchemaDefinition(AVRO, order("z").text, metadata=metadata)
    attach_producer(registry, ANYBODY, TOPIC, order("a"))
    set_(registry, compatibility_group="major")
    assert attach_producer(registry, ANYBODY, TOPIC, other).version == 2


def test_what_is_no_schema_or_too_large_is_refused(registry: Registry) -> None:
    for text in ("{", '{"type": "record"}'):
        with pytest.raises(InvalidSchema):
            attach_producer(registry, ANYBODY, TOPIC, SchemaDefinition(AVRO, text))
        with pytest.raises(InvalidSchema):
            attach_consumer(registry, ANYBODY, TOPIC, SchemaDefinition(KEY_VALUE, text), topic_in_use=False)
    with pytest.raises(SchemaTooLarge):
        attach_producer(registry, ANYBODY, TOPIC, SchemaDefinition(AVRO, " " * 10_001))
    assert policies.own(registry, TOPIC) == Settings()
    assert versions(registry) == []
