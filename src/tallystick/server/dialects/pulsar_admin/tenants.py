"""`/clusters`, `/brokers` and `/tenants`. One server is one cluster, `standalone`, with one broker."""

from typing import Any

from tallystick.server.dialects.pulsar_admin.asked import Ask, done, shown, tenant_of, value_in
from tallystick.server.dialects.pulsar_admin.documented import ANY_OBJECT, FLAG, NAMES, TENANT, reads, writes
from tallystick.server.dialects.pulsar_admin.told import Refusal
from tallystick.server.http import MalformedRequest, Request, Response
from tallystick.server.routing import Route

CLUSTER = "standalone"
_VERSION = "4.2.4"
"""The version of Pulsar whose API this is: tools choose by it what they may ask."""


class Tenants:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def names(self, request: Request) -> Response:
        return shown(self._ask().tenants.names(request.caller))

    def about(self, request: Request) -> Response:
        return shown(self._ask().tenants.about(request.caller, tenant_of(request)))

    def create(self, request: Request) -> Response:
        self._ask().tenants.create(request.caller, tenant_of(request), _about(request))
        return done()

    def change(self, request: Request) -> Response:
        self._ask().tenants.change(request.caller, tenant_of(request), _about(request))
        return done()

    def delete(self, request: Request) -> Response:
        self._ask().tenants.delete(request.caller, tenant_of(request))
        return done()


def _about(request: Request) -> dict[str, Any]:
    body = value_in(request)
    if body is None:
        raise Refusal(412, "TenantInfo is null")
    if not isinstance(body, dict):
        raise MalformedRequest("a tenant is an object with adminRoles and allowedClusters")
    clusters, roles = body.get("allowedClusters"), body.get("adminRoles") or []
    if clusters is None:
        raise Refusal(412, "Clusters cannot be null")
    if not isinstance(clusters, list) or not isinstance(roles, list) or not all(isinstance(r, str) for r in roles):
        raise MalformedRequest("adminRoles and allowedClusters are lists of texts")
    if not clusters:
        raise Refusal(412, "Clusters cannot be empty or blank")
    if any(cluster != CLUSTER for cluster in clusters):
        raise Refusal(412, "Clusters do not exist")
    return {"adminRoles": roles, "allowedClusters": [CLUSTER]}


class Cluster:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def names(self, request: Request) -> Response:
        self._ask()
        return shown([CLUSTER])

    def about(self, request: Request) -> Response:
        self._require(request)
        return shown({"serviceUrl": self._web_address(request), "brokerServiceUrl": broker_url(self._ask, request)})

    def brokers(self, request: Request) -> Response:
        self._ask()
        if "cluster" in request.path:
            self._require(request)
        return shown([self._web_address(request).partition("://")[2]])

    def leader(self, request: Request) -> Response:
        self._ask()
        address = self._web_address(request)
        return shown({"serviceUrl": address, "brokerId": address.partition("://")[2]})

    def health(self, request: Request) -> Response:
        """Goes through the broker's event loop and back."""
        self._ask().tenants.names(request.caller)
        return Response(200, b"ok", "text/plain")

    def version(self, request: Request) -> Response:
        self._ask()
        return Response(200, _VERSION.encode(), "text/plain")

    def _require(self, request: Request) -> None:
        self._ask()
        if request.path["cluster"] != CLUSTER:
            raise Refusal(404, "Cluster does not exist")

    def _web_address(self, request: Request) -> str:
        scheme = "https" if self._ask().address.is_tls else "http"
        return f"{scheme}://{request.headers.get('host', 'localhost')}"


def broker_url(ask: Ask, request: Request) -> str:
    """Where the client that asks finds the broker: on the host that it asked, where the broker listens on all."""
    address = ask().address
    host = address.host
    if host in ("0.0.0.0", "::", ""):  # noqa: S104  # compared, not bound
        host = _host(request.headers.get("host", "")) or "localhost"
    shown_host = f"[{host}]" if ":" in host else host
    return f"pulsar{'+ssl' if address.is_tls else ''}://{shown_host}:{address.port}"


def _host(authority: str) -> str:
    """The host of `host:port`; an IPv6 address stands in brackets there."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0]


def routes(ask: Ask) -> tuple[Route, ...]:
    tenants, cluster = Tenants(ask), Cluster(ask)
    one = "/tenants/{tenant}"
    return (
        Route("GET", "/clusters", cluster.names, reads("The clusters: one.", NAMES)),
        Route("GET", "/clusters/{cluster}", cluster.about, reads("Where a cluster is.", ANY_OBJECT)),
        Route("GET", "/brokers", cluster.brokers, reads("The brokers: one.", NAMES)),
        Route("GET", "/brokers/health", cluster.health, reads("Does the broker answer?", None)),
        Route("GET", "/brokers/ready", cluster.health, reads("Does the broker answer?", None)),
        Route("GET", "/brokers/version", cluster.version, reads("The version of Pulsar's API.", None)),
        Route("GET", "/brokers/leaderBroker", cluster.leader, reads("The broker that leads: the one.", ANY_OBJECT)),
        Route("GET", "/brokers/{cluster}", cluster.brokers, reads("The brokers of a cluster.", NAMES)),
        Route("GET", "/tenants", tenants.names, reads("The tenants.", NAMES)),
        Route("GET", one, tenants.about, reads("A tenant.", TENANT)),
        Route("PUT", one, tenants.create, writes("Create a tenant.", TENANT)),
        Route("POST", one, tenants.change, writes("Change a tenant.", TENANT)),
        Route("DELETE", one, tenants.delete, writes("Delete a tenant that has no namespaces.", force=FLAG)),
    )
