"""Between an append and its answer the entry is written, and then the file is synced: the calls themselves are seen.

Killing a process does not show a missing fsync, because the system keeps what was written.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.broker.log.marked_appends import GROUPS

CURSORS_SAVED = 3
CALLS = "trace=write,pwrite64,pwritev,fsync,fdatasync"
LINE = re.compile(r"^\d+ +(?:<\.\.\. (?P<resumed>\w+) resumed>|(?P<name>\w+)\((?P<arguments>.*))")


def traced(path: Path, trace: Path) -> list[str]:
    """One word for each call that matters, when it ended: appends, done, write (to the WAL), sync (of the WAL)."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed; it is needed to see the calls to the system")
    command = ["strace", "-f", "-y", "-e", CALLS, "-o", str(trace)]
    probe = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"strace may not trace here: {probe.stderr.strip()}")
    run = [*command, sys.executable, "-m", "tests.unit.broker.log.marked_appends", str(path)]
    subprocess.run(run, check=True, timeout=60, stdout=subprocess.DEVNULL)
    return list(events(trace.read_text().splitlines()))


def events(lines: list[str]) -> list[str]:
    found: list[str] = []
    unfinished: dict[str, str] = {}
    for line in lines:
        thread, match = line.split()[0], LINE.match(line)
        if match is None:
            continue
        if line.endswith("<unfinished ...>"):
            unfinished[thread] = line
            continue
        whole = unfinished.pop(thread) + line if match["resumed"] else line
        if (word := _word(whole)) is not None:
            found.append(word)
    return found


def _word(call: str) -> str | None:
    if re.search(r"write\(1<", call):
        return "appends" if '"appends' in call else "done" if '"done' in call else None
    if "broker.db-wal>" not in call or call.rstrip().endswith("= -1"):
        return None
    return "sync" if re.search(r"\bf(data)?sync\(", call) else "write"


def test_entries_and_cursors_are_synced_before_they_are_acknowledged(path: Path, tmp_path: Path) -> None:
    seen = traced(path, tmp_path / "trace")
    groups = " ".join(seen).split("appends")[1:]
    assert len(groups) == len(GROUPS) + CURSORS_SAVED
    for group in groups:
        before, done, _ = group.partition("done")
        assert done
        calls = before.split()
        assert "write" in calls, "nothing was written before it was acknowledged"
        assert calls[-1] == "sync", f"the last call before the acknowledgement was no sync: {calls}"


def test_the_order_of_calls_is_read_from_traces_of_several_threads() -> None:
    lines = [
        '1 write(1<pipe:[3]>, "appends\\n", 8) = 8',
        '2 pwrite64(5</d/broker.db-wal>, "x", 1, 0 <unfinished ...>',
        '3 pwrite64(6</d/broker.db>, "x", 1, 0) = 1',
        "2 <... pwrite64 resumed>) = 1",
        "2 fdatasync(5</d/broker.db-wal> <unfinished ...>",
        '1 write(1<pipe:[3]>, "done\\n", 5) = 5',
        "2 <... fdatasync resumed>) = 0",
    ]
    assert events(lines) == ["appends", "write", "done", "sync"]
