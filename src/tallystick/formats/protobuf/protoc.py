"""Compiles `.proto` texts and descriptors with protoc, in a process of its own that is kept for the next text.

Starting a process costs a hundred times what protoc needs for a usual text. The worker is started with the
first text, and again after a text that broke it.
"""

import atexit
import os
import re
import select
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from tallystick.errors import InvalidSchema, Unavailable
from tallystick.finding import Place

TIME_LIMIT_S = 20.0

_WORKER = Path(__file__).with_name("protoc_worker.py")
_INCLUDES = (Path(str(files("grpc_tools") / "_proto")), Path(__file__).with_name("bundled"))
_REPORT_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything that one compilation sees: texts by import path, and a set of finished descriptors.

    `main` is the file to compile. Nothing else is read, apart from the well-known types.
    """

    main: str
    texts: tuple[tuple[str, str], ...] = ()
    descriptors: bytes = b""


def is_bundled(import_path: str) -> bool:
    """Whether a file comes with protoc or with us, so that nobody has to send it."""
    return any((folder / import_path).is_file() for folder in _INCLUDES)


def compile_sources(sources: Sources) -> FileDescriptorSet:
    """The main file after everything it imports, or `InvalidSchema` with the place of the first fault."""
    with tempfile.TemporaryDirectory(prefix="tallystick-protoc-") as folder:
        return _compile_in(Path(folder), sources)


def _compile_in(folder: Path, sources: Sources) -> FileDescriptorSet:
    disk_names = {name: f"{i}.proto" for i, (name, _) in enumerate(sources.texts)}
    for name, text in sources.texts:
        (folder / disk_names[name]).write_bytes(text.encode("utf-8", "surrogatepass"))
    arguments = [f"-I{include}" for include in _INCLUDES]
    arguments += [f"-I{name}={disk_name}" for name, disk_name in disk_names.items()]
    if sources.descriptors:
        (folder / "given").write_bytes(sources.descriptors)
        arguments.append("--descriptor_set_in=given")
    arguments += ["--include_imports", "--include_source_info", "--descriptor_set_out=compiled"]
    exit_code = _run(folder, [*arguments, disk_names.get(sources.main, sources.main)])
    if exit_code != 0:
        raise _fault(folder, exit_code, sources, disk_names)
    return FileDescriptorSet.FromString((folder / "compiled").read_bytes())


# --- the worker ------------------------------------------------------------------------------------------------


class _Worker:
    def __init__(self) -> None:
        self.owner = os.getpid()
        # -P: the folder of the script holds modules whose names others use as well.
        command = [sys.executable, "-P", str(_WORKER)]
        self._process = subprocess.Popen(  # noqa: S603 (our own script)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )

    def run(self, folder: Path, arguments: list[str]) -> int | None:
        """protoc's exit code, or None if it crashed or took too long; the worker is of no use after that."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write("\0".join([str(folder), *arguments]).encode() + b"\n")
        except BrokenPipeError:
            return None
        if not self._has_answer(folder / "errors"):
            return None
        line = self._process.stdout.read(64)
        return int(line) if line else None

    def _has_answer(self, errors: Path) -> bool:
        assert self._process.stdout is not None
        answer = select.poll()
        answer.register(self._process.stdout, select.POLLIN | select.POLLHUP)
        deadline = time.monotonic() + TIME_LIMIT_S
        while time.monotonic() < deadline:
            if answer.poll(200):
                return True
            # Two million complaints about one text take longer to write than anybody wants to wait.
            if errors.exists() and errors.stat().st_size > 16 * _REPORT_BYTES:
                return False
        return False

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        if self.owner == os.getpid():
            with self._process:
                self._process.kill()


_lock = threading.Lock()
_worker: _Worker | None = None
_of_other_processes: list[_Worker] = []


def _run(folder: Path, arguments: list[str]) -> int | None:
    global _worker
    with _lock:
        if _worker is None or not _worker.is_alive:
            _close()
            _worker = _started()
        exit_code = _worker.run(folder, arguments)
        if exit_code is None:
            _close()
        return exit_code


def _started() -> _Worker:
    try:
        return _Worker()
    except OSError as e:
        raise Unavailable(f"protoc cannot be started: {e}") from e


def _close() -> None:
    global _worker
    if _worker is not None:
        _worker.close()
        _worker = None


def _forget() -> None:
    """After a fork the pipes belong to the parent; the object is kept so that nobody ends its process."""
    global _lock, _worker
    _lock = threading.Lock()
    if _worker is not None:
        _of_other_processes.append(_worker)
        _worker = None


atexit.register(_close)
os.register_at_fork(after_in_child=_forget)


# --- what protoc says ------------------------------------------------------------------------------------------

_AT = re.compile(r"(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): (?P<reason>.*)")
_IN = re.compile(r"(?P<file>[^:\n]+): (?P<reason>.*)")
_NOT_FOUND = re.compile(r'Import "(.*)" was not found or had errors\.?')
_NO_FILE = re.compile(r"(?P<file>.*): (File not found\.|Backslashes.* are not allowed in the virtual path)")
_LOG_LINE = re.compile(r"[A-Z]\d{4} |WARNING: All log messages")


def _fault(folder: Path, exit_code: int | None, sources: Sources, disk_names: dict[str, str]) -> InvalidSchema:
    faults = _faults(folder / "errors")
    if exit_code is None and not faults:
        return InvalidSchema(
            f"protoc broke off or did not finish within {TIME_LIMIT_S:.0f} s", fix="make the definition smaller"
        )
    names = {disk_name: name for name, disk_name in disk_names.items()}
    missing = {match["file"] for line in faults if (match := _NO_FILE.fullmatch(line))}
    for line in faults:
        if (match := _AT.fullmatch(line)) and (imported := _NOT_FOUND.fullmatch(match["reason"])):
            if imported[1] in missing:
                return _missing_import(imported[1], _place(match, names, sources))
        elif match:
            return _placed(match, names, sources)
        elif (match := _IN.fullmatch(line)) and match["file"] not in missing:
            return InvalidSchema(_reworded(match["reason"]))
    return InvalidSchema(_reworded(faults[0]) if faults else "protoc refuses it without a reason")


def _faults(report: Path) -> list[str]:
    if not report.exists():
        return []
    with report.open("rb") as written:
        lines = written.read(_REPORT_BYTES).decode("utf-8", "replace").splitlines()
    return [line for line in lines if ": warning: " not in line and not _LOG_LINE.match(line)]


def _missing_import(name: str, place: Place) -> InvalidSchema:
    return InvalidSchema(
        f"the import {name!r} is not there", place, f"add a reference with the name {name!r} to the schema it means"
    )


def _placed(match: re.Match[str], names: dict[str, str], sources: Sources) -> InvalidSchema:
    place = _place(match, names, sources)
    where = f"in the reference {place.path!r}: " if place.path else ""
    return InvalidSchema(where + _reworded(match["reason"]), place)


def _place(match: re.Match[str], names: dict[str, str], sources: Sources) -> Place:
    name = names.get(match["file"], match["file"])
    text = dict(sources.texts).get(name, "")
    line = int(match["line"])
    return Place("" if name == sources.main else name, line, column_of(text, line, int(match["column"])))


_WORDS = {
    "Reached maximum recursion limit for nested messages.": "messages are nested deeper than 32 levels",
    'Expected top-level statement (e.g. "message").': "this is no statement of a .proto file",
}


def _reworded(reason: str) -> str:
    if reason in _WORDS:
        return _WORDS[reason]
    if reason.startswith("Interpreting non ascii codepoint"):
        return "a character that is not ASCII stands outside of strings and comments"
    short = reason if len(reason) <= 300 else reason[:299] + "…"
    return (short[:1].lower() + short[1:]).removesuffix(".")


@lru_cache(maxsize=8)
def _lines(text: str) -> list[bytes]:
    return text.encode("utf-8", "surrogatepass").split(b"\n")


def column_of(text: str, line: int, column: int) -> int:
    """The character's place in its line (from 1); protoc counts bytes, and a tab up to the next multiple of 8."""
    lines = _lines(text)
    if not 0 < line <= len(lines):
        return column
    content = lines[line - 1]
    if b"\t" not in content and content.isascii():
        return column
    seen = 0
    for i in range(len(content)):
        if seen >= column - 1:
            return len(content[:i].decode("utf-8", "replace")) + 1
        seen += 8 - seen % 8 if content[i : i + 1] == b"\t" else 1
    return len(content.decode("utf-8", "replace")) + 1
