"""Every case of `conformance/translate`: what a schema becomes, what is lost, and that what is not lost comes back."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tallystick.compat.evolution import Registered, check
from tallystick.formats import Schema, parse
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, SchemaType
from tallystick.model.strategy import Strategy
from tallystick.translate import CATALOGUE, Severity, Translation, translate
from tests.conformance.cases import CONFORMANCE, load

FOLDER = CONFORMANCE / "translate"
TYPES = {"avro": AVRO, "json_schema": JSON_SCHEMA, "protobuf": PROTOBUF}
ENDINGS = {AVRO: "avsc", JSON_SCHEMA: "json", PROTOBUF: "proto"}


@dataclass(frozen=True)
class Case:
    folder: Path

    @property
    def types(self) -> tuple[SchemaType, SchemaType]:
        source, _, target = self.folder.parent.name.partition("-")
        return TYPES[source], TYPES[target]

    @property
    def source(self) -> Schema:
        type_ = self.types[0]
        return parse(SchemaDefinition(type_, (self.folder / f"source.{ENDINGS[type_]}").read_text()))

    @property
    def target(self) -> str | None:
        path = self.folder / f"target.{ENDINGS[self.types[1]]}"
        return path.read_text() if path.exists() else None

    @property
    def findings(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = load(self.folder / "findings.yaml")
        return found

    def translated(self) -> Translation:
        return translate(self.source, self.types[1])


CASES = [Case(path.parent) for path in sorted(FOLDER.glob("*/*/findings.yaml"))]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.folder.parent.name}/{case.folder.name}")


@each_case
def test_schema_becomes_its_target_with_exactly_its_findings(case: Case) -> None:
    translation = case.translated()
    facts = [
        {"rule": f.rule, "path": f.old.path if f.old else None, "was": f.was, "now": f.now}
        for f in translation.findings
    ]
    assert facts == [{"now": None, **expected} for expected in case.findings]
    assert (translation.definition and translation.definition.text.rstrip("\n")) == (
        case.target and case.target.rstrip("\n")
    )


@each_case
def test_there_is_a_target_unless_a_finding_says_that_it_is_impossible(case: Case) -> None:
    impossible = [f for f in case.findings if CATALOGUE[f["rule"]].severity is Severity.IMPOSSIBLE]
    assert (case.target is None) == bool(impossible)


@pytest.mark.parametrize("way", sorted({case.folder.parent.name for case in CASES}))
def test_what_both_know_comes_back_the_same(way: str) -> None:
    case = Case(FOLDER / way / "what-both-know")
    source, there = case.source, case.translated()
    assert there.findings == ()
    assert there.definition is not None
    back = translate(parse(there.definition), case.types[0])
    assert back.definition is not None
    assert check([Registered(1, source)], parse(back.definition), Strategy.FULL) == []


def test_every_rule_has_a_case_of_its_name() -> None:
    named = {rule.name for rule in CATALOGUE.values()}
    struck = {case.folder.name for case in CASES if case.folder.name in {_name(f) for f in case.findings}}
    assert named - struck == set()


def test_all_six_ways_have_cases() -> None:
    assert {case.types for case in CASES} == {(a, b) for a in ENDINGS for b in ENDINGS if a != b}


def _name(finding: dict[str, Any]) -> str:
    return CATALOGUE[finding["rule"]].name
