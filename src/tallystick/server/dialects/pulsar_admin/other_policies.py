"""Policies that Pulsar has and this broker has not: they are not set, and cannot be."""

from tallystick.server.dialects.pulsar_admin.asked import Ask, namespace_in, nothing_set, topic_in
from tallystick.server.dialects.pulsar_admin.documented import reads, writes
from tallystick.server.dialects.pulsar_admin.told import Refusal
from tallystick.server.http import NoSuchRoute, Request, Response
from tallystick.server.routing import Route

_KNOWN = {
    *("autoSubscriptionCreation", "autoTopicCreation", "backlogQuota", "backlogQuotaMap", "compactionThreshold"),
    *("delayedDelivery", "dispatchRate", "entryFilters", "inactiveTopicPolicies", "maxConsumers"),
    *("maxConsumersPerSubscription", "maxConsumersPerTopic", "maxMessageSize", "maxProducers", "maxProducersPerTopic"),
    *("maxSubscriptionsPerTopic", "maxTopicsPerNamespace", "maxUnackedMessagesOnConsumer"),
    *("maxUnackedMessagesOnSubscription", "maxUnackedMessagesPerConsumer", "maxUnackedMessagesPerSubscription"),
    *("offloadPolicies", "offloadThreshold", "persistence", "properties", "publishRate", "replication"),
    *("replicatorDispatchRate", "subscribeRate", "subscriptionAuthMode", "subscriptionDispatchRate"),
    *("subscriptionExpirationTime", "subscriptionTypesEnabled"),
}
_OFFERED = "retention, messageTTL, deduplication and the schema policies"


class OtherPolicies:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def get(self, request: Request) -> Response:
        _require_known(request)
        if "topic" in request.path:
            self._ask().topic_settings.policies(request.caller, topic_in(request), applied=False)
        else:
            self._ask().namespaces.policies(request.caller, namespace_in(request))
        return nothing_set()

    def change(self, request: Request) -> Response:
        _require_known(request)
        self._ask()
        raise Refusal(405, f"the policy {request.path['policy']} is not offered here; offered are {_OFFERED}")


def _require_known(request: Request) -> None:
    policy = request.path["policy"]
    if policy not in _KNOWN:
        raise NoSuchRoute(f"there is nothing named {policy[:60]!r} here; policies are {_OFFERED}")


def routes(ask: Ask) -> tuple[Route, ...]:
    do = OtherPolicies(ask)
    places = "/namespaces/{tenant}/{namespace}/{policy}", "/persistent/{tenant}/{namespace}/{topic}/{policy}"
    unset, refused = "A policy of Pulsar's that there is none of: it is not set.", "And it cannot be set."
    return tuple(
        route
        for place in places
        for route in (
            Route("GET", place, do.get, reads(unset, None)),
            *(Route(method, place, do.change, writes(refused)) for method in ("PUT", "POST", "DELETE")),
        )
    )
