"""Subscriptions: make, move and delete them. On a partitioned topic the same is done on every partition."""

import time
from collections.abc import Awaitable, Callable, Mapping

from tallystick.access import Action, Caller, require
from tallystick.broker.admin.calls import LoopCalls
from tallystick.broker.admin.topics import parts_of
from tallystick.broker.broker import Broker
from tallystick.broker.names import LONGEST_NAME, TopicName, topic_name
from tallystick.broker.subscription import Subscription
from tallystick.errors import AlreadyExists, InvalidArgument, SubscriptionNotFound
from tallystick.registry.service import Registry, record


class Subscriptions:
    def __init__(self, broker: Broker, registry: Registry, calls: LoopCalls) -> None:
        self._broker = broker
        self._registry = registry
        self._calls = calls

    def names(self, caller: Caller, topic: str) -> list[str]:
        name = topic_name(topic)
        require(caller, Action.READ, str(name.subject))

        async def find() -> list[str]:
            parts = await parts_of(self._broker, name)
            return sorted({subscription for part in parts for subscription in part.subscriptions})

        return self._calls.run(find)

    def create(
        self, caller: Caller, topic: str, subscription: str, start: tuple[int, int], properties: Mapping[str, str]
    ) -> None:
        """From a message id on, by ledger and entry; a topic that is new is made."""
        name = _consumable(caller, topic)
        if len(subscription) > LONGEST_NAME or not subscription.isprintable():
            raise InvalidArgument("subscription", f"a name is text of at most {LONGEST_NAME} characters")

        async def create() -> None:
            if name not in self._broker.catalogue.topics:
                await self._broker.topic(name)
            parts = await parts_of(self._broker, name)
            if all(subscription in part.subscriptions for part in parts):
                raise AlreadyExists(f"Subscription {subscription} of topic {name} exists already")
            for part in parts:
                if subscription not in part.subscriptions:
                    await self._broker.create_subscription(part, subscription, part.number_of(*start), properties)

        self._calls.run(create)
        self._registry.change(
            lambda tx: record(
                tx, caller, "subscription.created", name.subject, topic=str(name), subscription=subscription
            )
        )

    def delete(self, caller: Caller, topic: str, subscription: str, *, force: bool) -> None:
        async def delete(found: Subscription) -> None:
            await self._broker.delete_subscription(found, force=force)

        name = self._on_each(caller, topic, subscription, delete)
        self._registry.change(
            lambda tx: record(
                tx, caller, "subscription.deleted", name.subject, topic=str(name), subscription=subscription
            )
        )

    def skip(self, caller: Caller, topic: str, subscription: str, entries: int | None) -> None:
        """The first entries of the backlog, or all of it."""

        async def skip(found: Subscription) -> None:
            if entries is None or entries >= found.backlog:
                found.expire(found.topic.committed)
            else:
                found.skip(entries)

        name = self._on_each(caller, topic, subscription, skip)
        self._registry.change(
            lambda tx: record(
                tx, caller, "subscription.skipped", name.subject, topic=str(name), subscription=subscription
            )
        )

    def reset(self, caller: Caller, topic: str, subscription: str, to: tuple[int, int] | int) -> None:
        """To a message id, by ledger and entry, or to the first message of a time in milliseconds."""

        async def reset(found: Subscription) -> None:
            part = found.topic
            found.seek(await part.number_at(to) if isinstance(to, int) else part.number_of(*to))

        name = self._on_each(caller, topic, subscription, reset)
        self._registry.change(
            lambda tx: record(
                tx, caller, "subscription.reset", name.subject, topic=str(name), subscription=subscription
            )
        )

    def expire(self, caller: Caller, topic: str, subscription: str, seconds: int) -> bool:
        """Acknowledges what is older; answers whether there was anything."""
        before_ms = max(0, int((time.time() - seconds) * 1000))
        moved: list[bool] = []

        async def expire(found: Subscription) -> None:
            number = await found.topic.number_at(before_ms)
            if found.cursor.acked_before < number:
                found.expire(number)
                moved.append(True)

        name = self._on_each(caller, topic, subscription, expire)
        if moved:
            self._registry.change(
                lambda tx: record(
                    tx, caller, "subscription.expired", name.subject, topic=str(name), subscription=subscription
                )
            )
        return bool(moved)

    def properties(self, caller: Caller, topic: str, subscription: str) -> Mapping[str, str]:
        name = topic_name(topic)
        require(caller, Action.READ, str(name.subject))

        async def find() -> Mapping[str, str]:
            return (await self._found(name, subscription))[0].properties

        return self._calls.run(find)

    def set_properties(self, caller: Caller, topic: str, subscription: str, properties: Mapping[str, str]) -> None:
        async def change(found: Subscription) -> None:
            found.properties = dict(properties)
            self._broker.cursor_moved(found)

        name = self._on_each(caller, topic, subscription, change)
        self._registry.change(
            lambda tx: record(
                tx, caller, "subscription.changed", name.subject, topic=str(name), subscription=subscription
            )
        )

    async def _found(self, name: TopicName, subscription: str) -> list[Subscription]:
        parts = await parts_of(self._broker, name)
        found = [part.subscriptions[subscription] for part in parts if subscription in part.subscriptions]
        if not found:
            raise SubscriptionNotFound(subscription, str(name))
        return found

    def _on_each(
        self, caller: Caller, topic: str, subscription: str, work: Callable[[Subscription], Awaitable[None]]
    ) -> TopicName:
        """Durable when it returns."""
        name = _consumable(caller, topic)

        async def do() -> None:
            for found in await self._found(name, subscription):
                await work(found)
            await self._broker.store_cursors()

        self._calls.run(do)
        return name


def _consumable(caller: Caller, topic: str) -> TopicName:
    """Who may consume may also say from where."""
    name = topic_name(topic)
    require(caller, Action.CONSUME, str(name.subject))
    return name
