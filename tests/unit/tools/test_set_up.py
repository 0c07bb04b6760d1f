"""The doors to the repository: `make help`, and the search for a Python that is new enough."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TARGETS = ["help", "demo", "test", "test-fast", "check", "bench", "docs", "soak", "lock", "clean"]


def _python(folder: Path, name: str, version: str) -> Path:
    """A Python that answers the question about its version as that version does."""
    program = folder / name
    new_enough = tuple(map(int, version.split("."))) >= (3, 11)
    program.write_text(f"#!/bin/sh\nexit {0 if new_enough else 1}\n")
    program.chmod(0o755)
    return program


def _find(path: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(path)}
    return subprocess.run(["/bin/sh", ROOT / "tools/find-python"], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("arguments", [[], ["help"]])
def test_help_has_a_line_for_each_target(arguments: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "--no-print-directory", *arguments]
    said = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert [line.split()[:2] for line in said.stdout.splitlines()] == [["make", target] for target in TARGETS]


def test_an_old_python_is_passed_over(tmp_path: Path) -> None:
    _python(tmp_path, "python3", "3.9")
    newer = _python(tmp_path, "python3.12", "3.12")
    assert _find(tmp_path).stdout.strip() == str(newer)


def test_no_python_is_a_clear_message(tmp_path: Path) -> None:
    _python(tmp_path, "python3", "3.10")
    found = _find(tmp_path)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == "Tallystick needs Python 3.11 or newer, and there is none on the PATH.\n"
