"""`tally schema` and `tally check --registry` against a real server."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tallystick.cli.main import run
from tallystick.cli.registry_check import REFUSED_BY_REGISTRY, evaluate
from tallystick.compat.options import Options
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PULSAR_JSON
from tallystick.model.strategy import Strategy
from tallystick.rest import RegistryClient
from tallystick.rest.confluent import ConfluentRegistry
from tallystick.server.security import hashed
from tests.e2e.said import Said
from tests.ports import free_ports
from tests.servers import RunningRegistry, running_registry

V1 = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
V2 = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "long"},
  {"name": "note", "type": "string", "default": ""}]}
"""
BROKEN = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "long"},
  {"name": "note", "type": "string"}]}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@dataclass
class Tally:
    url: str
    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str, registry: str | None = None) -> Said:
        code = run(["schema", *arguments, "--registry", registry or self.url])
        out, err = self.capture.readouterr()
        return Said(code, out, err)


@pytest.fixture
def say(server: RunningRegistry, capsys: pytest.CaptureFixture[str]) -> Tally:
    return Tally(server.http, capsys)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("v1.avsc", V1), ("v2.avsc", V2), ("broken.avsc", BROKEN)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_register_list_and_get(say: Tally, files: Path) -> None:
    assert say("register", "flow", str(files / "v1.avsc")).out.startswith("flow version 1, id ")
    assert say("register", "flow", str(files / "v2.avsc"), "--output", "json").json["version"] == 2
    assert "flow" in say("list").out.splitlines()
    assert [row["version"] for row in say("list", "flow", "--output", "json").json] == [1, 2]
    assert say("get", "flow", "--version", "1").out == V1 + "\n"
    latest = say("get", "flow", "--output", "yaml")
    assert yaml.safe_load(latest.out)["schema"] == V2
    by_id = say("get", "--id", str(yaml.safe_load(latest.out)["id"]))
    assert by_id.out == V2 + "\n"


def test_a_refused_schema_ends_with_one_and_its_findings(say: Tally, files: Path) -> None:
    say("register", "refused", str(files / "v1.avsc"))
    said = say("register", "refused", str(files / "broken.avsc"), "--output", "json")
    assert said.code == 1
    error = said.json["error"]
    assert error["code"] == "incompatible-schema"
    assert error["findings"][0]["rule"] == "AVRO_FIELD_ADDED_NEEDS_DEFAULT"
    assert "AVRO_FIELD_ADDED_NEEDS_DEFAULT" in said.err


def test_what_is_not_there_ends_with_one(say: Tally) -> None:
    said = say("get", "nobody")
    assert (said.code, said.out) == (1, "")
    assert "nobody" in said.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("get",),
        ("get", "s", "--version", "none"),
        ("register", "s", "missing.avsc"),
        ("register", "s", __file__),
        ("config", "--strategy", "FULL", "--unset"),
        ("list", "--dialect", "klingon"),
    ],
)
def test_bad_input_ends_with_two(say: Tally, arguments: tuple[str, ...]) -> None:
    assert say(*arguments).code == 2


def test_a_reference_needs_its_three_parts(say: Tally, files: Path) -> None:
    assert say("register", "s", str(files / "v1.avsc"), "--reference", "Order=orders").code == 2


def test_a_registry_out_of_reach_ends_with_three_and_shows_no_password(
    say: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_ports(1)[0]
    said = say("list", registry=f"http://user:hidden@127.0.0.1:{port}")
    assert said.code == 3
    assert f"http://127.0.0.1:{port}" in said.err
    assert "hidden" not in said.out + said.err


def test_what_is_no_registry_ends_with_two(say: Tally, server: RunningRegistry) -> None:
    said = say("list", registry=f"{server.http}/elsewhere")
    assert said.code == 2
    assert "registry" in said.err


def test_references_are_given_by_subject_and_version(say: Tally, files: Path) -> None:
    say("register", ":.acme.refs:order", str(files / "v1.avsc"))
    (files / "parcel.avsc").write_text(
        '{"type": "record", "name": "Parcel", "fields": [{"name": "of", "type": "Order"}]}'
    )
    said = say(
        "register",
        "parcel",
        str(files / "parcel.avsc"),
        "--reference",
        "Order=:.acme.refs:order:1",
        "--output",
        "json",
    )
    assert said.code == 0, said.err
    assert said.json["references"] == [{"name": "Order", "subject": ":.acme.refs:order", "version": 1}]


def test_diff_of_versions_and_of_a_file(say: Tally, files: Path) -> None:
    say("register", "diffed", str(files / "v1.avsc"))
    say("register", "diffed", str(files / "v2.avsc"))
    text = say("diff", "diffed").out
    assert "Changes from diffed@1 to diffed@2" in text
    assert "`note`" in text
    assert "[breaks nothing]" in text
    changes = say("diff", "diffed", "1", str(files / "broken.avsc"), "--output", "json").json["changes"]
    assert [(change["kind"], "BACKWARD" in change["breaks"]) for change in changes] == [("added", True)]
    assert say("diff", "diffed", "2", "latest").out.startswith("No changes")


def test_diff_needs_something_to_compare_with(say: Tally, files: Path) -> None:
    say("register", "single", str(files / "v1.avsc"))
    assert say("diff", "single").code == 2


def test_config_and_mode(say: Tally) -> None:
    assert say("config", "configured").out.splitlines()[0] == "strategy: BACKWARD"
    assert say("config", "configured", "--strategy", "full", "--output", "json").json["strategy"] == "FULL"
    assert say("config", "configured", "--unset").out.splitlines()[0] == "strategy: BACKWARD"
    whole = ("--enforce", "warn", "--payload-validation", "half", "--no-auto-update", "--validation-enforced")
    assert say("config", "configured", *whole).out.splitlines()[-4:] == [
        "enforce: warn",
        "payloadValidation: half",
        "autoUpdate: false",
        "validationEnforced: true",
    ]
    assert "enforce" in say("config", "configured", "--enforce", "refuse", "--output", "json").json
    assert "enforce" not in say("config", "configured", "--unset").out
    assert say("config", "configured", "--enforce", "warn", "--dialect", "openschema").code == 1
    assert say("config", "topic", "--enforce", "warn", "--dialect", "pulsar").code == 1
    assert say("config", "topic", "--validation-enforced", "--dialect", "pulsar").code == 0
    assert "validationEnforced: true" in say("config", "topic").out
    assert say("mode", "configured", "--set", "READONLY").out == "READONLY\n"
    assert say("mode", "configured", "--unset").out == "READWRITE\n"
    assert say("mode", "configured", "--dialect", "openschema").code == 1


def test_delete_asks_first_and_permanent_goes_all_the_way(say: Tally, files: Path) -> None:
    say("register", "doomed", str(files / "v1.avsc"))
    say("register", "doomed", str(files / "v2.avsc"))
    refused = say("delete", "doomed")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert say("delete", "doomed", "--version", "1", "--yes").out == "deleted versions: 1\n"
    assert [row["version"] for row in say("list", "doomed", "--deleted", "--output", "json").json] == [1, 2]
    gone = say("delete", "doomed", "--permanent", "--yes", "--output", "json")
    assert gone.json == {"subject": "doomed", "deleted": [1, 2], "permanent": True}
    assert say("list", "doomed", "--deleted").code == 1


def test_the_registry_may_come_from_the_environment(
    server: RunningRegistry, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TALLY_REGISTRY", server.confluent)
    assert run(["schema", "config"]) == 0
    assert capsys.readouterr().out == "strategy: BACKWARD\n"


@pytest.fixture(params=["confluent", "openschema", "pulsar"])
def client(request: pytest.FixtureRequest, server: RunningRegistry) -> Iterator[RegistryClient]:
    with RegistryClient(server.http, request.param) as opened:
        yield opened


def test_check_against_a_registry(client: RegistryClient, files: Path) -> None:
    subject = f"checked-{client.dialect}"
    client.register(subject, SchemaDefinition(AVRO, V1))
    client.register(subject, SchemaDefinition(AVRO, V2))
    client.set_strategy(subject, Strategy.FULL_TRANSITIVE)
    report = evaluate(client, subject, [str(files / "broken.avsc")], None, Options())
    assert report.strategy is Strategy.FULL_TRANSITIVE
    assert (report.findings[0].rule, report.findings[0].version) == ("AVRO_FIELD_ADDED_NEEDS_DEFAULT", 1)
    assert [version.number for version in report.compared] == [1, 2]
    assert evaluate(client, subject, [str(files / "v2.avsc")], None, Options()).fits
    assert evaluate(client, subject, [str(files / "broken.avsc")], Strategy.ALWAYS_COMPATIBLE, Options()).fits


def test_check_follows_the_policy_that_the_subject_has(server: RunningRegistry, tmp_path: Path) -> None:
    old, new = '{"type": "object"}', '{"type": "object", "properties": {"age": {"type": "integer"}}}'
    (tmp_path / "new.json").write_text(new)
    with RegistryClient(server.confluent) as client:
        client.register("people", SchemaDefinition(JSON_SCHEMA, old))
        strict = evaluate(client, "people", [str(tmp_path / "new.json")], None, None)
        assert [finding.rule for finding in strict.findings] == ["JSON_SCHEMA_PROPERTY_ADDED_TO_OPEN_OBJECT"]
        registry = client.registry
        assert isinstance(registry, ConfluentRegistry)
        registry.put_config("people", {"compatibilityPolicy": "LENIENT"})
        assert evaluate(client, "people", [str(tmp_path / "new.json")], None, None).fits


def test_check_takes_the_type_and_the_references_of_the_latest_version(server: RunningRegistry, tmp_path: Path) -> None:
    (tmp_path / "parcel.avsc").write_text(
        '{"type": "record", "name": "Parcel", "fields": [{"name": "of", "type": "Order"},'
        ' {"name": "kg", "type": "int", "default": 0}]}'
    )
    (tmp_path / "pulsar.json").write_text(V2)
    with RegistryClient(server.confluent) as client:
        client.register("base", SchemaDefinition(AVRO, V1))
        text = '{"type": "record", "name": "Parcel", "fields": [{"name": "of", "type": "Order"}]}'
        client.register("base-parcel", SchemaDefinition(AVRO, text, (Reference("Order", "base", 1),)))
        assert evaluate(client, "base-parcel", [str(tmp_path / "parcel.avsc")], None, None).fits
    with RegistryClient(server.http, "pulsar") as client:
        client.register("json-topic", SchemaDefinition(PULSAR_JSON, V1))
        assert evaluate(client, "json-topic", [str(tmp_path / "pulsar.json")], None, None).fits


def test_check_of_a_new_subject_takes_every_schema(client: RegistryClient, files: Path) -> None:
    report = evaluate(client, "not-there-yet", [str(files / "v1.avsc")], None, Options())
    assert report.fits
    assert report.history == ()


def test_the_id_of_the_registry_s_own_refusal_is_no_rule() -> None:
    assert run(["rules", REFUSED_BY_REGISTRY]) == 2


def test_credentials_come_from_the_environment_or_the_url(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    administers = [{"role": "administer"}]
    accounts = {
        "users": {
            "ann": {"password": hashed("s3cret of ann"), "roles": administers},
            "bob": {"password": hashed("s3cret-of-bob"), "roles": [{"role": "read"}]},
        },
        "tokens": {"ci": {"secret": hashed("s3cret-of-ci"), "roles": administers}},
    }
    (tmp_path / "accounts.yaml").write_text(yaml.safe_dump(accounts))
    (tmp_path / "v1.avsc").write_text(V1)
    register = ["schema", "register", "orders", str(tmp_path / "v1.avsc"), "--registry"]
    with running_registry(tmp_path / "data", security=tmp_path / "accounts.yaml") as secure:
        assert run([*register, secure.http]) == 1
        assert "TALLY_REGISTRY_TOKEN" in capsys.readouterr().err
        assert run([*register, secure.http.replace("//", "//bob:s3cret-of-bob@")]) == 1
        assert run([*register, secure.http.replace("//", "//ann:s3cret%20of%20ann@")]) == 0
        with monkeypatch.context() as environment:
            environment.setenv("TALLY_REGISTRY_USER", "ann")
            environment.setenv("TALLY_REGISTRY_PASSWORD", "s3cret of ann")
            assert run([*register, secure.http]) == 0
        monkeypatch.setenv("TALLY_REGISTRY_TOKEN", "ci.s3cret-of-ci")
        assert run([*register, secure.confluent]) == 0
        monkeypatch.setenv("TALLY_REGISTRY_TOKEN", "ci.s3cret-of-nobody")
        assert run([*register, secure.confluent]) == 1
    said = capsys.readouterr()
    assert "s3cret" not in said.out + said.err
