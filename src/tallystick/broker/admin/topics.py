"""Topics: which there are, make and delete them, and what is set for them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tallystick.access import Action, Caller, is_allowed, require
from tallystick.broker import stats
from tallystick.broker.admin.calls import LoopCalls
from tallystick.broker.admin.namespaces import Policies
from tallystick.broker.broker import Broker
from tallystick.broker.names import TopicName, topic_name
from tallystick.broker.topic import Topic
from tallystick.errors import TopicNotFound
from tallystick.registry.service import Registry, record

SYSTEM_PREFIX = "__"


class Topics:
    def __init__(self, broker: Broker, registry: Registry, calls: LoopCalls) -> None:
        self._broker = broker
        self._catalogue = broker.catalogue
        self._registry = registry
        self._calls = calls

    def names(self, caller: Caller, namespace: str, *, partitioned: bool = False, system: bool = False) -> list[str]:
        """The topics that hold messages, of a partitioned one its partitions; or the partitioned ones."""

        def find() -> list[TopicName]:
            self._catalogue.require_namespace(namespace)
            return [
                name
                for name, row in self._catalogue.topics.items()
                if name.namespace == namespace and (row.partitions is not None) == partitioned
            ]

        return [
            str(name)
            for name in sorted(self._calls.call(find))
            if (system or not name.local.startswith(SYSTEM_PREFIX))
            and is_allowed(caller.principal, Action.READ, str(name.subject))
        ]

    def partitions(self, caller: Caller, topic: str) -> int:
        """0 for a topic without partitions."""
        name = _readable(caller, topic)

        def find() -> int:
            self._catalogue.require_namespace(name.namespace)
            return self._catalogue.require_topic(name).partitions or 0

        return self._calls.call(find)

    def create(self, caller: Caller, topic: str, partitions: int | None, properties: Mapping[str, str]) -> None:
        name = topic_name(topic)
        require(caller, Action.ADMINISTER, str(name.subject))
        self._calls.run(lambda: self._catalogue.create_topic(name, partitions, properties))
        self._registry.change(
            lambda tx: record(tx, caller, "topic.created", name.subject, topic=str(name), partitions=partitions or 0)
        )

    def add_partitions(self, caller: Caller, topic: str, partitions: int) -> None:
        name = topic_name(topic)
        require(caller, Action.ADMINISTER, str(name.subject))
        self._calls.run(lambda: self._catalogue.add_partitions(name, partitions))
        self._registry.change(
            lambda tx: record(tx, caller, "topic.changed", name.subject, topic=str(name), partitions=partitions)
        )

    def delete(self, caller: Caller, topic: str, *, force: bool) -> None:
        name = topic_name(topic)
        require(caller, Action.ADMINISTER, str(name.subject))
        self._calls.run(lambda: self._broker.delete_topic(name, force=force))
        self._registry.change(lambda tx: record(tx, caller, "topic.deleted", name.subject, topic=str(name)))

    def disconnect(self, caller: Caller, topic: str) -> None:
        """Sends the clients of a topic away; they come back by themselves."""
        name = topic_name(topic)
        require(caller, Action.ADMINISTER, str(name.subject))

        async def send_away() -> None:
            for part in await parts_of(self._broker, name):
                part.disconnect()

        self._calls.run(send_away)

    def stats(self, caller: Caller, topic: str, *, internal: bool = False) -> dict[str, Any]:
        name = _readable(caller, topic)
        describe = stats.internals_of if internal else stats.stats_of

        async def find() -> dict[str, Any]:
            return describe(await loaded(self._broker, name))

        return self._calls.run(find)


class TopicSettings:
    def __init__(self, broker: Broker, registry: Registry, calls: LoopCalls) -> None:
        self._broker = broker
        self._catalogue = broker.catalogue
        self._registry = registry
        self._calls = calls

    def policies(self, caller: Caller, topic: str, *, applied: bool) -> Policies:
        """What is set for the topic, or what counts with all that is set around it."""
        name = _readable(caller, topic)

        def find() -> Policies:
            self._catalogue.require_topic(name)
            found = self._catalogue.policies(name) if applied else self._catalogue.own_policies(name)
            return found.as_dict()

        return self._calls.call(find)

    def set_policies(self, caller: Caller, topic: str, changes: Policies) -> None:
        """None takes a policy back."""
        name = topic_name(topic)
        require(caller, Action.CONFIGURE, str(name.subject))

        async def change() -> None:
            self._catalogue.require_topic(name)
            policies = replace(self._catalogue.own_policies(name), **changes)  # type: ignore[arg-type]
            await self._catalogue.set_topic_policies(name, policies)
            for part in self._broker.loaded:
                if part.name.whole == name.whole:
                    self._broker.apply_policies(part)

        self._calls.run(change)
        self._registry.change(
            lambda tx: record(tx, caller, "policy.changed", name.subject, topic=str(name), changes=dict(changes))
        )

    def properties(self, caller: Caller, topic: str) -> Mapping[str, str]:
        name = _readable(caller, topic)
        return self._calls.call(lambda: self._catalogue.require_topic(name).properties)

    def set_properties(self, caller: Caller, topic: str, changes: Mapping[str, str | None]) -> None:
        """None takes a property away."""
        name = topic_name(topic)
        require(caller, Action.ADMINISTER, str(name.subject))
        self._calls.run(lambda: self._catalogue.set_properties(name, changes))
        self._registry.change(lambda tx: record(tx, caller, "topic.changed", name.subject, topic=str(name)))


def _readable(caller: Caller, topic: str) -> TopicName:
    name = topic_name(topic)
    require(caller, Action.READ, str(name.subject))
    return name


async def loaded(broker: Broker, name: TopicName) -> Topic:
    """A topic that holds messages. Raises `TopicNotFound`, also for a partitioned one, which holds none itself."""
    broker.catalogue.require_namespace(name.namespace)
    if broker.catalogue.require_topic(name).partitions is not None:
        raise TopicNotFound(str(name))
    return await broker.topic(name, create=False)


async def parts_of(broker: Broker, name: TopicName) -> list[Topic]:
    """The topic, or the partitions of a partitioned one."""
    broker.catalogue.require_namespace(name.namespace)
    row = broker.catalogue.require_topic(name)
    names = [name] if row.partitions is None else [name.of_partition(number) for number in range(row.partitions)]
    return [await broker.topic(part, create=False) for part in names]
