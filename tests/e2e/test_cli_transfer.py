"""`tally schema import` and `export`: whole registries, between real servers."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick.cli.main import run
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF
from tallystick.model.settings import Mode
from tallystick.model.strategy import Strategy
from tallystick.model.subject import subject_of
from tallystick.rest import RegistryClient
from tallystick.rest.confluent import ConfluentRegistry
from tallystick.rest.transfer import reading
from tallystick.rest.transfer.snapshot import Snapshot
from tests.apicurio import running_apicurio
from tests.servers import RunningRegistry, running_registry

ORDER = SchemaDefinition(AVRO, '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}')
NOTED = SchemaDefinition(
    AVRO,
    '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"},'
    ' {"name": "note", "type": "string", "default": "\\u00e9\\u0020 {}"}]}',
)
PARCEL = SchemaDefinition(
    AVRO,
    '{"type": "record", "name": "Parcel",\n  "fields": [{"name": "of", "type": "Order"}]}\n',
    (Reference("Order", "orders-value", 1),),
    metadata='{"properties":{"owner":"shop"}}',
)
PERSON = SchemaDefinition(
    JSON_SCHEMA, '{"type":"object","properties":{"age":{"type":"number","maximum":1.50}},"required":[]}'
)
MONEY = SchemaDefinition(PROTOBUF, 'syntax = "proto3";\npackage shop;\n\nmessage Money {\n  int64 cents = 1;\n}\n')
INVOICE = SchemaDefinition(
    PROTOBUF,
    'syntax = "proto3";\nimport "money.proto";\nmessage Invoice {\n  shop.Money sum = 1;\n}\n',
    (Reference("money.proto", "aaa-money", 1),),
)


def fill(url: str) -> None:
    """Something of everything: deleted versions, contexts, references across them, settings, modes, an alias."""
    with RegistryClient(url, "confluent") as client:
        client.register("orders-value", ORDER)
        client.register("orders-value", NOTED)
        client.register("zz-parcels", PARCEL)
        client.register("people", PERSON)
        client.register("invoices-dep", SchemaDefinition(AVRO, '"string"'))
        client.register("aaa-money", MONEY)
        client.register("a-first invoices/eu", INVOICE)
        client.register(":.shop.eu:orders", ORDER)
        far = SchemaDefinition(AVRO, PARCEL.text, (Reference("Order", ":.:orders-value", 1),))
        client.register(":.shop.eu:parcels", far)
        client.register("Gone", ORDER)
        client.register("gone", NOTED)
        client.delete_subject("Gone")
        client.delete_version("orders-value", 2)
        client.register("orders-value", NOTED)
        client.set_strategy("people", Strategy.FULL_TRANSITIVE)
        client.set_strategy(None, Strategy.FORWARD)
        client.set_mode("people", Mode.READONLY)
        confluent(client).put_config(":.shop.eu:", {"compatibility": "NONE"})
        confluent(client).put_config("old-orders", {"alias": "orders-value"})


def confluent(client: RegistryClient) -> ConfluentRegistry:
    registry = client.registry
    assert isinstance(registry, ConfluentRegistry)
    return registry


def snapshot(url: str) -> Snapshot:
    with RegistryClient(url, "confluent") as client:
        return reading.read(confluent(client))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("source")) as running:
        fill(running.confluent)
        yield running


@pytest.fixture
def target(tmp_path: Path) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path / "target") as running:
        yield running


def import_(source: str, target: str, *more: str) -> int:
    return run(["schema", "import", "--from", source, "--registry", target, "--output", "json", "--yes", *more])


def said(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_all_is_copied_and_a_second_run_does_nothing(
    source: RunningRegistry, target: RunningRegistry, capsys: pytest.CaptureFixture[str]
) -> None:
    assert import_(source.confluent, target.http) == 0
    first = said(capsys)
    assert (first["plan"]["clashes"], first["done"]["failures"]) == ([], [])
    assert first["done"]["registered"] == 12
    assert first["done"]["deleted"] == 2
    assert snapshot(target.confluent) == snapshot(source.confluent)
    assert import_(source.confluent, target.http) == 0
    again = said(capsys)
    assert again["plan"]["register"] == again["plan"]["delete"] == again["plan"]["settings"] == []
    assert again["done"] == {"registered": 0, "deleted": 0, "settings": 0, "failures": []}


def test_what_is_referred_to_comes_first(source: RunningRegistry, capsys: pytest.CaptureFixture[str]) -> None:
    run(["schema", "import", "--from", source.http, "--registry", source.http, "--namespace", "a/b", "--dry-run"])
    assert "to register" in capsys.readouterr().out
    arguments = ["--namespace", "a/b", "--dry-run", "--output", "json", "--registry", source.http]
    run(["schema", "import", "--from", source.http, *arguments])
    order = [(entry["subject"], entry["version"]) for entry in said(capsys)["plan"]["register"]]
    assert order.index((":.a.b:aaa-money", 1)) < order.index((":.a.b:a-first invoices/eu", 1))
    assert order.index((":.a.b:orders-value", 1)) < order.index((":.a.b:zz-parcels", 1))


def test_a_folder_holds_the_same(
    source: RunningRegistry, target: RunningRegistry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "export"
    assert run(["schema", "export", "--registry", source.http, str(folder)]) == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert run(["schema", "export", "--registry", source.http, str(folder)]) == 0
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    readable = (folder / "schemas/public/default/orders-value/1.avsc").read_text()
    assert readable.splitlines()[1] == '  "type": "record",'
    capsys.readouterr()
    assert import_(str(folder), target.http) == 0
    assert snapshot(target.confluent) == snapshot(source.confluent)


def test_a_clash_of_ids_stops_all_and_names_a_namespace(
    source: RunningRegistry, target: RunningRegistry, capsys: pytest.CaptureFixture[str]
) -> None:
    with RegistryClient(target.confluent) as client:
        client.register("here-before", SchemaDefinition(AVRO, '"long"'))
    assert run(["schema", "import", "--from", source.confluent, "--registry", target.http, "--yes"]) == 1
    text = capsys.readouterr().out
    assert "orders-value version 1 (id 1): id 1 belongs to another schema there, here-before version 1" in text
    assert "--namespace public/default=public/default-imported" in text
    assert [str(version) for version in snapshot(target.confluent).versions] == ["here-before version 1"]
    assert import_(source.confluent, target.http, "--namespace", "public/default=public/default-imported") == 0
    with RegistryClient(target.confluent) as client:
        moved = client.by_version(":.default-imported:zz-parcels")
        assert client.referenced(moved.definition, moved.subject.namespace)[moved.definition.references[0]] == ORDER
        far = client.by_version(":.shop.eu:parcels")
        assert far.definition.references == (Reference("Order", ":.default-imported:orders-value", 1),)
        assert client.config(":.default-imported:orders-value").strategy is Strategy.FORWARD
        assert client.config("here-before").strategy is Strategy.BACKWARD


def test_other_schemas_under_the_same_version_clash(
    source: RunningRegistry, target: RunningRegistry, capsys: pytest.CaptureFixture[str]
) -> None:
    with RegistryClient(target.confluent) as client:
        confluent(client).put_mode("people", "IMPORT")
        confluent(client).register(subject_of("people"), SchemaDefinition(AVRO, '"int"'), id_=900, version=1)
    assert import_(source.confluent, target.http) == 1
    reasons = [clash["reason"] for clash in said(capsys)["plan"]["clashes"]]
    assert reasons == ["the target has another schema as this version"]


def test_without_a_terminal_it_wants_yes(
    source: RunningRegistry, target: RunningRegistry, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["schema", "import", "--from", source.confluent, "--registry", target.http]) == 2
    assert "--yes" in capsys.readouterr().err
    assert snapshot(target.confluent).versions == ()


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_folder_that_is_no_export_is_bad_input(target: RunningRegistry, tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    assert run(["schema", "import", "--from", str(tmp_path / name), "--registry", target.http, "--yes"]) == 2


def test_export_leaves_other_folders_alone(source: RunningRegistry, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert run(["schema", "export", "--registry", source.http, str(tmp_path)]) == 2
    assert os.listdir(tmp_path) == ["mine.txt"]


def test_killed_in_the_middle_the_next_run_finishes(
    target: RunningRegistry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_registry(tmp_path / "source") as source:
        fill(source.confluent)
        with RegistryClient(source.confluent) as client:
            for number in range(40):
                client.register(
                    f"many-{number:03}", SchemaDefinition(AVRO, f'{{"type":"fixed","name":"F{number}","size":1}}')
                )
        wanted = snapshot(source.confluent)
        process = _import_process(source.confluent, target.http)
        try:
            _wait_until_some(target.confluent, process)
            process.send_signal(signal.SIGKILL)
        finally:
            process.kill()
            process.wait(30)
        there = snapshot(target.confluent)
        assert 0 < len(there.versions) < len(wanted.versions), "the kill came too late to mean anything"
        assert import_(source.confluent, target.http) == 0
        assert said(capsys)["plan"]["unchanged"] > 0
        assert snapshot(target.confluent) == wanted


def _import_process(source: str, target: str) -> "subprocess.Popen[bytes]":
    launch = "from tallystick.cli.main import main; main()"
    arguments = ["schema", "import", "--from", source, "--registry", target, "--yes"]
    return subprocess.Popen([sys.executable, "-c", launch, *arguments], stdout=subprocess.DEVNULL)


def _wait_until_some(url: str, process: "subprocess.Popen[bytes]", count: int = 6) -> None:
    with RegistryClient(url, "confluent") as client:
        limit = time.monotonic() + 30
        while time.monotonic() < limit and process.poll() is None:
            if len(list(client.subjects())) >= count:
                return
            time.sleep(0.002)
    raise AssertionError("the import did not get anywhere")


@pytest.mark.jvm
def test_from_a_foreign_registry(target: RunningRegistry, capsys: pytest.CaptureFixture[str]) -> None:
    with running_apicurio() as apicurio:
        with RegistryClient(apicurio.url) as client:
            assert client.dialect == "confluent"
            client.register("orders-value", ORDER)
            client.register("orders-value", NOTED)
            client.register("aa-parcels", SchemaDefinition(AVRO, PARCEL.text, PARCEL.references))
            client.register("money", MONEY)
            client.set_strategy("orders-value", Strategy.BACKWARD_TRANSITIVE)
            client.delete_version("orders-value", 2)
        wanted = snapshot(apicurio.url)
        assert import_(apicurio.url, target.http) == 0
        assert said(capsys)["done"]["registered"] == 4
        found = snapshot(target.confluent)
        assert found.versions == wanted.versions
        assert found.levels["orders-value"].config == {"compatibility": "BACKWARD_TRANSITIVE"}
        assert "money" not in found.levels
        with RegistryClient(target.http) as client:
            assert client.versions("orders-value") == [1]
            assert client.versions("orders-value", deleted=True) == [1, 2]
        assert import_(apicurio.url.replace("/apis/ccompat/v7", ""), target.http) == 0
        assert said(capsys)["done"]["registered"] == 0


def test_what_the_target_refuses_is_told_and_the_rest_is_copied(
    source: RunningRegistry, target: RunningRegistry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "export"
    assert run(["schema", "export", "--registry", source.http, str(folder)]) == 0
    (folder / "schemas/public/default/people/1.json").write_text('{"type": 7}')
    capsys.readouterr()
    assert import_(str(folder), target.http) == 1
    done = said(capsys)["done"]
    assert ([failure["what"] for failure in done["failures"]], done["registered"]) == (["people version 1"], 11)
    with RegistryClient(target.confluent) as client:
        assert client.mode("orders-value") is Mode.READWRITE
        assert client.mode("people") is Mode.READONLY


def test_a_target_that_goes_away_is_told_and_the_next_run_finishes(
    source: RunningRegistry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_registry(tmp_path / "target") as target:
        process = _import_process(source.confluent, target.http)
        try:
            _wait_until_some(target.confluent, process, 2)
        except BaseException:
            process.kill()
            raise
    assert process.wait(60) in (0, 3)
    with running_registry(tmp_path / "target") as target:
        assert import_(source.confluent, target.http) == 0
        assert said(capsys)["done"]["failures"] == []
        assert snapshot(target.confluent) == snapshot(source.confluent)
