"""The server itself: `/`, `/v1/metadata`, and the look-up of associations, of which there are none."""

from collections.abc import Iterator
from importlib.metadata import version

from tallystick.server.dialects.confluent.answers import answer
from tallystick.server.dialects.confluent.components import EMPTY, PAGE, STRING, STRINGS, ref
from tallystick.server.http import Handler, Request, Response
from tallystick.server.routing import Operation, Route

_CLUSTER = {"id": "", "scope": {"path": [], "clusters": {"schema-registry-cluster": "tallystick"}}}


def routes() -> Iterator[Route]:
    nothing: dict[str, object] = {}
    yield Route("GET", "/", _always(nothing), Operation("Nothing: the server is there", {}, None, EMPTY))
    yield Route("POST", "/", _always(nothing), Operation("Nothing: the server is there", {}, {}, EMPTY))
    yield Route(
        "GET", "/v1/metadata/id", _always(_CLUSTER), Operation("The name of this registry", {}, None, ref("ClusterId"))
    )
    yield Route(
        "GET",
        "/v1/metadata/version",
        _always({"version": version("tallystick")}),
        Operation("The version of this server", {}, None, ref("Version")),
    )
    yield Route(
        "GET",
        "/v1/metadata/deployment",
        _always({"attributes": []}),
        Operation("How this server is deployed", {}, None, ref("Deployment")),
    )
    query = {"resourceType": STRING, "associationType": STRINGS, "lifecycle": STRING, **PAGE}
    yield Route(
        "GET",
        "/associations/resources/{namespace}/{resource}",
        _always([]),
        Operation("Associations of a resource: none", query, None, {"type": "array", "maxItems": 0}),
    )


def _always(value: object) -> Handler:
    def handler(request: Request) -> Response:
        return answer(request, value)

    return handler
