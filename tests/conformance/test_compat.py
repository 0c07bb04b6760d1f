"""Every case of `conformance/compat` through the function, and the shape of the case files themselves."""

from collections import Counter
from typing import Any

import pytest

from tallystick.compat.rules import catalogue
from tallystick.finding import Finding
from tests.conformance.cases import CONFORMANCE, Case, CaseFile, compat_cases, compat_files

each_file = pytest.mark.parametrize("file", compat_files(), ids=lambda file: f"{file.format}/{file.rule}")


@pytest.mark.parametrize("case", compat_cases(), ids=lambda case: case.id)
def test_case_has_exactly_its_findings_and_they_explain_themselves(case: Case) -> None:
    found = case.found()
    lines_of = {_key(expected): expected["line"] for expected in case.findings if "line" in expected}
    actual = [_facts(finding, with_line=_key(_facts(finding)) in lines_of) for finding in found]
    assert sorted(actual, key=_key) == sorted(case.findings, key=_key)
    assert all(finding.message.strip() and finding.fix.strip() for finding in found)


def test_every_rule_has_its_folder_and_every_folder_its_rule() -> None:
    folders = {path.name for path in (CONFORMANCE / "compat").glob("*/*")}
    assert folders == set(catalogue())
    assert {file.rule for file in compat_files()} == folders


@each_file
def test_file_is_about_its_folder(file: CaseFile) -> None:
    assert file.facts["rule"] == file.rule
    assert file.facts["source"].strip()
    # The rules across types speak of no format.
    assert file.rule.startswith(f"{file.format.upper()}_") or file.format == "type_change"
    assert set(file.facts) <= {"rule", "source", "type", "cases"}


@each_file
def test_names_of_cases_are_unique(file: CaseFile) -> None:
    names = Counter(case.facts["name"] for case in file.cases)
    assert [name for name, times in names.items() if times > 1] == []


@each_file
def test_rule_strikes_and_has_a_near_miss(file: CaseFile) -> None:
    assert any(file.rule in case.rules for case in file.cases), "no case in which the rule strikes"
    assert any(file.rule not in case.rules for case in file.cases), "no case in which the rule does not strike"


@each_file
def test_rule_breaks_only_the_directions_it_names(file: CaseFile) -> None:
    struck = {f.get("direction") for case in file.cases for f in case.findings if f["rule"] == file.rule}
    assert struck == (catalogue()[file.rule].breaks or {None})


def test_there_are_at_least_400_cases() -> None:
    count = len(compat_cases())
    assert count >= 400


def _facts(finding: Finding, with_line: bool = False) -> dict[str, Any]:
    facts: dict[str, Any] = {"rule": finding.rule}
    if finding.direction is not None:
        facts["direction"] = str(finding.direction)
    if finding.old is not None:
        facts["old"] = finding.old.path
    if finding.new is not None:
        facts["new"] = finding.new.path
    place = finding.new or finding.old
    if with_line and place is not None:
        facts["line"] = place.line
    return facts


def _key(facts: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(facts.get(name)) for name in ("direction", "rule", "old", "new"))
