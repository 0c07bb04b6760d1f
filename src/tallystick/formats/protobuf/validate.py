"""Does a value fit its message? A value is put into a message field by field, and every refusal is a finding."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from google.protobuf import unknown_fields
from google.protobuf.message import DecodeError, EncodeError
from google.protobuf.message import Message as Record

from tallystick.finding import Finding, Place
from tallystick.formats.json_source import Path, pointer
from tallystick.formats.protobuf.required import missing_required
from tallystick.formats.protobuf.schema import Enum, Field, Message
from tallystick.formats.protobuf.types import ProtobufSchema, Types

MAX_DEPTH = 100
"""Levels of messages in messages; Protobuf's own decoders stop there."""

_INTEGERS = {
    **dict.fromkeys(("int32", "sint32", "sfixed32"), (-(2**31), 2**31 - 1)),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), (-(2**63), 2**63 - 1)),
    **dict.fromkeys(("uint32", "fixed32"), (0, 2**32 - 1)),
    **dict.fromkeys(("uint64", "fixed64"), (0, 2**64 - 1)),
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_FLOAT_MAX = (2 - 2**-23) * 2.0**127
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_MICROSECOND = timedelta(microseconds=1)


def validate(schema: ProtobufSchema, value: object, message: str | None = None) -> list[Finding]:
    """Why the value does not fit the root message, or the one that is named."""
    return filled(schema, value, message)[1]


def filled(schema: ProtobufSchema, value: object, message: str | None = None) -> tuple[Record | None, list[Finding]]:
    """The value as a Protobuf message, and why it does not fit; of use only if there are no findings."""
    filling = _Filling(schema.types)
    name = message or (value.DESCRIPTOR.full_name if isinstance(value, Record) else schema.root)
    if name is None or not schema.types.has_message(name):
        filling.refuse(
            (),
            "PROTOBUF_VALUE_WRONG_MESSAGE",
            f"{name or 'a record'} is no message of this schema",
            f"give a value of {schema.root}" if schema.root else "use a schema that has a message",
        )
        return None, filling.findings
    record = schema.types.record_class(name)()
    filling.fill(record, schema.types.message(name), value, ())
    if not filling.findings:
        filling.check_required(record)
    return record, filling.findings


@dataclass(slots=True)
class _Filling:
    types: Types
    findings: list[Finding] = field(default_factory=list)

    def refuse(self, path: Path, rule: str, message: str, fix: str, at: Field | Message | None = None) -> None:
        old = self.types.place(at.full_name, at.path) if at is not None else None
        self.findings.append(Finding(rule=rule, message=message, fix=fix, old=old, new=Place(pointer(path))))

    def fill(self, record: Record, message: Message, value: object, path: Path) -> None:
        if len(path) > 2 * MAX_DEPTH:
            self.refuse(
                path,
                "PROTOBUF_VALUE_TOO_DEEP",
                f"messages are nested deeper than {MAX_DEPTH} levels",
                "make the value flatter",
                message,
            )
        elif isinstance(value, Record):
            self._copy(record, message, value, path)
        elif (parts := _well_known(message, value)) is not None:
            self._fill_fields(record, message, parts, path)
        elif isinstance(value, Mapping):
            self._fill_fields(record, message, value, path)
        else:
            self._wrong_type(path, message, f"a {message.full_name}", value, "give a dict of its fields")

    def _fill_fields(self, record: Record, message: Message, value: Mapping[Any, Any], path: Path) -> None:
        for name, inner in value.items():
            here = (*path, name if isinstance(name, str) else str(name))
            f = message.by_name.get(name) if isinstance(name, str) else None
            if f is None:
                self.refuse(
                    here,
                    "PROTOBUF_VALUE_UNKNOWN_FIELD",
                    f"{message.full_name} has no field {name!r}",
                    "leave it out, or correct its name",
                    message,
                )
            elif inner is not None:
                self._fill_field(record, f, inner, here)
        self._check_oneofs(message, value, path)

    def _check_oneofs(self, message: Message, value: Mapping[Any, Any], path: Path) -> None:
        for name, numbers in message.oneofs.items():
            given = [f for n in numbers if value.get(f := message.fields[n].name) is not None]
            if len(given) > 1:
                self.refuse(
                    path,
                    "PROTOBUF_VALUE_ONEOF_HAS_SEVERAL",
                    f"{' and '.join(given)} are both given, but only one of the oneof {name} can be",
                    "keep one of them",
                    message,
                )

    def _fill_field(self, record: Record, f: Field, value: object, path: Path) -> None:
        if f.is_map:
            self._fill_map(record, f, value, path)
        elif f.is_repeated:
            self._fill_list(record, f, value, path)
        elif f.is_message:
            inner = get(record, f)
            inner.SetInParent()
            self.fill(inner, self.types.message(_type(f)), value, path)
        elif (scalar := self._scalar(f, value, path)) is not None:
            _set(record, f, scalar)

    def _fill_list(self, record: Record, f: Field, value: object, path: Path) -> None:
        if isinstance(value, (str, bytes, Mapping, Record)) or not hasattr(value, "__iter__"):
            self._wrong_type(path, f, "a list", value, "give a list")
            return
        items = get(record, f)
        for i, item in enumerate(value):
            if f.is_message:
                self.fill(items.add(), self.types.message(_type(f)), item, (*path, i))
            elif (scalar := self._scalar(f, item, (*path, i))) is not None:
                items.append(scalar)

    def _fill_map(self, record: Record, f: Field, value: object, path: Path) -> None:
        if not isinstance(value, Mapping):
            self._wrong_type(path, f, "a map", value, "give a dict")
            return
        assert f.entry is not None
        entries, (key_field, value_field) = get(record, f), f.entry
        for key, item in value.items():
            here = (*path, str(key))
            good_key = self._scalar(key_field, key, here)
            if value_field.is_message:
                if good_key is not None:
                    self.fill(entries[good_key], self.types.message(_type(value_field)), item, here)
            elif (scalar := self._scalar(value_field, item, here)) is not None and good_key is not None:
                entries[good_key] = scalar

    def _copy(self, record: Record, message: Message, value: Record, path: Path) -> None:
        if value.DESCRIPTOR.full_name != message.full_name:
            self.refuse(
                path,
                "PROTOBUF_VALUE_WRONG_MESSAGE",
                f"the value is a {value.DESCRIPTOR.full_name}, not a {message.full_name}",
                f"give a {message.full_name}",
                message,
            )
            return
        try:
            record.MergeFromString(value.SerializePartialToString())
        except (DecodeError, EncodeError) as e:
            self.refuse(
                path,
                "PROTOBUF_VALUE_WRONG_TYPE",
                f"the message does not fit this schema: {e}",
                "build it with this version of the schema",
                message,
            )
            return
        for number in _unknown_numbers(record):
            self.refuse(
                path,
                "PROTOBUF_VALUE_UNKNOWN_FIELD",
                f"the message holds a field {number} that this version of {message.full_name} does not have",
                "build it with this version of the schema",
                message,
            )

    def _scalar(self, f: Field, value: object, path: Path) -> object | None:
        """The value as the runtime takes it, or None after a finding."""
        if f.kind == "enum":
            return self._enum_number(f, self.types.enum(_type(f)), value, path)
        if f.kind in _INTEGERS:
            return self._integer(f, value, path)
        if f.kind in ("float", "double"):
            return self._float(f, value, path)
        if f.kind == "string":
            return self._string(f, value, path)
        if f.kind == "bool":
            return (
                value if isinstance(value, bool) else self._wrong_type(path, f, "a bool", value, "give True or False")
            )
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)
        return self._wrong_type(path, f, "bytes", value, "give bytes")

    def _integer(self, f: Field, value: object, path: Path) -> int | None:
        if isinstance(value, bool) or not isinstance(value, int):
            self._wrong_type(path, f, f"an {f.kind}", value, "give an int")
            return None
        low, high = _INTEGERS[f.kind]
        if low <= value <= high:
            return value
        self.refuse(
            path,
            "PROTOBUF_VALUE_OUT_OF_RANGE",
            f"{_quoted(value)} does not fit {f.kind} ({low} to {high})",
            "give a smaller number, or widen the field",
            f,
        )
        return None

    def _float(self, f: Field, value: object, path: Path) -> float | None:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._wrong_type(path, f, f"a {f.kind}", value, "give a float")
            return None
        try:
            number = float(value)
        except OverflowError:
            number = None
        is_finite = number is not None and number - number == 0
        if number is None or (f.kind == "float" and is_finite and abs(number) > _FLOAT_MAX):
            self.refuse(
                path,
                "PROTOBUF_VALUE_OUT_OF_RANGE",
                f"{_quoted(value)} does not fit {f.kind}",
                "give a smaller number, or make the field a double",
                f,
            )
            return None
        return number

    def _string(self, f: Field, value: object, path: Path) -> str | None:
        if not isinstance(value, str):
            self._wrong_type(path, f, "a string", value, "give a str")
            return None
        if not value.isascii() and _SURROGATE.search(value):
            self.refuse(
                path,
                "PROTOBUF_VALUE_INVALID_UTF8",
                "the text holds half of a surrogate pair, which is no UTF-8",
                "give whole characters",
                f,
            )
            return None
        return value

    def _enum_number(self, f: Field, enum: Enum, value: object, path: Path) -> int | None:
        if isinstance(value, str):
            if value in enum.numbers:
                return enum.numbers[value]
        elif isinstance(value, bool) or not isinstance(value, int):
            self._wrong_type(path, f, f"a value of {enum.full_name}", value, "give its name or number")
            return None
        elif value in enum.names or (not enum.is_closed and -(2**31) <= value < 2**31):
            return value
        self.refuse(
            path,
            "PROTOBUF_VALUE_UNKNOWN_ENUM_VALUE",
            f"{enum.full_name} has no value {_quoted(value)}",
            f"give one of {', '.join(list(enum.numbers)[:10])}",
            f,
        )
        return None

    def _wrong_type(self, path: Path, at: Field | Message, wanted: str, value: object, fix: str) -> object | None:
        name = at.full_name.rpartition(".")[2]
        self.refuse(path, "PROTOBUF_VALUE_WRONG_TYPE", f"{name} is {wanted}, not {_quoted(value)}", fix, at)
        return None

    def check_required(self, record: Record) -> None:
        for missing in missing_required(record):
            path = tuple(missing.replace("[", ".").replace("]", "").split("."))
            self.refuse(
                path, "PROTOBUF_VALUE_MISSING_REQUIRED", f"the required field {missing} is missing", "give it a value"
            )


def extension_key(record: Record, f: Field) -> Any:
    """What the runtime wants in place of a name for an extension."""
    return record.DESCRIPTOR.file.pool.FindExtensionByName(f.full_name)


def get(record: Record, f: Field) -> Any:
    if f.name.startswith("["):
        return record.Extensions[extension_key(record, f)]
    return getattr(record, f.name)


def _set(record: Record, f: Field, value: Any) -> None:
    if f.name.startswith("["):
        record.Extensions[extension_key(record, f)] = value
    else:
        setattr(record, f.name, value)


def _type(f: Field) -> str:
    assert f.type_full_name is not None
    return f.type_full_name


def _quoted(value: object) -> str:
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, (str, bytes, int, float)) or value is None:
        text = repr(value[:60] if isinstance(value, (str, bytes)) else value)
        return text if len(text) <= 80 else text[:79] + "…"
    return f"a {type(value).__name__}"


def _well_known(message: Message, value: object) -> Mapping[str, int] | None:
    if message.full_name == "google.protobuf.Timestamp" and isinstance(value, datetime) and value.tzinfo is not None:
        seconds, micros = divmod((value - _EPOCH) // _MICROSECOND, 1_000_000)
        return {"seconds": seconds, "nanos": micros * 1000}
    if message.full_name == "google.protobuf.Duration" and isinstance(value, timedelta):
        micros = value // _MICROSECOND
        sign = -1 if micros < 0 else 1
        seconds, rest = divmod(abs(micros), 1_000_000)
        return {"seconds": sign * seconds, "nanos": sign * rest * 1000}
    return None


def _unknown_numbers(record: Record) -> list[int]:
    """The numbers of all fields that the message holds but does not know, its inner messages' included."""
    found, stack = [], [record]
    while stack:
        current = stack.pop()
        fields: Any = unknown_fields.UnknownFieldSet(current)
        found += [unknown.field_number for unknown in fields]
        for f, value in current.ListFields():
            if f.message_type is None:
                continue
            if f.message_type.GetOptions().map_entry:
                stack += value.values() if f.message_type.fields_by_number[2].message_type else []
            else:
                stack += value if f.is_repeated else [value]
    return found
