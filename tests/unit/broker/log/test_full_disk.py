import json
import subprocess
import sys
from pathlib import Path

from tests.unit.broker.log.appending import entries


def test_a_full_disk_fails_what_does_not_fit_and_nothing_else(path: Path) -> None:
    """In a process of its own, because the limit holds for all files of the process."""
    command = [sys.executable, "-m", "tests.unit.broker.log.full_disk", str(path)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout)
    text = told.pop("text")
    assert told == {
        "before": [True] * 10,
        "during": ["Unavailable"] * 10,
        "catalogue": "Unavailable",
        "pending": 0,
        "after": [True] * 10,
        "row": [20, 20 * 8192, sum(one.messages for one in entries(20))],
        "is_whole": True,
    }
    assert "the broker's log cannot be read or written" in text
