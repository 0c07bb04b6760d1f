"""The site builds, and every page can be reached from its menu."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tools.examples import ROOT


def _in_menu(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    return set().union(*(_in_menu(inner) for inner in (value.values() if isinstance(value, dict) else value)))


def test_every_page_is_in_the_menu() -> None:
    menu = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    assert _in_menu(menu) == {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}


def test_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "index.html").is_file()
