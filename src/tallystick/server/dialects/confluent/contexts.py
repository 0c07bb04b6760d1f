"""/contexts: the namespaces, as Confluent calls them."""

from collections.abc import Iterator
from functools import partial

from tallystick.errors import NamespaceNotEmpty
from tallystick.model.subject import DEFAULT_CONTEXT, DEFAULT_NAMESPACE, context_of
from tallystick.registry import deletion, lookup
from tallystick.registry.service import Registry
from tallystick.server.dialects.confluent import names
from tallystick.server.dialects.confluent.answers import answer
from tallystick.server.dialects.confluent.components import PAGE, STRING, STRINGS
from tallystick.server.http import Request, Response
from tallystick.server.routing import Operation, Route


def routes(registry: Registry) -> Iterator[Route]:
    yield Route(
        "GET",
        "/contexts",
        partial(_list, registry),
        Operation("List contexts", {"contextPrefix": STRING, **PAGE}, None, STRINGS, (400,)),
    )
    yield Route(
        "DELETE",
        "/contexts/{context}",
        partial(_delete, registry),
        Operation("Delete an empty context", {}, None, None, (404, 422), 204),
    )


def _list(registry: Registry, request: Request) -> Response:
    others = sorted(
        context_of(namespace) for namespace in lookup.namespaces(registry) if namespace != DEFAULT_NAMESPACE
    )
    prefix = request.text("contextPrefix")
    found = [context for context in [DEFAULT_CONTEXT, *others] if context.startswith(prefix)]
    return answer(request, names.paged(found, names.page(request)))


def _delete(registry: Registry, request: Request) -> Response:
    namespace = names.namespace(request)
    if namespace == DEFAULT_NAMESPACE:
        raise NamespaceNotEmpty(namespace)
    deletion.delete_namespace(registry, request.caller, namespace)
    return Response(204)
