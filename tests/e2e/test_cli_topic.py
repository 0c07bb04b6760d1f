"""`tally topic` against a real server, with a real Pulsar client beside it."""

from collections.abc import Callable, Iterator

import pulsar
import pytest
import yaml

from tallystick.cli.main import run
from tests.e2e.said import Said
from tests.ports import free_port
from tests.servers import RunningRegistry, running_registry

QUIET = pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("data"), broker=True) as running:
        yield running


Tally = Callable[..., Said]


@pytest.fixture
def tally(server: RunningRegistry, capsys: pytest.CaptureFixture[str]) -> Tally:
    def call(*arguments: str, registry: str = server.http) -> Said:
        code = run(["topic", *arguments, "--registry", registry])
        return Said(code, *capsys.readouterr())

    return call


def send(server: RunningRegistry, topic: str, *texts: str) -> list[pulsar.MessageId]:
    client = pulsar.Client(server.pulsar, logger=QUIET)
    try:
        producer = client.create_producer(topic, batching_enabled=False)
        return [producer.send(text.encode()) for text in texts]
    finally:
        client.close()


def received(server: RunningRegistry, topic: str, subscription: str, count: int) -> list[str]:
    client = pulsar.Client(server.pulsar, logger=QUIET)
    try:
        consumer = client.subscribe(topic, subscription, initial_position=pulsar.InitialPosition.Earliest)
        taken = []
        for _ in range(count):
            message = consumer.receive(5000)
            consumer.acknowledge(message)
            taken.append(message.data().decode())
        return taken
    finally:
        client.close()


def test_topics_from_birth_to_death(tally: Tally) -> None:
    assert tally("create", "plain").out == "created plain\n"
    assert tally("create", "parted", "--partitions", "2", "--property", "owner=shop").code == 0
    assert tally("list").out == (
        "persistent://public/default/parted  2 partitions\npersistent://public/default/plain\n"
    )
    assert tally("partitions", "parted", "--to", "3").out == "3\n"
    assert tally("list", "--output", "json").json == [
        {"topic": "persistent://public/default/parted", "partitions": 3},
        {"topic": "persistent://public/default/plain", "partitions": 0},
    ]
    for name in ("plain", "persistent://public/default/parted"):
        assert tally("delete", name, "--yes").code == 0
    assert tally("list").out == ""


def test_a_topic_that_exists_is_a_refusal(tally: Tally) -> None:
    tally("create", "there")
    again = tally("create", "there", "--output", "json")
    assert (again.code, again.json["error"]["code"]) == (1, "already-exists")
    assert "This topic already exists" in again.err


def test_a_delete_wants_to_be_confirmed(tally: Tally) -> None:
    tally("create", "asked")
    refused = tally("delete", "asked")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert tally("partitions", "asked").out == "0\n"


def test_stats_for_people_and_for_programs(server: RunningRegistry, tally: Tally) -> None:
    received(server, "counted", "s", 0)
    send(server, "counted", "a", "b")
    lines = tally("stats", "counted").out.splitlines()
    assert lines[0].startswith("in         2 messages, ")
    assert lines[-1] == "s: Exclusive, 2 entries behind, 0 not acknowledged"
    found = yaml.safe_load(tally("stats", "counted", "--output", "yaml").out)
    assert found["subscriptions"]["s"]["msgBacklog"] == 2


def test_a_subscription_is_moved_and_deleted(server: RunningRegistry, tally: Tally) -> None:
    received(server, "moved", "s", 0)
    ids = send(server, "moved", "a", "b", "c")
    assert tally("subscriptions", "moved").out == "s\n"
    assert tally("skip", "moved", "s", "--count", "2").out == "skipped 2 entries\n"
    assert received(server, "moved", "s", 1) == ["c"]
    assert tally("reset", "moved", "s", "--to", "earliest").code == 0
    assert received(server, "moved", "s", 3) == ["a", "b", "c"]
    assert tally("reset", "moved", "s", "--to", f"{ids[1].ledger_id()}:{ids[1].entry_id()}").code == 0
    assert received(server, "moved", "s", 2) == ["b", "c"]
    assert tally("reset", "moved", "s", "--to", "1h").code == 0
    assert received(server, "moved", "s", 3) == ["a", "b", "c"]
    tally("reset", "moved", "s", "--to", "earliest")
    assert tally("reset", "moved", "s", "--to", "latest").code == 0
    assert tally("stats", "moved", "--output", "json").json["subscriptions"]["s"]["msgBacklog"] == 0
    assert tally("unsubscribe", "moved", "s").code == 0
    assert tally("subscriptions", "moved").out == ""


def test_a_subscription_in_use_is_a_refusal(server: RunningRegistry, tally: Tally) -> None:
    client = pulsar.Client(server.pulsar, logger=QUIET)
    try:
        client.subscribe("busy", "s")
        refused = tally("unsubscribe", "busy", "s")
        assert (refused.code, "active connected consumers" in refused.err) == (1, True)
        assert tally("unsubscribe", "busy", "s", "--force").code == 0
    finally:
        client.close()


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["stats", "nobody"], 1, "Topic persistent://public/default/nobody not found"),
        (["list", "public/nowhere"], 1, "Namespace does not exist"),
        (["create", "a//b"], 2, "no name of a tenant or namespace"),
        (["create", "non-persistent://public/default/x"], 2, "is none; write TOPIC"),
        (["skip", "t", "s"], 2, "--count"),
        (["reset", "t", "s", "--to", "yesterday"], 2, "no place in a topic"),
        (["create", "t", "--property", "nothing"], 2, "NAME=VALUE"),
        (["list", "--dialect", "confluent"], 2, "leave out --dialect"),
    ],
)
def test_what_cannot_be_done_says_why(tally: Tally, arguments: list[str], code: int, told: str) -> None:
    said = tally(*arguments)
    assert (said.code, told in said.err) == (code, True), said.err


def test_nobody_there_is_out_of_reach(tally: Tally) -> None:
    said = tally("list", "--timeout", "1", registry=f"http://127.0.0.1:{free_port()}")
    assert said.code == 3


def test_a_server_without_a_broker_says_so(tally: Tally, tmp_path_factory: pytest.TempPathFactory) -> None:
    with running_registry(tmp_path_factory.mktemp("alone")) as alone:
        said = tally("list", registry=alone.http)
    assert (said.code, "without a broker" in said.err) == (1, True)
