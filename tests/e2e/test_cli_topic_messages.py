"""`tally topic produce` against the embedded broker."""

import io
import json
import sys
from typing import Any

import pytest

from tallystick.connect.client import Client
from tallystick.serde.key_value import KeyValueSchema
from tallystick.serde.primitive import INT32, STRING
from tests.e2e.topics import FIRST, ORDERS, OTHER, SECOND, Call, Folder, commands, consumed, messages, unused, values
from tests.ports import free_port
from tests.servers import RunningRegistry


def test_lines_of_a_file_become_messages_of_their_schema(tally: Call, folder: Folder) -> None:
    topic = unused()
    sent = tally("produce", topic, folder.lines(*ORDERS), "--schema", folder.schema(FIRST), "--key-field", "id")
    first, last = sent.out.splitlines()
    assert first.startswith(f"3 messages sent to {topic} in ")
    assert last == "schema AVRO shop.Order, version 1"
    shown = consumed(tally, topic)
    assert values(shown) == ORDERS
    assert [(m["key"], m["version"], m["schema_type"]) for m in messages(shown)] == [
        ("a", 1, "AVRO"),
        ("b", 1, "AVRO"),
        ("c", 1, "AVRO"),
    ]
    assert all(m["published"].endswith("Z") and m["position"].count(":") == 3 for m in messages(shown))
    assert shown.err == "3 messages\n"


def test_the_topics_latest_schema_is_the_default(tally: Call, topic: str, folder: Folder) -> None:
    noted = {**ORDERS[0], "note": "with care"}
    assert tally("produce", topic, folder.lines(noted), "--schema", folder.schema(SECOND)).code == 0
    sent = tally("produce", topic, folder.lines(noted, ORDERS[1]), "--output", "json").json
    assert (sent["sent"], sent["schema"]) == (2, {"type": "AVRO", "record": "shop.Order", "version": 2})
    shown = consumed(tally, topic)
    assert [message["version"] for message in messages(shown)] == [1, 1, 1, 2, 2, 2]
    assert [value.get("note", "-") for value in values(shown)] == ["-", "-", "-", "with care", "with care", None]


def test_a_schema_that_the_topic_refuses_is_told_with_its_findings(tally: Call, topic: str, folder: Folder) -> None:
    said = tally("produce", topic, folder.lines({"id": 1}), "--schema", folder.schema(OTHER), "--output", "json")
    assert (said.code, said.json["error"]["code"]) == (1, "incompatible-schema")
    rules = {finding["rule"] for finding in said.json["error"]["findings"]}
    assert "AVRO_TYPE_CHANGED" in rules
    assert "fix" in said.err


def test_a_topic_without_a_schema_says_how(tally: Call, folder: Folder) -> None:
    said = tally("produce", unused(), folder.lines(*ORDERS))
    assert (said.code, said.out) == (2, "")
    assert "--schema FILE" in said.err
    assert "--type string" in said.err


BAD = {"id": "c", "amount": 1, "placed": "later", "extra": [1]}


def test_a_bad_line_stops_the_run_and_is_explained(tally: Call, folder: Folder) -> None:
    topic, file = unused(), folder.lines(*ORDERS[:2], "", BAD, ORDERS[2])
    said = tally("produce", topic, file, "--schema", folder.schema(FIRST))
    assert said.code == 1
    assert said.out.splitlines()[1] == "stopped at line 4: nothing after it was sent"
    assert said.err.splitlines() == [
        f"{file}:4:26: 'later' (str) is not of type timestamp-millis on long (at /placed)",
        '  fix     write a time of ISO 8601, such as "2026-01-31T12:00:00.250Z", or the number underneath',
        "  rule    AVRO_VALUE_TYPE_WRONG",
        f"{file}:4:45: record `shop.Order` has no field `extra`, so its value would be lost (at /extra)",
        "  fix     remove `extra`, or add it to the schema",
        "  rule    AVRO_VALUE_FIELD_UNKNOWN",
    ]
    assert values(consumed(tally, topic)) == ORDERS[:2]


def test_bad_lines_can_be_left_out(tally: Call, folder: Folder) -> None:
    topic = unused()
    file = folder.lines(ORDERS[0], "{", "null", BAD, ORDERS[1], {**ORDERS[2], "id": None})
    said = tally(
        "produce", topic, file, "--schema", folder.schema(FIRST), "--key-field", "id", "--on-error", "skip",
        "--output", "json",
    )  # fmt: skip
    assert (said.code, said.json["sent"], said.json["failed"]) == (1, 2, 4)
    found = [(bad["line"], [finding["rule"] for finding in bad["findings"]]) for bad in said.json["bad_lines"]]
    assert found == [
        (2, ["TOPIC_LINE_NOT_JSON"]),
        (3, ["TOPIC_LINE_NULL"]),
        (4, ["AVRO_VALUE_TYPE_WRONG", "AVRO_VALUE_FIELD_UNKNOWN"]),
        (6, ["TOPIC_LINE_WITHOUT_KEY"]),
    ]
    assert values(consumed(tally, topic)) == ORDERS[:2]


def test_what_the_broker_refuses_is_told_by_its_line(tally: Call, folder: Folder) -> None:
    topic, large = unused(), "x" * 6_000_000
    said = tally("produce", topic, folder.lines("a", large, "b"), "--type", "string", "--on-error", "skip")
    assert (said.code, said.out.splitlines()[1]) == (1, "1 line left out")
    assert f"{folder.path / 'orders.ndjson'}:2:1: the message has 6" in said.err
    assert values(consumed(tally, topic)) == ["a", "b"]


def test_standard_input_and_a_limit(tally: Call, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(json.dumps(order) + "\n" for order in ORDERS).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    topic = unused()
    assert tally("produce", topic, "--schema", folder.schema(FIRST), "--limit", "2").code == 0
    assert values(consumed(tally, topic)) == ORDERS[:2]


def test_lines_as_they_are(tally: Call, folder: Folder) -> None:
    texts, raw = unused("texts"), unused("raw")
    assert tally("produce", texts, folder.lines("one", "", '{"x": 1}'), "--type", "string").code == 0
    shown = consumed(tally, texts)
    assert values(shown) == ["one", "", '{"x": 1}']
    assert messages(shown)[0]["schema_type"] == "STRING"
    (folder.path / "raw").write_bytes(b"plain\n\xff\x00\n")
    assert tally("produce", raw, str(folder.path / "raw"), "--type", "bytes", "--property", "from=here").code == 0
    plain, binary = messages(consumed(tally, raw))
    assert (plain["value"], binary["value_base64"], "version" in plain) == ("plain", "/wA=", False)
    assert plain["properties"] == {"from": "here"}


PROTO = 'syntax = "proto3"; package shop; message Paid { int64 cents = 1; bytes proof = 2; }'


@pytest.mark.parametrize(
    ("name", "schema", "kind", "line", "shown"),
    [
        ("paid.proto", PROTO, None, {"cents": "125", "proof": "AAEC"}, {"cents": 125, "proof": "AAEC"}),
        ("order.avsc", json.dumps(FIRST), "pulsar-json", ORDERS[0], ORDERS[0]),
    ],
)
def test_every_kind_of_schema(
    tally: Call, folder: Folder, name: str, schema: str, kind: str | None, line: Any, shown: Any
) -> None:
    (folder.path / name).write_text(schema)
    topic, given = unused(), [] if kind is None else ["--type", kind]
    sent = tally("produce", topic, folder.lines(line), "--schema", str(folder.path / name), *given)
    assert sent.code == 0, sent.err
    assert tally("produce", topic, folder.lines(line)).code == 0
    assert values(consumed(tally, topic)) == [shown, shown]


def test_types_without_a_text(tally: Call, folder: Folder) -> None:
    topic = unused()
    assert tally("produce", topic, folder.lines("1", "-2"), "--type", "int32").code == 0
    assert tally("produce", topic, folder.lines("3", "4e9", "5")).code == 1
    assert values(consumed(tally, topic)) == [1, -2, 3]


def test_pairs_of_key_and_value(server: RunningRegistry, tally: Call, folder: Folder) -> None:
    topic = unused()
    with Client(server.pulsar) as client, client.producer(topic, KeyValueSchema(STRING, INT32)) as producer:
        producer.send(("a", 1))
    assert tally("produce", topic, folder.lines({"key": "b", "value": 2})).code == 0
    bad = tally("produce", topic, folder.lines({"key": "b", "value": "x"}))
    assert (bad.code, "INT32 takes an integer" in bad.err) == (1, True)
    assert values(consumed(tally, topic)) == [{"key": "a", "value": 1}, {"key": "b", "value": 2}]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["produce", "t", "missing.ndjson"], "there is no such file"),
        (["produce", "t", "LINES", "--type", "avro"], "--schema FILE"),
        (["produce", "t", "LINES", "--schema", "JSON"], "Pulsar keeps no JSON Schema"),
        (["produce", "t", "LINES", "--type", "nonsense"], "schema type 'NONSENSE' is not known"),
        (["produce", "t", "LINES", "--type", "string", "--key-field", "id"], "leave out --key-field"),
        (["produce", "t", "LINES", "--type", "string", "--property", "x"], "NAME=VALUE"),
        (["produce", "t", "LINES", "--schema", "SCHEMA", "--framing", "payload"], "give --registry URL"),
        (["produce", "t", "LINES", "--type", "string", "--option", "a=b"], "Kafka's client library"),
        (["produce", "a//b", "LINES", "--type", "string"], "no name of a tenant or namespace"),
        (["consume", "t", "--from", "whenever"], "is no place in a topic"),
        (["consume", "t", "u", "--from", "1:2"], "name one TOPIC"),
        (["consume", "t", "--framing", "header"], "only Kafka's messages have headers"),
    ],
)
def test_what_cannot_be_done_says_why(
    tally: Call, folder: Folder, monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    monkeypatch.delenv("TALLY_REGISTRY", raising=False)
    files = {"LINES": folder.lines(*ORDERS), "SCHEMA": folder.schema(FIRST), "JSON": folder.schema({}, "any.json")}
    said = tally(*(files.get(argument, argument) for argument in arguments))
    assert (said.code in (1, 2), told in said.err) == (True, True), said.err


def test_nobody_there_is_out_of_reach(capsys: pytest.CaptureFixture[str], folder: Folder) -> None:
    nobody = commands(capsys, "--cluster", f"pulsar://127.0.0.1:{free_port()}", "--timeout", "1")
    for said in (nobody("produce", "t", folder.lines("a"), "--type", "string"), nobody("consume", "t")):
        assert said.code == 3
        assert "check the URL, and that the cluster runs" in said.err


def test_the_cluster_by_the_environment(
    server: RunningRegistry, capsys: pytest.CaptureFixture[str], folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TALLY_CLUSTER", server.pulsar)
    monkeypatch.setenv("TALLY_REGISTRY", server.http)
    topic, tally = unused(), commands(capsys)
    sent = tally("produce", topic, folder.lines(*ORDERS), "--schema", folder.schema(FIRST))
    assert sent.out.splitlines()[-1] == "schema AVRO shop.Order, version 1"
    assert [row["subject"] for row in tally("schemas", topic, "--output", "json").json] == [topic]
    assert values(consumed(tally, topic)) == ORDERS
