"""`/namespaces`: create, delete, look at; the policies have modules of their own."""

from typing import Any

from tallystick.errors import NamespaceNotFound, TenantNotFound
from tallystick.model.settings import TOPIC_DEFAULTS
from tallystick.registry import policies
from tallystick.registry.service import Registry
from tallystick.server.dialects.pulsar_admin import bodies
from tallystick.server.dialects.pulsar_admin.asked import Ask, done, namespace_in, shown, tenant_of, value_in
from tallystick.server.dialects.pulsar_admin.documented import ANY_OBJECT, FLAG, FORCE, NAMES, TEXT, reads, writes
from tallystick.server.dialects.pulsar_admin.message_policies import (
    deduplication_of,
    retention_body,
    retention_of,
    ttl_of,
)
from tallystick.server.dialects.pulsar_admin.tenants import CLUSTER
from tallystick.server.dialects.pulsar_admin.told import Refusal
from tallystick.server.http import MalformedRequest, Request, Response
from tallystick.server.ports import Policies
from tallystick.server.routing import Route

_BUNDLES = {"boundaries": ["0x00000000", "0xffffffff"], "numBundles": 1}
_ROLES = (
    "roles are not set here: they stand in the file of `tally serve --security`, each with the topics that it is for"
)


class Namespaces:
    def __init__(self, ask: Ask, registry: Registry) -> None:
        self._ask = ask
        self._registry = registry

    def names(self, request: Request) -> Response:
        try:
            return shown(self._ask().namespaces.names(request.caller, tenant_of(request)))
        except TenantNotFound as e:
            raise Refusal(404, "Tenant not found") from e

    def about(self, request: Request) -> Response:
        namespace = namespace_in(request)
        own = self._ask().namespaces.policies(request.caller, namespace)
        return shown({**self._schema_policies(namespace), **_message_policies(own), **_FIXED})

    def _schema_policies(self, namespace: str) -> dict[str, Any]:
        own = policies.own(self._registry, None, namespace)
        counts = policies.in_force(self._registry, None, namespace, TOPIC_DEFAULTS)
        return {
            "schema_compatibility_strategy": str(own.strategy or "UNDEFINED"),
            "is_allow_auto_update_schema": counts.auto_update,
            "schema_validation_enforced": counts.validation_enforced,
        }

    def create(self, request: Request) -> Response:
        body = value_in(request)
        namespace = namespace_in(request)
        schema_policies = _schema_policies_in(body)
        self._ask().namespaces.create(request.caller, namespace, _policies_in(body))
        if schema_policies:
            policies.change(self._registry, request.caller, schema_policies, None, namespace)
        return done()

    def delete(self, request: Request) -> Response:
        namespace = namespace_in(request)
        try:
            self._ask().namespaces.delete(request.caller, namespace, force=request.flag("force"))
        except NamespaceNotFound as e:
            raise Refusal(404, f"Namespace {namespace} does not exist.") from e
        return done()

    def topics(self, request: Request) -> Response:
        namespace, system = namespace_in(request), request.flag("includeSystemTopic")
        found = self._ask().topics.names(request.caller, namespace, system=system)
        return shown([] if request.text("mode") == "NON_PERSISTENT" else found)

    def fixed(self, value: Any) -> Any:
        """A handler for what is the same for every namespace that there is."""

        def answer(request: Request) -> Response:
            self._ask().namespaces.policies(request.caller, namespace_in(request))
            return shown(value)

        return answer

    def no_roles(self, request: Request) -> Response:
        self._ask()
        raise Refusal(405, _ROLES)


_FIXED: dict[str, Any] = {
    "auth_policies": {"namespace_auth": {}, "destination_auth": {}, "subscription_auth_roles": {}},
    "replication_clusters": [CLUSTER],
    "allowed_clusters": [],
    "bundles": _BUNDLES,
    "backlog_quota_map": {},
    "deleted": False,
    "encryption_required": False,
    "subscription_auth_mode": "None",
    "properties": {},
}


def _message_policies(own: Policies) -> dict[str, Any]:
    shown_names = {
        "retention_policies": retention_body(own),
        "message_ttl_in_seconds": own.get("ttl_seconds"),
        "deduplicationEnabled": own.get("deduplication"),
    }
    return {name: value for name, value in shown_names.items() if value is not None}


def _schema_policies_in(body: Any) -> dict[str, object]:
    if not isinstance(body, dict):
        return {}
    found: dict[str, object] = {
        "strategy": bodies.strategy_of(body.get("schema_compatibility_strategy")),
        "auto_update": body.get("is_allow_auto_update_schema"),
        "validation_enforced": body.get("schema_validation_enforced"),
    }
    for name in ("auto_update", "validation_enforced"):
        if not isinstance(found[name], bool | None):
            raise MalformedRequest(f"{name} is true or false")
    return {name: value for name, value in found.items() if value is not None}


def _policies_in(body: Any) -> Policies:
    """Those that a broker here has; of the many others Pulsar's tools send some along."""
    if body is None:
        return {}
    if not isinstance(body, dict):
        raise MalformedRequest("policies are an object")
    return {
        **retention_of(body.get("retention_policies")),
        **ttl_of(body.get("message_ttl_in_seconds")),
        **deduplication_of(body.get("deduplicationEnabled")),
    }


def routes(ask: Ask, registry: Registry) -> tuple[Route, ...]:
    do = Namespaces(ask, registry)
    one = "/namespaces/{tenant}/{namespace}"
    role = f"{one}/permissions/{{role}}"
    listing = {"mode": {"enum": ["PERSISTENT", "NON_PERSISTENT", "ALL"]}, "includeSystemTopic": FLAG}
    roles = "Roles stand in the server's file of users."
    return (
        Route("GET", "/namespaces/{tenant}", do.names, reads("The namespaces of a tenant.", NAMES)),
        Route("GET", one, do.about, reads("A namespace with its policies.", ANY_OBJECT)),
        Route("PUT", one, do.create, writes("Create a namespace; its policies may stand in the body.")),
        Route("DELETE", one, do.delete, writes("Delete a namespace; `force` with its topics.", **FORCE)),
        Route("GET", f"{one}/topics", do.topics, reads("The topics of a namespace.", NAMES, **listing)),
        Route("GET", f"{one}/permissions", do.fixed({}), reads(roles, ANY_OBJECT)),
        Route("POST", role, do.no_roles, writes(roles, NAMES)),
        Route("DELETE", role, do.no_roles, writes(roles)),
        Route("GET", f"{one}/bundles", do.fixed(_BUNDLES), reads("The bundles: one.", ANY_OBJECT)),
        Route("GET", f"{one}/replication", do.fixed([CLUSTER]), reads("The clusters: one.", NAMES)),
        Route("GET", f"{one}/backlogQuotaMap", do.fixed({}), reads("There are no quotas.", ANY_OBJECT)),
        Route("GET", f"{one}/properties", do.fixed({}), reads("A namespace has none.", ANY_OBJECT)),
        Route("GET", f"{one}/subscriptionAuthMode", do.fixed("None"), reads("There are no modes.", TEXT)),
    )
