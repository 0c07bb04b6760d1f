"""`tally topic produce`, `consume` and `schemas` with third-party registries, with security, on Pulsar and on Kafka."""

import json
from pathlib import Path

import pytest
import yaml

from tallystick.server.security import hashed
from tests.e2e.topics import FIRST, ORDERS, SECOND, Call, Folder, commands, messages, unused, values
from tests.integration.test_broker_security import tls_arguments
from tests.kafka.server import PASSWORD, USER, Kafka
from tests.pulsar.servers import Both, running_ours
from tests.servers import RunningRegistry, running_registry


def exchanged(tally: Call, folder: Folder, topic: str) -> list[int | None]:
    """Sends with two versions of a schema, and reads all of it; the schema ids that the messages carry."""
    noted = {**ORDERS[0], "note": "with care"}
    for schema, order in ((FIRST, ORDERS[0]), (SECOND, noted)):
        sent = tally("produce", topic, folder.lines(order), "--schema", folder.schema(schema), "--key-field", "id")
        assert sent.code == 0, sent.err
    latest = tally("produce", topic, folder.lines(noted), "--output", "json")
    assert latest.code == 0, latest.err
    assert latest.json["schema"]["version"] == 2
    bad = tally("produce", topic, folder.lines({"id": 1}))
    assert (bad.code, "AVRO_VALUE_TYPE_WRONG" in bad.err) == (1, True), bad.err
    shown = tally("consume", topic, "--output", "json")
    assert shown.code == 0, shown.err
    assert values(shown) == [ORDERS[0], noted, noted]
    assert [message.get("key") for message in messages(shown)] == ["a", "a", None]
    return [message.get("schema_id") for message in messages(shown)]


def test_a_registry_keeps_the_schemas_instead_of_the_cluster(
    server: RunningRegistry, capsys: pytest.CaptureFixture[str], folder: Folder
) -> None:
    topic = unused()
    tally = commands(capsys, "--cluster", server.pulsar, "--registry", server.http, "--timeout", "30")
    first, second, third = exchanged(tally, folder, topic)
    assert first != second == third
    rows = commands(capsys, "--registry", server.http)("schemas", topic, "--output", "json").json
    assert [(row["subject"], row["version"], row["type"]) for row in rows] == [
        (topic, 1, "EXTERNAL"),
        (f"{topic}-value", 1, "AVRO"),
        (f"{topic}-value", 2, "AVRO"),
    ]
    alone = commands(capsys, "--cluster", server.pulsar)
    said = alone("produce", topic, folder.lines(ORDERS[0]))
    assert (said.code, "give --registry URL" in said.err) == (2, True)


def test_ids_before_the_payload(server: RunningRegistry, capsys: pytest.CaptureFixture[str], folder: Folder) -> None:
    options = ["--registry", server.confluent, "--framing", "payload", "--timeout", "30"]
    tally, topic = commands(capsys, "--cluster", server.pulsar, *options), unused()
    first, second, _ = exchanged(tally, folder, topic)
    rows = commands(capsys, "--registry", server.confluent)("schemas", topic, "--output", "json").json
    assert [(row["subject"], row["id"]) for row in rows] == [(f"{topic}-value", first), (f"{topic}-value", second)]


JSON_SCHEMA = {"title": "Visit", "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def test_types_that_only_registries_keep(
    server: RunningRegistry, capsys: pytest.CaptureFixture[str], folder: Folder
) -> None:
    tally, topic = commands(capsys, "--cluster", server.pulsar, "--registry", server.http), unused()
    schema = folder.schema(JSON_SCHEMA, "visit.json")
    sent = tally("produce", topic, folder.lines({"n": 1}), "--schema", schema)
    assert sent.code == 0, sent.err
    bad = tally("produce", topic, folder.lines({"m": 1}))
    assert (bad.code, "JSON_SCHEMA" in bad.err, "rule" in bad.err) == (1, True, True)
    assert values(tally("consume", topic, "--output", "json")) == [{"n": 1}]


def test_who_we_are_comes_from_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    roles = {"admin": [{"role": "administer"}], "reader": [{"role": "consume", "on": "*"}]}
    tokens = {name: {"secret": hashed("s3cret"), "roles": granted} for name, granted in roles.items()}
    (tmp_path / "accounts.yaml").write_text(yaml.safe_dump({"tokens": tokens}))
    with running_registry(tmp_path / "data", security=tmp_path / "accounts.yaml", broker=True) as secure:
        tally = commands(capsys, "--cluster", secure.pulsar, "--timeout", "30")
        produce = ["produce", "orders", folder.lines(*ORDERS), "--schema", folder.schema(FIRST)]
        stranger = tally(*produce)
        assert (stranger.code, "TALLY_CLUSTER_TOKEN" in stranger.err) == (1, True)
        monkeypatch.setenv("TALLY_CLUSTER_TOKEN", "admin.s3cret")
        assert tally(*produce).code == 0
        monkeypatch.setenv("TALLY_CLUSTER_TOKEN", "reader.s3cret")
        assert tally(*produce).code == 1
        assert values(tally("consume", "orders", "--output", "json")) == ORDERS


def test_a_certificate_of_our_own_authority(tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: Folder) -> None:
    with running_ours(tmp_path / "data", *tls_arguments(tmp_path), tls=True) as secure:
        tally = commands(capsys, "--cluster", secure.service_url, "--timeout", "30")
        trusting = ["--ca", str(tmp_path / "ca.pem")]
        assert tally("produce", "t", folder.lines("a"), "--type", "string", *trusting).code == 0
        assert values(tally("consume", "t", "--output", "json", *trusting)) == ["a"]
        distrusting = tally("consume", "t")
    assert (distrusting.code, "with --ca whom to trust" in distrusting.err) == (1, True), distrusting.err


@pytest.mark.jvm
def test_on_a_real_pulsar(both: Both, capsys: pytest.CaptureFixture[str], folder: Folder) -> None:
    topic = unused()
    tally = commands(capsys, "--cluster", both.pulsar.service_url, "--timeout", "60")
    assert exchanged(tally, folder, topic) == [None, None, None]
    rows = commands(capsys, "--registry", both.pulsar.admin_url)("schemas", topic, "--output", "json").json
    assert [(row["version"], row["type"], row["record"]) for row in rows] == [
        (1, "AVRO", "shop.Order"),
        (2, "AVRO", "shop.Order"),
    ]
    assert all(row["created"].endswith("Z") for row in rows)


@pytest.mark.jvm
@pytest.mark.parametrize("framing", ["transport", "header"])
def test_on_a_real_kafka(
    server: RunningRegistry, kafka: Kafka, capsys: pytest.CaptureFixture[str], folder: Folder, framing: str
) -> None:
    topic = unused()
    cluster = ["--cluster", f"kafka://{kafka.servers}", "--timeout", "60"]
    tally = commands(capsys, *cluster, "--registry", server.confluent, "--framing", framing)
    first, second, _ = exchanged(tally, folder, topic)
    rows = commands(capsys, "--registry", server.confluent)("schemas", topic, "--output", "json").json
    assert [(row["subject"], row["id"]) for row in rows] == [(f"{topic}-value", first), (f"{topic}-value", second)]
    [_, middle, _] = messages(tally("consume", topic, "--output", "json"))
    later = tally("consume", topic, "--from", middle["position"], "--output", "json")
    assert [message["position"] for message in messages(later)] == ["0:1", "0:2"]
    group = tally("consume", topic, "--subscription", "g", "--count", "1", "--output", "json")
    rest = tally("consume", topic, "--subscription", "g", "--output", "json")
    assert values(group) + values(rest) == values(tally("consume", topic, "--output", "json"))


@pytest.mark.jvm
def test_plain_lines_on_kafka_with_a_password(
    kafka: Kafka, capsys: pytest.CaptureFixture[str], folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TALLY_REGISTRY", raising=False)
    monkeypatch.setenv("TALLY_CLUSTER", f"kafka://{kafka.sasl_servers}")
    monkeypatch.setenv("TALLY_CLUSTER_USER", USER)
    monkeypatch.setenv("TALLY_CLUSTER_PASSWORD", PASSWORD)
    topic, tally = unused(), commands(capsys, "--timeout", "60", "--option", "socket.keepalive.enable=true")
    sent = tally("produce", topic, folder.lines("one", json.dumps({"two": 2})), "--type", "string")
    assert sent.code == 0, sent.err
    assert values(tally("consume", topic, "--output", "json")) == ["one", '{"two": 2}']
    said = tally("produce", topic, folder.lines(*ORDERS), "--schema", folder.schema(FIRST))
    assert (said.code, "give --registry URL" in said.err) == (2, True)
    monkeypatch.setenv("TALLY_CLUSTER_PASSWORD", "wrong")
    said = tally("consume", topic)
    assert (said.code, "TALLY_CLUSTER_PASSWORD" in said.err) == (1, True), said.err
