"""Requests of the binary protocol in the words of the cases, and its answers as plain values."""

import json
import struct
import time
from typing import Any

from tallystick.wire.pulsar import pulsar_pb2 as api
from tests.pulsar.raw import Raw, entry

EXCLUSIVE, SHARED, FAILOVER, KEY_SHARED = "Exclusive", "Shared", "Failover", "Key_Shared"
NONE, STRING, JSON, PROTOBUF, AVRO = "NoSchema", "String", "Json", "Protobuf", "Avro"
KEY_VALUE, EXTERNAL = "KeyValueSchema", "External"
EARLIEST = api.MessageIdData(ledgerId=2**64 - 1, entryId=2**64 - 1)
LATEST = api.MessageIdData(ledgerId=2**63 - 1, entryId=2**63 - 1)


def record(*fields: dict[str, Any], name: str = "R", **more: Any) -> str:
    return json.dumps({"type": "record", "name": name, "fields": list(fields), **more})


def schema(data: str | bytes, kind: str = AVRO, **properties: str) -> Any:
    content = data.encode() if isinstance(data, str) else data
    pairs = [api.KeyValue(key=key, value=value) for key, value in properties.items()]
    return api.Schema(name="R", schema_data=content, type=kind, properties=pairs)


def produce(raw: Raw, topic: str, definition: Any = None, number: int = 1, **more: Any) -> Any:
    """The version that the producer is given ("none" without a schema), or the error's code."""
    command = api.CommandProducer(topic=topic, producer_id=number, request_id=0, schema=definition, **more)
    answer = raw.request("PRODUCER", command)
    return code_of(answer) or version_of(answer.schema_version)


def subscribe(
    raw: Raw, topic: str, definition: Any = None, number: int = 1, kind: str = SHARED, name: str = "s", **more: Any
) -> str:
    command = api.CommandSubscribe(
        topic=topic, subscription=name, subType=kind, consumer_id=number, request_id=0, schema=definition, **more
    )
    return code_of(raw.request("SUBSCRIBE", command)) or "subscribed"


def send(raw: Raw, payload: bytes = b"x", number: int = 1, sequence: int = 0, **metadata: Any) -> Any:
    """Position of the entry, or the error's code."""
    command = api.CommandSend(
        producer_id=number, sequence_id=sequence, num_messages=metadata.get("num_messages_in_batch", 1)
    )
    raw.command("SEND", command, entry(payload, "p", sequence, int(time.time() * 1000), **metadata))
    while True:
        answered, body = raw.next()
        if answered.HasField("send_receipt"):
            return entry_of(answered.send_receipt.message_id)
        if answered.HasField("send_error"):
            return api.ServerError.Name(answered.send_error.error)
        raw.keep(answered, body)


def flow(raw: Raw, number: int = 1, permits: int = 100) -> None:
    raw.command("FLOW", api.CommandFlow(consumer_id=number, messagePermits=permits))


def received(raw: Raw, seconds: float = 0.5, most: int | None = None) -> list[Any]:
    """Messages as [consumer, entry, redelivery count], with what is left of a batch where that is told."""
    return [
        [one.consumer_id, entry_of(one.message_id), one.redelivery_count, *([list(one.ack_set)] if one.ack_set else [])]
        for one in raw.pushes("MESSAGE", seconds, most)
    ]


def acknowledge(raw: Raw, ids: list[Any], number: int = 1, *, cumulative: bool = False) -> str:
    command = api.CommandAck(
        consumer_id=number, ack_type="Cumulative" if cumulative else "Individual", message_id=ids, request_id=0
    )
    answer = raw.request("ACK", command)
    return api.ServerError.Name(answer.error) if answer.HasField("error") else "acknowledged"


def redeliver(raw: Raw, ids: list[Any], number: int = 1) -> None:
    command = api.CommandRedeliverUnacknowledgedMessages(consumer_id=number, message_ids=ids)
    raw.command("REDELIVER_UNACKNOWLEDGED_MESSAGES", command)


def last_id(raw: Raw, number: int = 1) -> Any:
    return raw.request("GET_LAST_MESSAGE_ID", api.CommandGetLastMessageId(consumer_id=number, request_id=0))


def ids(raw: Raw, *entries: int, number: int = 1) -> list[Any]:
    """Message ids of these entries, in the ledger where the topic ends."""
    ledger = last_id(raw, number).last_message_id.ledgerId
    return [api.MessageIdData(ledgerId=ledger, entryId=one) for one in entries]


def seek(raw: Raw, number: int = 1, **to: Any) -> str:
    answer = raw.request("SEEK", api.CommandSeek(consumer_id=number, request_id=0, **to))
    return code_of(answer) or "sought"


def get_schema(raw: Raw, topic: str, version: int | None = None) -> Any:
    asked = {} if version is None else {"schema_version": struct.pack(">q", version)}
    answer = raw.request("GET_SCHEMA", api.CommandGetSchema(request_id=0, topic=topic, **asked))
    if answer.HasField("error_code"):
        return api.ServerError.Name(answer.error_code)
    return [version_of(answer.schema_version), answer.schema.type, answer.schema.schema_data.decode()]


def get_or_create(raw: Raw, topic: str, definition: Any) -> Any:
    command = api.CommandGetOrCreateSchema(request_id=0, topic=topic, schema=definition)
    answer = raw.request("GET_OR_CREATE_SCHEMA", command)
    if answer.HasField("error_code"):
        return api.ServerError.Name(answer.error_code)
    return version_of(answer.schema_version)


def version_of(blob: bytes) -> str | int:
    return int.from_bytes(blob, "big") if blob else "none"


def code_of(answer: Any) -> str | None:
    return str(api.ServerError.Name(answer.error)) if type(answer).__name__ == "CommandError" else None


def entry_of(message_id: Any) -> int:
    """-1 where there is no entry yet."""
    number = int(message_id.entryId)
    return number if number < 2**63 else number - 2**64


def batch(*payloads: bytes) -> bytes:
    parts = []
    for payload in payloads:
        head = api.SingleMessageMetadata(payload_size=len(payload)).SerializeToString()
        parts.append(struct.pack(">I", len(head)) + head + payload)
    return b"".join(parts)
