"""What operators need: health, metrics, the events, the audit log, the pipelines, and the OpenAPI documents."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from tallystick.access import Action, require
from tallystick.errors import TallystickError
from tallystick.registry import events
from tallystick.registry.service import Registry
from tallystick.server import audit, openapi, pipelines
from tallystick.server.app import Mount
from tallystick.server.dialect import Dialect
from tallystick.server.feed import MOST_STREAMS, Feed, too_many
from tallystick.server.http import Handler, MalformedRequest, NoSuchRoute, Request, Response, as_json
from tallystick.server.metrics import CONTENT_TYPE, Metrics
from tallystick.server.problems import problem_of
from tallystick.server.routing import Operation, Route

_ANYTHING = Operation("For operators.")


def mounts(registry: Registry, feed: Feed, metrics: Metrics, documented: Sequence[Mount]) -> list[Mount]:
    """`documented` are the dialects that have an OpenAPI document, where they are mounted."""
    audited = Mount("/audit", audit.dialect(registry))
    reporting = Mount("/pipelines", pipelines.dialect(registry))
    return [
        Mount("/health", _dialect(("/live", _live), ("/ready", _ready(registry)), is_open=True)),
        Mount("/openapi", _dialect(("/{name}", _documents([*documented, audited, reporting])), is_open=True)),
        Mount("/metrics", _dialect(("", _metrics(metrics)))),
        Mount("/events", _dialect(("", _events(feed)))),
        audited,
        reporting,
    ]


def _dialect(*handlers: tuple[str, Handler], is_open: bool = False) -> Dialect:
    routes = tuple(Route("GET", template, handler, _ANYTHING) for template, handler in handlers)
    return Dialect("operations", "Operations", routes, problem, is_open=is_open)


def problem(error: TallystickError, request: Request) -> Response:
    found = problem_of(error)
    return Response(found.status, as_json({"error": error.code, "message": error.message}))


def _live(request: Request) -> Response:
    return Response(200, as_json({"status": "live"}))


def _ready(registry: Registry) -> Handler:
    def ready(request: Request) -> Response:
        events.last(registry)  # raises where the store does not answer
        return Response(200, as_json({"status": "ready"}))

    return ready


def _metrics(metrics: Metrics) -> Handler:
    def answer(request: Request) -> Response:
        require(request.caller, Action.READ)
        return Response(200, metrics.text(), CONTENT_TYPE)

    return answer


def _events(feed: Feed) -> Handler:
    def answer(request: Request) -> Response:
        after = _after(request)
        if feed.streams >= MOST_STREAMS:
            raise too_many()
        return Response(
            200,
            b"",
            "text/event-stream",
            (("cache-control", "no-store"),),
            stream=lambda: feed.follow(request.caller, after),
        )

    return answer


def _after(request: Request) -> int | None:
    text = request.headers.get("last-event-id") or request.text("after")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise MalformedRequest(f"an event's id is a number, not {text[:40]!r}")
    return int(text)


def _documents(documented: Sequence[Mount]) -> Handler:
    by_name = {f"{mount.dialect.name}.json": mount for mount in documented}

    @cache
    def document(name: str) -> bytes:
        mount: Any = by_name[name]
        return as_json(openapi.document(mount.dialect, mount.prefix))

    def answer(request: Request) -> Response:
        name = request.path["name"]
        if name not in by_name:
            raise NoSuchRoute(f"there is no such document; there are {', '.join(by_name)}")
        return Response(200, document(name))

    return answer
