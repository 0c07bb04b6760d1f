"""Bad requests of every kind: the right code, and the server goes on."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from tests.integration.servers import Served, client, serving
from tests.postgres import running_postgres

DIALECTS = {
    "openschema": ("/subjects/robust/versions", "errorCode"),
    "confluent": ("/confluent/subjects/robust/versions", "error_code"),
    "pulsar": ("/admin/v2/schemas/public/default/robust/schema", "reason"),
}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with ExitStack() as stack:
        arguments = [f"--store={stack.enter_context(running_postgres())}"] if request.param == "postgres" else []
        yield stack.enter_context(serving(tmp_path_factory.mktemp("data"), *arguments))


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    with client(served) as http:
        yield http
        assert http.get("/health/ready").status_code == 200


def raw(served: Served, request: bytes, *more: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", served.http_port), timeout=10) as connection:
        for part in (request, *more):
            connection.sendall(part)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"\xff\xfe",
        b'{"schema": "\xff"}',
        b'{"schema": {"schemaDefinition": "\\ud800"}, "type": "AVRO"}',
        b'{"subject": "\\u0000", "schema": "\\u0000"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"schema": ' + b"1" * 10_000 + b"}",
    ],
    ids=["empty", "cut", "list", "text", "null", "utf16", "utf8", "surrogate", "nul", "deep", "deeper", "number"],
)
def test_a_body_that_is_no_request(http: httpx.Client, dialect: str, body: bytes) -> None:
    path, field = DIALECTS[dialect]
    answer = http.post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422), answer.text
    assert field in answer.json()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_media_type_that_is_not_json(http: httpx.Client, dialect: str) -> None:
    path, field = DIALECTS[dialect]
    answer = http.post(path, content=b"a=b", headers={"content-type": "application/x-www-form-urlencoded"})
    assert (answer.status_code, field in answer.json()) == (415, True)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_body_that_is_too_large(http: httpx.Client, dialect: str) -> None:
    path, field = DIALECTS[dialect]
    body = json.dumps({"schema": "x" * 12_000_000}).encode()
    answer = http.post(path, content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, field in answer.json()) == (413, True)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_schema_that_is_too_large(http: httpx.Client, dialect: str) -> None:
    path, field = DIALECTS[dialect]
    text = json.dumps({"type": "record", "name": "R", "doc": "x" * 6_000_000, "fields": []})
    bodies = {
        "openschema": {"schema": {"schemaDefinition": text}},
        "confluent": {"schema": text},
        "pulsar": {"type": "AVRO", "schema": text, "properties": {}},
    }
    answer = http.post(path, json=bodies[dialect])
    assert (answer.status_code, field in answer.json()) == (422, True)


def test_a_body_that_never_ends(served: Served, http: httpx.Client) -> None:
    head = b"POST /subjects/slow/versions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n"
    with socket.create_connection(("127.0.0.1", served.http_port), timeout=10) as slow:
        slow.sendall(head + b'{"schema"')
        assert http.get("/subjects").status_code == 200
    assert http.get("/subjects").status_code == 200


def test_headers_that_never_end(served: Served, http: httpx.Client) -> None:
    with socket.create_connection(("127.0.0.1", served.http_port), timeout=10) as slow:
        slow.sendall(b"GET /subjects HTTP/1.1\r\nhost:")
        assert http.get("/subjects").status_code == 200


def test_many_connections(served: Served, http: httpx.Client) -> None:
    idle = [socket.create_connection(("127.0.0.1", served.http_port), timeout=10) for _ in range(300)]
    try:
        statuses: list[int] = []

        def ask() -> None:
            with client(served) as own:
                statuses.extend(own.get("/subjects").status_code for _ in range(5))

        threads = [threading.Thread(target=ask) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses == [200] * 80
    finally:
        for connection in idle:
            connection.close()


def test_head_is_get_without_the_body(http: httpx.Client) -> None:
    head, get = http.head("/subjects"), http.get("/subjects")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"]


def test_options_says_what_is_possible(http: httpx.Client) -> None:
    answer = http.options("/config/x")
    assert (answer.status_code, answer.headers["allow"]) == (204, "GET, PUT, OPTIONS")
    assert http.options("/nowhere/at/all").status_code == 404


@pytest.mark.parametrize("method", ["PATCH", "TRACE", "BREW", "PUT"])
def test_methods_that_are_not_possible(http: httpx.Client, method: str) -> None:
    answer = http.request(method, "/subjects")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    assert answer.json()["errorCode"] == 405


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        ("/nowhere", {404}),
        ("/", {404}),
        ("//", {404}),
        ("/subjects//", {404, 422}),
        ("/subjects/%00", {400}),
        ("/subjects/%ff%fe", {404, 422}),
        ("/subjects/%0a", {422}),
        ("/subjects/%20", {422}),
        ("/subjects/" + "a" * 2_000, {422}),
        ("/subjects/..%2f..%2fetc%2fpasswd", {404}),
        ("/subjects/a%2Fb%2Fversions%2Fc", {404}),
        ("/subjects/x/versions/%F0%9F%98%80/schema", {422}),
        ("/subjects?limit=99999999999999999999", {400}),
        ("/subjects?limit=x", {400}),
        ("/subjects?tenant=%00", {400}),
        ("/subjects?%00=%00&&&=", {200}),
        ("/schemas/ids/" + "9" * 400, {404}),
        ("/schemas/ids/%D9%A1", {404}),
        ("/admin/v2/namespaces/" + "n" * 500 + "/x/schemaCompatibilityStrategy", {422}),
        ("/openapi/..%2f..%2fetc", {404}),
    ],
)
def test_weird_paths(http: httpx.Client, path: str, statuses: set[int]) -> None:
    answer = http.get(path)
    assert answer.status_code in statuses, answer.text
    if answer.status_code >= 400:
        answer.json()


def test_a_path_beyond_all_measure(served: Served, http: httpx.Client) -> None:
    answer = raw(served, b"GET /subjects/" + b"a" * 200_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n")
    assert answer.split()[1] == b"414"


@pytest.mark.parametrize(
    "request_",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET\r\n\r\n",
        b"GET /subjects HTTP/1.1\r\n\r\n",
        b"GET /a\xff HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /subjects HTTP/1.1\r\nhost: x\r\nx-request-id: \xff\xfe\r\nconnection: close\r\n\r\n",
        b"POST /subjects/x HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"POST /subjects/x HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"GET /subjects HTTP/1.1\r\nhost: x\r\n" + b"x: " + b"y" * 500_000 + b"\r\n\r\n",
    ],
    ids=["tls", "short", "no-host", "path-bytes", "header-bytes", "chunk", "length", "header-size"],
)
def test_bytes_that_are_no_http(served: Served, http: httpx.Client, request_: bytes) -> None:
    try:
        answer = raw(served, request_)
    except OSError:
        return  # cut off, which is an answer, too
    assert b" 500 " not in answer[:40]


def test_names_with_slashes_are_names(http: httpx.Client) -> None:
    body = {"schema": {"schemaDefinition": '"string"'}}
    assert http.post("/subjects/a%2Fb/versions", json=body).status_code == 200
    assert http.get("/subjects/a%2Fb/versions").json() == {"versions": [1]}
    assert http.get("/subjects/a%2Fb").json()["subject"]["subject"] == "a/b"
