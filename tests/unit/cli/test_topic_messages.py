"""How messages are shown, where there is no broker needed to say so."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tallystick.cli.topic_messages import Shown
from tallystick.errors import InvalidRecord, Unavailable
from tallystick.finding import Finding
from tallystick.messaging.message import Message, Writer
from tallystick.messaging.ports import Incoming
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import KafkaPosition, PulsarPosition
from tallystick.model.schema_type import AVRO
from tallystick.model.subject import SchemaId, Version

TEXT = json.dumps({"type": "record", "name": "R", "fields": []})
PUBLISHED = int(datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp() * 1000)


def shown(value: Any = None, writer: Writer | None = None, **more: Any) -> Shown:
    schema = SchemaDefinition(AVRO, TEXT)
    known = writer or Writer(lambda payload, key: value, schema, Version(2))
    incoming = Incoming("orders", more.pop("position", PulsarPosition(3, 17, -1, 0)), b"\xff\0", **more)
    return Shown(Message(incoming, known))


def test_a_line_for_people() -> None:
    one = shown({"a": 1}, key=b"k", publish_time_ms=PUBLISHED, properties={"from": "here"})
    assert list(one.lines("message")) == [
        "orders 3:17:-1:0  v2  key=k  published=2026-01-31T12:00:00Z  properties=from:here",
        '  {"a": 1}',
    ]
    assert list(one.lines("value")) == ['{"a": 1}']
    assert one.document("value") == {"a": 1}


def test_long_values_are_shown_over_several_lines() -> None:
    lines = list(shown({"a": "x" * 60, "b": "y" * 60}).lines("message"))
    assert lines[1:] == ["  {", f'    "a": "{"x" * 60}",', f'    "b": "{"y" * 60}"', "  }"]


def test_what_moves_the_cursor_does_not_reach_the_terminal() -> None:
    lines = list(shown({"a": "\x1b[2J\x9b"}, key=b"k\x7f").lines("message"))
    assert not any(character in line for line in lines for character in "\x1b\x7f\x9b")


@pytest.mark.parametrize(("key", "told"), [(b"k", {"key": "k"}), (b"\xff", {"key_base64": "/w=="}), (None, {})])
def test_keys(key: bytes | None, told: dict[str, str]) -> None:
    document = shown(1, key=key).document("message")
    assert {name: value for name, value in document.items() if name.startswith("key")} == told


@pytest.mark.parametrize(
    ("value", "told", "line"),
    [
        (b"plain text\n", {"value": "plain text\n"}, '  "plain text\\n"'),
        (b"\xff\0", {"value_base64": "/wA="}, "  /wA= (bytes, in Base64)"),
        (b"a\x07", {"value_base64": "YQc="}, "  YQc= (bytes, in Base64)"),
    ],
)
def test_messages_without_a_schema(value: bytes, told: dict[str, str], line: str) -> None:
    one = shown(writer=Writer(lambda payload, key: value))
    document = one.document("message")
    assert {name: inner for name, inner in document.items() if name.startswith("value")} == told
    assert list(one.lines("message"))[1] == line


def test_schema_ids_of_every_kind() -> None:
    def told(schema_id: Any) -> object:
        writer = Writer(lambda payload, key: 1, None, None, schema_id)
        return shown(writer=writer, position=KafkaPosition(0, 5)).document("message").get("schema_id")

    assert [told(SchemaId(7)), told(b"\x00\x07"), told(None)] == [7, "0007", None]


def test_errors_with_and_without_findings() -> None:
    finding = Finding(rule="RULE", message="it does not fit", fix="mend it")
    refused = shown(writer=Writer(lambda payload, key: 1, error=InvalidRecord("no", [finding])))
    assert list(refused.lines("value"))[1:] == ["  ✗ it does not fit", "    fix   mend it", "    rule  RULE"]
    document = refused.document("value")
    assert (document["error"]["findings"], document["payload_base64"]) == ([finding.as_dict()], "/wA=")
    away = shown(writer=Writer(lambda payload, key: 1, error=Unavailable("the registry is away")))
    assert list(away.lines("message"))[1:] == ["  ✗ the registry is away"]
    assert away.document("all")["error"]["code"] == "unavailable"
