"""Messages of our client read by the Java client, and back: on a real Pulsar and on the embedded broker."""

import datetime as dt
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from tallystick import (
    BOOLEAN,
    BYTES,
    DOUBLE,
    FLOAT,
    INSTANT,
    INT8,
    INT16,
    INT32,
    INT64,
    LOCAL_DATE,
    LOCAL_DATE_TIME,
    LOCAL_TIME,
    STRING,
    TIMESTAMP,
    AutoConsume,
    AvroSchema,
    Client,
    Compression,
    EncodeData,
    KeyValue,
    KeyValueEncoding,
    KeyValueSchema,
    Message,
    ProtobufNativeSchema,
    PulsarJsonSchema,
    Schema,
    TimedOut,
)
from tallystick.model.temporal import Instant, LocalDateTime, LocalTime
from tests.pulsar.java_client import exchange_with_java
from tests.pulsar.servers import Both, Server
from tests.shared import answers_of

pytestmark = pytest.mark.jvm
WAIT_S = 30.0


def _order(*more: dict[str, Any]) -> dict[str, Any]:
    """As the Java client makes it of its class."""
    optional = {"type": ["null", "string"], "default": None}
    fields = [{"name": "id", "type": "long"}, {"name": "item", **optional}, *more]
    return {"type": "record", "name": "Order", "namespace": "scripts.Records", "fields": fields}


ORDER = AvroSchema(_order())
SECOND = AvroSchema(_order({"name": "note", "type": ["null", "string"], "default": None}))
JSON_ORDER = PulsarJsonSchema(_order())
PAIRS = {
    "inline": KeyValueSchema(STRING, ORDER, KeyValueEncoding.INLINE),
    "separated": KeyValueSchema(STRING, ORDER, KeyValueEncoding.SEPARATED),
}
NOON = dt.datetime(2024, 2, 29, 12, 30, 15, 250_000, tzinfo=dt.UTC)
PRIMITIVES: dict[str, tuple[Schema[Any], Any, str]] = {
    "string": (STRING, "Zoë", "Zoë"),
    "int8": (INT8, -8, "-8"),
    "int16": (INT16, -16, "-16"),
    "int32": (INT32, -32, "-32"),
    "int64": (INT64, -64, "-64"),
    "float": (FLOAT, 1.5, "1.5"),
    "double": (DOUBLE, 0.1, "0.1"),
    "boolean": (BOOLEAN, True, "true"),
    "instant": (INSTANT, Instant(5, 7), "1970-01-01T00:00:05.000000007Z"),
    "local-date": (LOCAL_DATE, dt.date(2024, 2, 29), "2024-02-29"),
    "local-time": (LOCAL_TIME, LocalTime(45_015_000_000_007), "12:30:15.000000007"),
    "local-date-time": (
        LOCAL_DATE_TIME,
        LocalDateTime(dt.date(2024, 2, 29), LocalTime(45_015_000_000_007)),
        "2024-02-29T12:30:15.000000007",
    ),
    "timestamp": (TIMESTAMP, NOON, ""),
}
"""Schema, value, and how Java prints it; its time stamps are printed in the machine's own zone."""


class Texts(Schema[str]):
    """Texts "id:value" whose schema lives elsewhere, as the Java client's own example has them."""

    def encode(self, topic: str, value: str) -> EncodeData:
        schema_id, _, text = value.partition(":")
        return EncodeData(text.encode(), schema_id.encode())

    def decode(self, topic: str, data: bytes, schema_id: Any) -> str:
        return f"{schema_id.decode()}:{data.decode()}"


@dataclass
class Exchange:
    client: Client
    prefix: str
    read: dict[str, list[Any]] = field(default_factory=dict)
    written: dict[str, Any] = field(default_factory=dict)

    def theirs(self, name: str) -> str:
        return f"{self.prefix}-theirs-{name}"

    def received(self, name: str, schema: Schema[Any], count: int, wait_s: float = WAIT_S) -> list[Message[Any]]:
        """What Java has written."""
        assert self.written[name] == count, self.written[name]
        with self.client.reader(f"{self.prefix}-java-{name}", schema) as reader:
            return [reader.receive(wait_s) for _ in range(count)]

    def outcomes(self, name: str) -> list[Any]:
        """What Java has read: value, key, properties, event time, version, schema id."""
        failed = [outcome for outcome in self.read[name] if isinstance(outcome, dict)]
        assert failed == []
        return self.read[name]

    def values(self, name: str) -> list[Any]:
        return [outcome[0] for outcome in self.outcomes(name)]


@pytest.fixture(scope="module", params=["pulsar", "ours"])
def exchange(request: pytest.FixtureRequest, both: Both, common: Path) -> Iterator[Exchange]:
    """Ours writes, Java reads all of it and writes, ours reads. Workers of one run share what Java did."""
    server: Server = getattr(both, request.param)
    with Client(server.service_url) as client:
        known = answers_of(common, f"interop-{request.param}", lambda: _exchanged(client, server))
        yield Exchange(client, **known)


def _exchanged(client: Client, server: Server) -> dict[str, Any]:
    exchange = Exchange(client, f"interop-{secrets.token_hex(4)}")
    _write(exchange)
    steps = exchange_with_java(server.service_url, server.admin_url, exchange.prefix)
    for name, outcome in steps["read"]:
        exchange.read.setdefault(name, []).append(outcome)
    return {"prefix": exchange.prefix, "read": exchange.read, "written": dict(steps["written"])}


def _write(exchange: Exchange) -> None:
    """What Java is to read."""
    one, two, none = {"id": 1, "item": "a"}, {"id": 2, "item": "Zoë"}, {"id": 3, "item": None}
    for name in ("avro", "avro-second"):
        _send(exchange, name, ORDER, one, two, none)
    with exchange.client.producer(exchange.theirs("versions"), ORDER, batch_delay_s=5.0) as producer:
        for number in range(4):
            value = {"id": number, "item": "x"}
            producer.send_async({**value, "note": "n"} if number % 2 else value, SECOND if number % 2 else None)
        producer.flush()
    _send(exchange, "json", JSON_ORDER, one, none)
    for name, pair in PAIRS.items():
        _send(exchange, name, pair, KeyValue("k", one), KeyValue("none", None))
    for name, (schema, value, _) in PRIMITIVES.items():
        _send(exchange, name, schema, value)
    for name in ("protobuf-native", "protobuf-generic"):
        _send(exchange, name, ProtobufNativeSchema(Timestamp), Timestamp(seconds=5, nanos=7))
    _send(exchange, "external", Texts(), "1:a", "1:b", "2:c", "2:d", "1:e")
    for compression in Compression:
        name = f"compressed-{compression}"
        _send(exchange, name, ORDER, *({"id": n, "item": "again and " * 50} for n in range(3)), compression=compression)
    with exchange.client.producer(exchange.theirs("bytes")) as producer:
        producer.send(b"text", key="Zoë", properties={"a": "1", "b": ""}, event_time=NOON)
        producer.send(b"", key=b"\x00\xff")
        producer.send(None, key="k")


def _send(exchange: Exchange, name: str, schema: Schema[Any], *values: Any, **settings: Any) -> None:
    """In one batch, as far as schemas allow it."""
    with exchange.client.producer(exchange.theirs(name), schema, batch_delay_s=5.0, **settings) as producer:
        for value in values:
            producer.send_async(value)
        producer.flush()


def test_java_reads_avro(exchange: Exchange) -> None:
    assert exchange.values("avro") == ["1/a", "2/Zoë", "3/null"]
    assert [outcome[4] for outcome in exchange.outcomes("avro")] == [0, 0, 0]


def test_java_reads_avro_as_its_next_version(exchange: Exchange) -> None:
    assert exchange.values("avro-second") == ["1/a/null", "2/Zoë/null", "3/null/null"]


def test_java_reads_many_versions_of_one_flush(exchange: Exchange) -> None:
    assert [outcome[4] for outcome in exchange.outcomes("versions")] == [0, 1, 0, 1]
    assert exchange.values("versions") == [
        "AVRO{id=0, item=x}",
        "AVRO{id=1, item=x, note=n}",
        "AVRO{id=2, item=x}",
        "AVRO{id=3, item=x, note=n}",
    ]


def test_java_reads_json(exchange: Exchange) -> None:
    assert exchange.values("json") == ["1/a", "3/null"]


@pytest.mark.parametrize("encoding", PAIRS)
def test_java_reads_pairs(exchange: Exchange, encoding: str) -> None:
    assert exchange.values(encoding) == ["k=1/a", "none=null"]


@pytest.mark.parametrize("name", PRIMITIVES)
def test_java_reads_primitives(exchange: Exchange, name: str) -> None:
    ((printed, *_),) = exchange.outcomes(name)
    if name == "timestamp":
        assert ":30:15.25" in printed
    else:
        assert printed == PRIMITIVES[name][2]


def test_java_reads_protobuf(exchange: Exchange) -> None:
    assert exchange.values("protobuf-native") == ["5.7"]
    assert exchange.values("protobuf-generic") == ["PROTOBUF_NATIVE{seconds=5, nanos=7}"]


def test_java_reads_the_schema_ids_of_one_flush(exchange: Exchange) -> None:
    assert exchange.values("external") == ["1:a", "1:b", "2:c", "2:d", "1:e"]
    # The byte before the id says that it is one.
    assert [bytes.fromhex(outcome[5])[1:] for outcome in exchange.outcomes("external")] == [
        b"1",
        b"1",
        b"2",
        b"2",
        b"1",
    ]


@pytest.mark.parametrize("compression", list(Compression))
def test_java_reads_compressed_batches(exchange: Exchange, compression: Compression) -> None:
    assert exchange.values(f"compressed-{compression}") == [f"{n}/{'again and ' * 50}" for n in range(3)]


def test_java_reads_keys_properties_and_times(exchange: Exchange) -> None:
    first, second, third = exchange.outcomes("bytes")
    assert first[:4] == ["text", "Zoë".encode().hex(), {"a": "1", "b": ""}, int(NOON.timestamp() * 1000)]
    assert second[:3] == ["", "00ff", {}]
    assert third[:2] == ["null", b"k".hex()]


def test_we_read_javas_avro(exchange: Exchange) -> None:
    values: list[dict[str, Any]] = [{"id": 1, "item": "a"}, {"id": 2, "item": None}]
    reading: list[Schema[Any]] = [ORDER, AutoConsume()]
    for schema in reading:
        messages = exchange.received("avro", schema, 2)
        assert [message.value for message in messages] == values
        assert [message.schema_version for message in messages] == [1, 1]
    assert [m.value for m in exchange.received("avro", SECOND, 2)] == [{**value, "note": None} for value in values]


def test_we_read_javas_json(exchange: Exchange) -> None:
    for schema in (JSON_ORDER, AutoConsume()):
        values = [message.value for message in exchange.received("json", schema, 2)]
        assert values == [{"id": 1, "item": "a"}, {"id": 2, "item": None}]


@pytest.mark.parametrize("encoding", PAIRS)
def test_we_read_javas_pairs(exchange: Exchange, encoding: str) -> None:
    for schema in (PAIRS[encoding], AutoConsume()):
        values = [message.value for message in exchange.received(encoding, schema, 2)]
        assert values == [KeyValue("k", {"id": 1, "item": "a"}), KeyValue("none", None)]


@pytest.mark.parametrize("name", PRIMITIVES)
def test_we_read_javas_primitives(exchange: Exchange, name: str) -> None:
    schema, value, _ = PRIMITIVES[name]
    for reading in (schema, AutoConsume()):
        assert [message.value for message in exchange.received(name, reading, 1)] == [value]


def test_we_read_javas_protobuf(exchange: Exchange) -> None:
    (message,) = exchange.received("protobuf-native", ProtobufNativeSchema(Timestamp), 1)
    assert message.value == Timestamp(seconds=5, nanos=7)
    for name in ("protobuf-native", "protobuf"):
        (message,) = exchange.received(name, AutoConsume(), 1)
        assert message.value == {"seconds": 5, "nanos": 7}


def test_we_read_javas_schema_ids(exchange: Exchange) -> None:
    messages = exchange.received("external", Texts(), 3)
    assert [message.value for message in messages] == ["0001:a", "0002:b", "0001:c"]
    assert [message.schema_id for message in messages] == [b"0001", b"0002", b"0001"]


@pytest.mark.parametrize("compression", list(Compression))
def test_we_read_javas_compressed_batches(exchange: Exchange, compression: Compression) -> None:
    values = [message.value for message in exchange.received(f"compressed-{compression}", ORDER, 3)]
    assert values == [{"id": n, "item": "again and " * 50} for n in range(3)]


def test_we_read_javas_versions(exchange: Exchange) -> None:
    messages = exchange.received("versions", AutoConsume(), 4)
    assert [message.schema_version for message in messages] == [1, 2, 1, 2]
    assert [message.value["id"] for message in messages] == [0, 1, 2, 3]
    assert [message.value.get("note") for message in messages] == [None, "n", None, "n"]


def test_we_read_javas_keys_properties_times_and_tombstones(exchange: Exchange) -> None:
    first, second, third = exchange.received("metadata", STRING, 3)
    assert (first.value, first.key, first.properties) == ("text", "Zoë", {"a": "1", "b": ""})
    assert first.event_time == dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC)
    assert (second.value, second.key_bytes) == ("", b"\x00\xff")
    assert (third.value, third.key, third.is_tombstone) == (None, "k", True)


@pytest.mark.xfail(strict=True, raises=TimedOut, reason="messages in chunks are not put together")
def test_we_read_what_java_sends_in_chunks(exchange: Exchange) -> None:
    large, small = exchange.received("chunks", BYTES, 2, wait_s=2)
    assert (large.value, small.value) == (b"x" * 350_000, b"small")
