"""References to the environment."""

import pytest

from tallystick.pipeline.environment import Substituted, substituted, variable_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no reference", Substituted("no reference")),
        ("${A}", Substituted("1")),
        ("x${A}y${A}z", Substituted("x1y1z")),
        ("${NOT:-else}", Substituted("else")),
        ("${EMPTY:-else}", Substituted("else")),
        ("${EMPTY}", Substituted("")),
        ("${NOT:-}", Substituted("")),
        ("${A:-else}", Substituted("1")),
        ("$${A}", Substituted("${A}")),
        ("$A costs $5", Substituted("$A costs $5")),
        ("${NOT}", Substituted("${NOT}", missing=("NOT",), is_known=False)),
        ("${1}", Substituted("${1}", malformed=("${1}",), is_known=False)),
        ("${A", Substituted("${A", malformed=("${A",), is_known=False)),
        ("${A:?no}", Substituted("${A:?no}", malformed=("${A:?no}",), is_known=False)),
    ],
)
def test_references_become_what_they_stand_for(text: str, expected: Substituted) -> None:
    assert substituted(text, {"A": "1", "EMPTY": ""}) == expected


def test_a_value_that_looks_like_a_reference_is_none() -> None:
    assert substituted("${A}", {"A": "${B}", "B": "2"}).text == "${B}"


def test_without_an_environment_only_what_else_counts() -> None:
    assert substituted("${A}/${B:-else}", None) == Substituted("${A}/else", is_known=False)


@pytest.mark.parametrize(("text", "name"), [("${A_1}", "A_1"), ("${A:-x}", None), ("x${A}", None), ("A", None)])
def test_a_secret_is_one_reference_and_nothing_else(text: str, name: str | None) -> None:
    assert variable_of(text) == name
