"""`/lookup/v2`: where a topic is. Clients ask here whose service URL begins with http."""

from tallystick.server.dialect import Dialect
from tallystick.server.dialects.pulsar_admin.asked import Ask, namespace_in, shown, topic_in
from tallystick.server.dialects.pulsar_admin.documented import ANY_OBJECT, AUTHORITATIVE, reads
from tallystick.server.dialects.pulsar_admin.tenants import broker_url
from tallystick.server.dialects.pulsar_admin.told import problem
from tallystick.server.http import Request, Response
from tallystick.server.routing import Route

_WHOLE_BUNDLE = "0x00000000_0xffffffff"


class Lookup:
    """Every topic is here, those that are still to be made as well; only its namespace must exist."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def topic(self, request: Request) -> Response:
        self._require(request)
        address, url = self._ask().address, broker_url(self._ask, request)
        scheme = "https" if address.is_tls else "http"
        return shown(
            {
                "brokerUrl": url,
                "httpUrl": f"{scheme}://{request.headers.get('host', 'localhost')}",
                "nativeUrl": url,
                "brokerUrlSsl": url if address.is_tls else "",
            }
        )

    def bundle(self, request: Request) -> Response:
        self._require(request)
        return Response(200, _WHOLE_BUNDLE.encode(), "text/plain")

    def _require(self, request: Request) -> None:
        topic_in(request)
        self._ask().namespaces.policies(request.caller, namespace_in(request))


def dialect(ask: Ask) -> Dialect:
    do = Lookup(ask)
    topic = "/topic/persistent/{tenant}/{namespace}/{topic}"
    return Dialect(
        name="lookup",
        title="Pulsar look-up",
        routes=(
            Route("GET", f"{topic}/bundle", do.bundle, reads("The bundle of a topic: the one.", None)),
            Route("GET", topic, do.topic, reads("Where the broker of a topic is.", ANY_OBJECT, **AUTHORITATIVE)),
        ),
        problem=problem,
    )
