"""Every case of the conformance data that claims a witness shows it to the validator."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tallystick.compat.rule import BACKWARD, CATALOGUE
from tallystick.compat.rules.json_schema import breaches
from tallystick.finding import Direction
from tallystick.formats.json_schema import FORMAT, JsonSchema
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import JSON_SCHEMA

CASES = Path(__file__).parents[4] / "conformance" / "compat" / "json_schema"


def _refused() -> Iterator[Any]:
    for file in sorted(CASES.glob("*/cases.yaml")):
        for case in yaml.safe_load(file.read_text())["cases"]:
            for direction in Direction:
                rules = {found["rule"] for found in case["findings"] if found["direction"] == direction}
                if any(CATALOGUE[rule].has_witness for rule in rules):
                    yield pytest.param(case, direction, id=f"{file.parent.name}/{case['name']}/{direction}")


@pytest.mark.parametrize(("case", "direction"), list(_refused()))
def test_the_witness_is_written_and_not_read(case: dict[str, Any], direction: Direction) -> None:
    old, new = _schema(case, "old"), _schema(case, "new")
    writer, reader = (old, new) if direction is BACKWARD else (new, old)
    value = case["witness"][str(direction)]
    assert FORMAT.validate(writer, value) == []
    assert FORMAT.validate(reader, value) != []


def test_every_rule_has_cases() -> None:
    assert breaches.REQUIRED.tightened.id in CATALOGUE
    ours = {id_ for id_ in CATALOGUE if id_.startswith("JSON_SCHEMA_")}
    assert {file.parent.name for file in CASES.glob("*/cases.yaml")} == ours


def _schema(case: dict[str, Any], side: str) -> JsonSchema:
    references = {
        Reference(known["name"], known["subject"], known["version"]): SchemaDefinition(JSON_SCHEMA, known["text"])
        for known in case.get("references", ())
    }
    schema = FORMAT.parse(SchemaDefinition(JSON_SCHEMA, case[side], tuple(references)), references)
    assert isinstance(schema, JsonSchema)
    return schema
