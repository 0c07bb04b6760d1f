"""/mode: what may be done to a subject, to a context or to all."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from tallystick.access import Caller
from tallystick.errors import InvalidArgument, SettingsNotFound, SubjectNotFound
from tallystick.model.settings import SERVER_DEFAULTS, Mode
from tallystick.model.subject import Subject
from tallystick.registry import policies
from tallystick.registry.service import Registry
from tallystick.server.dialects.confluent import bodies, names
from tallystick.server.dialects.confluent.answers import answer
from tallystick.server.dialects.confluent.components import FLAG, ref
from tallystick.server.http import Request, Response
from tallystick.server.routing import Operation, Route


def routes(registry: Registry) -> Iterator[Route]:
    mode = ref("Mode")
    for template, errors in (("/mode", (400, 422)), ("/mode/{subject}", (400, 404, 422))):
        get = Operation("Get the mode", {"defaultToGlobal": FLAG}, None, mode, errors)
        put = Operation("Set the mode", {"force": FLAG}, mode, mode, (*errors, 415))
        delete = Operation("Take the mode back", {"recursive": FLAG}, None, mode, errors)
        yield Route("GET", template, partial(_get, registry), get)
        yield Route("PUT", template, partial(_put, registry), put)
        yield Route("DELETE", template, partial(_delete, registry), delete)


def _get(registry: Registry, request: Request) -> Response:
    subject, namespace = names.level(request)
    if request.flag("defaultToGlobal"):
        found = policies.in_force(registry, subject, namespace, caller=request.caller)
        return answer(request, {"mode": found.mode})
    mode = _own(registry, request.caller, subject, namespace)
    if mode is None:
        raise SettingsNotFound("mode", request.path.get("subject") or request.path["context"])
    return answer(request, {"mode": mode})


def _own(registry: Registry, caller: Caller, subject: Subject | None, namespace: str | None) -> Mode | None:
    """The mode that is set at a level; the server always has one."""
    mode = policies.own(registry, subject, namespace, caller=caller).mode
    return SERVER_DEFAULTS.mode if mode is None and subject is None and namespace is None else mode


def _put(registry: Registry, request: Request) -> Response:
    subject, namespace = names.level(request)
    mode = _mode(request.object())
    if mode is Mode.FORWARD and (subject is not None or namespace is not None):
        raise InvalidArgument("mode", "FORWARD is for the whole server")
    policies.change(registry, request.caller, {"mode": mode}, subject, namespace, force=request.flag("force"))
    return answer(request, {"mode": mode})


def _mode(body: Mapping[str, Any]) -> Mode | None:
    word = bodies.string(body, "mode")
    if word is None:
        return None
    if word.upper() not in Mode.__members__:
        raise InvalidArgument("mode", f"Invalid mode {word[:50]!r}. Valid values are {', '.join(Mode)}")
    return Mode[word.upper()]


def _delete(registry: Registry, request: Request) -> Response:
    subject, namespace = names.level(request)
    recursive = request.flag("recursive")
    before = _own(registry, request.caller, subject, namespace)
    if before is None and not recursive:
        raise SubjectNotFound(request.path.get("subject") or request.path["context"])
    policies.take_back(registry, request.caller, ("mode",), subject, namespace)
    if recursive and subject is None:
        policies.take_back_modes(registry, request.caller, namespace)
    return answer(request, {"mode": before})
