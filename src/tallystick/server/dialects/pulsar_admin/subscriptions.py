"""`/persistent/…/subscription`: the subscriptions of a topic."""

from tallystick.server.dialects.pulsar_admin.asked import (
    LATEST,
    Ask,
    done,
    message_id_in,
    shown,
    texts_in,
    topic_in,
    value_in,
    whole_number,
)
from tallystick.server.dialects.pulsar_admin.documented import (
    AUTHORITATIVE,
    FORCE,
    MESSAGE_ID,
    NAMES,
    TEXTS,
    reads,
    writes,
)
from tallystick.server.dialects.pulsar_admin.told import Refusal
from tallystick.server.http import MalformedRequest, Request, Response
from tallystick.server.routing import Route


class Subscriptions:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def names(self, request: Request) -> Response:
        return shown(self._ask().subscriptions.names(request.caller, topic_in(request)))

    def create(self, request: Request) -> Response:
        """From the end, where the body does not say anything else."""
        body = value_in(request)
        start = LATEST if body is None else message_id_in(body)
        properties = texts_in(body.get("properties"), "properties") if isinstance(body, dict) else {}
        subscription = request.path["subscription"]
        self._ask().subscriptions.create(request.caller, topic_in(request), subscription, start, properties)
        return done()

    def delete(self, request: Request) -> Response:
        topic, subscription = topic_in(request), request.path["subscription"]
        self._ask().subscriptions.delete(request.caller, topic, subscription, force=request.flag("force"))
        return done()

    def skip(self, request: Request) -> Response:
        topic, entries = topic_in(request), whole_number(request.path["count"], "the number of messages")
        if entries < 0:
            raise MalformedRequest("the number of messages to skip is 0 or more")
        self._require_no_partitions(request, topic, "Skip messages on a partitioned topic is not allowed")
        self._ask().subscriptions.skip(request.caller, topic, request.path["subscription"], entries)
        return done()

    def skip_all(self, request: Request) -> Response:
        self._ask().subscriptions.skip(request.caller, topic_in(request), request.path["subscription"], None)
        return done()

    def reset_to_time(self, request: Request) -> Response:
        ms = max(0, whole_number(request.path["timestamp"], "a timestamp"))
        self._ask().subscriptions.reset(request.caller, topic_in(request), request.path["subscription"], ms)
        return done()

    def reset_to_id(self, request: Request) -> Response:
        topic, to = topic_in(request), message_id_in(value_in(request))
        self._require_no_partitions(request, topic, "Reset-cursor at position is not allowed for partitioned-topic")
        self._ask().subscriptions.reset(request.caller, topic, request.path["subscription"], to)
        return done()

    def _require_no_partitions(self, request: Request, topic: str, refusal: str) -> None:
        if self._ask().topics.partitions(request.caller, topic):
            raise Refusal(405, refusal)

    def expire(self, request: Request) -> Response:
        topic, subscription = topic_in(request), request.path["subscription"]
        if not self._expire(request, topic, subscription):
            raise Refusal(409, _nothing_old(topic, subscription))
        return done()

    def expire_all(self, request: Request) -> Response:
        topic = topic_in(request)
        names = self._ask().subscriptions.names(request.caller, topic)
        expired = [self._expire(request, topic, subscription) for subscription in names]
        if names and not any(expired):
            raise Refusal(409, _nothing_old(topic, names[0]))
        return done()

    def _expire(self, request: Request, topic: str, subscription: str) -> bool:
        seconds = whole_number(request.path["seconds"], "the age")
        if not 0 <= seconds < 2**31:
            raise MalformedRequest("the age is 0 or more seconds, of 32 bits")
        return self._ask().subscriptions.expire(request.caller, topic, subscription, seconds)

    def properties(self, request: Request) -> Response:
        topic, subscription = topic_in(request), request.path["subscription"]
        return shown(dict(self._ask().subscription_properties.properties(request.caller, topic, subscription)))

    def set_properties(self, request: Request) -> Response:
        topic, subscription = topic_in(request), request.path["subscription"]
        properties = texts_in(value_in(request), "the properties of a subscription")
        self._ask().subscription_properties.set_properties(request.caller, topic, subscription, properties)
        return done()


def _nothing_old(topic: str, subscription: str) -> str:
    return (
        f"Expire message by timestamp not issued on topic {topic} for subscription {subscription} due to ongoing"
        " message expiration not finished or subscription almost catch  up. If it's performed on a partitioned topic"
        " operation might succeeded on other partitions, please check stats of individual partition."
    )


def routes(ask: Ask) -> tuple[Route, ...]:
    do = Subscriptions(ask)
    topic = "/persistent/{tenant}/{namespace}/{topic}"
    one = f"{topic}/subscription/{{subscription}}"
    to_id = writes("Start again from a message id.", MESSAGE_ID, **AUTHORITATIVE)
    return (
        Route("GET", f"{topic}/subscriptions", do.names, reads("The subscriptions of a topic.", NAMES)),
        Route("PUT", one, do.create, writes('Create one: from "latest", "earliest" or a message id.', **AUTHORITATIVE)),
        Route("DELETE", one, do.delete, writes("Delete one; `force` even with consumers.", **FORCE)),
        Route("POST", f"{one}/skip/{{count}}", do.skip, writes("Leave out the next entries.", **AUTHORITATIVE)),
        Route("POST", f"{one}/skip_all", do.skip_all, writes("Leave out the whole backlog.", **AUTHORITATIVE)),
        Route("POST", f"{one}/resetcursor/{{timestamp}}", do.reset_to_time, writes("Start again from a time, in ms.")),
        Route("POST", f"{one}/resetcursor", do.reset_to_id, to_id),
        Route("POST", f"{one}/expireMessages/{{seconds}}", do.expire, writes("Leave out what is older.")),
        Route(
            "POST",
            f"{topic}/all_subscription/expireMessages/{{seconds}}",
            do.expire_all,
            writes("The same, of all subscriptions."),
        ),
        Route("GET", f"{one}/properties", do.properties, reads("The properties of a subscription.", TEXTS)),
        Route("PUT", f"{one}/properties", do.set_properties, writes("Set its properties.", TEXTS)),
    )
