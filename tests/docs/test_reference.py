"""The generated pages are those that the code makes now; `make docs` writes them."""

import pytest

from tools.reference import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_page_is_what_the_code_says(name: str) -> None:
    assert (FOLDER / name).read_text() == PAGES[name](), "stale: run `make docs`"
