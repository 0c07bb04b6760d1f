"""What a dialect is to the server."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tallystick.errors import TallystickError
from tallystick.server.http import Request, Response
from tallystick.server.routing import Route


@dataclass(frozen=True, slots=True)
class Dialect:
    """A set of routes with one way to say that something went wrong."""

    name: str
    title: str
    routes: tuple[Route, ...]
    problem: Callable[[TallystickError, Request], Response]
    media_types: tuple[str, ...] = ("application/json",)
    components: dict[str, Any] | None = None
    """Named JSON Schemas that the routes' operations refer to as `#/components/schemas/…`; `Error` is what `problem`
    answers."""
    is_open: bool = False
    """Answers everybody, also where all others must say who they are."""
