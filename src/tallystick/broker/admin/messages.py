"""Single messages: where the last one is, and a look at some without taking them."""

from typing import Any

from tallystick.access import Action, Caller, require
from tallystick.broker.admin.calls import LoopCalls
from tallystick.broker.admin.topics import loaded
from tallystick.broker.broker import Broker
from tallystick.broker.log.values import Entry
from tallystick.broker.names import topic_name
from tallystick.broker.subscription import Subscription
from tallystick.broker.topic import Topic
from tallystick.errors import InvalidArgument, NotFound
from tallystick.wire.pulsar.compression import decompress
from tallystick.wire.pulsar.entries import parse_entry

_FURTHEST = 100_000
"""How far into a backlog with gaps somebody may look: the gaps are counted one by one."""


class Messages:
    def __init__(self, broker: Broker, calls: LoopCalls) -> None:
        self._broker = broker
        self._calls = calls

    def last_id(self, caller: Caller, topic: str) -> tuple[int, int, int, int]:
        """Ledger, entry, partition and batch index; entry -1 where there is no message, the others where not so."""
        name = topic_name(topic)
        require(caller, Action.READ, str(name.subject))

        async def find() -> tuple[int, int, int, int]:
            found = await loaded(self._broker, name)
            last = await found.last_position()
            return found.id, last.number, _partition(found), last.batch_index

        return self._calls.run(find)

    def id_at(self, caller: Caller, topic: str, published_ms: int) -> tuple[int, int, int]:
        """Ledger, entry and partition of the first message of that time or later, or of the next one to come."""
        name = topic_name(topic)
        require(caller, Action.READ, str(name.subject))

        async def find() -> tuple[int, int, int]:
            found = await loaded(self._broker, name)
            return found.id, await found.number_at(published_ms), _partition(found)

        return self._calls.run(find)

    def peek(self, caller: Caller, topic: str, subscription: str, position: int) -> dict[str, Any]:
        """The n-th entry of a backlog, from 1."""
        name = topic_name(topic)
        require(caller, Action.CONSUME, str(name.subject))

        async def find() -> tuple[int, Entry]:
            found = await loaded(self._broker, name)
            return await _read(found, _number_of(found.subscription(subscription), position))

        return _described(*self._calls.run(find))

    def examine(self, caller: Caller, topic: str, position: int, *, from_end: bool) -> dict[str, Any]:
        """The n-th entry of a topic, from 1, counted from its beginning or its end."""
        name = topic_name(topic)
        require(caller, Action.CONSUME, str(name.subject))

        async def find() -> tuple[int, Entry]:
            found = await loaded(self._broker, name)
            kept = range(found.first, found.committed)
            if not kept:
                raise NotFound("Message not found")
            at = min(max(position, 1), len(kept))
            return await _read(found, kept[-at] if from_end else kept[at - 1])

        return _described(*self._calls.run(find))


def _partition(topic: Topic) -> int:
    return -1 if topic.partition is None else topic.partition


def _number_of(subscription: Subscription, position: int) -> int:
    cursor, topic = subscription.cursor, subscription.topic
    if not 0 < position <= subscription.backlog:
        raise NotFound("Message not found")
    number = cursor.next_unacked(max(cursor.acked_before, topic.first))
    if subscription.backlog == topic.committed - number:
        return number + position - 1
    if position > _FURTHEST:
        raise InvalidArgument("position", f"the backlog has gaps; look at most {_FURTHEST} entries into it")
    for _ in range(position - 1):
        number = cursor.next_unacked(number + 1)
    return number


async def _read(topic: Topic, number: int) -> tuple[int, Entry]:
    """The ledger, and the entry."""
    entry = topic.recent(number)
    if entry is None:
        read = await topic.read(number, 1, 1)
        if not read:
            raise NotFound("Message not found")
        entry = read[0]
    return topic.id, entry


def _described(ledger: int, entry: Entry) -> dict[str, Any]:
    parsed = parse_entry(entry.data, verify=False)
    metadata = parsed.metadata
    payload = bytes(parsed.payload)
    if not metadata.encryption_keys:
        payload = decompress(metadata.compression, payload, metadata.uncompressed_size)
    return {
        "ledger": ledger,
        "entry": entry.number,
        "producer": metadata.producer_name,
        "sequence": metadata.sequence_id,
        "published_ms": metadata.publish_time,
        "event_ms": metadata.event_time or None,
        "key": metadata.partition_key if metadata.HasField("partition_key") else None,
        "properties": {item.key: item.value for item in metadata.properties},
        "batch": metadata.num_messages_in_batch if metadata.HasField("num_messages_in_batch") else None,
        "payload": payload,
    }
