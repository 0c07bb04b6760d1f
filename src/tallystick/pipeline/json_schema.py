"""The JSON Schema (draft 2020-12) of pipeline files, for editors that complete and check while one types.

It says what the description says of single places. What only the whole tells, such as names that are not there, cycles
and variables, is left to `load`.
"""

import re
from collections.abc import Iterable
from typing import Any

from tallystick.pipeline import shapes
from tallystick.pipeline.checking import ENV
from tallystick.pipeline.description import FILE
from tallystick.pipeline.environment import VARIABLE
from tallystick.pipeline.scalar_checks import SECRET_OPTION
from tallystick.pipeline.shapes import Key, Section, Shape
from tallystick.pipeline.texts import NAME

_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")
_TEXT = {"type": "string", "minLength": 1}
_EXPRESSION = {"type": ["string", "number", "boolean"], "minLength": 1}
_OPTION = {"type": ["string", "number", "boolean"], "minLength": 1}


def json_schema() -> dict[str, Any]:
    sections: dict[str, Any] = {}
    whole = _object(FILE, sections)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tallystick pipeline",
        **whole,
        "$defs": {
            "secret": {
                "description": "The name of a variable of the environment.",
                "oneOf": [
                    {"type": "string", "pattern": rf"^\$\{{{VARIABLE}\}}$"},
                    {
                        "type": "object",
                        "properties": {ENV: {"type": "string", "pattern": f"^{VARIABLE}$"}},
                        "required": [ENV],
                        "additionalProperties": False,
                    },
                ],
            },
            **dict(sorted(sections.items())),
        },
    }


def _schema(shape: Shape, sections: dict[str, Any]) -> dict[str, Any]:
    match shape:
        case Section():
            if shape.name not in sections:
                sections[shape.name] = {}
                sections[shape.name] = _section(shape, sections)
            return {"$ref": f"#/$defs/{shape.name}"}
        case shapes.MapOf():
            return _map(shape, sections)
        case shapes.ListOf():
            item = _schema(shape.item, sections)
            several = {"type": "array", "items": item, "minItems": 1}
            return {"anyOf": [item, several]} if shape.is_one_enough else several
        case shapes.Choice():
            return {"enum": list(shape.words)}
        case shapes.Number():
            return {"type": "integer" if shape.is_whole else "number", "minimum": shape.minimum}
        case shapes.Truth():
            return {"type": "boolean"}
        case shapes.Anything():
            return {}
        case shapes.Secret():
            return {"$ref": "#/$defs/secret"}
        case shapes.Option():
            return {"anyOf": [_OPTION, {"$ref": "#/$defs/secret"}]}
        case shapes.ReaderChoice():
            return {"anyOf": [_TEXT, {"type": "integer", "minimum": 1}]}
        case shapes.Sql():
            return dict(_EXPRESSION)
        case shapes.Columns():
            by_name = {"type": "object", "additionalProperties": _EXPRESSION, "minProperties": 1}
            return {"anyOf": [_EXPRESSION, {"type": "array", "items": _EXPRESSION, "minItems": 1}, by_name]}
        case shapes.Text() | shapes.Path() | shapes.SchemaPath() | shapes.ClusterName():
            return dict(_TEXT)


def _map(shape: shapes.MapOf, sections: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": "object",
        "additionalProperties": _schema(shape.value, sections),
        "minProperties": 1,
    }
    if shape.are_names:
        made["propertyNames"] = {"pattern": f"^{NAME}$"}
    if isinstance(shape.value, shapes.Option):
        made["patternProperties"] = {SECRET_OPTION: {"$ref": "#/$defs/secret"}}
    return made


def _section(section: Section, sections: dict[str, Any]) -> dict[str, Any]:
    whole = _object(section, sections)
    short = None if section.short is None else section.key(section.short)
    if short is None:
        return whole
    return {"description": _plain(section.doc), "anyOf": [_schema(short.shape, sections), whole]}


def _object(section: Section, sections: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "description": _plain(section.doc),
        "type": "object",
        "properties": {key.name: _described(key, sections) for key in section.keys},
        "additionalProperties": False,
    }
    required = [key.name for key in section.keys if key.is_required]
    if required:
        made["required"] = required
    if section.needs:
        made["dependentRequired"] = {name: [other] for name, other in section.needs}
    rules = list(_constraints(section))
    if rules:
        made["allOf"] = rules
    return made


def _constraints(section: Section) -> Iterable[dict[str, Any]]:
    for group in (section.exactly_one, section.at_least_one):
        if group:
            yield {"anyOf": [{"required": [name]} for name in group]}
    for group in (section.exactly_one, section.at_most_one):
        if group:
            yield {"not": {"required": list(group)}}


def _described(key: Key, sections: dict[str, Any]) -> dict[str, Any]:
    default = "" if key.default is None else f" Without it: {key.default}."
    return {"description": _plain(f"{key.doc}{default}"), **_schema(key.shape, sections)}


def _plain(doc: str) -> str:
    """Without the links, which lead from page to page."""
    return _LINK.sub(r"\1", doc)
