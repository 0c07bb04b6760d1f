"""The cases of `conformance/` as values: which schemas are compared, and everything that must be found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from tallystick.compat import reading
from tallystick.compat.evolution import Registered, check
from tallystick.compat.options import OptionalProperties, Options
from tallystick.finding import Direction, Finding
from tallystick.formats import Schema, parse
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.strategy import Strategy

CONFORMANCE = Path(__file__).parents[2] / "conformance"
NO_PROPERTIES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Case:
    file: "CaseFile"
    facts: dict[str, Any]

    @property
    def id(self) -> str:
        return f"{self.file.format}/{self.file.rule}/{self.facts['name']}"

    @property
    def findings(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.facts["findings"]
        return found

    @property
    def rules(self) -> set[str]:
        return {finding["rule"] for finding in self.findings}

    @property
    def options(self) -> Options:
        chosen = self.facts.get("options", {})
        return Options(**{name: OptionalProperties(value) for name, value in chosen.items()})

    def found(self) -> list[Finding]:
        """What the rules find in both directions or, where the case names a strategy, under that strategy."""
        old, new = self.schema("old"), self.schema("new")
        if "strategy" in self.facts:
            return check([Registered(1, old)], new, Strategy(self.facts["strategy"]), self.options)
        return [finding for way in Direction for finding in reading.findings(old, new, way, self.options)]

    def schema(self, side: str) -> Schema:
        """The parsed schema of one side, "old" or "new"."""
        kind = self.facts.get(f"{side}_type") or self.facts.get("type") or self.file.type
        references = [*self.facts.get("references", []), *self.facts.get(f"{side}_references", [])]
        properties = self.facts.get(f"{side}_properties", {})
        return parse_with(kind, self.facts.get(side, ""), references, properties)


@dataclass(frozen=True, slots=True)
class CaseFile:
    path: Path
    facts: dict[str, Any]

    @property
    def format(self) -> str:
        return self.path.parent.parent.name

    @property
    def rule(self) -> str:
        """The rule that the folder is named after."""
        return self.path.parent.name

    @property
    def type(self) -> str:
        return str(self.facts["type"])

    @property
    def cases(self) -> list[Case]:
        return [Case(self, facts) for facts in self.facts["cases"]]


def parse_with(
    schema_type: str, text: str, references: Iterable[dict[str, Any]], properties: Mapping[str, str] = NO_PROPERTIES
) -> Schema:
    """The schema of a text in which each reference may use those that stand before it."""
    known: dict[Reference, SchemaDefinition] = {}
    for facts in references:
        reference = Reference(facts["name"], facts["subject"], facts["version"])
        kind = SchemaType(facts.get("type", schema_type))
        known[reference] = SchemaDefinition(kind, facts["text"], tuple(known))
    return parse(SchemaDefinition(SchemaType(schema_type), text, tuple(known), properties), known)


@cache
def compat_files() -> tuple[CaseFile, ...]:
    paths = sorted((CONFORMANCE / "compat").glob("*/*/cases.yaml"))
    return tuple(CaseFile(path, load(path)) for path in paths)


def compat_cases() -> list[Case]:
    return [case for file in compat_files() for case in file.cases]


def load(path: Path) -> Any:
    # The C loader: the pure one needs seconds for some hundred cases.
    return yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
