"""`/persistent`: topics and their partitions."""

from typing import Any

from tallystick.errors import NamespaceNotFound, TopicNotFound
from tallystick.server.dialects.pulsar_admin import statistics
from tallystick.server.dialects.pulsar_admin.asked import (
    PARTITION,
    Ask,
    done,
    namespace_in,
    shown,
    texts_in,
    topic_in,
    value_in,
)
from tallystick.server.dialects.pulsar_admin.documented import (
    ANY_OBJECT,
    AUTHORITATIVE,
    FLAG,
    FORCE,
    NAMES,
    NEW_PARTITIONS,
    PARTITIONS,
    TEXT,
    TEXTS,
    reads,
    writes,
)
from tallystick.server.dialects.pulsar_admin.told import Refusal
from tallystick.server.http import Handler, MalformedRequest, Request, Response
from tallystick.server.routing import Route

_NO_COMPACTION = (
    "compaction is not offered here: a topic keeps every message as long as its retention says; read the last value"
    " of each key with a reader, or use a Pulsar cluster"
)
_NO_TERMINATION = (
    "a topic cannot be ended here; close its producers, and delete the topic when its consumers have read it"
)
_ALL_DURABLE = "non-persistent topics are not offered here: every topic is durable; name it persistent://…"


class Topics:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def names(self, request: Request) -> Response:
        system = request.flag("includeSystemTopic")
        return shown(self._ask().topics.names(request.caller, namespace_in(request), system=system))

    def partitioned_names(self, request: Request) -> Response:
        return shown(self._ask().topics.names(request.caller, namespace_in(request), partitioned=True))

    def create(self, request: Request) -> Response:
        topic = topic_in(request)
        part = PARTITION.fullmatch(topic)
        if part is not None and not self._is_partitioned(request, part[1]):
            local, whole = request.path["topic"], part[1].rpartition("/")[2]
            raise Refusal(
                412,
                f"Can't create topic {local} with \"-partition-\" followed by numeric value if there isn't a"
                f" partitioned topic {whole} created.",
            )
        properties = texts_in(value_in(request), "the properties of a topic")
        self._ask().topics.create(request.caller, topic, None, properties)
        return done()

    def _is_partitioned(self, request: Request, topic: str) -> bool:
        try:
            return self._ask().topics.partitions(request.caller, topic) > 0
        except TopicNotFound:
            return False

    def delete(self, request: Request) -> Response:
        topic = topic_in(request)
        try:
            if self._ask().topics.partitions(request.caller, topic):
                raise Refusal(
                    409,
                    f"{topic} is a partitioned topic, instead of calling delete topic, please call"
                    " delete-partitioned-topic.",
                )
            self._ask().topics.delete(request.caller, topic, force=request.flag("force"))
        except NamespaceNotFound as e:
            raise TopicNotFound(topic) from e
        return done()

    def disconnect(self, request: Request) -> Response:
        self._ask().topics.disconnect(request.caller, topic_in(request))
        return done()

    # Partitions

    def partitions(self, request: Request) -> Response:
        topic = topic_in(request)
        try:
            found = self._ask().topics.partitions(request.caller, topic)
            properties = self._ask().topic_settings.properties(request.caller, topic) if found else {}
        except TopicNotFound:
            # Clients that are about to make the topic ask so first.
            if not request.flag("checkAllowAutoCreation"):
                raise
            found, properties = 0, {}
        body: dict[str, Any] = {"partitions": found, "deleted": False}
        return shown({**body, "properties": dict(properties)} if properties else body)

    def create_partitions(self, request: Request) -> Response:
        topic = topic_in(request)
        if PARTITION.fullmatch(topic):
            raise Refusal(412, "Partitioned Topic Name should not contain '-partition-'")
        number, properties = _partitions_in(request)
        if number < 1:
            raise Refusal(406, "Number of partitions should be more than 0")
        self._ask().topics.create(request.caller, topic, number, properties)
        return done()

    def add_partitions(self, request: Request) -> Response:
        topic, (wanted, _) = topic_in(request), _partitions_in(request)
        try:
            now = self._ask().topics.partitions(request.caller, topic)
        except TopicNotFound:
            now = 0
        if not now:
            raise Refusal(409, f"Topic {topic} is not the partitioned topic.")
        if wanted < now:
            raise Refusal(422, f"Desired partitions {wanted} can't be less than the current partitions {now}.")
        if wanted > now:
            self._ask().topics.add_partitions(request.caller, topic, wanted)
        return done()

    def delete_partitions(self, request: Request) -> Response:
        topic = topic_in(request)
        try:
            found = self._ask().topics.partitions(request.caller, topic)
        except TopicNotFound as e:
            raise Refusal(404, f"Topic {topic} not found.") from e
        if not found:
            raise Refusal(
                409,
                f"{topic} is a non-partitioned topic. Instead of calling delete-partitioned-topic please call delete.",
            )
        self._ask().topics.delete(request.caller, topic, force=request.flag("force"))
        return done()

    # What they tell

    def stats(self, request: Request) -> Response:
        return shown(self._ask().topics.stats(request.caller, topic_in(request)))

    def internal_stats(self, request: Request) -> Response:
        return shown(self._ask().topics.stats(request.caller, topic_in(request), internal=True))

    def partitioned_stats(self, request: Request) -> Response:
        parts = self._of_partitions(request, internal=False)
        answer = {**statistics.summed(list(parts.values())), "metadata": {"partitions": len(parts), "deleted": False}}
        return shown({**answer, "partitions": parts if request.flag("perPartition", True) else {}})

    def partitioned_internal_stats(self, request: Request) -> Response:
        parts = self._of_partitions(request, internal=True)
        return shown({"metadata": {"partitions": len(parts), "deleted": False}, "partitions": parts})

    def _of_partitions(self, request: Request, *, internal: bool) -> dict[str, dict[str, Any]]:
        topic, topics = topic_in(request), self._ask().topics
        try:
            number = topics.partitions(request.caller, topic)
        except TopicNotFound:
            number = 0
        if not number:
            raise Refusal(404, f"Partitioned Topic {topic} not found")
        names = [f"{topic}-partition-{at}" for at in range(number)]
        return {name: topics.stats(request.caller, name, internal=internal) for name in names}

    # Properties

    def properties(self, request: Request) -> Response:
        return shown(dict(self._ask().topic_settings.properties(request.caller, topic_in(request))))

    def set_properties(self, request: Request) -> Response:
        changes = texts_in(value_in(request), "the properties of a topic")
        self._ask().topic_settings.set_properties(request.caller, topic_in(request), changes)
        return done()

    def remove_property(self, request: Request) -> Response:
        self._ask().topic_settings.set_properties(request.caller, topic_in(request), {request.text("key"): None})
        return done()

    def no_names(self, request: Request) -> Response:
        self._ask().namespaces.policies(request.caller, namespace_in(request))
        return shown([])

    def no_permissions(self, request: Request) -> Response:
        self._ask().topics.partitions(request.caller, topic_in(request))
        return shown({})

    def refusing(self, reason: str) -> Handler:
        def refuse(request: Request) -> Response:
            self._ask()
            raise Refusal(405, reason)

        return refuse


def _partitions_in(request: Request) -> tuple[int, dict[str, str]]:
    """A number, or an object with it and the topic's properties."""
    body = value_in(request)
    number, properties = (body.get("partitions"), body.get("properties")) if isinstance(body, dict) else (body, None)
    if isinstance(number, bool) or not isinstance(number, int):
        raise MalformedRequest("send the number of partitions")
    return number, texts_in(properties, "the properties of a topic")


def routes(ask: Ask) -> tuple[Route, ...]:
    do = Topics(ask)
    at = "/persistent/{tenant}/{namespace}"
    one = f"{at}/{{topic}}"
    parts = f"{one}/partitions"
    metadata = reads("How many partitions; 0 for none.", PARTITIONS, checkAllowAutoCreation=FLAG, **AUTHORITATIVE)
    return (
        Route("GET", at, do.names, reads("The topics, of partitioned ones the parts.", NAMES, includeSystemTopic=FLAG)),
        Route("GET", f"{at}/partitioned", do.partitioned_names, reads("The partitioned topics.", NAMES)),
        Route("PUT", one, do.create, writes("Create a topic; its properties may stand in the body.", **AUTHORITATIVE)),
        Route("DELETE", one, do.delete, writes("Delete a topic; `force` whoever uses it.", **FORCE)),
        Route("GET", parts, do.partitions, metadata),
        Route("PUT", parts, do.create_partitions, writes("Create a partitioned topic.", NEW_PARTITIONS)),
        Route("POST", parts, do.add_partitions, writes("Add partitions up to this number.", NEW_PARTITIONS)),
        Route("DELETE", parts, do.delete_partitions, writes("Delete a partitioned topic.", **FORCE)),
        Route("PUT", f"{one}/unload", do.disconnect, writes("Send its clients away, who come back.", **AUTHORITATIVE)),
        *_stats_routes(do, one),
        *_property_routes(do, one),
        *_refused_routes(do, one),
    )


def _stats_routes(do: Topics, one: str) -> tuple[Route, ...]:
    per_partition = {"perPartition": {"type": "boolean", "default": True}}
    return (
        Route("GET", f"{one}/stats", do.stats, reads("Rates, counts, clients, backlogs.", ANY_OBJECT, **AUTHORITATIVE)),
        Route(
            "GET",
            f"{one}/partitioned-stats",
            do.partitioned_stats,
            reads("The same, summed over the partitions.", ANY_OBJECT, **per_partition),
        ),
        Route("GET", f"{one}/internalStats", do.internal_stats, reads("Entries and cursors.", ANY_OBJECT)),
        Route(
            "GET",
            f"{one}/partitioned-internalStats",
            do.partitioned_internal_stats,
            reads("The same of each partition.", ANY_OBJECT),
        ),
    )


def _property_routes(do: Topics, one: str) -> tuple[Route, ...]:
    at = f"{one}/properties"
    return (
        Route("GET", at, do.properties, reads("The properties of a topic.", TEXTS)),
        Route("PUT", at, do.set_properties, writes("Set some properties, keep the others.", TEXTS)),
        Route("DELETE", at, do.remove_property, writes("Take a property away.", key=TEXT)),
    )


def _refused_routes(do: Topics, one: str) -> tuple[Route, ...]:
    compaction, termination = do.refusing(_NO_COMPACTION), do.refusing(_NO_TERMINATION)
    durable = do.refusing(_ALL_DURABLE)
    none, anything = "/non-persistent/{tenant}/{namespace}", "/non-persistent/{tenant}/{namespace}/{resource}"
    return (
        Route("GET", none, do.no_names, reads("There are none: every topic is durable.", NAMES)),
        Route("GET", f"{none}/partitioned", do.no_names, reads("There are none.", NAMES)),
        Route("GET", f"{one}/permissions", do.no_permissions, reads("Roles stand in the server's file.", ANY_OBJECT)),
        Route("PUT", f"{one}/compaction", compaction, writes("Not offered.")),
        Route("GET", f"{one}/compaction", compaction, reads("Not offered.", None)),
        Route("POST", f"{one}/terminate", termination, writes("Not offered.")),
        *(Route(method, anything, durable, writes("Not offered.")) for method in ("GET", "PUT", "POST", "DELETE")),
    )
