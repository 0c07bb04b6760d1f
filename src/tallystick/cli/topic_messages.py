"""A message for people and for programs."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tallystick.cli import topic_times
from tallystick.cli.output.excerpt import printable
from tallystick.cli.topic_to_json import json_of
from tallystick.errors import InvalidSchema, TallystickError
from tallystick.model import schema_type as types
from tallystick.serde import records

if TYPE_CHECKING:
    from tallystick.messaging.message import Message
    from tallystick.model.definition import SchemaDefinition

SHOWN = ("value", "message", "all")
"""The value alone, with what matters of the message, or with everything."""

LINE = 100
"""A value that is longer than this as one line is shown over several."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Shown:
    """A message with its value decoded, or the error that kept it from that."""

    def __init__(self, message: "Message[Any]") -> None:
        self.message = message
        self.error: TallystickError | None = None
        self.value: dict[str, Any] = {}
        try:
            self.value = _value(message)
        except TallystickError as e:
            self.error = e

    def document(self, show: str) -> Any:
        """For programs; with `value` alone the value, and where there is none the whole."""
        if show == "value" and "value" in self.value:
            return self.value["value"]
        told = {**_meta(self.message, with_all=show == "all"), **self.value}
        if self.error is not None:
            told["error"] = _error(self.error)
            told["payload_base64"] = _base64(self.message.payload or b"")
        return told

    def lines(self, show: str) -> Iterator[str]:
        """For people."""
        if show != "value" or self.error is not None:
            yield printable(_headline(_meta(self.message, with_all=show == "all")))
        indent = "" if show == "value" else "  "
        if self.error is not None:
            yield from _error_lines(self.error)
        elif "value" in self.value:
            yield from (indent + line for line in _readable(self.value["value"]))
        else:
            yield f"{indent}{self.value['value_base64']} (bytes, in Base64)"


def _value(message: "Message[Any]") -> dict[str, Any]:
    """Messages without a schema are bytes, which are shown as a text where they are one."""
    value = message.value
    if not isinstance(value, bytes) or (message.schema is not None and message.schema.type not in _BYTES):
        return {"value": json_of(value)}
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return {"value_base64": _base64(value)}
    return {"value_base64": _base64(value)} if _CONTROL.search(text) else {"value": text}


_BYTES = (types.BYTES, types.NONE)


def _meta(message: "Message[Any]", *, with_all: bool) -> dict[str, Any]:
    schema, incoming = message.schema, message.incoming
    told: dict[str, Any] = {
        "topic": message.topic,
        "position": str(message.position),
        "version": message.schema_version,
        "schema_id": _schema_id(message.schema_id),
        "schema_type": None if schema is None else str(schema.type),
        **_key(message.key_bytes),
        "published": _time(message.publish_time),
        "event_time": _time(message.event_time),
        "properties": dict(message.properties) or None,
    }
    if with_all:
        told |= {
            "record": None if schema is None else _record(schema),
            "producer": message.producer_name,
            "sequence_id": message.sequence_id,
            "redeliveries": message.redelivery_count,
            "replicated_from": message.replicated_from,
            "headers": {name: _base64(value) for name, value in incoming.headers} or None,
            "bytes": None if message.payload is None else len(message.payload),
        }
    return {name: value for name, value in told.items() if value is not None}


def _key(key: bytes | None) -> dict[str, str]:
    if key is None:
        return {}
    try:
        text = key.decode()
    except UnicodeDecodeError:
        return {"key_base64": _base64(key)}
    return {"key_base64": _base64(key)} if _CONTROL.search(text) else {"key": text}


def _schema_id(schema_id: Any) -> int | str | None:
    from tallystick.messaging.message import shown_id

    return schema_id if schema_id is None or isinstance(schema_id, int) else shown_id(schema_id)


@lru_cache(maxsize=256)
def _record(schema: "SchemaDefinition") -> str | None:
    if not schema.text:
        return None
    try:
        return records.record_name(schema)
    except InvalidSchema:
        return None


def _time(time: datetime | None) -> str | None:
    return None if time is None else topic_times.shown(time)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _headline(meta: Mapping[str, Any]) -> str:
    """`orders 3:17:-1:0  v2  key=a  published=2026-01-31T12:00:00Z`"""
    parts = [f"{meta['topic']} {meta['position']}"]
    if "version" in meta:
        parts.append(f"v{meta['version']}")
    if "schema_id" in meta:
        parts.append(f"id {meta['schema_id']}")
    parts += [f"{name}={_word(value)}" for name, value in meta.items() if name not in _IN_FRONT]
    return "  ".join(parts)


_IN_FRONT = ("topic", "position", "version", "schema_id", "schema_type")


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}:{inner}" for name, inner in value.items())
    return str(value)


def _readable(value: Any) -> Iterator[str]:
    line = json.dumps(value, ensure_ascii=False)
    lines = [line] if len(line) <= LINE else json.dumps(value, ensure_ascii=False, indent=2).split("\n")
    return map(printable, lines)


def _error(error: TallystickError) -> dict[str, Any]:
    findings = getattr(error, "findings", ())
    return {"code": error.code, "message": error.message, "findings": [finding.as_dict() for finding in findings]}


def _error_lines(error: TallystickError) -> Iterator[str]:
    findings = getattr(error, "findings", ())
    if not findings:
        yield printable(f"  ✗ {error.message}")
    for finding in findings:
        yield printable(f"  ✗ {finding.message}")
        yield printable(f"    fix   {finding.fix}")
        yield printable(f"    rule  {finding.rule}")
