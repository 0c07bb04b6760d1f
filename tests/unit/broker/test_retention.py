"""What retention drops and what it keeps, on a real log."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tallystick.broker.broker import Broker
from tallystick.broker.names import topic_name
from tallystick.broker.policies import WITHOUT_LIMIT, TopicPolicies
from tallystick.broker.topic import Topic
from tallystick.wire.pulsar.entries import build_entry
from tallystick.wire.pulsar.pulsar_pb2 import MessageMetadata

_NAME = topic_name("kept")
_HOUR_MS = 3_600_000


def _on_broker(tmp_path: Path, script: Callable[[Broker, Topic], Awaitable[None]]) -> None:
    async def run() -> None:
        broker = Broker(tmp_path)
        try:
            await script(broker, await broker.topic(_NAME))
        finally:
            await broker.close()

    asyncio.run(run())


async def _publish(topic: Topic, ages_ms: list[int], size: int = 10) -> None:
    now, stored = int(time.time() * 1000), asyncio.Event()
    for at, age in enumerate(ages_ms):
        metadata = MessageMetadata(producer_name="p", sequence_id=at, publish_time=now - age)
        done = stored.set if at == len(ages_ms) - 1 else lambda: None
        topic.append(build_entry(metadata, bytes(size)), metadata, lambda *_, done=done: done())
    await stored.wait()


def test_what_is_older_than_the_retention_goes(tmp_path: Path) -> None:
    async def script(broker: Broker, topic: Topic) -> None:
        await broker.catalogue.set_topic_policies(_NAME, TopicPolicies(retention_minutes=90, retention_mb=-1))
        await _publish(topic, [3 * _HOUR_MS, 2 * _HOUR_MS, _HOUR_MS, 0])
        before = topic.bytes
        await broker.trim()
        assert (topic.first, topic.committed) == (2, 4)
        assert topic.bytes == before // 2
        assert [entry.number for entry in await topic.read(0, 10, 10_000)] == [2, 3]

    _on_broker(tmp_path, script)


def test_what_is_more_than_the_retention_goes_oldest_first(tmp_path: Path) -> None:
    async def script(broker: Broker, topic: Topic) -> None:
        policies = TopicPolicies(retention_minutes=WITHOUT_LIMIT, retention_mb=1)
        await broker.catalogue.set_topic_policies(_NAME, policies)
        await _publish(topic, [0] * 6, size=400_000)
        await broker.trim()
        assert topic.first == 4
        assert topic.bytes < 1024 * 1024

    _on_broker(tmp_path, script)


def test_what_a_subscription_has_not_acknowledged_stays(tmp_path: Path) -> None:
    async def script(broker: Broker, topic: Topic) -> None:
        await broker.catalogue.set_namespace_policies(
            "public/default", TopicPolicies(retention_minutes=0, retention_mb=0)
        )
        await _publish(topic, [3 * _HOUR_MS] * 5)
        subscription = await broker.create_subscription(topic, "slow", 2, {})
        await broker.trim()
        assert topic.first == 2
        subscription.expire(4)
        await broker.trim()
        assert topic.first == 4

    _on_broker(tmp_path, script)


def test_by_default_what_was_acknowledged_is_kept_for_a_week(tmp_path: Path) -> None:
    async def script(broker: Broker, topic: Topic) -> None:
        await _publish(topic, [8 * 24 * _HOUR_MS, 6 * 24 * _HOUR_MS])
        await broker.trim()
        assert topic.first == 1

    _on_broker(tmp_path, script)


@pytest.mark.parametrize(("ttl_seconds", "acked_before"), [(0, 0), (5400, 2)])
def test_a_time_to_live_acknowledges_what_is_older(tmp_path: Path, ttl_seconds: int, acked_before: int) -> None:
    async def script(broker: Broker, topic: Topic) -> None:
        await broker.catalogue.set_topic_policies(_NAME, TopicPolicies(ttl_seconds=ttl_seconds))
        await _publish(topic, [3 * _HOUR_MS, 2 * _HOUR_MS, _HOUR_MS, 0])
        subscription = await broker.create_subscription(topic, "s", 0, {})
        await broker.trim()
        assert subscription.cursor.acked_before == acked_before
        assert topic.first == 0, "they are still within the retention"

    _on_broker(tmp_path, script)


def test_trimmed_topics_stay_so_after_a_restart(tmp_path: Path) -> None:
    async def first(broker: Broker, topic: Topic) -> None:
        await broker.catalogue.set_topic_policies(_NAME, TopicPolicies(retention_minutes=90, retention_mb=-1))
        await _publish(topic, [2 * _HOUR_MS, 0])
        await broker.trim()

    async def second(broker: Broker, topic: Topic) -> None:
        assert (topic.first, topic.committed) == (1, 2)
        assert broker.catalogue.policies(_NAME).retention_minutes == 90

    _on_broker(tmp_path, first)
    _on_broker(tmp_path, second)
