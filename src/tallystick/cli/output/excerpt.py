"""The line of a source text that a place points at, with carets under it."""

import re

from rich.cells import cell_len
from rich.text import Text

from tallystick.finding import Place

PIPE_WIDTH = 100
"""Columns of an excerpt where there is no terminal: a schema in one line must not flood a log."""

_TAB = "    "
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.$-]+')
_STATEMENT = re.compile(r"(?!(?:true|false|null)\b)[A-Za-z_][^;{}]*?(?=\s*[;{])")
_MEMBER = re.compile(r'(?P<key>"(?:[^"\\]|\\.)*")\s*:\s*')
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|(?P<open>[\[{])|(?P<close>[\]}])')


def printable(text: str) -> str:
    """The text without what would move the cursor or change the terminal's state."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def excerpt(text: str, place: Place | None, width: int | None = None) -> list[Text]:
    """The line of the place with carets, and the two that follow where the line holds only a bracket."""
    lines = text.split("\n")
    if place is None or place.line is None or place.line > len(lines):
        return []
    line, column = lines[place.line - 1], max((place.column or 1) - 1, 0)
    shown = [place.line]
    if line.strip() in ("{", "["):
        shown += range(place.line + 1, min(place.line + 2, len(lines)) + 1)
    gutter = max(len(str(number)) for number in shown) + 2
    room = max((width or PIPE_WIDTH) - gutter - 3, 20)
    numbered = [_numbered(number, gutter, _cut(lines[number - 1], 0, room)[0]) for number in shown]
    numbered[0] = _numbered(place.line, gutter, _cut(line, column, room)[0])
    return [numbered[0], _carets(line, column, gutter, room), *numbered[1:]]


def _numbered(number: int, gutter: int, line: str) -> Text:
    return Text.assemble((f"{number:>{gutter}} | ", "blue"), line)


def _carets(line: str, column: int, gutter: int, room: int) -> Text:
    shown, start = _cut(line, column, room)
    length = min(_length(line, column), max(len(shown) - start, 1))
    indent = cell_len(shown[:start])
    marks = "^" * max(cell_len(shown[start : start + length]), 1)
    return Text.assemble((f"{'':>{gutter}} | ", "blue"), " " * indent, (marks, "bold red"))


def _length(line: str, column: int) -> int:
    """Characters of what starts at the column: a statement of Protobuf, a JSON value, or a member with its value."""
    if statement := _STATEMENT.match(line, column):
        return statement.end() - column
    member = _MEMBER.match(line, column)
    if member is None:
        return _value_length(line, column) or 1
    value = _value_length(line, member.end())
    return member.end("key") - column if value is None else member.end() - column + value


def _value_length(line: str, column: int) -> int | None:
    """None where the value ends on a later line."""
    if token := _TOKEN.match(line, column):
        return token.end() - column
    depth = 0
    for match in _BRACKETS.finditer(line, column):
        depth += bool(match["open"]) - bool(match["close"])
        if depth <= 0:
            return match.end() - column
    return None


def _cut(line: str, column: int, room: int) -> tuple[str, int]:
    """The part of a line around a column that has room, and where the column is in it."""
    before, after = (_clean(part) for part in (line[:column], line[column:]))
    if len(before) + len(after) <= room:
        return (before + after).rstrip(), len(before)
    if len(before) > room // 3:
        before = "…" + before[-(room // 3) :]
    if len(before) + len(after) > room:
        after = after[: room - len(before) - 1] + "…"
    return before + after, len(before)


def _clean(part: str) -> str:
    return printable(part.removesuffix("\r").replace("\t", _TAB))
