"""The settings of the client, with what their source says of them."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from typing import Any

from tallystick.messaging.settings import ConsumerSettings, DeadLetter, ProducerSettings

_TITLES: dict[type[Any], str] = {
    ProducerSettings: "Producers",
    ConsumerSettings: "Consumers and readers",
    DeadLetter: "Dead letters",
}


def settings() -> str:
    return "\n\n".join(_section(kind, title) for kind, title in _TITLES.items())


def _section(kind: type[Any], title: str) -> str:
    told = dict(_told(kind))
    rows = [f"| `{each.name}` | {_default(each)} | {told[each.name]} |" for each in fields(kind)]
    return "\n".join([f"### {title}", "", "| setting | default | meaning |", "|---|---|---|", *rows])


def _default(each: "Field[Any]") -> str:
    value = each.default if each.default is not MISSING else None
    if each.default_factory is not MISSING or value is None:
        return "–"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _told(kind: type[Any]) -> Iterator[tuple[str, str]]:
    """Each setting with the text that stands below it. Raises `ValueError` for one that has none."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(body, ast.ClassDef)
    for statement, after in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if not isinstance(after, ast.Expr) or not isinstance(after.value, ast.Constant):
                raise ValueError(f"{kind.__name__}.{statement.target.id} is not explained")
            yield statement.target.id, " ".join(str(after.value.value).split())
