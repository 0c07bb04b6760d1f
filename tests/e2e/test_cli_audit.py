"""`tally audit` against a real server."""

import json
from collections.abc import Iterator

import pytest

from tallystick.cli.main import run
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO
from tallystick.model.settings import Enforce, Settings
from tallystick.rest import RegistryClient
from tests.servers import RunningRegistry, running_registry
from tests.unit.rest.scripted import Reply, running_script

Said = tuple[int, str, str]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("registry")) as running:
        with RegistryClient(running.http) as client:
            client.register("orders", SchemaDefinition(AVRO, '"string"'))
            client.register("people", SchemaDefinition(AVRO, '"long"'))
            client.configure("orders", Settings(enforce=Enforce.WARN))
            for _ in range(300):
                client.configure("many", Settings(enforce=Enforce.WARN))
        yield running


def said(capture: pytest.CaptureFixture[str], *arguments: str) -> Said:
    code = run(["audit", *arguments])
    return code, *capture.readouterr()


def test_the_newest_change_comes_first(server: RunningRegistry, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "--registry", server.http, "--subject", "orders")
    newest, oldest = out.splitlines()
    assert code == 0
    assert newest.endswith("anybody (127.0.0.1)  settings.changed orders enforce=warn")
    assert oldest.endswith("anybody (127.0.0.1)  schema.registered orders version=1 id=1 type=AVRO")


@pytest.mark.parametrize("base", ["", "/confluent", "/admin/v2"])
def test_programs_get_all_of_it_at_every_url_of_the_server(
    server: RunningRegistry, capsys: pytest.CaptureFixture[str], base: str
) -> None:
    asked = ("--kind", "schema.registered", "--principal", "anybody", "--since", "2020-01-01")
    code, out, _ = said(capsys, "--registry", server.http + base, "--output", "json", *asked)
    assert code == 0
    assert [entry["subject"] for entry in json.loads(out)] == ["people", "orders"]
    assert json.loads(out)[0]["data"]["version"] == 1


def test_more_than_a_page_is_read_page_by_page(server: RunningRegistry, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "--registry", server.confluent, "--subject", "many", "--limit", "250")
    assert (code, len(out.splitlines())) == (0, 250)


def test_nothing_is_no_error(server: RunningRegistry, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "--registry", server.http, "--since", "2100-01-01") == (0, "", "")


def test_a_registry_without_an_audit_log_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with running_script() as script:
        code, _, err = said(capsys, "--registry", script.url)
    assert code == 1
    assert "no audit log" in err


def test_a_registry_that_drops_a_setting_is_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    with running_script() as script:
        script.by_path = {"/subjects": Reply(200, []), "/config/s": Reply(200, {"compatibilityLevel": "FULL"})}
        code = run(["schema", "config", "s", "--enforce", "warn", "--registry", script.url])
    assert code == 1
    assert "has no enforce" in capsys.readouterr().err
