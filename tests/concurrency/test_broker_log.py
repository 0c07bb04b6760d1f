"""A process is killed while it writes to the broker's log. Nothing that it was promised is lost.

The short form runs with the tests; `make soak` sets TALLYSTICK_SOAK for the full counts.
"""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tallystick.broker.log.log import Log
from tallystick.broker.log.values import Entry, TopicRow
from tests.concurrency.log_writer import made

KILLS = 50 if "TALLYSTICK_SOAK" in os.environ else 3
ENOUGH = 200
"""Promises before a process is killed; so it has begun to work."""


@dataclass
class Promised:
    entries: dict[int, dict[int, int]] = field(default_factory=dict)
    """Topic → number → the run that appended it."""
    cursors: dict[int, int] = field(default_factory=dict)
    trims: dict[int, int] = field(default_factory=dict)
    count: int = 0

    def note(self, run: int, line: bytes) -> None:
        kind, topic, number = line.split()
        self.count += 1
        if kind == b"entry":
            self.entries.setdefault(int(topic), {})[int(number)] = run
        else:
            kept = self.cursors if kind == b"cursor" else self.trims
            kept[int(topic)] = max(kept.get(int(topic), 0), int(number))


def run_and_kill(path: Path, run: int, promised: Promised, chance: random.Random) -> None:
    """Kills right after a promise, when what was promised too early is likely not to be written yet."""
    command = [sys.executable, "-m", "tests.concurrency.log_writer", str(path), str(run)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    enough, moment = promised.count + ENOUGH, float("inf")
    for line in process.stdout:
        if time.monotonic() >= moment:
            process.kill()
        if line.endswith(b"\n"):
            promised.note(run, line)
        if moment == float("inf") and promised.count >= enough:
            moment = time.monotonic() + chance.uniform(0, 1.5)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()


def problems(path: Path, promised: Promised) -> list[str]:
    log = Log.open(path)
    try:
        return [problem for row in log.topics() for problem in _problems_of(log, row, promised)]
    finally:
        log.close()


def _problems_of(log: Log, row: TopicRow, promised: Promised) -> list[str]:
    kept = _all_entries(log, row)
    found = [f"{row.name}: {fact}" for fact, holds in _facts(log, row, kept, promised).items() if not holds]
    by_number = {entry.number: entry for entry in kept}
    for number, run in promised.entries.get(row.id, {}).items():
        if number >= row.first and by_number.get(number) != made(run, row.id, number):
            found.append(f"{row.name}: entry {number}, promised in run {run}, is not there as it was")
    return found


def _facts(log: Log, row: TopicRow, kept: list[Entry], promised: Promised) -> dict[str, bool]:
    cursor = log.cursors(row.id).get("sub")
    return {
        "numbers are contiguous": [entry.number for entry in kept] == list(range(row.first, row.next)),
        "the row counts the bytes": row.bytes == sum(len(entry.data) for entry in kept),
        "every entry is whole": all(
            entry == made(int.from_bytes(entry.data[:4]), row.id, entry.number) for entry in kept
        ),
        "the sequence id is that of the last entry": log.sequences(row.id).get("producer", -1) == row.next - 1,
        "the cursor is there": (cursor.acked_before if cursor else 0) >= promised.cursors.get(row.id, 0),
        "what was trimmed stays away": row.first >= promised.trims.get(row.id, 0),
        "nothing is trimmed beyond the cursor": cursor is None or row.first <= cursor.acked_before,
    }


def _all_entries(log: Log, row: TopicRow) -> list[Entry]:
    found: list[Entry] = []
    while more := log.read(row.id, found[-1].number + 1 if found else 0, 500, 2**24):
        found += more
    return found


def test_nothing_promised_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    path, promised, chance = tmp_path / "broker.db", Promised(), random.Random(11)
    for run in range(KILLS):
        run_and_kill(path, run, promised, chance)
        assert problems(path, promised) == []
    print(f"{promised.count} promises kept through {KILLS} kills")
