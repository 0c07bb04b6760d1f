"""What the HTTP side needs of a broker. Plain calls that may block, for the threads that answer requests.

Topics are named whole, `persistent://tenant/namespace/topic`. Every call authorises its caller and raises `Forbidden`;
what changes something writes it to the journal. A broker that does not answer in time is `Unavailable`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tallystick.access import Caller

Policies = Mapping[str, int | bool | None]
"""`retention_minutes`, `retention_mb`, `ttl_seconds`, `deduplication`: those that are set. In a change None takes one
back."""


class Tenants(Protocol):
    """Raises `TenantNotFound`, `AlreadyExists`, and `Busy` for one that has namespaces."""

    def names(self, caller: Caller) -> list[str]: ...

    def about(self, caller: Caller, tenant: str) -> Mapping[str, Any]: ...

    def create(self, caller: Caller, tenant: str, about: Mapping[str, Any]) -> None: ...

    def change(self, caller: Caller, tenant: str, about: Mapping[str, Any]) -> None: ...

    def delete(self, caller: Caller, tenant: str) -> None: ...


class Namespaces(Protocol):
    """Raises `TenantNotFound`, `NamespaceNotFound`, `AlreadyExists`, and `Busy` for one that has topics."""

    def names(self, caller: Caller, tenant: str) -> list[str]: ...

    def create(self, caller: Caller, namespace: str, policies: Policies) -> None: ...

    def delete(self, caller: Caller, namespace: str, *, force: bool) -> None:
        """By force with its topics."""

    def policies(self, caller: Caller, namespace: str) -> Policies: ...

    def set_policies(self, caller: Caller, namespace: str, changes: Policies) -> None: ...


class Topics(Protocol):
    """Raises `NamespaceNotFound`, `TopicNotFound`, `AlreadyExists`, and `Busy` for one that has clients."""

    def names(self, caller: Caller, namespace: str, *, partitioned: bool = False, system: bool = False) -> list[str]:
        """The topics that hold messages, of a partitioned one its partitions; or the partitioned ones."""

    def partitions(self, caller: Caller, topic: str) -> int:
        """0 for a topic without partitions."""

    def create(self, caller: Caller, topic: str, partitions: int | None, properties: Mapping[str, str]) -> None: ...

    def add_partitions(self, caller: Caller, topic: str, partitions: int) -> None: ...

    def delete(self, caller: Caller, topic: str, *, force: bool) -> None:
        """A partitioned topic goes with its partitions."""

    def disconnect(self, caller: Caller, topic: str) -> None:
        """Sends its clients away, who come back by themselves."""

    def stats(self, caller: Caller, topic: str, *, internal: bool = False) -> dict[str, Any]:
        """With Pulsar's names; of a topic that holds messages itself."""


class TopicSettings(Protocol):
    def policies(self, caller: Caller, topic: str, *, applied: bool) -> Policies:
        """What is set for the topic, or what counts with all that is set around it."""

    def set_policies(self, caller: Caller, topic: str, changes: Policies) -> None: ...

    def properties(self, caller: Caller, topic: str) -> Mapping[str, str]: ...

    def set_properties(self, caller: Caller, topic: str, changes: Mapping[str, str | None]) -> None:
        """None takes a property away."""


class Subscriptions(Protocol):
    """On a partitioned topic the same is done on every partition. Raises `SubscriptionNotFound`, `AlreadyExists`, and
    `Busy` for one that has consumers."""

    def names(self, caller: Caller, topic: str) -> list[str]: ...

    def create(
        self, caller: Caller, topic: str, subscription: str, start: tuple[int, int], properties: Mapping[str, str]
    ) -> None:
        """From a message id on, by ledger and entry. A topic that is new is made."""

    def delete(self, caller: Caller, topic: str, subscription: str, *, force: bool) -> None: ...

    def skip(self, caller: Caller, topic: str, subscription: str, entries: int | None) -> None:
        """The first entries of the backlog, or all of it."""

    def reset(self, caller: Caller, topic: str, subscription: str, to: tuple[int, int] | int) -> None:
        """To a message id, by ledger and entry, or to the first message of a time in milliseconds."""

    def expire(self, caller: Caller, topic: str, subscription: str, seconds: int) -> bool:
        """Acknowledges what is older; answers whether there was anything."""


class SubscriptionProperties(Protocol):
    def properties(self, caller: Caller, topic: str, subscription: str) -> Mapping[str, str]: ...

    def set_properties(self, caller: Caller, topic: str, subscription: str, properties: Mapping[str, str]) -> None: ...


class Messages(Protocol):
    def last_id(self, caller: Caller, topic: str) -> tuple[int, int, int, int]:
        """Ledger, entry, partition and batch index; entry -1 where there is no message."""

    def id_at(self, caller: Caller, topic: str, published_ms: int) -> tuple[int, int, int]:
        """Ledger, entry and partition of the first message of that time or later, or of the next one to come."""

    def peek(self, caller: Caller, topic: str, subscription: str, position: int) -> dict[str, Any]:
        """The n-th entry of a backlog, from 1: ledger, entry, producer, sequence, published_ms, event_ms, key,
        properties, batch (how many messages, None where it is none), payload. Raises `NotFound`."""

    def examine(self, caller: Caller, topic: str, position: int, *, from_end: bool) -> dict[str, Any]:
        """The same of the n-th entry of a topic, counted from its beginning or its end."""


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """Where clients of the binary protocol find the broker."""

    host: str
    port: int
    is_tls: bool = False


@dataclass(frozen=True, slots=True)
class BrokerPorts:
    """All of a broker that the HTTP side sees."""

    tenants: Tenants
    namespaces: Namespaces
    topics: Topics
    topic_settings: TopicSettings
    subscriptions: Subscriptions
    subscription_properties: SubscriptionProperties
    messages: Messages
    address: BrokerAddress
