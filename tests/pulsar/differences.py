"""Where our answers differ from Pulsar's on purpose: `conformance/pulsar/differences.yaml`."""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

_TABLE = Path(__file__).parents[2] / "conformance" / "pulsar" / "differences.yaml"


@dataclass(frozen=True, slots=True)
class Difference:
    """In the cases of this pattern, these steps end otherwise than on Pulsar."""

    cases: str
    steps: tuple[str, ...]
    pulsar: Any
    ours: Any
    why: str


def differences() -> list[Difference]:
    return [
        Difference(row["cases"], tuple(row["steps"]), row["pulsar"], row["ours"], row["why"])
        for row in yaml.safe_load(_TABLE.read_text())
    ]


def of_case(case: str) -> Iterator[Difference]:
    return (one for one in differences() if fnmatchcase(case, one.cases))


def expected(case: str, pulsar: dict[str, Any]) -> dict[str, Any]:
    """What ours must answer, given what Pulsar does. A difference that Pulsar no longer shows is an error."""
    answers = dict(pulsar)
    for difference in of_case(case):
        for step in difference.steps:
            assert answers.get(step, ABSENT) == difference.pulsar, (
                f"{case}, {step}: the table of differences is out of date"
            )
            answers[step] = difference.ours
    return {step: answer for step, answer in answers.items() if answer != ABSENT}


ABSENT = "(no such step)"
"""Stands in the table for a step that one of the servers never reaches."""
