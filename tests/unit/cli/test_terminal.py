"""Colours and widths."""

import io

import pytest
from rich.text import Text

from tallystick.cli.terminal import MAX_WIDTH, Terminal, show, terminal


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "environment", "on_screen", "in_pipe"),
    [
        ("auto", {}, True, False),
        ("auto", {"NO_COLOR": "1"}, False, False),
        ("auto", {"NO_COLOR": ""}, True, False),
        ("auto", {"FORCE_COLOR": "1"}, True, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ("auto", {"TERM": "dumb"}, False, False),
        ("always", {"NO_COLOR": "1"}, True, True),
        ("never", {"FORCE_COLOR": "1"}, False, False),
    ],
)
def test_when_there_are_colours(choice: str, environment: dict[str, str], on_screen: bool, in_pipe: bool) -> None:
    assert terminal(choice, Screen(), environment).colour is on_screen
    assert terminal(choice, io.StringIO(), environment).colour is in_pipe


def test_only_a_terminal_has_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert terminal("auto", Screen(), {}).width == MAX_WIDTH
    monkeypatch.setenv("COLUMNS", "50")
    assert terminal("auto", Screen(), {}).width == 50
    assert terminal("always", io.StringIO(), {}).width is None


def test_plain_lines_have_no_trailing_space() -> None:
    stream = io.StringIO()
    show([Text("a  "), Text(), Text("[b]")], Terminal(colour=False, width=None), stream)
    assert stream.getvalue() == "a\n\n[b]\n"


def test_coloured_lines_are_not_wrapped_or_read_as_markup() -> None:
    stream = io.StringIO()
    show([Text("[red]" + "x" * 200, "bold red")], Terminal(colour=True, width=40), stream)
    assert stream.getvalue() == "\x1b[1;31m[red]" + "x" * 200 + "\x1b[0m\n"
