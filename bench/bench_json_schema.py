"""JSON Schema: an object of 200 properties whose versions each add an optional one.

No other Python library compares JSON Schemas. The yardstick is what `jsonschema-rs`, which is written in Rust, needs
to make validators of the same schemas.
"""

import itertools
import json
from typing import Any

import jsonschema_rs

from bench.benchmark import Benchmark, Contest
from bench.history import FIELDS, VERSIONS, full_transitive, history
from tallystick.compat.options import OptionalProperties, Options
from tallystick.model.schema_type import JSON_SCHEMA

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_KINDS: tuple[dict[str, Any], ...] = (
    {"type": "string", "maxLength": 200},
    {"type": "integer"},
    {"type": "number", "minimum": 0},
    {"type": "boolean"},
    {"enum": ["new", "paid", "sent", "done"]},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object", "additionalProperties": {"type": "integer"}},
    {"type": ["null", "string"]},
)
# Under the strict policy no typed property can ever be added to an open object.
_LENIENT = Options(OptionalProperties.LENIENT)


def growing(properties: int, versions: int) -> list[str]:
    first = {f"f{i}": _KINDS[i % len(_KINDS)] for i in range(properties)}
    return [
        json.dumps(
            {
                "$schema": _DRAFT,
                "type": "object",
                "properties": first | {f"x{i}": {"type": "string"} for i in range(added)},
                "required": list(first),
            }
        )
        for added in range(versions + 1)
    ]


def _validators(texts: list[str]) -> list[object]:
    return [jsonschema_rs.validator_for(json.loads(text)) for text in texts]


def _against_compilation() -> Contest:
    texts = growing(FIELDS, VERSIONS)
    return Contest(full_transitive(JSON_SCHEMA, texts, _LENIENT), lambda: _validators(texts))


def _unseen(text: str) -> str:
    """The same schema in a text that was never parsed before, so that nothing kept from the last round helps."""
    return f'{text[:-1]}, "$comment": "{next(_rounds)}"}}'


_rounds = itertools.count()


def _parsed_versions() -> Contest:
    texts = growing(FIELDS, VERSIONS)
    return Contest(lambda: history(JSON_SCHEMA, map(_unseen, texts)), lambda: _validators(texts))


def _growth(small: list[str], large: list[str]) -> Contest:
    return Contest(full_transitive(JSON_SCHEMA, small, _LENIENT), tenfold=full_transitive(JSON_SCHEMA, large, _LENIENT))


BENCHMARKS = [
    Benchmark(
        row="json_schema_full_transitive",
        prepare=_against_compilation,
        peer_name="jsonschema-rs compiles them",
        note="200 properties, 50 versions, lenient; a yardstick, not the same work",
    ),
    Benchmark(
        row="json_schema_growth_in_versions",
        prepare=lambda: _growth(growing(FIELDS, 5), growing(FIELDS, 50)),
        note="200 properties, 5 and 50 versions",
    ),
    Benchmark(
        row="json_schema_growth_in_properties",
        prepare=lambda: _growth(growing(200, 10), growing(2000, 10)),
        note="10 versions, 200 and 2,000 properties",
    ),
    Benchmark(
        row="json_schema_parse_versions",
        prepare=_parsed_versions,
        peer_name="jsonschema-rs compiles them",
        note="51 texts to parsed schemas",
    ),
]
