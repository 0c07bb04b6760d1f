"""Every case of `conformance/canonical`: which definitions share an identity, and which only a normal form."""

from typing import Any

import pytest

from tallystick.formats import format_of, guid, identity
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tests.conformance.cases import CONFORMANCE, load, parse_with

CASES = [
    pytest.param(case, id=f"{path.stem}/{case['name']}")
    for path in sorted((CONFORMANCE / "canonical").glob("*.yaml"))
    for case in load(path)
]


@pytest.mark.parametrize("case", CASES)
def test_identity(case: dict[str, Any]) -> None:
    a, b = (SchemaDefinition(SchemaType(case["type"]), case[side]) for side in "ab")
    assert (identity(a) == identity(b)) is case["same_identity"]
    assert (guid(a) == guid(b)) is case["same_identity"]
    if "guid" in case:
        assert str(guid(a)) == case["guid"]


@pytest.mark.parametrize("case", CASES)
def test_normal_form(case: dict[str, Any]) -> None:
    normal_form = format_of(SchemaType(case["type"])).normal_form
    a, b = (normal_form(parse_with(case["type"], case[side], case.get("references", []))) for side in "ab")
    assert (a == b) is case["same_normal_form"]


def test_same_identity_means_same_normal_form() -> None:
    for param in CASES:
        case = param.values[0]
        assert isinstance(case, dict)
        assert case["same_normal_form"] or not case["same_identity"], param.id
