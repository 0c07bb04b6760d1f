"""Which values fit a schema, and why not."""

import json
import math
from typing import Any
from urllib.parse import unquote, urldefrag

import jsonschema_rs

from tallystick.finding import Finding, Place
from tallystick.formats import json_source
from tallystick.formats.json_schema.parse import JsonSchema
from tallystick.formats.json_source import MAX_DEPTH, Path

_MAX_STEPS_TOGETHER = 4000
"""Levels of a value times schema objects at each level: what the validator's stack carries with room to spare."""
_MAX_FINDINGS = 100
_QUOTED = 80

_CLOSING = frozenset({"additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
_DEMANDS = {
    "additionalItems": "holds more items than the schema has",
    "additionalProperties": "holds a property that the schema does not have",
    "anyOf": "fits none of the schemas of `anyOf`",
    "const": "is not the one value allowed",
    "contains": "does not hold the items that `contains` asks for",
    "dependencies": "lacks what another property calls for",
    "enum": "is none of the values allowed",
    "falseSchema": "is not allowed here at all",
    "format": "does not have the right format",
    "maximum": "is too large",
    "exclusiveMaximum": "is too large",
    "maxItems": "has too many items",
    "maxLength": "is too long",
    "maxProperties": "has too many properties",
    "minimum": "is too small",
    "exclusiveMinimum": "is too small",
    "minItems": "has too few items",
    "minLength": "is too short",
    "minProperties": "has too few properties",
    "multipleOf": "is not a multiple",
    "not": "fits the schema of `not`",
    "oneOf": "does not fit exactly one of the schemas of `oneOf`",
    "pattern": "does not match the pattern",
    "propertyNames": "has a property with a name that is not allowed",
    "required": "lacks a property",
    "type": "has the wrong type",
    "unevaluatedItems": "holds more items than the schema has",
    "unevaluatedProperties": "holds a property that the schema does not have",
    "uniqueItems": "holds equal items",
}


def validate(schema: JsonSchema, value: object) -> list[Finding]:
    """Every reason why a value does not fit (the first hundred), in the order in which the schema speaks."""
    deepest = min(MAX_DEPTH, _MAX_STEPS_TOGETHER // max(schema.steps, 1))
    unfit = _not_json(value, deepest)
    if unfit is not None:
        return [unfit]
    findings = []
    for error in schema.validator.iter_errors(value):
        findings.append(_finding(schema, error))
        if len(findings) == _MAX_FINDINGS:
            break
    return findings


def _finding(schema: JsonSchema, error: jsonschema_rs.ValidationError) -> Finding:
    keyword = _keyword(error)
    path = tuple(error.instance_path)
    where = f"`{json_source.pointer(path)}`" if path else "the value"
    return Finding(
        rule=f"JSON_SCHEMA_VALUE_{_upper(keyword)}",
        message=f"{where} {_DEMANDS.get(keyword, 'does not fit')}: {_cut(error.message)}",
        fix=f"send a value that fits `{keyword}`, or change the schema",
        old=_schema_place(schema, error),
        new=Place(json_source.pointer(path)),
        was=_quoted(error.kind.value),
        now=_quoted(error.instance),
    )


def _keyword(error: jsonschema_rs.ValidationError) -> str:
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded):
        return "pattern"
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.FalseSchema):
        *before, last = ["", *error.schema_path]
        is_name = bool(before) and before[-1] == "properties"
        return str(last) if last in _CLOSING and not is_name else "falseSchema"
    names = [step for step in error.schema_path if isinstance(step, str)]
    return error.kind.name if error.kind.name in _DEMANDS or not names else names[-1]


def _schema_place(schema: JsonSchema, error: jsonschema_rs.ValidationError) -> Place:
    """The keyword's place; of a keyword in a reference, its path in the text of the reference."""
    uri, fragment = urldefrag(error.absolute_keyword_location or "")
    source = next((text for text, own in schema.uris.items() if own == uri), schema.source)
    path = tuple(error.schema_path)
    if source is not schema.source and fragment:
        path = _path(source.value, unquote(fragment))
    return source.place(path)


def _path(value: Any, pointer: str) -> Path:
    path: list[str | int] = []
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            path.append(int(name))
            value = value[int(name)]
        else:
            path.append(name)
            value = value.get(name) if isinstance(value, dict) else None
    return tuple(path)


def _not_json(value: object, deepest: int) -> Finding | None:
    """Why a value is no JSON value within the limits; the validator must not see such a one."""
    stack: list[tuple[Any, Path]] = [(value, ())]
    while stack:
        item, path = stack.pop()
        reason = _reason_against(item) if len(path) <= deepest else f"nested deeper than {deepest} levels"
        if reason is not None:
            return _unfit(reason, path)
        if isinstance(item, dict):
            stack.extend((inner, (*path, key)) for key, inner in item.items())
        elif isinstance(item, list | tuple):
            stack.extend((inner, (*path, i)) for i, inner in enumerate(item))
    return None


def _reason_against(item: Any) -> str | None:
    match item:
        case None | bool() | int() | list() | tuple():
            return None
        case float():
            return None if math.isfinite(item) else f"{item} is no JSON number"
        case str():
            return None if _is_text(item) else "holds half of a surrogate pair, which is no character"
        case dict():
            bad = next((key for key in item if not isinstance(key, str) or not _is_text(key)), None)
            return None if bad is None else f"{bad!r} is no name of a property"
    return f"a value of the Python type {type(item).__name__} is no JSON value"


def _is_text(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _unfit(reason: str, path: Path) -> Finding:
    # Of a path that is too deep, the end says nothing.
    place = Place(json_source.pointer(path[:20]))
    return Finding(
        rule="JSON_SCHEMA_VALUE_NOT_JSON",
        message=f"`{place}` cannot be a JSON value: {reason}",
        fix="send objects, lists, texts, numbers, true, false and null only",
        new=place,
    )


def _quoted(value: object) -> str:
    return _cut(json.dumps(value, ensure_ascii=False, default=str))


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"


def _upper(keyword: str) -> str:
    return "".join(f"_{character}" if character.isupper() else character for character in keyword).upper()
