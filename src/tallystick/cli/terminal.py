"""Where output goes: with or without colours, wrapped or not."""

import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

if TYPE_CHECKING:
    from rich.text import Text

_Command = TypeVar("_Command", bound=Callable[..., Any])

MAX_WIDTH = 110
"""Sentences get no wider than this on a wide terminal."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """`width` is None where the output is a file or a pipe: nothing is wrapped then."""

    colour: bool
    width: int | None


def terminal(colour: str, stream: TextIO, environment: Mapping[str, str] = os.environ) -> Terminal:
    """`colour` is auto, always or never; auto follows NO_COLOR, FORCE_COLOR and whether a terminal is there."""
    is_terminal = stream.isatty()
    coloured = colour == "always" or (colour == "auto" and _wants_colour(is_terminal, environment))
    return Terminal(coloured, _width() if is_terminal else None)


def _width() -> int:
    import shutil

    return min(shutil.get_terminal_size().columns, MAX_WIDTH)


def _wants_colour(is_terminal: bool, environment: Mapping[str, str]) -> bool:
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return is_terminal and environment.get("TERM") != "dumb"


def colour_option(command: _Command) -> _Command:
    return click.option(
        "--color",
        "colour",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="Colours; auto: on a terminal, unless NO_COLOR is set.",
    )(command)


def show(lines: Sequence["Text"], terminal: Terminal, stream: TextIO) -> None:
    if not terminal.colour:
        stream.write("".join(line.plain.rstrip() + "\n" for line in lines))
        return
    from rich.console import Console

    console = Console(file=stream, force_terminal=True, color_system="standard", no_color=False, highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True)


def write(document: str) -> None:
    """A document for programs: always UTF-8, whatever the terminal's encoding."""
    click.echo(document.encode("utf-8", "backslashreplace"))


def tolerate_every_character() -> None:
    """Lets names and texts pass that the terminal's encoding does not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
