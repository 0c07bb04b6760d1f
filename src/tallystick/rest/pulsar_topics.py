"""Topics and subscriptions over Pulsar's admin API: of our own server, or of a Pulsar cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from tallystick.errors import AlreadyExists, InvalidArgument, NotPermitted, SubjectNotFound, TallystickError
from tallystick.model.definition import SchemaDefinition
from tallystick.model.naming import namespace_named
from tallystick.model.subject import DEFAULT_NAMESPACE, Version
from tallystick.rest import bodies, pulsar_schemas
from tallystick.rest.connection import Connection, Retries, escaped
from tallystick.rest.credentials import Credentials, split_url

_PREFIX = "/admin/v2"
_PERSISTENT = "/persistent/"
_BY_STATUS: dict[int, type[TallystickError]] = {406: InvalidArgument, 409: NotPermitted, 412: NotPermitted}
_CREATING = {**_BY_STATUS, 409: AlreadyExists}


@dataclass(frozen=True, slots=True)
class TopicListing:
    topic: str
    partitions: int
    """0 for a topic without partitions."""


@dataclass(frozen=True, slots=True)
class TopicSchema:
    version: Version
    definition: SchemaDefinition
    created: datetime | None


class PulsarTopics:
    """Topics are named whole, `tenant/namespace/topic`, or alone where they are of `public/default`.

    Raises `NotFound`, `AlreadyExists`, `NotPermitted` for what is in use, `Unsupported` for what the server or a
    partitioned topic does not offer, `Unavailable` after some retries.
    """

    def __init__(
        self,
        url: str,
        *,
        credentials: Credentials | None = None,
        timeout_s: float = 10.0,
        retries: Retries | None = None,
    ) -> None:
        bare, known = split_url(url, credentials)
        at = bare if bare.endswith(_PREFIX) else bare + _PREFIX
        self._http = Connection(at, known, timeout_s, retries)

    def __enter__(self) -> "PulsarTopics":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def topics(self, namespace: str = DEFAULT_NAMESPACE) -> list[TopicListing]:
        """A partitioned topic is one, whatever the number of its partitions."""
        at = f"/persistent/{namespace_named(*_two(namespace))}"
        whole = [str(name) for name in bodies.a_list(self._http.get(f"{at}/partitioned"))]
        single = [str(name) for name in bodies.a_list(self._http.get(at))]
        found = {name: self.partitions(name) for name in whole}
        others = {name: 0 for name in single if name.rpartition("-partition-")[0] not in found}
        return [TopicListing(name, number) for name, number in sorted({**found, **others}.items())]

    def create(self, topic: str, partitions: int | None = None, properties: Mapping[str, str] | None = None) -> None:
        if partitions is None:
            self._change("PUT", path_of(topic), dict(properties or {}), by_status=_CREATING)
            return
        self._change("PUT", f"{path_of(topic)}/partitions", partitions, by_status=_CREATING)
        if properties:
            self._change("PUT", f"{path_of(topic)}/properties", dict(properties))

    def delete(self, topic: str, *, force: bool = False) -> None:
        """A partitioned topic goes with its partitions."""
        rest = "/partitions" if self.partitions(topic) else ""
        self._change("DELETE", path_of(topic) + rest, query={"force": force})

    def partitions(self, topic: str) -> int:
        """0 for a topic without partitions."""
        found = self._http.get(f"{path_of(topic)}/partitions", by_status=_BY_STATUS)
        return bodies.number(bodies.an_object(found), "partitions")

    def set_partitions(self, topic: str, partitions: int) -> None:
        """More than there are."""
        self._change("POST", f"{path_of(topic)}/partitions", partitions)

    def stats(self, topic: str) -> dict[str, Any]:
        """Of a partitioned topic those of its partitions, summed."""
        which = "partitioned-stats" if self.partitions(topic) else "stats"
        return dict(bodies.an_object(self._http.get(f"{path_of(topic)}/{which}", by_status=_BY_STATUS)))

    def schemas(self, topic: str) -> list[TopicSchema]:
        """The versions of its schema, the oldest first; raises `SubjectNotFound` for a topic that has none."""
        path = path_of(topic).replace(_PERSISTENT, "/schemas/", 1)
        found = self._http.get(f"{path}/schemas", subject=topic, by_status={404: SubjectNotFound})
        listed = bodies.a_list(bodies.an_object(found).get("getSchemaResponses"), "getSchemaResponses")
        return [_schema(bodies.an_object(entry)) for entry in listed]

    def subscriptions(self, topic: str) -> list[str]:
        found = self._http.get(f"{path_of(topic)}/subscriptions", by_status=_BY_STATUS)
        return sorted(str(name) for name in bodies.a_list(found))

    def skip(self, topic: str, subscription: str, entries: int | None) -> None:
        """The first entries of its backlog, or all of it."""
        rest = "skip_all" if entries is None else f"skip/{entries}"
        self._change("POST", f"{_subscription(topic, subscription)}/{rest}")

    def reset_to_time(self, topic: str, subscription: str, published_ms: int) -> None:
        self._change("POST", f"{_subscription(topic, subscription)}/resetcursor/{published_ms}")

    def reset_to_id(self, topic: str, subscription: str, ledger: int, entry: int) -> None:
        body = {"ledgerId": ledger, "entryId": entry, "partitionIndex": -1}
        self._change("POST", f"{_subscription(topic, subscription)}/resetcursor", body)

    def unsubscribe(self, topic: str, subscription: str, *, force: bool = False) -> None:
        self._change("DELETE", _subscription(topic, subscription), query={"force": force})

    def _change(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        by_status: Mapping[int, type[TallystickError]] = _BY_STATUS,
    ) -> None:
        """Not repeated once it may have arrived: done twice it would do more, or be refused."""
        self._http.call(method, path, query, body, asked={"by_status": by_status}, is_idempotent=False)


def path_of(topic: str) -> str:
    """`orders`, `tenant/namespace/orders` or `persistent://tenant/namespace/orders` as a path."""
    _, _, rest = topic.rpartition("://") if topic.startswith("persistent://") else ("", "", topic)
    if "/" not in rest:
        rest = f"{DEFAULT_NAMESPACE}/{rest}"
    tenant, namespace, local = [*rest.split("/", 2), "", ""][:3]
    if not local or "://" in rest:
        raise InvalidArgument("topic", f"{topic[:200]!r} is none; write TOPIC or TENANT/NAMESPACE/TOPIC")
    return f"{_PERSISTENT}{namespace_named(tenant, namespace)}/{escaped(local)}"


def _schema(body: dict[str, Any]) -> TopicSchema:
    created = body.get("timestamp")
    return TopicSchema(
        Version(bodies.number(body, "version") + 1),
        pulsar_schemas.definition_of(body),
        datetime.fromtimestamp(created / 1000, UTC) if isinstance(created, int) and created > 0 else None,
    )


def _two(namespace: str) -> tuple[str, str]:
    tenant, _, name = namespace.partition("/")
    return tenant, name


def _subscription(topic: str, subscription: str) -> str:
    return f"{path_of(topic)}/subscription/{escaped(subscription)}"
