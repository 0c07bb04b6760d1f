import socket
import time
from collections.abc import Iterator

import pytest

from tallystick import errors
from tallystick.errors import InvalidArgument, NotFound, TallystickError, Unavailable
from tallystick.rest.connection import Connection, Retries
from tallystick.rest.credentials import Credentials, split_url
from tallystick.rest.problems import error_of
from tests.unit.rest.scripted import Reply, Script, running_script

QUICK = Retries(attempts=3, pause_s=0.001)
BUSY = Reply(503, {"message": "later"})


@pytest.fixture
def script() -> Iterator[Script]:
    with running_script() as running:
        yield running


@pytest.fixture
def connection(script: Script) -> Iterator[Connection]:
    opened = Connection(script.url, Credentials(), 5, QUICK)
    yield opened
    opened.close()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_calls_that_may_be_repeated_are(script: Script, connection: Connection, status: int) -> None:
    script.replies = [Reply(status), Reply(status), Reply(200, {"id": 1})]
    assert connection.post("/subjects/s/versions", {"schema": "x"}) == {"id": 1}
    assert [asked.body for asked in script.asked] == [{"schema": "x"}] * 3


def test_a_delete_is_not_repeated_once_it_has_arrived(script: Script, connection: Connection) -> None:
    script.replies = [BUSY, Reply(200, [1])]
    with pytest.raises(Unavailable, match="later"):
        connection.delete("/subjects/s")
    assert len(script.asked) == 1


def test_refusals_are_not_repeated(script: Script, connection: Connection) -> None:
    script.replies = [Reply(404, {"message": "no"})]
    with pytest.raises(NotFound):
        connection.get("/x")
    assert len(script.asked) == 1


def test_in_the_end_it_gives_up(script: Script, connection: Connection) -> None:
    script.replies = [BUSY]
    with pytest.raises(Unavailable, match="later"):
        connection.get("/x")
    assert len(script.asked) == QUICK.attempts


def test_the_pause_that_the_server_wishes_is_kept(script: Script, connection: Connection) -> None:
    script.replies = [Reply(429, headers={"retry-after": "1"}), Reply(200, [])]
    started = time.monotonic()
    connection.get("/subjects")
    assert time.monotonic() - started >= 1


def test_nobody_there_is_unavailable_and_transient() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
        connection = Connection(url, Credentials(), 5, QUICK)
        with pytest.raises(Unavailable, match="cannot be reached") as error:
            connection.delete("/x")
        connection.close()
    assert error.value.transient


def test_a_server_that_says_nothing_is_given_up_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        connection = Connection(url, Credentials(), 0.1, Retries(attempts=2, pause_s=0.001))
        with pytest.raises(Unavailable, match="does not answer in time"):
            connection.get("/x")
        connection.close()


@pytest.mark.parametrize("body", ["<html>", "[" * 100_000])
def test_what_is_no_json_is_no_registry(script: Script, connection: Connection, body: str) -> None:
    script.replies = [Reply(200, body)]
    with pytest.raises(InvalidArgument, match="is this the URL of a registry"):
        connection.get("/subjects")


def test_a_redirect_is_not_followed(script: Script, connection: Connection) -> None:
    script.replies = [Reply(302, headers={"location": "http://example.invalid/"})]
    with pytest.raises(TallystickError, match="302"):
        connection.get("/subjects")


@pytest.mark.parametrize(
    ("credentials", "header"),
    [
        (Credentials(username="ann", password="s:ecret"), "Basic YW5uOnM6ZWNyZXQ="),
        (Credentials(token="t0ken"), "Bearer t0ken"),
        (Credentials(), None),
    ],
)
def test_credentials_are_sent(script: Script, credentials: Credentials, header: str | None) -> None:
    script.replies = [Reply(200, [])]
    connection = Connection(script.url, credentials, 5)
    connection.get("/subjects")
    connection.close()
    assert script.asked[0].headers.get("authorization") == header


def test_secrets_do_not_show() -> None:
    shown = repr(Credentials(username="ann", password="hidden1", token="hidden2", key_password="hidden3"))
    assert "hidden" not in shown
    url, credentials = split_url("https://ann:h%40idden@registry.example:8443/base/", None)
    assert (url, credentials) == ("https://registry.example:8443/base", Credentials(username="ann", password="h@idden"))


@pytest.mark.parametrize(
    "url",
    ["", "registry:8081", "ftp://registry", "http://", "http://[::1", "http://h:x", "http://h/?a=b", "http://h/#f"],
)
def test_what_is_no_url_is_told(url: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        split_url(url, None)
    assert error.value.argument == "registry"


CODES = {
    (404, 40401): errors.SubjectNotFound,
    (404, 40402): errors.VersionNotFound,
    (404, 40403): errors.SchemaNotFound,
    (404, 40404): errors.AlreadyDeleted,
    (404, 40405): errors.NotDeletedYet,
    (404, 40406): errors.AlreadyDeleted,
    (404, 40407): errors.NotDeletedYet,
    (404, 40408): errors.SettingsNotFound,
    (404, 40409): errors.SettingsNotFound,
    (409, 409): errors.IncompatibleSchema,
    (409, 40901): errors.IncompatibleSchema,
    (422, 42201): errors.InvalidSchema,
    (422, 42202): errors.InvalidArgument,
    (422, 42203): errors.InvalidArgument,
    (422, 42204): errors.InvalidArgument,
    (422, 42205): errors.NotPermitted,
    (422, 42206): errors.ReferenceExists,
    (422, 42207): errors.SchemaIdTaken,
    (422, 42208): errors.InvalidArgument,
    (422, 42209): errors.SchemaTooLarge,
    (422, 42210): errors.InvalidArgument,
    (422, 42211): errors.NamespaceNotEmpty,
    (401, 401): errors.Unauthenticated,
    (401, 40101): errors.Unauthenticated,
    (403, 403): errors.Forbidden,
    (404, 404): errors.NotFound,
    (405, 405): errors.Unsupported,
    (400, 400): errors.BadRequest,
    (500, 50001): errors.Unavailable,
    (503, 50003): errors.Unavailable,
}


@pytest.mark.parametrize(("status", "code"), CODES)
def test_every_code_has_its_error(status: int, code: int) -> None:
    for body in ({"error_code": code, "message": "words"}, {"errorCode": code, "errorMessage": "words"}):
        error = error_of(status, body, {"subject": "s", "version": 3})
        assert (type(error), error.message) == (CODES[status, code], "words")


def test_errors_know_what_was_asked_for() -> None:
    error = error_of(404, {"error_code": 40406, "message": "m"}, {"subject": "s", "version": 3})
    assert (error.__dict__["subject"], error.__dict__["version"]) == ("s", 3)


def test_findings_of_a_refusal_survive() -> None:
    finding = {
        "rule": "AVRO_X",
        "message": "m",
        "fix": "f",
        "direction": "BACKWARD",
        "version": 2,
        "new": {"path": "/fields/0", "line": 3, "column": 1},
        "was": "int",
    }
    error = error_of(409, {"error_code": 409, "message": "no", "findings": [finding]}, {})
    assert isinstance(error, errors.IncompatibleSchema)
    assert [found.as_dict() for found in error.findings] == [finding]


@pytest.mark.parametrize(
    "body", [None, "text", 7, [], {"findings": 3, "message": 7}, {"findings": [1, {}, {"direction": [], "old": 3}]}]
)
def test_any_body_of_a_refusal_is_survived(body: object) -> None:
    assert isinstance(error_of(409, body, {}), errors.IncompatibleSchema)
