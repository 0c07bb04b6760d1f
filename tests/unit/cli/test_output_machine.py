"""Outputs for programs, held against what their readers require."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import yaml

from tallystick.cli.faults import Fault
from tallystick.cli.output import github, gitlab, json_yaml, junit
from tallystick.finding import Place
from tests.unit.cli.reports import ACCEPTED, ADDED, REFUSED, SINGLE, report

FAULT = Fault(
    code="invalid-schema", reason="not JSON: 100%", file="a,b:c.avsc", place=Place("", 3, 7), fix="mend it"
)  # fmt: skip


def test_json_has_the_documented_keys() -> None:
    value = json.loads(json_yaml.as_json(json_yaml.as_dict(REFUSED)))
    assert list(value) == ["fits", "strategy", "type", "candidate", "compared_with", "findings", "changes"]
    assert value["fits"] is False
    assert (value["strategy"], value["type"], value["candidate"]) == ("FULL_TRANSITIVE", "AVRO", "order.avsc")
    assert value["compared_with"][1] == {"version": 2, "file": "order-v2.avsc"}
    assert len(value["findings"]) == 4
    assert value["findings"][1] == {
        "rule": "AVRO_FIELD_ADDED_NEEDS_DEFAULT",
        "message": ADDED.message,
        "fix": ADDED.fix,
        "direction": "BACKWARD",
        "version": 1,
        "old": {"path": "", "line": 1, "column": 1},
        "new": {"path": "/fields/1", "line": 4, "column": 5},
        "now": "price",
        "old_file": "order-v1.avsc",
        "new_file": "order.avsc",
    }
    assert value["changes"][0]["kind"] == "removed"
    assert value["changes"][0]["breaks"] == [
        "ALWAYS_INCOMPATIBLE", "FORWARD", "FULL", "FORWARD_TRANSITIVE", "FULL_TRANSITIVE"
    ]  # fmt: skip


def test_yaml_is_the_same_value_without_anchors() -> None:
    value = json_yaml.as_dict(REFUSED)
    text = json_yaml.as_yaml(value)
    assert yaml.safe_load(text) == value
    assert "&id" not in text


def test_an_error_is_part_of_the_value() -> None:
    assert json_yaml.as_dict(FAULT) == {
        "fits": False,
        "findings": [],
        "changes": [],
        "error": {
            "code": "invalid-schema",
            "message": "not JSON: 100%",
            "fix": "mend it",
            "file": "a,b:c.avsc",
            "place": {"path": "", "line": 3, "column": 7},
        },
    }


def test_github_annotates_each_reason_once() -> None:
    lines = github.render(REFUSED).splitlines()
    assert len(lines) == 3
    assert lines[1] == (
        "::error file=order.avsc,line=4,col=5,title=AVRO_FIELD_ADDED_NEEDS_DEFAULT::"
        "field `price` was added without a default, so old records have no value for it"
        "%0Abreaks: readers with the new schema cannot read records written with versions 1 and 2"
        "%0Afix: give field `price` a default"
    )
    assert lines[2] == "✗ order.avsc does not fit under FULL_TRANSITIVE"
    assert github.render(ACCEPTED) == "✓ order.avsc fits under FULL_TRANSITIVE"


def test_github_escapes_data_and_properties() -> None:
    assert github.render(FAULT) == (
        "::error file=a%2Cb%3Ac.avsc,line=3,col=7,title=invalid-schema::not JSON: 100%25%0Afix: mend it"
    )


def test_github_cannot_be_made_to_run_a_command_by_a_schema() -> None:
    nasty = replace(ADDED, message="x\n::stop-commands::y\r\n::set-env name=A::B")
    assert [line[:7] for line in github.render(report(nasty.against(1), versions=1)).splitlines()] == [
        "::error", "✗ order"
    ]  # fmt: skip


def test_github_without_a_place_names_only_the_file() -> None:
    shown = github.render(report(replace(ADDED, new=None).against(1), versions=1))
    assert shown.startswith("::error file=order.avsc,title=AVRO_FIELD_ADDED_NEEDS_DEFAULT::")


def test_gitlab_issues_have_all_that_code_quality_requires() -> None:
    issues = json.loads(gitlab.render(REFUSED))
    assert [issue["check_name"] for issue in issues] == [
        "AVRO_FIELD_REMOVED_NEEDS_DEFAULT", "AVRO_FIELD_ADDED_NEEDS_DEFAULT"
    ]  # fmt: skip
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
    assert issues[1]["location"] == {"path": "order.avsc", "lines": {"begin": 4}}
    assert issues[1]["description"] == f"{ADDED.message}. Fix: give field `price` a default"
    assert json.loads(gitlab.render(ACCEPTED)) == []


def test_gitlab_fingerprints_differ_by_issue_and_survive_moved_lines_and_more_versions() -> None:
    def fingerprints(*findings: object) -> list[str]:
        return [issue["fingerprint"] for issue in json.loads(gitlab.render(report(*findings)))]  # type: ignore[arg-type]

    assert len(set(fingerprints(*REFUSED.findings))) == 2
    moved = replace(ADDED, new=Place("/fields/1", 40, 2))
    assert fingerprints(ADDED.against(1)) == fingerprints(moved.against(1), moved.against(2))
    assert fingerprints(ADDED.against(1)) != fingerprints(replace(ADDED, new=Place("/fields/2")).against(1))


def test_gitlab_tells_a_fault_as_a_blocker() -> None:
    (issue,) = json.loads(gitlab.render(FAULT))
    assert (issue["severity"], issue["check_name"]) == ("blocker", "invalid-schema")
    assert issue["location"] == {"path": "a,b:c.avsc", "lines": {"begin": 3}}


def test_junit_has_a_case_for_each_version() -> None:
    root = ElementTree.fromstring(junit.render(REFUSED))
    suite = root.find("testsuite")
    assert root.tag == "testsuites"
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "2", "0")
    first, second = suite.findall("testcase")
    assert first.get("classname") == "order.avsc"
    assert second.get("name") == "fits under FULL_TRANSITIVE with version 2 (order-v2.avsc)"
    failure = second.find("failure")
    assert failure is not None
    assert failure.get("type") == "AVRO_FIELD_REMOVED_NEEDS_DEFAULT"
    assert failure.text is not None
    assert "order.avsc:4:5: field `price` was added" in failure.text
    assert "readers with version 2 (order-v2.avsc) cannot read records written with the new schema" in failure.text


def test_junit_passes_versions_that_fit() -> None:
    root = ElementTree.fromstring(junit.render(report(ADDED.against(2))))
    assert [case.find("failure") is None for case in root.iter("testcase")] == [True, False]
    assert root.get("failures") == "1"


def test_junit_of_a_single_file_has_one_case() -> None:
    (case,) = ElementTree.fromstring(junit.render(SINGLE)).iter("testcase")
    assert (case.get("name"), list(case)) == ("is a valid schema", [])


def test_junit_tells_a_fault_as_an_error() -> None:
    root = ElementTree.fromstring(junit.render(FAULT))
    error = root.find("testsuite/testcase/error")
    assert root.get("errors") == "1"
    assert error is not None
    assert error.text == "a,b:c.avsc:3:7: not JSON: 100%\nfix: mend it"


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\ufffe", "\ud800", "]]>", '<&">'])
def test_junit_is_xml_whatever_the_schema_holds(character: str) -> None:
    nasty = replace(ADDED, message=f"a{character}b")
    document = junit.render(report(nasty.against(1), versions=1))
    root = ElementTree.fromstring(document.encode())
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith("a")
