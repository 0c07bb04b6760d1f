"""Values as UTF-8 JSON, and back."""

import json
from typing import Any

from tallystick.errors import InvalidRecord, InvalidSchema
from tallystick.finding import Finding
from tallystick.formats import json_source
from tallystick.formats.json_schema.parse import JsonSchema
from tallystick.formats.json_schema.validate import validate


def encode(schema: JsonSchema, value: object) -> bytes:
    _refuse_unfit(schema, value, "the value does not fit its schema")
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def decode(schema: JsonSchema, payload: bytes, reader: JsonSchema | None = None) -> Any:
    """The value, once it fits the schema it was written with and the reader's, where there is one."""
    value = _load(payload)
    _refuse_unfit(schema, value, "the payload does not fit the schema it was written with")
    if reader is not None:
        _refuse_unfit(reader, value, "the payload does not fit the reader's schema")
    return value


def _refuse_unfit(schema: JsonSchema, value: object, message: str) -> None:
    findings = validate(schema, value)
    if findings:
        raise InvalidRecord(f"{message}: {findings[0].message}", findings)


def _load(payload: bytes) -> Any:
    try:
        return json_source.load(payload.decode())
    except UnicodeDecodeError as e:
        raise _not_json(f"byte {e.start} is not UTF-8") from e
    except InvalidSchema as e:
        raise _not_json(f"{e.reason}{f' at {e.place}' if e.place is not None else ''}") from e


def _not_json(reason: str) -> InvalidRecord:
    finding = Finding(
        rule="JSON_SCHEMA_PAYLOAD_NOT_JSON",
        message=f"the payload cannot be read: {reason}",
        fix="send UTF-8 JSON",
    )
    return InvalidRecord(finding.message, [finding])
