"""The one explanation object as text and as plain values."""

from tallystick.finding import Direction, Finding, Place


def test_place_shows_path_line_and_column() -> None:
    assert str(Place("/fields/2", 4, 7)) == "/fields/2 (line 4, column 7)"
    assert str(Place("/fields/2")) == "/fields/2"
    assert str(Place("")) == "/"


def test_place_as_plain_values_leaves_out_what_is_not_known() -> None:
    assert Place("/a", 1, 2).as_dict() == {"path": "/a", "line": 1, "column": 2}
    assert Place("").as_dict() == {"path": ""}


def test_finding_as_plain_values() -> None:
    finding = Finding(
        rule="A_RULE",
        message="it does not fit",
        fix="mend it",
        old=Place("/a"),
        new=Place("/b", 3, 1),
        was="int",
        now="string",
        direction=Direction.FORWARD,
    )
    assert finding.against(2).as_dict() == {
        "rule": "A_RULE",
        "message": "it does not fit",
        "fix": "mend it",
        "direction": "FORWARD",
        "version": 2,
        "old": {"path": "/a"},
        "new": {"path": "/b", "line": 3, "column": 1},
        "was": "int",
        "now": "string",
    }


def test_finding_leaves_out_what_is_not_known() -> None:
    assert Finding(rule="R", message="m", fix="f").as_dict() == {"rule": "R", "message": "m", "fix": "f"}


def test_against_changes_the_version_alone() -> None:
    finding = Finding(rule="R", message="m", fix="f", was="x")
    assert finding.against(3) == Finding(rule="R", message="m", fix="f", was="x", version=3)
    assert finding.version is None


def test_plain_values_hold_no_enum() -> None:
    facts = Finding(rule="R", message="m", fix="f", direction=Direction.BACKWARD).as_dict()
    assert type(facts["direction"]) is str
