"""/compatibility: would this schema be taken?"""

from collections.abc import Iterator
from functools import partial

from tallystick.errors import InvalidSchema
from tallystick.model.subject import Version
from tallystick.registry import registration
from tallystick.registry.service import Registry
from tallystick.server.dialects.confluent import bodies, names
from tallystick.server.dialects.confluent.answers import answer, explained
from tallystick.server.dialects.confluent.components import FLAG, ref
from tallystick.server.http import Request, Response
from tallystick.server.routing import Operation, Route

_ALL = "/compatibility/subjects/{subject}/versions"


def routes(registry: Registry) -> Iterator[Route]:
    flags = {"normalize": FLAG, "verbose": FLAG}
    body, shape, errors = ref("RegisterRequest"), ref("Compatibility"), (400, 404, 413, 415, 422)
    yield Route(
        "POST",
        _ALL,
        partial(_as_the_policy_says, registry),
        Operation("Check a schema as registering it would", flags, body, shape, errors),
    )
    yield Route(
        "POST",
        f"{_ALL}/{{version}}",
        partial(_with_one, registry),
        Operation("Check a schema against one version", flags, body, shape, errors),
    )


def _as_the_policy_says(registry: Registry, request: Request) -> Response:
    return _check(registry, request, None, latest_only=False)


def _with_one(registry: Registry, request: Request) -> Response:
    version = names.version(request.path["version"])
    return _check(registry, request, version, latest_only=version is None)


def _check(registry: Registry, request: Request, version: Version | None, *, latest_only: bool) -> Response:
    subject, definition = names.subject(request), bodies.definition(request.object())
    verbose = request.flag("verbose")
    try:
        findings = registration.check(
            registry, request.caller, subject, definition, version=version, latest_only=latest_only
        )
    except InvalidSchema as e:
        if not verbose:
            raise
        message = e.message.replace("invalid schema", "Invalid schema", 1)
        return answer(request, {"is_compatible": False, "messages": [message], "findings": []})
    said = explained(findings) if verbose else {}
    return answer(request, {"is_compatible": not findings, **said})
