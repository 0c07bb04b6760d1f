"""Does a pair fit? Each half is asked by its own format; a half that is None is a half that is not there."""

from dataclasses import replace
from typing import Any

from tallystick.errors import InvalidRecord
from tallystick.finding import Finding, Place
from tallystick.formats.catalogue import format_of
from tallystick.formats.key_value.parse import KeyValueSchema
from tallystick.formats.key_value.source import HALVES, Half
from tallystick.model.key_value import KeyValue

NOT_A_PAIR = "KEY_VALUE_VALUE_NOT_A_PAIR"


def validate(schema: KeyValueSchema, value: object) -> list[Finding]:
    if not isinstance(value, KeyValue):
        message = f"a KEY_VALUE schema takes a KeyValue, not a {type(value).__name__}"
        fix = "give KeyValue(key, value)"
        return [Finding(rule=NOT_A_PAIR, message=message, fix=fix, old=Place(""), new=Place(""))]
    return [in_half(schema, half, finding) for half in HALVES for finding in _of_half(schema, half, value)]


def _of_half(schema: KeyValueSchema, half: Half, pair: KeyValue) -> list[Finding]:
    value: Any = getattr(pair, half)
    if value is None:
        return []
    inner = schema.half(half)
    return format_of(inner.definition.type).validate(inner, value)


def in_half(schema: KeyValueSchema, half: Half, finding: Finding) -> Finding:
    """A finding of a half as one of the pair."""
    path = f"/{half}{finding.new.path if finding.new else ''}"
    message = f"in the {half}: {finding.message}"
    return replace(finding, message=message, old=schema.place(half, finding.old), new=Place(path))


def error_in_half(schema: KeyValueSchema, half: Half, error: InvalidRecord) -> InvalidRecord:
    findings = [in_half(schema, half, finding) for finding in error.findings]
    return InvalidRecord(f"in the {half}: {error.message}", findings)
