"""JSON texts on several lines for people, and back on the line that they came from.

Only white space outside of strings changes: numbers, escapes and the order of keys stay as they are.
"""

import re
from collections.abc import Iterator

COMPACT, SPACED = "compact", "spaced"

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)
_SEPARATORS = {COMPACT: (",", ":"), SPACED: (", ", ": ")}
_OPENING, _CLOSING = "[{", "]}"


def layout_of(text: str) -> str | None:
    """How a text on one line is spaced; None for one that is neither way, and stays as it is."""
    return next((layout for layout in _SEPARATORS if on_one_line(text, layout) == text), None)


def on_one_line(text: str, layout: str) -> str:
    comma, colon = _SEPARATORS[layout]
    return "".join({",": comma, ":": colon}.get(symbol, symbol) for symbol in _TOKEN.findall(text))


def on_several_lines(text: str) -> str:
    return "".join(_indented(_TOKEN.findall(text))) + "\n"


def _indented(symbols: list[str]) -> Iterator[str]:
    depth = 0
    for i, symbol in enumerate(symbols):
        following = symbols[i + 1] if i + 1 < len(symbols) else ""
        if symbol in _CLOSING:
            depth -= 1
        yield symbol
        if symbol in _OPENING:
            depth += 1
        if symbol == ":":
            yield " "
        elif _breaks(symbol, following):
            yield "\n" + "  " * (depth - (following in tuple(_CLOSING)))


def _breaks(symbol: str, following: str) -> bool:
    if symbol in _OPENING:
        return following not in tuple(_CLOSING)
    return symbol == "," or following in tuple(_CLOSING)
