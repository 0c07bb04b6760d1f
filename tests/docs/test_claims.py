"""What the pages name as proof is there: files of the tests, folders of cases, rows of the benchmarks."""

import re
from pathlib import Path

import pytest

from tools.examples import ROOT, pages

_PROOF = re.compile(r"`((?:tests|conformance|bench|src|tools)/[\w./-]+)`")
_ROW = re.compile(r"\brows? ((?:`[a-z_]+`(?:,| and|,\s+and)?\s*)+)")

each_page = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))


@each_page
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = set(_PROOF.findall(page.read_text()))
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


@each_page
def test_rows_that_a_page_names_are_measured(page: Path) -> None:
    measured = "\n".join(path.read_text() for path in (ROOT / "bench").glob("*.py"))
    named = {row for rows in _ROW.findall(page.read_text()) for row in re.findall(r"[a-z_]+", rows) if row != "and"}
    assert [row for row in sorted(named) if f'"{row}"' not in measured] == []


def test_the_checks_see_what_is_named() -> None:
    page = "in the row `a_b`, and the rows `c_d` and\n`e_f`; `tests/nothing.py` runs it."
    assert _PROOF.findall(page) == ["tests/nothing.py"]
    assert {row for rows in _ROW.findall(page) for row in re.findall(r"[a-z_]+", rows)} - {"and"} == {
        "a_b",
        "c_d",
        "e_f",
    }
