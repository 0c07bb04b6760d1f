"""Jobs of Spark as processes that can be killed whole: Python, its JVM, and the workers of both."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LIMIT_S = 240


@contextmanager
def job(module: str, *arguments: str, errors: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """In a group of its own, so that nothing of it is left."""
    with errors.open("ab") as log:
        running = subprocess.Popen(
            [sys.executable, "-m", module, *arguments], stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield running
    finally:
        kill(running)


def kill(running: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    running.wait(30)


def ended_well(running: "subprocess.Popen[bytes]", errors: Path) -> None:
    code = running.wait(_LIMIT_S)
    assert code == 0, errors.read_text(errors="replace")[-4000:]


def wait_for_commits(checkpoint: Path, count: int, running: "subprocess.Popen[bytes]", errors: Path) -> None:
    """Until so many batches are committed."""
    end = time.monotonic() + _LIMIT_S
    while commits(checkpoint) < count:
        assert time.monotonic() < end, f"no {count} commits: {errors.read_text(errors='replace')[-4000:]}"
        assert running.poll() is None, errors.read_text(errors="replace")[-4000:]
        time.sleep(0.05)


def commits(checkpoint: Path) -> int:
    found = list((checkpoint / "commits").glob("[0-9]*"))
    return max((int(file.name) + 1 for file in found), default=0)


def executors(running: "subprocess.Popen[bytes]") -> list[int]:
    """The processes of a job's workers, by their ids."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
            if session == running.pid and b"CoarseGrainedExecutorBackend" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found
