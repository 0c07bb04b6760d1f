"""OpenSchema over HTTP, as the specification's table of routes lays it out."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from tests.integration.servers import client, serving
from tests.postgres import running_postgres

EMPTY = {"type": "record", "name": "Order", "fields": []}
WITH_DEFAULT = {"type": "record", "name": "Order", "fields": [{"name": "note", "type": "string", "default": ""}]}
WITHOUT_DEFAULT = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}")


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def http(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with ExitStack() as stack:
        arguments = [f"--store={stack.enter_context(running_postgres())}"] if request.param == "postgres" else []
        served = stack.enter_context(serving(tmp_path_factory.mktemp("data"), *arguments))
        yield stack.enter_context(client(served))


def schema(definition: object, serialization: str = "AVRO", **more: object) -> dict[str, object]:
    text = definition if isinstance(definition, str) else json.dumps(definition)
    return {"schema": {"serialization": serialization, "schemaDefinition": text, **more}}


def register(http: httpx.Client, subject: str, definition: object, serialization: str = "AVRO") -> str:
    answer = http.post(f"/subjects/{subject}/versions", json=schema(definition, serialization))
    assert answer.status_code == 200, answer.text
    id_: str = answer.json()["id"]
    return id_


def test_a_subject_has_all_fields_of_the_specification(http: httpx.Client) -> None:
    body = {"subject": {"app": "shop", "description": "orders", "status": "frozen", "coordinate": "a:b:1"}}
    answer = http.post("/subjects/all-fields", json=body)
    assert answer.headers["content-type"] == "application/vnd.openschema.v1+json"
    subject = answer.json()["subject"]
    assert TIME.fullmatch(subject.pop("createdTime"))
    assert TIME.fullmatch(subject.pop("lastModifiedTime"))
    assert subject == {
        "tenant": "public",
        "namespace": "default",
        "subject": "all-fields",
        "app": "shop",
        "description": "orders",
        "status": "frozen",
        "compatibility": "BACKWARD",
        "coordinate": "a:b:1",
        "format": "",
    }


def test_an_update_keeps_what_it_does_not_name(http: httpx.Client) -> None:
    http.post("/subjects/updated", json={"subject": {"app": "shop", "description": "old"}})
    http.post("/subjects/updated", json={"description": "new", "compatibility": "full"})  # flat: the later draft
    subject = http.get("/subjects/updated").json()["subject"]
    assert (subject["app"], subject["description"], subject["compatibility"]) == ("shop", "new", "FULL")


def test_a_subject_without_versions_exists_until_it_is_deleted(http: httpx.Client) -> None:
    http.post("/subjects/only-described", json={"subject": {}})
    names = [subject["subject"] for subject in http.get("/subjects").json()["subjects"]]
    assert "only-described" in names
    assert http.get("/subjects/only-described/versions").json() == {"versions": []}
    assert http.delete("/subjects/only-described").json() == {"versions": []}
    missing = http.get("/subjects/only-described")
    assert (missing.status_code, missing.json()["errorCode"]) == (404, 40401)
    assert http.delete("/subjects/only-described").status_code == 404


def test_registering_gives_the_id_that_all_look_ups_know(http: httpx.Client) -> None:
    id_ = register(http, "orders", EMPTY)
    assert id_.isdigit()
    assert register(http, "orders", EMPTY) == id_
    by_id = http.get(f"/schemas/ids/{id_}").json()
    assert by_id == http.get("/subjects/orders/versions/latest/schema").json()
    assert by_id == http.get("/subjects/orders/versions/1/schema").json()
    assert by_id == http.get(f"/schemas/{id_}").json()
    assert by_id["schema"] == {
        "name": "orders",
        "id": id_,
        "comment": "",
        "serialization": "AVRO",
        "schemaDefinition": json.dumps(EMPTY),
        "validator": "",
        "version": 1,
    }


def test_name_comment_and_validator_come_back(http: httpx.Client) -> None:
    said = {"name": "Said", "comment": "why", "validator": "v1"}
    http.post("/subjects/said/versions", json=schema('"string"', **said))
    found = http.get("/subjects/said/versions/latest/schema").json()["schema"]
    assert {key: found[key] for key in said} == said


def test_an_id_that_subjects_share_names_the_first_and_all(http: httpx.Client) -> None:
    definition = {"type": "record", "name": "Shared", "fields": []}
    id_ = register(http, "shared-b", definition)
    assert register(http, "shared-a", definition) == id_
    found = http.get(f"/schemas/ids/{id_}/subjects").json()
    assert found["subject"]["subject"] == "shared-a"
    assert [subject["subject"] for subject in found["subjects"]] == ["shared-a", "shared-b"]
    assert found == http.get(f"/schemas/{id_}/subject").json()


def test_versions_are_listed_and_deleted(http: httpx.Client) -> None:
    register(http, "deleted", EMPTY)
    register(http, "deleted", WITH_DEFAULT)
    assert http.get("/subjects/deleted/versions").json() == {"versions": [1, 2]}
    assert http.delete("/subjects/deleted/versions/1").json() == {"version": 1}
    assert http.get("/subjects/deleted/versions").json() == {"versions": [2]}
    assert http.delete("/subjects/deleted").json() == {"versions": [2]}
    assert http.get("/subjects/deleted/versions").json()["errorCode"] == 40401


def test_what_does_not_fit_is_refused_with_findings(http: httpx.Client) -> None:
    register(http, "strict", EMPTY)
    refused = http.post("/subjects/strict/versions", json=schema(WITHOUT_DEFAULT))
    assert (refused.status_code, refused.json()["errorCode"]) == (409, 40901)
    assert [finding["rule"] for finding in refused.json()["findings"]] == ["AVRO_FIELD_ADDED_NEEDS_DEFAULT"]
    for version in ("1", "latest"):
        checked = http.post(f"/compatibility/subjects/strict/versions/{version}", json=schema(WITHOUT_DEFAULT)).json()
        assert checked["is_compatible"] is False
        assert checked["findings"][0]["fix"]
    checked = http.post("/compatibility/subjects/strict/versions/1", json=schema(WITH_DEFAULT))
    assert checked.json() == {"is_compatible": True}


@pytest.mark.parametrize(("sent", "shown"), [("none", "NONE"), ("Full_Transitive", "FULL_TRANSITIVE")])
def test_a_policy_is_read_in_any_case(http: httpx.Client, sent: str, shown: str) -> None:
    assert http.get("/config/unset").json() == {"compatibility": "BACKWARD"}
    assert http.put("/config/policy", json={"compatibility": sent}).json() == {"compatibility": shown}
    assert http.get("/config/policy").json() == {"compatibility": shown}


FORMATS = [
    ("JSON", '{"type": "object"}'),
    ("PB", 'syntax = "proto3"; message M {}'),
    ("AVRO", '"string"'),
    ("USER-DEFINED", "any text"),
    ("Map", "string -> int"),
    ("Int", ""),
    ("Long", ""),
    ("String", ""),
    ("NONE", ""),
    ("PULSAR_JSON", '"string"'),
]


@pytest.mark.parametrize(("serialization", "text"), FORMATS, ids=[name for name, _ in FORMATS])
def test_every_format_comes_back_as_it_was_sent(http: httpx.Client, serialization: str, text: str) -> None:
    register(http, f"format-{serialization}", text, serialization)
    found = http.get(f"/subjects/format-{serialization}/versions/1/schema").json()["schema"]
    assert (found["serialization"], found["schemaDefinition"]) == (serialization, text)
    assert http.get(f"/subjects/format-{serialization}").json()["subject"]["format"] == serialization


def test_two_user_defined_schemas_are_two(http: httpx.Client) -> None:
    assert register(http, "own", "a", "USER-DEFINED") != register(http, "own", "b", "USER-DEFINED")
    assert http.get("/subjects/own/versions").json() == {"versions": [1, 2]}


def test_the_older_draft_says_schema_type_and_sends_the_definition_as_json(http: httpx.Client) -> None:
    body = {"schemaType": "AVRO", "schemaDefinition": EMPTY}
    assert http.post("/subjects/older/versions", json=body).status_code == 200
    found = http.get("/subjects/older/versions/latest/schema").json()["schema"]
    assert json.loads(found["schemaDefinition"]) == EMPTY


def test_the_namespace_is_the_bodys_then_the_names_then_the_default(http: httpx.Client) -> None:
    http.post("/subjects/placed/versions", json={"tenant": "acme", "namespace": "sales", **schema(EMPTY)})
    assert http.get("/subjects/:.acme.sales:placed/versions").json() == {"versions": [1]}
    assert http.get("/subjects/placed/versions").status_code == 404
    subject = http.get("/subjects/:.acme.sales:placed").json()["subject"]
    assert (subject["tenant"], subject["namespace"], subject["subject"]) == ("acme", "sales", "placed")
    assert (
        http.get("/schemas/ids/:.acme.sales:1").json() == http.get("/schemas/ids/1?tenant=acme&namespace=sales").json()
    )
    listed = http.get("/subjects?tenant=acme&namespace=sales").json()["subjects"]
    assert [subject["subject"] for subject in listed] == ["placed"]


def test_subjects_come_in_pages(http: httpx.Client) -> None:
    for number in range(3):
        http.post(f"/subjects/:.paged.p:s{number}", json={})
    listed = http.get("/subjects?tenant=paged&namespace=p&offset=1&limit=1").json()["subjects"]
    assert [subject["subject"] for subject in listed] == ["s1"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/subjects/nothing", None, 404, 40401),
        ("GET", "/subjects/nothing/versions", None, 404, 40401),
        ("GET", "/schemas/ids/999999", None, 404, 40401),
        ("GET", "/schemas/ids/99999999999999999999", None, 404, 40401),
        ("GET", "/schemas/ids/x/subjects", None, 404, 40401),
        ("GET", "/subjects/known/versions/9/schema", None, 404, 40402),
        ("GET", "/subjects/known/versions/0/schema", None, 422, 42202),
        ("GET", "/subjects/known/versions/99999999999/schema", None, 422, 42202),
        ("DELETE", "/subjects/known/versions/nine", None, 422, 42202),
        ("POST", "/subjects/known/versions", {"schema": {"schemaDefinition": "{"}}, 422, 42201),
        ("POST", "/subjects/known/versions", {"schema": {"serialization": "COBOL"}}, 422, 42201),
        ("POST", "/compatibility/subjects/nothing/versions/1", schema(EMPTY), 404, 40401),
        ("POST", "/compatibility/subjects/known/versions/7", schema(EMPTY), 404, 40402),
        ("PUT", "/config/known", {"compatibility": "SIDEWAYS"}, 422, 42203),
        ("PUT", "/config/known", {}, 400, 400),
    ],
)
def test_errors_have_the_codes_of_the_specification(
    http: httpx.Client, method: str, path: str, body: object, status: int, code: int
) -> None:
    register(http, "known", EMPTY)
    answer = http.request(method, path, json=body)
    assert (answer.status_code, answer.json()["errorCode"]) == (status, code), answer.text
    assert answer.json()["errorMessage"]


def test_plain_json_is_answered_to_who_accepts_nothing_else(http: httpx.Client) -> None:
    answer = http.get("/subjects", headers={"accept": "application/json"})
    assert answer.headers["content-type"] == "application/json"
