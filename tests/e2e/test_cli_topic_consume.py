"""`tally topic consume` and `schemas` against the embedded broker."""

import json

import yaml

from tallystick.connect.client import Client
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO
from tallystick.serde.native import NativeSchema
from tallystick.serde.schema import EncodeData
from tests.e2e.topics import FIRST, ORDERS, SECOND, Call, Folder, consumed, messages, unused, values
from tests.servers import RunningRegistry


def test_messages_for_people(tally: Call, topic: str) -> None:
    shown = tally("consume", topic, "--count", "1").out.splitlines()
    assert shown[0].startswith(f"{topic} ")
    assert "  v1  key=a  published=" in shown[0]
    assert shown[1:] == ['  {"id": "a", "amount": "12.50", "placed": "2026-01-31T12:00:00.250Z"}']


def test_values_alone_can_be_sent_again(tally: Call, topic: str, folder: Folder) -> None:
    shown = consumed(tally, topic, "--show", "value").out
    assert [json.loads(line) for line in shown.splitlines()] == ORDERS
    copy = unused()
    lines = folder.lines(*shown.splitlines(), name="copy.ndjson")
    assert tally("produce", copy, lines, "--schema", folder.schema(FIRST)).code == 0
    assert values(consumed(tally, copy)) == ORDERS


def test_everything_that_is_known_of_a_message(tally: Call, topic: str) -> None:
    said = tally("consume", topic, "--show", "all", "--output", "yaml", "--count", "2")
    first, second = yaml.safe_load_all(said.out)
    assert (first["record"], first["sequence_id"], second["sequence_id"]) == ("shop.Order", 0, 1)
    assert {"producer", "redeliveries", "bytes"} <= first.keys()


class _Broken(NativeSchema[bytes]):
    """Says that it is Avro, and is not."""

    def encode(self, topic: str, value: bytes) -> EncodeData:
        return EncodeData(value)


def test_a_message_that_cannot_be_read_is_shown_and_does_not_end_it(
    server: RunningRegistry, tally: Call, topic: str
) -> None:
    broken = _Broken(SchemaDefinition(AVRO, json.dumps(FIRST)))
    with Client(server.pulsar) as client, client.producer(topic, broken) as producer:
        producer.send(b"\xff", key="broken")
    said = tally("consume", topic, "--output", "json")
    *good, bad = messages(said)
    assert (said.code, len(good)) == (1, 3)
    assert said.err == "4 messages, 1 of them cannot be read\n"
    assert (bad["error"]["code"], bad["payload_base64"], bad["key"]) == ("invalid-record", "/w==", "broken")
    assert bad["error"]["findings"][0]["rule"].startswith("AVRO_PAYLOAD")
    text = tally("consume", topic, "--show", "value").out.splitlines()
    assert "key=broken" in text[3]
    assert text[4].startswith("  ✗ ")
    assert [line.split()[0] for line in text[5:]] == ["fix", "rule"]


def test_a_subscription_keeps_its_place(tally: Call, topic: str) -> None:
    first = consumed(tally, topic, "--subscription", "s", "--count", "2")
    second = consumed(tally, topic, "--subscription", "s")
    assert values(first) == ORDERS[:2]
    assert values(second) == ORDERS[2:]


def test_a_subscription_that_has_read_all_ends_by_the_time_out(tally: Call, topic: str) -> None:
    assert len(values(consumed(tally, topic, "--subscription", "s"))) == 3
    assert consumed(tally, topic, "--subscription", "s", "--timeout", "0.5").err == "0 messages\n"


def test_where_reading_begins(tally: Call, topic: str) -> None:
    second = messages(consumed(tally, topic))[1]
    assert values(consumed(tally, topic, "--from", second["position"])) == ORDERS[1:]
    assert values(consumed(tally, topic, "--from", "1h")) == ORDERS
    assert values(consumed(tally, topic, "--from", "2026-01-01T00:00:00")) == ORDERS
    said = tally("consume", topic, "--from", "latest")
    assert (said.code, "--follow" in said.err) == (2, True)
    said = tally("consume", topic, "--from", second["position"], "--subscription", "s")
    assert (said.code, "tally topic reset" in said.err) == (2, True)


def test_topics_one_after_the_other_and_partitions_all_together(tally: Call, admin: Call, folder: Folder) -> None:
    whole, parted = unused("whole"), unused("parted")
    assert admin("create", parted, "--partitions", "3").code == 0
    lines = folder.lines(*[{**ORDERS[0], "id": f"id-{number}"} for number in range(30)])
    for topic in (whole, parted):
        assert tally("produce", topic, lines, "--schema", folder.schema(FIRST), "--key-field", "id").code == 0
    shown = messages(consumed(tally, whole, parted))
    assert [message["topic"] for message in shown] == [whole] * 30 + [parted] * 30
    found = {message["key"] for message in shown[30:]}
    assert found == {f"id-{number}" for number in range(30)}
    of_one = [message for message in shown if message["position"].split(":")[2] == "1"]
    assert messages(consumed(tally, parted, "--from", of_one[1]["position"])) == [*of_one[1:]]
    assert len(messages(consumed(tally, whole, parted, "--count", "40"))) == 40


def test_an_empty_topic_has_nothing_to_wait_for(tally: Call, admin: Call) -> None:
    topic = unused()
    assert admin("create", topic).code == 0
    assert consumed(tally, topic).err == "0 messages\n"


def test_the_versions_of_a_topics_schema(tally: Call, admin: Call, topic: str, folder: Folder) -> None:
    tally("produce", topic, folder.lines(ORDERS[0]), "--schema", folder.schema(SECOND))
    rows = admin("schemas", topic, "--output", "json").json
    assert [(row["subject"], row["version"], row["type"], row["record"]) for row in rows] == [
        (topic, 1, "AVRO", "shop.Order"),
        (topic, 2, "AVRO", "shop.Order"),
    ]
    assert all(row["id"] and row["guid"] and row["created"].endswith("Z") for row in rows)
    assert rows == admin("schemas", f"persistent://public/default/{topic}", "--output", "json").json
    for_people = admin("schemas", topic).out.splitlines()
    assert for_people[1] == f"   2  AVRO  shop.Order  id {rows[1]['id']}  {rows[1]['created']}"
    by_admin_api = admin("schemas", topic, "--dialect", "pulsar", "--output", "json").json
    assert by_admin_api == [{n: v for n, v in row.items() if n not in ("id", "guid")} for row in rows]


def test_types_that_other_registries_lack_are_listed_too(tally: Call, admin: Call, folder: Folder) -> None:
    topic = unused()
    tally("produce", topic, folder.lines("a"), "--type", "string")
    [row] = admin("schemas", topic, "--output", "json").json
    assert (row["version"], row["type"]) == (1, "STRING")


def test_a_topic_without_schemas_is_not_there(admin: Call) -> None:
    said = admin("schemas", "nobody")
    assert (said.code, "nobody has no schemas" in said.err) == (1, True)
