"""Confluent's REST API, as its clients of all languages speak it.

A context is a namespace: `/contexts/.acme.sales/subjects/orders` and `/subjects/:.acme.sales:orders` name the same.
"""

from collections.abc import Iterator
from dataclasses import replace

from tallystick.registry.service import Registry
from tallystick.server.dialect import Dialect
from tallystick.server.dialects.confluent import (
    about,
    compatibility,
    config,
    contexts,
    mode,
    schemas,
    subjects,
    tags,
    versions,
)
from tallystick.server.dialects.confluent.answers import MEDIA_TYPES, problem
from tallystick.server.dialects.confluent.components import COMPONENTS
from tallystick.server.routing import Route

__all__ = ["dialect"]

_IN_CONTEXTS = (schemas, subjects, versions, tags, compatibility, config, mode)


def dialect(registry: Registry) -> Dialect:
    inside = [route for module in _IN_CONTEXTS for route in module.routes(registry)]
    routes = (*about.routes(), *contexts.routes(registry), *inside, *_in_context(inside))
    return Dialect("confluent", "Confluent Schema Registry", routes, problem, MEDIA_TYPES, COMPONENTS)


def _in_context(routes: list[Route]) -> Iterator[Route]:
    for route in routes:
        # A server's own settings are always there, a context's may be missing.
        errors = tuple(sorted({*route.operation.errors, 404, 422}))
        yield Route(
            route.method,
            "/contexts/{context}" + route.template,
            route.handler,
            replace(route.operation, errors=errors),
        )
