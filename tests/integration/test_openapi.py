"""The OpenAPI documents tell the truth: whatever fits them is answered as they say, and never with a 5xx."""

from collections.abc import Iterator
from typing import Any, cast

import pytest
import schemathesis
from hypothesis import settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.specs.openapi.schemas import OpenApiSchema

from tallystick.registry.ports import SchemaStore
from tallystick.registry.service import Registry
from tallystick.server import audit, pipelines
from tallystick.server.dialects import confluent, openschema, pulsar_admin
from tallystick.server.openapi import document
from tests.integration.servers import Served, client, serving

PREFIXES = {
    "openschema": "",
    "confluent": "/confluent",
    "pulsar": "/admin/v2",
    "audit": "/audit",
    "pipelines": "/pipelines",
}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


# The documents come from the routes alone; nothing is asked of a store.
REGISTRY = Registry(cast(SchemaStore, None))
DOCUMENTS = {
    dialect.name: document(dialect, PREFIXES[dialect.name])
    for dialect in (module.dialect(REGISTRY) for module in (openschema, confluent, pulsar_admin, audit, pipelines))
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data"), "--log-level=error") as served:
        with client(served) as http:
            for name in ("a", "0", "1"):
                http.post(f"/subjects/{name}/versions", json={"schema": {"schemaDefinition": '"string"'}})
        yield served
        assert not any('"level": "error"' in line for line in served.errors), served.errors


def test_the_server_gives_the_documents(served: Served) -> None:
    with client(served) as http:
        for name, expected in DOCUMENTS.items():
            assert http.get(f"/openapi/{name}.json").json() == expected


def described(dialect: str) -> OpenApiSchema:
    schema = schemathesis.openapi.from_dict(DOCUMENTS[dialect])
    schema.config.phases.update(phases=["examples", "fuzzing"])
    return schema


def require_documented(case: schemathesis.Case[Any], served: Served, dialect: str) -> None:
    case.call_and_validate(base_url=served.url + PREFIXES[dialect], checks=CHECKS, timeout=20)


@described("openschema").parametrize()
@settings(max_examples=40, derandomize=True)
def test_openschema_answers_as_documented(case: schemathesis.Case[Any], served: Served) -> None:
    require_documented(case, served, "openschema")


@described("pulsar").parametrize()
@settings(max_examples=10, derandomize=True)
def test_pulsar_admin_answers_as_documented(case: schemathesis.Case[Any], served: Served) -> None:
    require_documented(case, served, "pulsar")


@described("audit").parametrize()
@settings(max_examples=40, derandomize=True)
def test_the_audit_log_answers_as_documented(case: schemathesis.Case[Any], served: Served) -> None:
    require_documented(case, served, "audit")


@described("pipelines").parametrize()
@settings(max_examples=40, derandomize=True)
def test_pipelines_report_as_documented(case: schemathesis.Case[Any], served: Served) -> None:
    require_documented(case, served, "pipelines")


@described("confluent").exclude(path_regex="^/contexts/").parametrize()
@settings(max_examples=10, derandomize=True)
def test_confluent_answers_as_documented(case: schemathesis.Case[Any], served: Served) -> None:
    require_documented(case, served, "confluent")


@described("confluent").include(path_regex="^/contexts/").parametrize()
@settings(max_examples=2, derandomize=True)
def test_confluent_answers_as_documented_in_a_context(case: schemathesis.Case[Any], served: Served) -> None:
    require_documented(case, served, "confluent")
