"""What a topic need not keep: acknowledged by all and older, or more, than its policies say."""

import asyncio
import time

from tallystick.broker.log.log import Log
from tallystick.broker.policies import WITHOUT_LIMIT, TopicPolicies
from tallystick.broker.topic import Topic

_MB = 1024 * 1024
_MOST_ENTRIES = 1000
_MOST_BYTES = 8 * _MB


async def trim(topic: Topic, policies: TopicPolicies, log: Log) -> None:
    """Time and size count both: what is beyond either goes, but nothing that a subscription still has to read."""
    if policies.ttl_seconds:
        await _expire(topic, policies.ttl_seconds)
    end = min(topic.needed_from, topic.committed)
    if end <= topic.first:
        return
    before = max(await _too_old(topic, policies, end), await _too_much(topic, policies, end))
    if before > topic.first:
        await asyncio.to_thread(log.trim, topic.id, before)
        row = await asyncio.to_thread(log.topic, topic.id)
        topic.trimmed(row.first, row.bytes)


async def _expire(topic: Topic, seconds: int) -> None:
    number = await topic.number_at(int((time.time() - seconds) * 1000))
    for subscription in topic.subscriptions.values():
        if subscription.cursor.acked_before < number:
            subscription.expire(number)


async def _too_old(topic: Topic, policies: TopicPolicies, end: int) -> int:
    minutes = policies.retention_minutes
    if minutes is None or minutes == WITHOUT_LIMIT:
        return topic.first
    return min(end, await topic.number_at(int((time.time() - minutes * 60) * 1000)))


async def _too_much(topic: Topic, policies: TopicPolicies, end: int) -> int:
    megabytes = policies.retention_mb
    if megabytes is None or megabytes == WITHOUT_LIMIT:
        return topic.first
    surplus, number = topic.bytes - megabytes * _MB, topic.first
    while surplus > 0 and number < end:
        for entry in await topic.read(number, min(_MOST_ENTRIES, end - number), _MOST_BYTES):
            if surplus <= 0:
                break
            surplus -= len(entry.data)
            number = entry.number + 1
    return min(number, end)
