"""Pulsar's admin REST for schemas and schema policies, over HTTP."""

import base64
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from tests.integration.servers import client, serving
from tests.postgres import running_postgres

EMPTY = {"type": "record", "name": "Order", "fields": []}
WITH_DEFAULT = {"type": "record", "name": "Order", "fields": [{"name": "note", "type": "string", "default": ""}]}
WITHOUT_DEFAULT = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def http(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with ExitStack() as stack:
        arguments = [f"--store={stack.enter_context(running_postgres())}"] if request.param == "postgres" else []
        served = stack.enter_context(serving(tmp_path_factory.mktemp("data"), *arguments))
        yield stack.enter_context(client(served))


def payload(schema: object, kind: str = "AVRO", **properties: str) -> dict[str, Any]:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return {"type": kind, "schema": text, "properties": properties}


def at(topic: str, rest: str = "schema") -> str:
    return f"/admin/v2/schemas/public/default/{topic}/{rest}"


def post(http: httpx.Client, topic: str, schema: object, kind: str = "AVRO", **properties: str) -> int:
    answer = http.post(at(topic), json=payload(schema, kind, **properties))
    assert answer.status_code == 200, answer.text
    version: int = answer.json()["version"]["version"]
    return version


def test_versions_count_from_zero(http: httpx.Client) -> None:
    assert post(http, "counted", EMPTY) == 0
    assert post(http, "counted", WITH_DEFAULT, owner="shop") == 1
    assert post(http, "counted", EMPTY) == 0
    latest = http.get(at("counted")).json()
    assert latest == http.get(at("counted", "schema/1")).json()
    assert latest.pop("timestamp") > 1_600_000_000_000
    assert latest == {"version": 1, "type": "AVRO", "data": json.dumps(WITH_DEFAULT), "properties": {"owner": "shop"}}
    listed = http.get(at("counted", "schemas")).json()["getSchemaResponses"]
    assert [schema["version"] for schema in listed] == [0, 1]
    metadata = http.get(at("counted", "metadata")).json()
    assert metadata["info"]["version"] == 1
    assert [entry["version"] for entry in metadata["index"]] == [0, 1]


def test_white_space_and_doc_make_no_new_version(http: httpx.Client) -> None:
    assert post(http, "same", EMPTY) == 0
    assert post(http, "same", json.dumps({**EMPTY, "doc": "an order"}, indent=2)) == 0


def test_a_partition_has_the_subject_of_its_topic(http: httpx.Client) -> None:
    post(http, "parted-partition-3", EMPTY)
    assert http.get(at("parted")).json()["version"] == 0
    assert http.get("/subjects/parted/versions").json() == {"versions": [1]}


def test_the_default_strategy_of_topics_is_full(http: httpx.Client) -> None:
    post(http, "full", WITHOUT_DEFAULT)
    refused = http.post(at("full"), json=payload(EMPTY))
    assert refused.status_code == 409
    assert [finding["rule"] for finding in refused.json()["findings"]] == ["AVRO_FIELD_REMOVED_NEEDS_DEFAULT"]
    assert refused.json()["findings"][0]["version"] == 0
    assert "against version 0" in refused.json()["reason"]
    assert "full" in refused.json()["reason"]
    checked = http.post(at("full", "compatibility"), json=payload(EMPTY)).json()
    assert (checked["compatibility"], checked["schemaCompatibilityStrategy"]) == (False, "FULL")
    applied = "/admin/v2/persistent/public/default/full/schemaCompatibilityStrategy?applied=true"
    assert http.get(applied).json() == "FULL"


def test_a_schema_that_does_not_parse(http: httpx.Client) -> None:
    invalid = payload("{")
    refused = http.post(at("invalid"), json=invalid)
    assert (refused.status_code, "invalid schema" in refused.json()["reason"]) == (422, True)
    checked = http.post(at("invalid", "compatibility"), json=invalid)
    assert (checked.status_code, checked.json()["compatibility"]) == (202, False)
    assert checked.json()["findings"][0]["rule"] == "SCHEMA_INVALID"
    unknown = http.post(at("invalid", "compatibility"), json=payload("", "COBOL"))
    assert (unknown.status_code, unknown.json()["compatibility"]) == (202, False)


def test_the_version_of_a_schema_is_found(http: httpx.Client) -> None:
    assert http.post(at("found", "version"), json=payload(EMPTY)).json() == {"version": -1}
    post(http, "found", EMPTY)
    post(http, "found", WITH_DEFAULT)
    assert http.post(at("found", "version"), json=payload(WITH_DEFAULT)).json() == {"version": 1}
    assert http.post(at("found", "version"), json=payload(WITHOUT_DEFAULT)).json() == {"version": -1}


def test_a_delete_takes_a_version_and_a_forced_one_starts_again(http: httpx.Client) -> None:
    post(http, "gone", EMPTY)
    assert http.delete(at("gone")).json() == {"version": 1}
    assert http.get(at("gone")).status_code == 404
    assert http.get(at("gone", "schemas")).json() == {"getSchemaResponses": []}
    assert post(http, "gone", EMPTY) == 2
    assert http.delete(at("gone") + "?force=true").status_code == 200
    assert post(http, "gone", EMPTY) == 0
    assert http.delete(at("never")).status_code == 404


PRIMITIVES = ["STRING", "BOOLEAN", "INT8", "INT16", "INT32", "INT64", "FLOAT", "DOUBLE", "BYTES", "DATE", "TIME"]
PRIMITIVES += ["TIMESTAMP", "INSTANT", "LOCAL_DATE", "LOCAL_TIME", "LOCAL_DATE_TIME", "EXTERNAL", "NONE"]


@pytest.mark.parametrize("kind", PRIMITIVES)
def test_primitives(http: httpx.Client, kind: str) -> None:
    assert post(http, f"primitive-{kind}", "", kind) == 0
    found = http.get(at(f"primitive-{kind}")).json()
    assert (found["type"], found["data"]) == (kind, "")


def test_json_and_protobuf_hold_avro_text(http: httpx.Client) -> None:
    for kind in ("JSON", "PROTOBUF"):
        post(http, f"avro-in-{kind}", EMPTY, kind)
        found = http.get(at(f"avro-in-{kind}")).json()
        assert (found["type"], json.loads(found["data"])) == (kind, EMPTY)


def test_native_protobuf(http: httpx.Client) -> None:
    file = FileDescriptorProto(name="a.proto", syntax="proto3")
    file.message_type.add(name="M")
    native = {
        "fileDescriptorSet": base64.b64encode(FileDescriptorSet(file=[file]).SerializeToString()).decode(),
        "rootMessageTypeName": "M",
        "rootFileDescriptorName": "a.proto",
    }
    post(http, "native", native, "PROTOBUF_NATIVE")
    found = http.get(at("native")).json()
    assert (found["type"], json.loads(found["data"])) == ("PROTOBUF_NATIVE", native)


def test_a_pair_comes_back_in_pulsars_form(http: httpx.Client) -> None:
    pair = json.dumps({"key": "", "value": EMPTY})
    types = {
        "kv.encoding.type": "SEPARATED",
        "key.schema.name": "k",
        "key.schema.type": "STRING",
        "key.schema.properties": "{}",
        "value.schema.name": "v",
        "value.schema.type": "JSON",
        "value.schema.properties": '{"a": "b"}',
    }
    assert post(http, "pair", pair, "KEY_VALUE", **types) == 0
    found = http.get(at("pair")).json()
    assert json.loads(found["data"]) == {"key": "", "value": EMPTY}
    assert found["properties"] == types
    assert post(http, "pair", pair, "KEY_VALUE", **types) == 0
    other = json.dumps({"key": "", "value": WITHOUT_DEFAULT})
    refused = http.post(at("pair"), json=payload(other, "KEY_VALUE", **types))
    assert refused.status_code == 409
    assert refused.json()["findings"][0]["rule"] == "AVRO_FIELD_ADDED_NEEDS_DEFAULT"


def test_a_pair_without_the_types_of_its_halves_is_told_which_property_is_missing(http: httpx.Client) -> None:
    refused = http.post(at("typeless"), json=payload({"key": EMPTY, "value": ""}, "KEY_VALUE"))
    assert refused.status_code == 422
    assert "key.schema.type" in refused.json()["reason"]


def test_types_that_pulsar_lacks_are_left_out(http: httpx.Client) -> None:
    body = {"schema": {"serialization": "JSON", "schemaDefinition": '{"type": "object"}'}}
    assert http.post("/subjects/json-schema/versions", json=body).status_code == 200
    assert http.get(at("json-schema")).status_code == 404
    assert http.get(at("json-schema", "schemas")).json() == {"getSchemaResponses": []}


def test_the_strategy_of_a_namespace_and_of_a_topic(http: httpx.Client) -> None:
    namespace = "/admin/v2/namespaces/acme/n/schemaCompatibilityStrategy"
    topic = "/admin/v2/persistent/acme/n/t/schemaCompatibilityStrategy"
    assert http.get(namespace).json() == "UNDEFINED"
    assert (http.get(topic).status_code, http.get(topic).text) == (200, "")
    assert http.put(namespace, json="FORWARD").status_code == 204
    assert http.get(namespace).json() == "FORWARD"
    assert http.get(topic + "?applied=true").json() == "FORWARD"
    assert http.put(topic, json="ALWAYS_COMPATIBLE").status_code == 204
    assert http.get(topic).json() == "ALWAYS_COMPATIBLE"
    assert http.get("/config/:.acme.n:t").json() == {"compatibility": "NONE"}
    assert http.delete(topic).status_code == 204
    assert (http.get(topic).status_code, http.get(topic).text) == (200, "")
    assert http.put(namespace, json="UNDEFINED").status_code == 204
    assert http.get(topic + "?applied=true").json() == "FULL"
    assert http.put(namespace, json="SIDEWAYS").status_code == 422


def test_the_older_form_of_the_strategy(http: httpx.Client) -> None:
    older = "/admin/v2/namespaces/acme/older/schemaAutoUpdateCompatibilityStrategy"
    assert http.get(older).json() == "Full"
    assert http.put(older, json="BackwardTransitive").status_code == 204
    assert http.get(older).json() == "BackwardTransitive"
    assert http.get("/admin/v2/namespaces/acme/older/schemaCompatibilityStrategy").json() == "BACKWARD_TRANSITIVE"
    assert http.put(older, json="AutoUpdateDisabled").status_code == 204
    assert http.get(older).json() == "AutoUpdateDisabled"
    assert http.get("/admin/v2/namespaces/acme/older/isAllowAutoUpdateSchema").json() is False


def test_flags(http: httpx.Client) -> None:
    auto = "/admin/v2/namespaces/acme/flags/isAllowAutoUpdateSchema"
    enforced = "/admin/v2/namespaces/acme/flags/schemaValidationEnforced"
    topic = "/admin/v2/persistent/acme/flags/t/schemaValidationEnforced"
    assert (http.get(auto).json(), http.get(enforced).json()) == (True, False)
    assert http.post(auto, json=False).status_code == 204
    assert http.post(enforced, json=True).status_code == 204
    assert (http.get(auto).json(), http.get(enforced).json()) == (False, True)
    assert http.get(topic).json() is False
    assert http.get(topic + "?applied=true").json() is True
    assert http.post(topic, json=False).status_code == 204
    assert http.get(topic + "?applied=true").json() is False
    assert http.delete(topic).status_code == 204
    assert http.get(topic + "?applied=true").json() is True
    assert http.post(auto, json="yes").status_code == 400


@pytest.mark.parametrize("version", ["-1", "x", "99999999999999999999"])
def test_a_version_that_is_none(http: httpx.Client, version: str) -> None:
    post(http, "versions", EMPTY)
    assert http.get(at("versions", f"schema/{version}")).status_code == 422
    assert http.get(at("versions", "schema/7")).status_code == 404


def test_a_name_that_pulsar_does_not_allow(http: httpx.Client) -> None:
    assert http.get("/admin/v2/schemas/a%20b/default/t/schema").status_code == 422
