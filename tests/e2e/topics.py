"""What the tests of `tally topic produce` and `consume` share: schemas, lines, and the command itself."""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tallystick.cli.main import run
from tests.e2e.said import Said

Call = Callable[..., Said]

FIRST: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        {"name": "placed", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}
SECOND = {**FIRST, "fields": [*FIRST["fields"], {"name": "note", "type": ["null", "string"], "default": None}]}
OTHER = {**FIRST, "fields": [{"name": "id", "type": "long"}, *FIRST["fields"][1:]]}

ORDERS = [
    {"id": "a", "amount": "12.50", "placed": "2026-01-31T12:00:00.250Z"},
    {"id": "b", "amount": "7.00", "placed": "2026-01-31T12:00:01Z"},
    {"id": "c", "amount": "0.99", "placed": "2026-01-31T12:00:02Z"},
]


@dataclass(frozen=True)
class Folder:
    """A working folder with schemas and lines."""

    path: Path

    def schema(self, value: Any, name: str = "order.avsc") -> str:
        return self._written(name, json.dumps(value))

    def lines(self, *values: Any, name: str = "orders.ndjson") -> str:
        """A text stands as it is, so that a line may be wrong."""
        texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
        return self._written(name, "".join(text + "\n" for text in texts))

    def _written(self, name: str, text: str) -> str:
        (self.path / name).write_text(text)
        return str(self.path / name)


def unused(name: str = "t") -> str:
    """The name of a topic that nobody else uses."""
    return f"{name}-{secrets.token_hex(4)}"


def commands(capsys: pytest.CaptureFixture[str], *more: str) -> Call:
    """`tally topic` in this process, with these options unless a call has its own."""

    def call(command: str, *arguments: str) -> Said:
        code = run(["topic", command, *more, *arguments])
        return Said(code, *capsys.readouterr())

    return call


def messages(said: Said) -> list[dict[str, Any]]:
    """Of `consume --output json`."""
    return [json.loads(line) for line in said.out.splitlines()]


def values(said: Said) -> list[Any]:
    return [message["value"] for message in messages(said)]


def consumed(tally: Call, *arguments: str) -> Said:
    """`consume` that must not fail, for programs."""
    said = tally("consume", *arguments, "--output", "json")
    assert said.code == 0, said.err
    return said
