"""The generated pages and tables are those that the code makes now; `make docs` writes them."""

from pathlib import Path

import pytest

from tools import reference_sections
from tools.examples import ROOT
from tools.reference import FOLDER, PAGES
from tools.reference_sections import SECTIONS, filled, recorded_kinds


@pytest.mark.parametrize("name", PAGES)
def test_page_is_what_the_code_says(name: str) -> None:
    assert (FOLDER / name).read_text() == PAGES[name](), "stale: run `make docs`"


@pytest.mark.parametrize("page", reference_sections.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_tables_are_what_the_code_says(page: Path) -> None:
    text = page.read_text()
    assert text == filled(text), "stale: run `make docs`"


@pytest.mark.parametrize("name", SECTIONS)
def test_every_table_stands_on_one_page(name: str) -> None:
    asking = [page for page in reference_sections.pages() if f"<!-- generated: {name} -->" in page.read_text()]
    assert len(asking) == 1


def test_a_table_that_is_none_is_found() -> None:
    with pytest.raises(KeyError, match="routes of nobody"):
        filled("<!-- generated: routes of nobody -->\n<!-- end -->\n")


def test_events_are_read_from_every_operation() -> None:
    assert recorded_kinds()["version.deleted"] == {"version", "id"}
    assert "warnings" in recorded_kinds()["schema.registered"]
