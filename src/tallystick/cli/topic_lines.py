"""The lines of a file or of standard input, each one value, and what is wrong with those that do not fit."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from tallystick.cli.faults import unusable
from tallystick.errors import InvalidRecord, InvalidSchema, TallystickError
from tallystick.finding import Finding, Place
from tallystick.formats import json_source
from tallystick.formats.json_source import Path

STANDARD_INPUT = "-"

LONGEST = 64 * 1024 * 1024
"""Bytes of one line; more than any broker takes."""

NOT_JSON = "TOPIC_LINE_NOT_JSON"
NOT_UTF_8 = "TOPIC_LINE_NOT_UTF_8"
IS_NULL = "TOPIC_LINE_NULL"

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    data: bytes
    """Without the line end."""

    @property
    def text(self) -> str:
        """Raises `InvalidRecord`."""
        try:
            return self.data.decode()
        except UnicodeDecodeError as e:
            message = f"not UTF-8 text: byte {e.start + 1} of the line is 0x{self.data[e.start]:02x}"
            raise _refused(NOT_UTF_8, message, "write the line in UTF-8", Place("", 1, e.start + 1)) from e

    @property
    def value(self) -> Any:
        """What its JSON says; raises `InvalidRecord`."""
        try:
            value = json_source.load(self.text)
        except InvalidSchema as e:
            raise _refused(NOT_JSON, e.reason, "write one JSON value a line, and nothing else", e.place) from e
        if value is None:
            message = "null would be a message without a value, which takes a value away on a keyed topic"
            raise _refused(IS_NULL, message, "leave the line out", Place("", 1, 1))
        return value


def _refused(rule: str, message: str, fix: str, place: Place | None) -> InvalidRecord:
    return InvalidRecord(message, [Finding(rule=rule, message=message, fix=fix, new=place or Place(""))])


@dataclass(frozen=True, slots=True)
class Source:
    name: str
    stream: BinaryIO
    size: int | None
    """In bytes; None where it is not known, as of a pipe."""

    def lines(self, *, with_empty: bool) -> Iterator[Line]:
        """Raises `BadInput` for a line beyond the limit, and for a file that cannot be read to its end."""
        number = 0
        while data := self._next(number + 1):
            number += 1
            bare = data.removesuffix(b"\n").removesuffix(b"\r")
            bare = bare.removeprefix(_BOM) if number == 1 else bare
            if with_empty or bare.strip():
                yield Line(number, bare)

    def _next(self, number: int) -> bytes:
        try:
            data = self.stream.readline(LONGEST + 1)
        except OSError as e:
            raise unusable(f"cannot be read: {e.strerror or e}", file=self.name) from e
        if len(data) > LONGEST:
            reason = f"line {number} has more than {LONGEST // 1024**2} MiB; is each value in a line of its own?"
            raise unusable(reason, file=self.name)
        return data


@contextmanager
def opened(name: str) -> Iterator[Source]:
    """A file, or standard input for `-`; raises `BadInput`."""
    if name == STANDARD_INPUT:
        yield Source(name, _standard_input(), None)
        return
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(open(name, "rb"))
        except FileNotFoundError:
            raise unusable("there is no such file", file=name) from None
        except OSError as e:
            raise unusable(f"cannot be read: {e.strerror or e}", file=name) from e
        yield Source(name, stream, os.fstat(stream.fileno()).st_size or None)


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise unusable("standard input is closed", file=STANDARD_INPUT, fix="name a file, or pipe lines into tally")
    if sys.stdin.isatty():
        sys.stderr.write("One JSON value a line; Ctrl-D ends.\n")
    return sys.stdin.buffer


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was not sent, and why; the findings have their places in the line."""

    file: str
    number: int
    code: str
    message: str
    findings: tuple[Finding, ...]

    def as_dict(self) -> dict[str, object]:
        fields = {"file": self.file, "line": self.number, "code": self.code, "message": self.message}
        return {**fields, "findings": [finding.as_dict() for finding in self.findings]}


def bad_line(file: str, line: Line, error: TallystickError, findings: Sequence[Finding]) -> BadLine:
    placed = tuple(replace(finding, new=_place(line, finding.new)) for finding in findings)
    return BadLine(file, line.number, error.code, error.message, placed)


def _place(line: Line, place: Place | None) -> Place:
    """The place in the file: the line's number, and the column of the innermost part that is there."""
    if place is None:
        return Place("", line.number, 1)
    if place.line is not None:
        return Place(place.path, line.number, place.column)
    return Place(place.path, line.number, _column(line, place.path))


def _column(line: Line, path: str) -> int:
    try:
        text = line.data.decode()
        steps = _steps(json_source.load(text), path)
    except (UnicodeDecodeError, InvalidSchema):
        return 1
    return json_source.place(text, steps).column or 1


def _steps(value: Any, path: str) -> Path:
    """A pointer as far as the value has it."""
    steps: list[str | int] = []
    for part in path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            steps.append(name)
            value = value[name]
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            steps.append(int(name))
            value = value[int(name)]
        else:
            break
    return tuple(steps)
