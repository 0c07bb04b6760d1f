"""The edge of the process: every error ends in a line and an exit code."""

from collections.abc import Callable

import click
import pytest

from tallystick.cli.main import run, tally
from tallystick.errors import Unavailable


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Makes `tally fail` a command that raises."""

    def register(error: BaseException) -> None:
        def raise_it() -> None:
            raise error

        monkeypatch.setitem(tally.commands, "fail", click.Command("fail", callback=raise_it))

    return register


def test_an_unexpected_error_is_a_line_without_a_traceback(
    failing: Callable[[BaseException], None], capsys: pytest.CaptureFixture[str]
) -> None:
    failing(RecursionError("too\ndeep"))
    assert run(["fail"]) == 70
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("tally: internal error: RecursionError: too deep\n")
    assert "report" in shown.err
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(("arguments", "env"), [(["--debug", "fail"], ""), (["fail"], "1")])
def test_the_traceback_is_shown_when_asked(
    failing: Callable[[BaseException], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    env: str,
) -> None:
    monkeypatch.setenv("TALLY_DEBUG", env)
    failing(ZeroDivisionError("x"))
    assert run(arguments) == 70
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_an_error_of_ours_is_told_as_it_is(
    failing: Callable[[BaseException], None], capsys: pytest.CaptureFixture[str]
) -> None:
    failing(Unavailable("protoc cannot be started"))
    assert run(["fail"]) == 2
    assert capsys.readouterr().err == "Error: protoc cannot be started\n"


def test_an_interrupt_is_130(failing: Callable[[BaseException], None]) -> None:
    failing(KeyboardInterrupt())
    assert run(["fail"]) == 130


def test_no_command_shows_the_help_and_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert "Commands:" in capsys.readouterr().err


def test_help_lists_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    for line in ("0   it fits", "1   it does not fit", "2   bad input", "70  internal error"):
        assert line in shown
