"""Judge: whether single values fit a node, asked of the validator itself."""

from functools import lru_cache
from typing import Any
from urllib.parse import quote

import jsonschema_rs

from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.json_schema.draft import PATTERN_OPTIONS
from tallystick.formats.json_schema.node import Node
from tallystick.formats.json_schema.source import Source
from tallystick.formats.json_source import pointer


class Judge:
    """Answers for the nodes of the schemas that it knows; True, False, or None where it cannot tell."""

    def __init__(self, *schemas: JsonSchema) -> None:
        self._schemas: dict[Source, JsonSchema] = {text: schema for schema in schemas for text in schema.uris}
        self._has_draft_4 = any(text.draft.number == 4 for text in self._schemas)
        self._validators: dict[Node, jsonschema_rs.Validator] = {}

    def accepts(self, node: Node, value: Any) -> bool | None:
        """Whether the node takes a value, in all its spellings."""
        if node.refuses_nothing:
            return True
        if node.source is None or self._schemas[node.source].is_dynamic:
            return None
        if node not in self._validators:
            self._validators[node] = _validator(self._schemas[node.source], node, node.source)
        validator = self._validators[node]
        return all(validator.is_valid(form) for form in self._forms(value))

    def refuses(self, node: Node, value: Any) -> bool:
        """Whether the node certainly refuses a value, however it is written."""
        return self.accepts(node, value) is False and not any(
            self._validators[node].is_valid(form) for form in self._forms(value)
        )

    def _forms(self, value: Any) -> list[Any]:
        """The value and, where draft 4 tells 1 from 1.0, the value written the other ways."""
        if not self._has_draft_4:
            return [value]
        return [value, _written(value, as_float=False), _written(value, as_float=True)]


def _written(value: Any, *, as_float: bool) -> Any:
    match value:
        case bool():
            return value
        case int() | float() if abs(value) < 2**53 and value == int(value):
            return float(value) if as_float else int(value)
        case list():
            return [_written(item, as_float=as_float) for item in value]
        case dict():
            return {name: _written(item, as_float=as_float) for name, item in value.items()}
    return value


@lru_cache(maxsize=4096)
def matches(pattern: str, text: str) -> bool:
    """Whether the validator finds a pattern in a text."""
    return _of_pattern(pattern).is_valid(text)


@lru_cache(maxsize=1024)
def _of_pattern(pattern: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft7Validator({"pattern": pattern}, pattern_options=PATTERN_OPTIONS)


def _validator(schema: JsonSchema, node: Node, source: Source) -> jsonschema_rs.Validator:
    if not node.path and source is schema.source:
        return schema.validator
    return schema.draft.validator(
        {"$ref": f"{schema.uris[source]}#{quote(pointer(node.path))}"},
        registry=schema.registry,
        validate_formats=False,
        pattern_options=PATTERN_OPTIONS,
        offline=True,
    )
