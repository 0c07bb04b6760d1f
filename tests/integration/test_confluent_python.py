"""Confluent's own Python client, unmodified, against our server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import (
    Metadata,
    MetadataProperties,
    Rule,
    RuleKind,
    RuleMode,
    RuleParams,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    ServerConfig,
)
from confluent_kafka.schema_registry.common.schema_registry_client import ConfigCompatibilityLevel
from confluent_kafka.schema_registry.error import SchemaRegistryError

from tests.servers import RunningRegistry, running_registry

ORDER = '{"type":"record","name":"shop.Order","fields":[{"name":"id","type":"long"}]}'
WITH_NOTE = (
    '{"type":"record","name":"shop.Order","fields":[{"name":"id","type":"long"},'
    '{"name":"note","type":"string","default":""}]}'
)
BROKEN = '{"type":"record","name":"shop.Order","fields":[{"name":"id","type":"string"}]}'


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path) as running:
        yield running


@pytest.fixture(params=["own port", "prefix"])
def client(request: pytest.FixtureRequest, server: RunningRegistry) -> Iterator[SchemaRegistryClient]:
    url = server.confluent if request.param == "own port" else server.confluent_on_http
    with SchemaRegistryClient({"url": url}) as ready:
        yield ready


def _code(error: pytest.ExceptionInfo[Any]) -> tuple[int, int]:
    return error.value.http_status_code, error.value.error_code


def test_register_look_up_and_get(client: SchemaRegistryClient) -> None:
    assert client.register_schema("orders-value", Schema(ORDER, "AVRO")) == 1
    full = client.register_schema_full_response("orders-value", Schema(WITH_NOTE, "AVRO"))
    assert (full.schema_id, full.version, full.subject) == (2, 2, "orders-value")
    found = client.lookup_schema("orders-value", Schema(ORDER, "AVRO"))
    assert (found.schema_id, found.version, found.subject, found.schema.schema_str) == (1, 1, "orders-value", ORDER)
    assert client.get_schema(1).schema_str == ORDER
    assert client.get_schema(2, "orders-value").schema_str == WITH_NOTE
    assert full.guid is not None
    assert client.get_schema_by_guid(full.guid).schema_str == WITH_NOTE
    assert client.get_schema_types() == ["AVRO", "JSON", "PROTOBUF"]
    assert client.get_subjects_by_schema_id(1) == ["orders-value"]
    assert [(v.subject, v.version) for v in client.get_schema_versions(2)] == [("orders-value", 2)]
    assert client.get_subjects() == ["orders-value"]
    assert client.get_subjects(subject_prefix="x") == []
    assert client.get_versions("orders-value") == [1, 2]
    assert client.get_versions("orders-value", deleted=True, offset=1, limit=1) == [2]
    latest = client.get_latest_version("orders-value")
    assert (latest.version, latest.schema_id, latest.guid) == (2, 2, full.guid)
    assert client.get_version("orders-value", 1).schema.schema_str == ORDER


def test_refusals(client: SchemaRegistryClient) -> None:
    client.register_schema("orders-value", Schema(ORDER, "AVRO"))
    with pytest.raises(SchemaRegistryError, match="Schema being registered is incompatible with an earlier") as refused:
        client.register_schema("orders-value", Schema(BROKEN, "AVRO"))
    assert _code(refused) == (409, 409)
    with pytest.raises(SchemaRegistryError, match="Invalid schema") as refused:
        client.register_schema("orders-value", Schema("{", "AVRO"))
    assert _code(refused) == (422, 42201)
    with pytest.raises(SchemaRegistryError) as refused:
        client.get_schema(99)
    assert _code(refused) == (404, 40403)
    with pytest.raises(SchemaRegistryError) as refused:
        client.get_latest_version("none")
    assert _code(refused) == (404, 40401)
    with pytest.raises(SchemaRegistryError) as refused:
        client.get_version("orders-value", 5)
    assert _code(refused) == (404, 40402)


def test_compatibility_and_config(client: SchemaRegistryClient) -> None:
    client.register_schema("orders-value", Schema(ORDER, "AVRO"))
    assert client.test_compatibility("orders-value", Schema(WITH_NOTE, "AVRO"))
    assert not client.test_compatibility("orders-value", Schema(BROKEN, "AVRO"))
    assert not client.test_compatibility_all_versions("orders-value", Schema(BROKEN, "AVRO"))
    assert client.get_compatibility() == "BACKWARD"
    client.set_compatibility(level="FULL")
    assert client.get_compatibility() == "FULL"
    client.set_compatibility("orders-value", "NONE")
    assert client.get_compatibility("orders-value") == "NONE"
    client.set_config("orders-value", ServerConfig(ConfigCompatibilityLevel.FULL, compatibility_group="major"))
    config = client.get_config("orders-value")
    assert (config.compatibility_level, config.compatibility_group) == ("FULL", "major")
    assert client.delete_config("orders-value").compatibility_level == "FULL"
    with pytest.raises(SchemaRegistryError) as refused:
        client.get_config("orders-value")
    assert _code(refused) == (404, 40408)


def test_modes(client: SchemaRegistryClient) -> None:
    assert client.get_global_mode() == "READWRITE"
    assert client.update_mode("orders-value", "READONLY") == "READONLY"
    assert client.get_mode("orders-value") == "READONLY"
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema("orders-value", Schema(ORDER, "AVRO"))
    assert _code(refused) == (422, 42205)
    assert client.delete_mode("orders-value") == "READONLY"
    assert client.update_global_mode("IMPORT", force=True) == "IMPORT"
    assert client.get_global_mode() == "IMPORT"


def test_deletes(client: SchemaRegistryClient) -> None:
    client.register_schema("orders-value", Schema(ORDER, "AVRO"))
    client.register_schema("orders-value", Schema(WITH_NOTE, "AVRO"))
    assert client.delete_version("orders-value", 1) == 1
    assert client.delete_version("orders-value", 1, permanent=True) == 1
    assert client.delete_subject("orders-value") == [2]
    assert client.get_subjects(deleted=True) == ["orders-value"]
    assert client.delete_subject("orders-value", permanent=True) == [2]
    assert client.get_subjects(deleted=True) == []


def test_references(client: SchemaRegistryClient) -> None:
    client.register_schema("order", Schema(ORDER, "AVRO"))
    uses = Schema(
        '{"type":"record","name":"shop.Basket","fields":[{"name":"order","type":"shop.Order"}]}',
        "AVRO",
        [SchemaReference("shop.Order", "order", 1)],
    )
    id_ = client.register_schema("basket", uses)
    assert client.get_schema(id_).references == [SchemaReference("shop.Order", "order", 1)]
    assert client.get_referenced_by("order", 1) == [id_]
    with pytest.raises(SchemaRegistryError) as refused:
        client.delete_subject("order")
    assert _code(refused) == (422, 42206)


def test_metadata_and_rules(client: SchemaRegistryClient) -> None:
    metadata = Metadata(None, MetadataProperties({"owner": "sales"}), [])
    rule = Rule("check", "", RuleKind.CONDITION, RuleMode.WRITE, "CEL", [], RuleParams({}), "true", None, None, False)
    client.register_schema("orders-value", Schema(ORDER, "AVRO", [], metadata, RuleSet(None, [rule])))
    found = client.get_latest_with_metadata("orders-value", {"owner": "sales"})
    assert found.version == 1
    assert found.schema.metadata == metadata
    assert found.schema.rule_set is not None
    assert [rule.name for rule in found.schema.rule_set.domain_rules or []] == ["check"]
    with pytest.raises(SchemaRegistryError) as refused:
        client.get_latest_with_metadata("orders-value", {"owner": "nobody"})
    assert _code(refused) == (404, 40403)


def test_contexts(client: SchemaRegistryClient, server: RunningRegistry) -> None:
    client.register_schema(":.acme.sales:orders-value", Schema(ORDER, "AVRO"))
    assert client.get_contexts() == [".", ".acme.sales"]
    assert client.get_subjects() == [":.acme.sales:orders-value"]
    with SchemaRegistryClient({"url": f"{server.confluent}/contexts/.acme.sales"}) as inside:
        assert inside.get_latest_version("orders-value").subject == ":.acme.sales:orders-value"
        assert inside.get_schema(1).schema_str == ORDER
        assert inside.register_schema("orders-value", Schema(ORDER, "AVRO")) == 1


def test_associations_are_none(client: SchemaRegistryClient) -> None:
    assert client.get_associations_by_resource_name("orders", "-", "topic", ["value"]) == []
