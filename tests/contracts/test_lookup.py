"""What every registry client promises, in the three dialects, against the real server."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from tallystick.errors import (
    IncompatibleSchema,
    InvalidSchema,
    SchemaNotFound,
    SubjectNotFound,
    Unsupported,
    VersionNotFound,
)
from tallystick.formats import guid
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import AVRO
from tallystick.model.settings import Mode
from tallystick.model.strategy import Strategy
from tallystick.rest import RegistryClient
from tallystick.serde.ports import SchemaLookup
from tests.servers import RunningRegistry, running_registry

DIALECTS: dict[str, Callable[[RunningRegistry], RegistryClient]] = {
    "confluent": lambda server: RegistryClient(server.confluent, "confluent"),
    "openschema": lambda server: RegistryClient(server.http, "openschema"),
    "pulsar": lambda server: RegistryClient(server.http, "pulsar"),
}
_numbers = count(1)


def order(*more: str) -> SchemaDefinition:
    fields = ", ".join(['{"name": "id", "type": "long"}', *more])
    return SchemaDefinition(AVRO, f'{{"type": "record", "name": "Order", "fields": [{fields}]}}')


ORDER = order()
WITH_NOTE = order('{"name": "note", "type": "string", "default": ""}')
WITHOUT_DEFAULT = order('{"name": "note", "type": "string"}')


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture(params=DIALECTS)
def client(request: pytest.FixtureRequest, server: RunningRegistry) -> Iterator[RegistryClient]:
    with DIALECTS[request.param](server) as opened:
        yield opened


@pytest.fixture
def subject() -> str:
    return f"orders-{next(_numbers)}"


@pytest.mark.gap("openschema", raises=Unsupported)
@pytest.mark.gap("pulsar", raises=Unsupported)
def test_a_guid_finds_its_definition(client: RegistryClient, subject: str) -> None:
    client.register(subject, ORDER)
    assert client.by_guid(guid(ORDER)) == ORDER


def test_it_is_a_schema_lookup(client: RegistryClient) -> None:
    lookup: SchemaLookup = client
    assert lookup is client


def test_registering_counts_versions_up_from_one(client: RegistryClient, subject: str) -> None:
    assert [client.register(subject, each).version for each in (ORDER, WITH_NOTE)] == [1, 2]
    assert client.versions(subject) == [1, 2]


def test_registering_again_answers_the_same_place(client: RegistryClient, subject: str) -> None:
    first = client.register(subject, ORDER)
    client.register(subject, WITH_NOTE)
    again = client.register(subject, ORDER)
    assert (again.version, again.id) == (first.version, first.id)


def test_what_was_registered_comes_back_by_its_version(client: RegistryClient, subject: str) -> None:
    client.register(subject, ORDER)
    client.register(subject, WITH_NOTE)
    found = client.by_version(subject, 1)
    assert (str(found.subject), found.version, found.definition) == (subject, 1, ORDER)
    assert client.by_version(subject).definition == WITH_NOTE


def test_look_up_finds_the_version_of_a_schema(client: RegistryClient, subject: str) -> None:
    client.register(subject, ORDER)
    client.register(subject, WITH_NOTE)
    assert client.look_up(subject, ORDER).version == 1


def test_look_up_of_another_schema_finds_nothing(client: RegistryClient, subject: str) -> None:
    client.register(subject, ORDER)
    with pytest.raises(SchemaNotFound):
        client.look_up(subject, WITH_NOTE)


@pytest.mark.gap("pulsar", raises=Unsupported)
def test_what_was_registered_comes_back_by_its_id(client: RegistryClient, subject: str) -> None:
    registered = client.register(subject, WITH_NOTE)
    assert client.by_id(registered.id or 0) == WITH_NOTE


@pytest.mark.gap("pulsar", raises=Unsupported)
def test_an_unknown_id_is_not_found(client: RegistryClient) -> None:
    with pytest.raises(SchemaNotFound):
        client.by_id(2_000_000_000)


def test_an_unknown_subject_is_not_found(client: RegistryClient) -> None:
    with pytest.raises(SubjectNotFound):
        client.by_version("nobody")
    with pytest.raises(SubjectNotFound):
        client.versions("nobody")


def test_an_unknown_version_is_not_found(client: RegistryClient, subject: str) -> None:
    client.register(subject, ORDER)
    with pytest.raises(VersionNotFound):
        client.by_version(subject, 7)


def test_an_incompatible_schema_is_refused_with_its_findings(client: RegistryClient, subject: str) -> None:
    client.register(subject, ORDER)
    with pytest.raises(IncompatibleSchema) as refusal:
        client.register(subject, WITHOUT_DEFAULT)
    finding = refusal.value.findings[0]
    assert (finding.rule, finding.version) == ("AVRO_FIELD_ADDED_NEEDS_DEFAULT", 1)
    assert finding.new is not None
    assert finding.new.path == "/fields/1"


def test_a_check_answers_the_findings_and_registers_nothing(client: RegistryClient, subject: str) -> None:
    client.register(subject, ORDER)
    refused = client.check(subject, WITHOUT_DEFAULT)
    assert not refused.is_compatible
    assert [finding.rule for finding in refused.findings] == ["AVRO_FIELD_ADDED_NEEDS_DEFAULT"]
    assert client.check(subject, WITH_NOTE).is_compatible
    assert client.versions(subject) == [1]


def test_text_that_is_no_schema_is_refused(client: RegistryClient, subject: str) -> None:
    with pytest.raises(InvalidSchema, match="no such type"):
        client.register(subject, SchemaDefinition(AVRO, '{"type": "no such type"}'))


@pytest.mark.gap("pulsar", raises=Unsupported)
def test_references_are_resolved(client: RegistryClient, subject: str) -> None:
    client.register(subject, ORDER)
    parcel = SchemaDefinition(
        AVRO,
        '{"type": "record", "name": "Parcel", "fields": [{"name": "of", "type": "Order"}]}',
        (Reference("Order", subject, 1),),
    )
    found = client.register(f"{subject}-parcel", parcel)
    assert client.by_version(f"{subject}-parcel").definition == parcel
    assert client.referenced(found.definition) == {Reference("Order", subject, 1): ORDER}


def test_a_strategy_is_set_and_taken_back(client: RegistryClient, subject: str) -> None:
    client.register(subject, ORDER)
    before = client.config(subject).strategy
    client.set_strategy(subject, Strategy.ALWAYS_COMPATIBLE)
    assert client.config(subject).strategy is Strategy.ALWAYS_COMPATIBLE
    assert client.register(subject, WITHOUT_DEFAULT).version == 2
    client.set_strategy(subject, None)
    assert client.config(subject).strategy is before


@pytest.mark.gap("openschema", raises=Unsupported)
@pytest.mark.gap("pulsar", raises=Unsupported)
def test_a_mode_is_set_and_taken_back(client: RegistryClient, subject: str) -> None:
    client.set_mode(subject, Mode.READONLY)
    assert client.mode(subject) is Mode.READONLY
    client.set_mode(subject, None)
    assert client.mode(subject) is Mode.READWRITE


def test_a_deleted_subject_is_not_found(client: RegistryClient, subject: str) -> None:
    client.register(subject, ORDER)
    assert client.delete_subject(subject) == [1]
    with pytest.raises(SubjectNotFound):
        client.by_version(subject)


@pytest.mark.gap("pulsar", raises=Unsupported)
def test_a_deleted_version_is_not_listed(client: RegistryClient, subject: str) -> None:
    client.register(subject, ORDER)
    client.register(subject, WITH_NOTE)
    assert client.delete_version(subject, 1) == 1
    assert client.versions(subject) == [2]


@pytest.mark.gap("pulsar", raises=Unsupported)
def test_subjects_are_listed_page_by_page(client: RegistryClient, subject: str) -> None:
    names = [f"{subject}-page-{letter}" for letter in "abcde"]
    for name in names:
        client.register(name, ORDER)
    assert list(client.subjects(f"{subject}-page-", page_size=2)) == names


@pytest.mark.gap("pulsar", raises=Unsupported)
def test_namespaces_are_apart(client: RegistryClient, subject: str) -> None:
    elsewhere = f":.acme.{subject}:{subject}"
    client.register(subject, ORDER)
    there = client.register(elsewhere, WITHOUT_DEFAULT)
    assert client.by_id(there.id or 0, f"acme/{subject}") == WITHOUT_DEFAULT
    assert client.by_version(elsewhere).definition == WITHOUT_DEFAULT
    assert elsewhere in list(client.subjects())


def test_a_subject_with_every_kind_of_character(client: RegistryClient, subject: str) -> None:
    name = f"{subject} ä%?#&+"
    client.register(name, ORDER)
    assert client.by_version(name).definition == ORDER
