"""The table of limits says what the code enforces."""

import re

from tallystick.broker import broker, catalogue, consumer, session
from tallystick.broker.dispatch import shared
from tallystick.cli.sources import MAX_BYTES
from tallystick.formats.avro.defaults import MAX_SIZE
from tallystick.formats.avro.payload_limits import MAX_EMPTY_ITEMS, MAX_VALUE_DEPTH
from tallystick.formats.avro.validate import MAX_DIGITS
from tallystick.formats.json_schema.in_place import MAX_STEPS
from tallystick.formats.json_source import MAX_DEPTH
from tallystick.formats.key_value.source import MAX_NESTING
from tallystick.formats.protobuf.parse import MAX_TEXT_LENGTH
from tallystick.formats.protobuf.protoc import TIME_LIMIT_S
from tallystick.formats.protobuf.validate import MAX_DEPTH as MAX_MESSAGE_DEPTH
from tallystick.formats.pulsar_json.depth import MAX_VALUE_DEPTH as MAX_JSON_DEPTH
from tallystick.model import subject
from tallystick.server import feed, prepared
from tallystick.stores import sqlite
from tallystick.stores.postgres import PostgresStore
from tallystick.wire.pulsar.frames import MOST_MESSAGE_BYTES
from tools.examples import ROOT


def test_limits_are_those_of_the_code() -> None:
    page = (ROOT / "docs/reference/schema-types.md").read_text()
    rows = re.findall(r"^\| (.+) \| ([\d,]+) \|$", page.partition("## Limits")[2], re.MULTILINE)
    assert {limit: int(value.replace(",", "")) for limit, value in rows} == {
        "size of one file, MiB": MAX_BYTES // 2**20,
        "nesting of one JSON text, levels": MAX_DEPTH,
        "KEY_VALUE within KEY_VALUE, levels": MAX_NESTING,
        "values that one Avro default stands for": MAX_SIZE,
        "references and combinators between a JSON value and a keyword about it": MAX_STEPS,
        "length of one Protobuf definition, characters": MAX_TEXT_LENGTH,
        "time that protoc may take for one definition, seconds": TIME_LIMIT_S,
        "nesting of one Avro value, levels": MAX_VALUE_DEPTH,
        "nesting of one PULSAR_JSON value, levels": MAX_JSON_DEPTH,
        "nesting of one Protobuf value, levels": MAX_MESSAGE_DEPTH,
        "digits of one Avro decimal": MAX_DIGITS,
        "items without bytes in one Avro payload": MAX_EMPTY_ITEMS,
    }


def test_numbers_in_sentences_are_those_of_the_code() -> None:
    told = {
        "docs/reference/events.md": [
            f"After {feed._HEARTBEAT_SECONDS:.0f} seconds without an event",
            f"itself after {feed._MOST_BYTES // 10**6} MB",
        ],
        "docs/design/decisions/one-writer.md": [f"up to {sqlite._MOST_IN_ONE_COMMIT}, into one"],
        "docs/design/decisions/prepared-answers.md": [
            f"is {prepared._MOST_BYTES // 10**6} MB of bodies and {prepared._MOST_ANSWERS:,} answers at most"
        ],
        "docs/design/decisions/subjects-with-slashes.md": [f"up to {subject._LONGEST} characters"],
    }
    assert {(page, text) for page, texts in told.items() for text in texts if text not in _joined(page)} == set()
    assert "ask five times a second" in _joined("docs/howto/postgresql.md")
    assert PostgresStore.others_seconds == 1 / 5


def _joined(page: str) -> str:
    return " ".join((ROOT / page).read_text().split())


def test_limits_of_the_broker_are_those_of_the_code() -> None:
    page = (ROOT / "docs/reference/broker.md").read_text()
    rows = re.findall(r"^\| (.+) \| ([\d,]+) \|$", page.partition("## Limits")[2], re.MULTILINE)
    assert {limit: int(value.replace(",", "")) for limit, value in rows} == {
        "size of a message without chunks, MiB": MOST_MESSAGE_BYTES // 2**20,
        "messages that a consumer of a shared subscription holds": consumer.MOST_UNACKED,
        "messages that all consumers of a shared subscription hold": shared._MOST_UNACKED,
        "entries that wait for their own consumer on Key_Shared while others go ahead": shared._MOST_PASSED,
        "delayed messages of a subscription, beyond which they come at once": shared._MOST_DELAYED,
        "partitions of a topic": catalogue._MOST_PARTITIONS,
        "data of one connection that waits to be stored, MiB": session._UNSTORED_BYTES // 2**20,
        "data of all connections that waits to be stored, MiB": broker._MOST_UNSTORED_BYTES // 2**20,
        "data that waits to be read by a client, MiB": session._UNSENT_BYTES // 2**20,
        "silence after which a client is taken for gone, seconds": session._SILENCE_SECONDS,
        "connections": session._MOST_CONNECTIONS,
    }
