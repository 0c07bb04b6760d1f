"""What a topic's policy asks of messages before they are taken: a schema version of the topic's, and payloads that fit.

A payload that the broker cannot look into passes, as far as that goes: it was encrypted, or it is one chunk of a
larger message. `opaque` says which, for those who count.
"""

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import islice

from tallystick.errors import InvalidRecord, Unsupported
from tallystick.finding import Finding
from tallystick.formats import Schema, format_of
from tallystick.formats.key_value import KeyValueSchema, decode_parts
from tallystick.formats.pulsar_protobuf.codec import UNDESCRIBED
from tallystick.model.key_value import KeyValueEncoding
from tallystick.model.settings import PayloadValidation
from tallystick.wire.pulsar.batches import split
from tallystick.wire.pulsar.compression import decompress
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.pulsar_pb2 import MessageMetadata, SingleMessageMetadata

SCHEMA_VERSION_UNKNOWN = "RECORD_SCHEMA_VERSION_UNKNOWN"
WITHOUT_SCHEMA_VERSION = "RECORD_WITHOUT_SCHEMA_VERSION"
PAYLOAD_UNREADABLE = "RECORD_PAYLOAD_UNREADABLE"

CHECKS = {
    SCHEMA_VERSION_UNKNOWN: "A message names a schema version that its topic has.",
    WITHOUT_SCHEMA_VERSION: "A message names a schema version where validation is enforced and the topic has schemas.",
    PAYLOAD_UNREADABLE: "The payload of a message can be decompressed and taken apart as its metadata says.",
}
"""Every check of this module by its id, with the sentence that explains it."""

_MOST_FINDINGS = 10
"""A batch may hold thousands of messages with the same fault."""

SchemaOf = Callable[[bytes], Schema | None]
"""The schema of a version as it stands in the metadata; None where the topic has no such version."""

_Message = tuple[MessageMetadata | SingleMessageMetadata, bytes | memoryview]


class Opaque(StrEnum):
    """Why a payload is not looked into."""

    ENCRYPTED = "encrypted"
    CHUNKED = "chunked"


def opaque(metadata: MessageMetadata) -> Opaque | None:
    if metadata.encryption_keys:
        return Opaque.ENCRYPTED
    return Opaque.CHUNKED if metadata.num_chunks_from_msg > 1 else None


def check_payload(
    schema_of: SchemaOf,
    metadata: MessageMetadata,
    payload: memoryview,
    entry_number: int,
    mode: PayloadValidation,
    *,
    needs_schema: bool = False,
) -> list[Finding]:
    """Why an entry is not to be taken, with the first of its faults; empty where it is.

    HALF looks into the messages of which entry and index in the batch add up to an even number. `needs_schema`:
    validation is enforced, and the topic has schemas.
    """
    if mode is PayloadValidation.OFF:
        return []
    if not metadata.schema_version:
        return [_without_version()] if needs_schema else []
    schema = schema_of(metadata.schema_version)
    if schema is None:
        return [_unknown(metadata.schema_version)]
    if mode is PayloadValidation.REGISTERED or opaque(metadata) is not None:
        return []
    try:
        return list(islice(_misfits(schema, metadata, payload, entry_number, mode), _MOST_FINDINGS))
    except (MalformedFrame, Unsupported) as e:
        fix = "compress and batch the payload as its metadata says, or send it plain"
        return [Finding(rule=PAYLOAD_UNREADABLE, message=e.message, fix=fix)]


def _misfits(
    schema: Schema, metadata: MessageMetadata, payload: memoryview, entry_number: int, mode: PayloadValidation
) -> Iterator[Finding]:
    is_batch = metadata.HasField("num_messages_in_batch")
    for index, (own, body) in enumerate(_messages(metadata, payload)):
        if mode is PayloadValidation.HALF and (entry_number + index) % 2:
            continue
        for finding in _of_message(schema, own, body):
            where = f"message {index} of the batch: " if is_batch else ""
            yield replace(finding, message=f"{where}{finding.message}")


def _messages(metadata: MessageMetadata, payload: memoryview) -> Iterator[_Message]:
    data = decompress(metadata.compression, payload, metadata.uncompressed_size)
    if metadata.HasField("num_messages_in_batch"):
        yield from split(data, metadata.num_messages_in_batch)
    else:
        yield metadata, data


def _of_message(
    schema: Schema, metadata: MessageMetadata | SingleMessageMetadata, payload: bytes | memoryview
) -> list[Finding]:
    """A tombstone fits, and so does what nobody but the client could read."""
    if metadata.null_value:
        return []
    try:
        if isinstance(schema, KeyValueSchema) and schema.encoding is KeyValueEncoding.SEPARATED:
            decode_parts(schema, (_key(metadata), bytes(payload)))
        else:
            format_of(schema.definition.type).decode(schema, bytes(payload))
    except InvalidRecord as e:
        return [finding for finding in e.findings if finding.rule != UNDESCRIBED]
    return []


def _key(metadata: MessageMetadata | SingleMessageMetadata) -> bytes | None:
    if metadata.null_partition_key or not metadata.HasField("partition_key"):
        return None
    if not metadata.partition_key_b64_encoded:
        return metadata.partition_key.encode()
    try:
        return base64.b64decode(metadata.partition_key, validate=True)
    except ValueError as e:
        raise MalformedFrame(f"the key of a message says it is Base64, and is not: {e}") from e


def _without_version() -> Finding:
    return Finding(
        rule=WITHOUT_SCHEMA_VERSION,
        message="the message has no schema version, but the topic has schemas and its policy enforces validation",
        fix="create the producer anew with a schema of the topic, or let it take the topic's own (AUTO_PRODUCE)",
    )


def _unknown(version: bytes) -> Finding:
    number = str(int.from_bytes(version)) if len(version) == 8 else version[:16].hex()
    return Finding(
        rule=SCHEMA_VERSION_UNKNOWN,
        message=f"the message names the schema version {number}, which the topic does not have",
        fix="attach the producer with the schema, and send the version that the broker answers",
        now=number,
    )
