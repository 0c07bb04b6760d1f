"""`tally` in this process, on the session that the tests share."""

from collections.abc import Callable

import pytest

from tallystick.cli.main import run
from tests.e2e.said import Said

Call = Callable[..., Said]


def commands(capsys: pytest.CaptureFixture[str], *more: str) -> Call:
    def call(*arguments: str) -> Said:
        code = run([*arguments, *more])
        return Said(code, *capsys.readouterr())

    return call
