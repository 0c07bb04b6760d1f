"""Values ↔ payloads. Unknown fields of a payload are left out of the value, as Protobuf's readers do."""

from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.message import Message as Record

from tallystick.errors import InvalidRecord
from tallystick.finding import Finding, Place
from tallystick.formats.json_source import Path, pointer
from tallystick.formats.protobuf.required import missing_required
from tallystick.formats.protobuf.schema import Field
from tallystick.formats.protobuf.types import ProtobufSchema, Types
from tallystick.formats.protobuf.validate import extension_key, filled, get


def encode(schema: ProtobufSchema, value: object, message: str | None = None) -> bytes:
    """The payload of a value of the root message, or of the one that is named, or of its own class."""
    record, findings = filled(schema, value, message)
    if findings or record is None:
        raise InvalidRecord(f"the value does not fit: {findings[0].message}", findings)
    return record.SerializeToString(deterministic=True)


def decode(
    schema: ProtobufSchema, payload: bytes, reader: ProtobufSchema | None = None, message: str | None = None
) -> dict[str, Any]:
    """The value of a payload, as the reader's message of the same name sees it.

    `message` is the full name in the writer's schema; without it, the payload is a root message. Fields that keep
    no presence are always there; the others where they were written.
    """
    name, types = _message_to_read(schema, reader, message)
    record = types.record_class(name)()
    try:
        record.MergeFromString(payload)
    except DecodeError as e:
        raise _refused(name, "PROTOBUF_PAYLOAD_CORRUPT", _reason(e), "check how it was framed and cut") from e
    missing = missing_required(record)
    if missing:
        reason = f"required fields are missing: {', '.join(missing[:5])}"
        raise _refused(name, "PROTOBUF_PAYLOAD_MISSING_REQUIRED", reason, "write them, or read with another version")
    return _Reading(types, name).value(record, ())


def _message_to_read(schema: ProtobufSchema, reader: ProtobufSchema | None, message: str | None) -> tuple[str, Types]:
    written = message or schema.root
    if written is None or not schema.types.has_message(written):
        raise _refused(
            written or "?",
            "PROTOBUF_PAYLOAD_UNKNOWN_MESSAGE",
            "the schema has no such message",
            "name a message of the schema",
        )
    if reader is None:
        return written, schema.types
    if reader.is_native and reader.root is not None:
        return reader.root, reader.types
    name = reader.types.absolute(schema.types.relative(written))
    for candidate in (name, written):
        if reader.types.has_message(candidate):
            return candidate, reader.types
    raise _refused(
        written,
        "PROTOBUF_PAYLOAD_UNKNOWN_MESSAGE",
        "the reader's schema has no such message",
        "read with a schema that has it",
    )


def _reason(error: DecodeError) -> str:
    """The runtime says "Error parsing message with type 'x': Wire format was corrupt"."""
    reason = str(error).rpartition(": ")[2] or "the bytes are no Protobuf message"
    return reason[:1].lower() + reason[1:]


def _refused(message: str, rule: str, reason: str, fix: str, path: Path = ()) -> InvalidRecord:
    finding = Finding(
        rule=rule,
        message=f"the payload cannot be read as {message}: {reason}",
        fix=fix,
        old=Place(message),
        new=Place(pointer(path)),
    )
    return InvalidRecord(finding.message, [finding])


class _Reading:
    def __init__(self, types: Types, name: str) -> None:
        self._types = types
        self._name = name

    def value(self, record: Record, path: Path) -> dict[str, Any]:
        message = self._types.message(record.DESCRIPTOR.full_name)
        return {
            f.name: self._field(f, get(record, f), (*path, f.name))
            for f in message.fields.values()
            if _is_there(record, f)
        }

    def _field(self, f: Field, value: Any, path: Path) -> Any:
        if f.entry is not None:
            try:
                return {key: self._item(f.entry[1], value[key], (*path, str(key))) for key in value}
            except UnicodeDecodeError as e:
                raise self._no_utf8(f.entry[0], path) from e
        if f.is_repeated:
            return [self._item(f, item, (*path, i)) for i, item in enumerate(value)]
        return self._item(f, value, path)

    def _item(self, f: Field, value: Any, path: Path) -> Any:
        if f.is_message:
            return self.value(value, path)
        if f.kind == "enum" and f.type_full_name is not None:
            return self._types.enum(f.type_full_name).names.get(value, value)
        if f.kind == "string" and isinstance(value, bytes):
            raise self._no_utf8(f, path)
        return value

    def _no_utf8(self, f: Field, path: Path) -> InvalidRecord:
        return _refused(
            self._name,
            "PROTOBUF_PAYLOAD_INVALID_UTF8",
            f"the string {f.full_name} is no UTF-8",
            "write UTF-8, or make the field bytes",
            path,
        )


def _is_there(record: Record, f: Field) -> bool:
    if f.name.startswith("["):
        key: Any = extension_key(record, f)
        return len(record.Extensions[key]) > 0 if f.is_repeated else record.HasExtension(key)
    return not f.has_presence or record.HasField(f.name)
