"""What a process asks of the system, as strace writes it down: is a request on the disk before it is answered?"""

import re
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_READS, _WRITES = ("read", "readv", "recvfrom", "recvmsg"), ("write", "writev", "sendto", "sendmsg")
_SYNCS = ("fsync", "fdatasync")
_LINE = re.compile(r"(?P<thread>\d+) +(?P<rest>.*)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>")
_CALL = re.compile(r"(?P<name>\w+)\(\d+<(?P<file>.*?)> *[,)]")


@dataclass(frozen=True, slots=True)
class SystemCall:
    """`began` and `ended` are lines of the record."""

    name: str
    file: str
    text: str
    began: int
    ended: int


def calls_in(lines: Iterable[str]) -> Iterator[SystemCall]:
    """In the order in which they ended."""
    unfinished: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines):
        found = _LINE.match(line)
        if found is None:
            continue
        thread, rest, began = found["thread"], found["rest"], number
        if _RESUMED.match(rest) and thread in unfinished:
            began, start = unfinished.pop(thread)
            rest = start + _RESUMED.sub("", rest, count=1)
        if rest.endswith("<unfinished ...>"):
            unfinished[thread] = number, rest.removesuffix("<unfinished ...>")
        elif call := _CALL.match(rest):
            yield SystemCall(call["name"], call["file"], rest, began, number)


def answered_before_synced(lines: Iterable[str], *, port: int, log: str, mark: str) -> tuple[int, list[str]]:
    """How many requests with the mark came to the port, and those whose answer was written to their connection without
    a sync of the log that began after they had come and ended before."""
    calls = list(calls_in(lines))
    of_port = [call for call in calls if f"127.0.0.1:{port}->" in call.file]
    asked = [call for call in of_port if call.name in _READS and mark in call.text]
    answers = [call for call in of_port if call.name in _WRITES]
    syncs = [call for call in calls if call.name in _SYNCS and call.file.endswith(log) and call.text.endswith("= 0")]
    found = []
    for request in asked:
        own = [call.began for call in answers if call.file == request.file and call.began > request.ended]
        if not own:
            found.append(f"no answer to {request.text}")
        elif not any(request.ended < sync.began and sync.ended < min(own) for sync in syncs):
            found.append(f"no sync before the answer to {request.text}")
    return len(asked), found


@contextmanager
def traced(process_id: int, record: Path) -> Iterator[None]:
    """Writes the calls of the process to the record while the context is open. Raises `PermissionError`."""
    names = ",".join((*_READS, *_WRITES, *_SYNCS))
    strace = subprocess.Popen(
        ["strace", "-f", "-yy", "-s", "500", "-e", f"trace={names}", "-o", str(record), "-p", str(process_id)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert strace.stderr is not None
    with strace.stderr:
        told = strace.stderr.readline()
        try:
            if "attached" not in told:
                raise PermissionError(told.strip())
            yield
        finally:
            strace.terminate()
            strace.wait(20)
