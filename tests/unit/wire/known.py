"""The byte sequences of `conformance/wire`."""

import json
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(__file__).parents[3] / "conformance" / "wire"


def known(name: str) -> Any:
    return json.loads((_FOLDER / f"{name}.json").read_text())


def cases(name: str) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in known(name)]
