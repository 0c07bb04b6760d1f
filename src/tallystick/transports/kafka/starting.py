"""Where reading begins: the offsets of a place that is the same for many partitions."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, OFFSET_INVALID, Consumer, TopicPartition

from tallystick.errors import InvalidArgument
from tallystick.messaging.settings import EARLIEST, LATEST, StartAt
from tallystick.model.position import KafkaPosition, Position

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Place = tuple[str, int]
"""A partition: its topic and number."""


def offsets_at(
    consumer: Consumer, places: Sequence[Place], start: StartAt | Position, timeout_s: float
) -> dict[Place, int]:
    """Offsets of messages, so that what is written after this call is not missed. Blocks.

    A position holds for its own partition alone. Raises librdkafka's errors.
    """
    if isinstance(start, KafkaPosition):
        return {place: start.offset for place in places if place[1] == start.partition}
    if not places:
        return {}
    when = _wanted(start)
    asked = consumer.offsets_for_times([TopicPartition(*place, when) for place in places], timeout=timeout_s)
    found = {(each.topic, each.partition): each.offset for each in asked}
    after_all = [place for place in places if found[place] == OFFSET_END]
    # Nothing is as young as that yet: it begins with what comes next.
    return found | (offsets_at(consumer, after_all, LATEST, timeout_s) if after_all else {})


def committed(consumer: Consumer, places: Iterable[Place], timeout_s: float) -> dict[Place, int]:
    """Where the group goes on; without the partitions that it has no place in. Blocks."""
    asked = consumer.committed([TopicPartition(*place) for place in places], timeout=timeout_s)
    return {(each.topic, each.partition): each.offset for each in asked if each.offset != OFFSET_INVALID}


def require_place(start: StartAt | Position, topics: Sequence[str]) -> None:
    """Raises `InvalidArgument` for what is no place on Kafka."""
    if isinstance(start, KafkaPosition):
        if len(topics) > 1:
            raise InvalidArgument("start", "a position belongs to one topic; open a consumer on that topic alone")
        return
    if not isinstance(start, datetime) and start not in (EARLIEST, LATEST):
        raise InvalidArgument(
            "start", f'{start!r} is no place: "{EARLIEST}", "{LATEST}", a time or a Kafka position is'
        )


def _wanted(start: StartAt | Position) -> int:
    """What Kafka's look-up by time calls it."""
    if isinstance(start, datetime):
        # Kafka's times are cut to milliseconds; so is ours, lest a message of the same moment be missed.
        return max(0, (start.astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1))
    return OFFSET_BEGINNING if start == EARLIEST else OFFSET_END
