"""What HTTP itself promises: media types, kept answers, other mounts, other types of schemas."""

import base64
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from tallystick.access import Caller
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, PULSAR_JSON, STRING
from tallystick.model.settings import Enforce
from tallystick.model.subject import Subject
from tallystick.registry import deletion, policies, registration
from tallystick.rest import RegistryClient
from tests.servers import RunningRegistry, running_registry

_V1 = "application/vnd.schemaregistry.v1+json"
_PLAIN = "application/vnd.schemaregistry+json"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path) as running:
        yield running


@pytest.fixture
def http(server: RunningRegistry) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.confluent) as client:
        yield client


def _register(http: httpx.Client, subject: str, schema: str = '"int"') -> None:
    http.post(f"/subjects/{subject}/versions", json={"schema": schema}).raise_for_status()


@pytest.mark.parametrize(
    ("accept", "answered"),
    [
        ("*/*", _V1),
        (_V1, _V1),
        (_PLAIN, _PLAIN),
        ("application/json", "application/json"),
        (f"text/html, {_PLAIN};q=0.9, {_V1};q=0.5", _PLAIN),
        ("text/html", _V1),
    ],
)
def test_the_media_type_that_was_asked_for(http: httpx.Client, accept: str, answered: str) -> None:
    _register(http, "a")
    for path in ("/subjects", "/schemas/ids/1", "/schemas/ids/1", "/schemas/ids/9"):
        assert http.get(path, headers={"accept": accept}).headers["content-type"] == answered


@pytest.mark.parametrize(
    "path",
    ["/schemas/ids/1", "/schemas/ids/1?subject=a", "/schemas/ids/1/schema", "/contexts/:.:/schemas/ids/1"],
)
def test_a_schema_by_its_id_is_kept_until_it_is_deleted_for_ever(http: httpx.Client, path: str) -> None:
    _register(http, "a")
    first = http.get(path)
    etag = first.headers["etag"]
    assert http.get(path).content == first.content
    assert http.get(path, headers={"if-none-match": etag}).status_code == 304
    http.delete("/subjects/a").raise_for_status()
    assert http.get(path).content == first.content
    http.delete("/subjects/a?permanent=true").raise_for_status()
    assert http.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/subjects/a/versions/1", "/subjects/a/versions/latest", "/schemas/ids/1?subject=b"])
def test_answers_that_may_change_are_not_kept(http: httpx.Client, path: str) -> None:
    _register(http, "a")
    assert "etag" not in http.get(path).headers


def test_an_id_tells_the_first_version_that_a_subject_has_it_as(http: httpx.Client) -> None:
    _register(http, "a")
    http.delete("/subjects/a").raise_for_status()
    _register(http, "a")
    assert http.get("/subjects/a/versions/latest").json()["version"] == 2
    assert http.get("/schemas/ids/1?subject=a").json()["version"] == 1


def test_the_dialect_is_the_same_under_its_prefix(http: httpx.Client, server: RunningRegistry) -> None:
    _register(http, "a")
    with httpx.Client(base_url=server.confluent_on_http) as other:
        assert other.get("/").json() == {}
        assert other.get("/subjects").json() == ["a"]
        assert other.get("/schemas/ids/1").json() == http.get("/schemas/ids/1").json()
        assert other.get("/subjects/none/versions").json()["error_code"] == 40401


def test_head_and_options(http: httpx.Client) -> None:
    assert http.head("/subjects").status_code == 200
    assert http.request("PATCH", "/subjects").headers["allow"] == "GET"
    assert http.options("/subjects").headers["allow"] == "GET, OPTIONS"


def test_types_that_confluent_does_not_have_are_not_there(http: httpx.Client, server: RunningRegistry) -> None:
    for name, definition in {
        "text": SchemaDefinition(STRING),
        "pulsar": SchemaDefinition(PULSAR_JSON, '{"type":"record","name":"R","fields":[]}'),
    }.items():
        registration.register(server.registry, Caller(), Subject("public/default", name), definition)
    _register(http, "z")
    assert http.get("/subjects").json() == ["z"]
    assert http.get("/subjects?limit=1").json() == ["z"]
    assert [schema["subject"] for schema in http.get("/schemas").json()] == ["z"]
    for path, code in {
        "/schemas/ids/1": 40403,
        "/schemas/ids/2/schema": 40403,
        "/schemas/ids/1/subjects": 40403,
        "/subjects/text/versions": 40401,
        "/subjects/pulsar/versions/1": 40401,
        "/subjects/pulsar/versions/latest/schema": 40401,
    }.items():
        assert http.get(path).json()["error_code"] == code, path


def test_a_tombstone_of_pulsar_is_never_listed(http: httpx.Client, server: RunningRegistry) -> None:
    subject = Subject("public/default", "a")
    registration.register(server.registry, Caller(), subject, SchemaDefinition(AVRO, '"int"'))
    assert deletion.delete_like_pulsar(server.registry, Caller(), subject) == 2
    registration.register(server.registry, Caller(), subject, SchemaDefinition(AVRO, '"int"'))
    assert http.get("/subjects/a/versions").json() == [3]
    assert http.get("/subjects/a/versions?deleted=true").json() == [1, 3]
    assert http.get("/subjects/a/versions/2?deleted=true").json()["error_code"] == 40402


def test_a_schema_above_the_limit_is_refused(http: httpx.Client) -> None:
    fields = [{"name": f"field_{i}", "type": "long"} for i in range(160_000)]
    schema = httpx.Request("POST", "/", json={"type": "record", "name": "R", "fields": fields}).read().decode()
    answer = http.post("/subjects/a/versions", json={"schema": schema}, timeout=30)
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42209)
    answer = http.post("/subjects/a/versions", content=b" " * 11_000_000, timeout=30)
    assert (answer.status_code, answer.json()["error_code"]) == (413, 413)


def test_what_a_policy_lets_pass_is_told(http: httpx.Client, server: RunningRegistry) -> None:
    _register(http, "a")
    policies.change(server.registry, Caller(), {"enforce": Enforce.WARN}, Subject("public/default", "a"))
    answer = http.post("/subjects/a/versions", json={"schema": '"string"'}).json()
    assert answer["version"] == 2
    assert [finding["rule"] for finding in answer["findings"]] == ["AVRO_TYPE_CHANGED"]
    assert "findings" not in http.post("/subjects/a", json={"schema": '"string"'}).json()


def test_a_descriptor_is_answered_as_text_and_stays_the_same_schema(
    server: RunningRegistry, http: httpx.Client
) -> None:
    kind, label = FieldDescriptorProto.TYPE_INT32, FieldDescriptorProto.LABEL_OPTIONAL
    message = DescriptorProto(name="M", field=[FieldDescriptorProto(name="a", number=1, label=label, type=kind)])
    file = FileDescriptorProto(package="n", syntax="proto3", message_type=[message])
    sent = base64.b64encode(file.SerializeToString()).decode()
    body = {"schema": sent, "schemaType": "PROTOBUF"}
    registered = http.post("/subjects/p/versions", json=body).json()
    # Who sends a descriptor takes one; everybody else is shown the text.
    assert registered["schema"] == sent
    assert http.post("/subjects/p/versions", json=body).json() == registered
    assert http.post("/subjects/p", json=body).json()["schema"] == sent
    text = http.get("/schemas/ids/1").json()["schema"]
    assert 'syntax = "proto3";' in text
    for path in ("/schemas/ids/1", "/subjects/p/versions/1", f"/schemas/guids/{registered['guid']}"):
        answer = http.get(path).json()
        assert (answer["schema"], answer["descriptor"], answer["guid"]) == (text, sent, registered["guid"])
        serialized = http.get(path, params={"format": "serialized"}).json()
        assert FileDescriptorProto.FromString(base64.b64decode(serialized["schema"])).package == "n"
        assert "descriptor" not in serialized
    assert http.get("/schemas").json()[0]["schema"] == text
    assert http.get("/schemas/ids/1/schema").text == http.get("/subjects/p/versions/1/schema").text == text
    # With the compiler's eyes it is the same schema; a copy that a client makes is even the same text.
    again = http.post("/subjects/p", params={"normalize": "true"}, json={**body, "schema": text})
    assert (again.json()["version"], again.json()["schema"]) == (1, text)
    with RegistryClient(server.confluent) as client:
        assert client.by_id(1).text == sent
