"""Health, metrics, logs and events of the running server."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tallystick.access import Caller
from tallystick.model.subject import Subject
from tallystick.registry import deletion
from tallystick.registry.service import Registry
from tallystick.stores.sqlite import SqliteStore
from tests.integration.servers import Served, client, serving, wait_until

EMPTY = '{"type": "record", "name": "Order", "fields": []}'
WITHOUT_DEFAULT = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def served(data: Path) -> Iterator[Served]:
    with serving(data) as served:
        yield served


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    with client(served) as http:
        yield http


def register(http: httpx.Client, subject: str, text: str = EMPTY) -> httpx.Response:
    return http.post(f"/subjects/{subject}/versions", json={"schema": {"schemaDefinition": text}})


def metric(http: httpx.Client, name: str, **labels: str) -> float:
    for line in http.get("/metrics").text.splitlines():
        if line.startswith(name) and all(f'{key}="{value}"' in line for key, value in labels.items()):
            return float(line.rpartition(" ")[2])
    return 0.0


def events(http: httpx.Client, count: int, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    with http.stream("GET", "/events", **asked) as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        for line in answer.iter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
            if len(found) == count:
                break
    return found


def test_health(http: httpx.Client) -> None:
    assert http.get("/health/live").json() == {"status": "live"}
    assert http.get("/health/ready").json() == {"status": "ready"}


def test_both_ports_answer_for_their_health(served: Served) -> None:
    assert httpx.get(f"{served.confluent_url}/health/ready").status_code == 200


def test_requests_are_counted_by_dialect_route_and_status(http: httpx.Client) -> None:
    asked = {"dialect": "openschema", "route": "/subjects/{subject}", "method": "GET", "status": "404"}
    before = metric(http, "tallystick_http_requests_total", **asked)
    http.get("/subjects/none-a")
    http.get("/subjects/none-b")
    assert metric(http, "tallystick_http_requests_total", **asked) == before + 2
    assert metric(http, "tallystick_http_request_seconds_count", route="/subjects/{subject}") >= 2
    assert metric(http, "tallystick_store_seconds_count", kind="read") > 0


def test_registrations_and_refusals_are_counted_by_type_and_rule(http: httpx.Client) -> None:
    registered = metric(http, "tallystick_registrations_total", type="AVRO")
    refused = metric(http, "tallystick_refusals_total", rule="AVRO_FIELD_ADDED_NEEDS_DEFAULT")
    register(http, "counted")
    register(http, "counted")
    assert register(http, "counted", WITHOUT_DEFAULT).status_code == 409
    assert metric(http, "tallystick_registrations_total", type="AVRO") == registered + 1
    assert metric(http, "tallystick_refusals_total", rule="AVRO_FIELD_ADDED_NEEDS_DEFAULT") == refused + 1


def test_prepared_answers_are_counted_too(served: Served, http: httpx.Client) -> None:
    id_ = register(http, "prepared").json()["id"]
    url = f"{served.confluent_url}/schemas/ids/{id_}"
    first = httpx.get(url)
    assert httpx.get(url).content == first.content
    assert httpx.get(url, headers={"if-none-match": first.headers["etag"]}).status_code == 304
    assert metric(http, "tallystick_http_prepared_total", dialect="confluent", status="200") >= 1
    assert metric(http, "tallystick_http_prepared_total", dialect="confluent", status="304") >= 1


def test_an_unknown_method_is_no_series_of_its_own(http: httpx.Client) -> None:
    http.request("BREW", "/subjects")
    assert metric(http, "tallystick_http_requests_total", method="other", status="405") >= 1


def test_a_request_is_one_line_of_the_log(served: Served, http: httpx.Client) -> None:
    http.get("/subjects/logged", headers={"x-request-id": "abc-1"})
    wait_until(lambda: any('"abc-1"' in line for line in list(served.errors)))
    line = json.loads(next(line for line in served.errors if '"abc-1"' in line))
    assert (line["method"], line["path"], line["status"], line["dialect"]) == (
        "GET",
        "/subjects/logged",
        404,
        "openschema",
    )
    assert line["route"] == "/subjects/{subject}"
    assert line["seconds"] > 0


def test_the_request_id_comes_back(http: httpx.Client) -> None:
    assert http.get("/subjects", headers={"x-request-id": "mine"}).headers["x-request-id"] == "mine"
    assert len(http.get("/subjects").headers["x-request-id"]) == 32


def test_events_are_cloud_events_in_order(http: httpx.Client) -> None:
    register(http, "told")
    http.put("/config/told", json={"compatibility": "FULL"})
    found: list[dict[str, Any]] = []
    with http.stream("GET", "/events?after=0") as answer:
        for line in answer.iter_lines():
            event = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
            if event.get("subject") == "told":
                found.append(event)
            if len(found) == 2:
                break
    registered, configured = found
    assert registered["specversion"] == "1.0"
    assert registered["source"] == "/tallystick/registry"
    assert registered["type"] == "tallystick.schema.registered"
    assert registered["data"]["version"] == 1
    assert registered["time"].endswith("Z")
    assert configured["type"] == "tallystick.settings.changed"
    assert int(configured["id"]) > int(registered["id"])


def test_following_goes_on_after_the_last_event_that_was_seen(http: httpx.Client) -> None:
    register(http, "resumed-1")
    (first,) = events(http, 1, params={"after": 0})
    register(http, "resumed-2")
    (second,) = events(http, 1, headers={"last-event-id": first["id"]})
    assert int(second["id"]) == int(first["id"]) + 1


def test_without_a_place_the_events_begin_now(served: Served, http: httpx.Client) -> None:
    register(http, "before")
    with httpx.Client(base_url=served.url, timeout=10) as follower, follower.stream("GET", "/events") as answer:
        lines = answer.iter_lines()
        assert next(lines) == "retry: 500"
        register(http, "after-now")
        told = next(line for line in lines if line.startswith("data: "))
    assert json.loads(told.removeprefix("data: "))["subject"] == "after-now"


def test_streams_are_bounded_and_given_back(served: Served, http: httpx.Client) -> None:
    streams = []
    with httpx.Client(base_url=served.url, timeout=10, limits=httpx.Limits(max_connections=100)) as many:
        for _ in range(64):
            answer = many.send(many.build_request("GET", "/events"), stream=True)
            assert answer.status_code == 200
            streams.append(answer)
        refused = many.get("/events")
        assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
        for answer in streams:
            answer.close()

    def is_free() -> bool:
        with http.stream("GET", "/events") as answer:
            return answer.status_code == 200

    wait_until(is_free)


def test_an_events_id_that_is_none(http: httpx.Client) -> None:
    assert http.get("/events?after=x").status_code == 400


def test_a_schema_that_another_server_deleted_for_ever_is_forgotten(
    data: Path, served: Served, http: httpx.Client
) -> None:
    id_ = register(http, "elsewhere", '{"type": "enum", "name": "Elsewhere", "symbols": ["A"]}').json()["id"]
    url = f"{served.confluent_url}/schemas/ids/{id_}"
    assert httpx.get(url).status_code == 200
    assert httpx.get(url).status_code == 200
    other = Registry(SqliteStore(data / "registry.db"))
    try:
        deletion.delete_like_pulsar(other, Caller(), Subject("public/default", "elsewhere"), force=True)
    finally:
        other.close()
    wait_until(lambda: httpx.get(url).status_code == 404)


def test_a_schema_that_was_deleted_for_ever_here_is_forgotten_at_once(served: Served, http: httpx.Client) -> None:
    id_ = register(http, "here", '{"type": "enum", "name": "Here", "symbols": ["A"]}').json()["id"]
    url = f"{served.confluent_url}/schemas/ids/{id_}"
    assert httpx.get(url).status_code == 200
    http.delete("/admin/v2/schemas/public/default/here/schema?force=true")
    assert httpx.get(url).status_code == 404


@pytest.mark.parametrize("name", ["openschema", "confluent", "pulsar"])
def test_each_dialect_has_an_openapi_document(http: httpx.Client, name: str) -> None:
    document = http.get(f"/openapi/{name}.json").json()
    assert document["openapi"] == "3.1.0"
    assert document["paths"]
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))


def test_there_is_no_other_document(http: httpx.Client) -> None:
    assert http.get("/openapi/other.json").status_code == 404
