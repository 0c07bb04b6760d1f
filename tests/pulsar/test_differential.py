"""The same cases on a real Pulsar and on `tally serve`: the answers are the same, but for the table of differences."""

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from tests.pulsar import scenarios
from tests.pulsar.cases import admin, attachment, delivery, schema_rules, verification
from tests.pulsar.differences import differences, expected
from tests.pulsar.go_client import missing_go, run_go
from tests.pulsar.java_client import run_java
from tests.pulsar.servers import Both
from tests.pulsar.target import Case, run
from tests.shared import answers_of

pytestmark = pytest.mark.jvm

Answers = tuple[dict[str, Any], dict[str, Any]]
"""Of Pulsar and of ours, by script."""

CASES: dict[str, Case] = {
    name: case
    for part in (attachment, schema_rules, verification, delivery, admin, scenarios)
    for name, case in part.CASES.items()
}
_HERE = Path(__file__).parent
_JAVA = sorted(
    name
    for path in _HERE.glob("java/src/main/java/scripts/*.java")
    for name in re.findall(r'scripts\.put\("([^"]+)"', path.read_text())
)
_GO = sorted(re.findall(r'^\t"([^"]+)":', (_HERE / "go" / "main.go").read_text(), re.MULTILINE))


def _compare(case: str, pulsar: dict[str, Any], ours: dict[str, Any]) -> None:
    assert "broke off" not in pulsar, pulsar
    assert ours == expected(case, pulsar)


_TRIES = 3
"""Cases look at what arrives within a time, and on a busy machine that may be less; a difference comes back."""


@pytest.mark.parametrize("name", CASES)
def test_a_case(name: str, both: Both) -> None:
    for _ in range(_TRIES):
        pulsar, ours = both.ask(lambda server: run(CASES[name], server.service_url, server.admin_url))
        if "broke off" not in pulsar and ours == expected(name, pulsar):
            break
    _compare(name, pulsar, ours)


@pytest.fixture(scope="module")
def java(both: Both, common: Path) -> Answers:
    def ask() -> Answers:
        return both.ask(lambda server: run_java(server.service_url, server.admin_url, "java", "all"))

    pulsar, ours = answers_of(common, "java", ask)
    return pulsar, ours


@pytest.mark.parametrize("script", _JAVA)
def test_a_script_of_the_java_client(script: str, java: Answers) -> None:
    pulsar, ours = java
    _compare(f"java: {script}", _steps(pulsar[script]), _steps(ours[script]))


@pytest.fixture(scope="module")
def go(both: Both, common: Path) -> Answers:
    reason = missing_go()
    if reason is not None:
        pytest.skip(f"the Go client cannot be built here: {reason}")

    def ask() -> Answers:
        return both.ask(lambda server: run_go(server.service_url, server.admin_url, "go", "all"))

    pulsar, ours = answers_of(common, "go", ask)
    return pulsar, ours


@pytest.mark.parametrize("script", _GO)
def test_a_script_of_the_go_client(script: str, go: Answers) -> None:
    pulsar, ours = go
    _compare(f"go: {script}", _steps(pulsar[script]), _steps(ours[script]))


def _steps(pairs: list[Any]) -> dict[str, Any]:
    """Steps by name, numbered where a name comes again; of an error only its kind: the words are each server's own."""
    steps: dict[str, Any] = {}
    for name, outcome in pairs:
        kind = outcome["error"] if isinstance(outcome, dict) and "error" in outcome else outcome
        number = sum(step.split(" #")[0] == name for step in steps)
        steps[f"{name} #{number + 1}" if number else name] = kind
    return steps


def test_the_table_of_differences_speaks_of_cases_that_exist() -> None:
    names = [*CASES, *(f"java: {script}" for script in _JAVA), *(f"go: {script}" for script in _GO)]
    for difference in differences():
        assert difference.why, difference
        assert any(fnmatchcase(name, difference.cases) for name in names), difference.cases
