"""Who may open the log, and what is said to those who may not."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tallystick.broker.log.log import Log
from tallystick.broker.log.tables import MIGRATIONS
from tallystick.errors import Unavailable

OPENING = "import sys, pathlib; from tallystick.broker.log.log import Log; Log.open(pathlib.Path(sys.argv[1])).close()"


def test_a_second_process_is_refused_until_the_first_has_closed_it(log: Log, path: Path) -> None:
    command = [sys.executable, "-c", OPENING, str(path)]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert f"Unavailable: cannot open {path}: another process has it open" in refused.stderr
    assert log.create_topic("t").id == 1
    log.close()
    subprocess.run(command, check=True)


def test_a_second_log_of_the_same_process_is_refused(log: Log, path: Path) -> None:
    with pytest.raises(Unavailable, match="use another data folder"):
        Log.open(path)


def test_a_database_of_a_newer_program_is_refused_and_let_go(log: Log, path: Path) -> None:
    log.close()
    _set_version(path, len(MIGRATIONS) + 1)
    with pytest.raises(Unavailable, match="version 2, this program knows up to 1; start the newer program"):
        Log.open(path)
    _set_version(path, len(MIGRATIONS))
    Log.open(path).close()


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database at all" * 500)
    with pytest.raises(Unavailable, match="file is not a database"):
        Log.open(path)
    assert path.read_bytes() == b"not a database at all" * 500


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(Unavailable, match="cannot open"):
        Log.open(tmp_path / "data" / "broker.db")


def test_closing_leaves_one_whole_file(log: Log, path: Path) -> None:
    log.create_topic("t")
    log.close()
    assert sorted(file.name for file in path.parent.iterdir()) == ["broker.db", "broker.lock"]


def _set_version(path: Path, version: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
