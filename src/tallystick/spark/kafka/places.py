"""Where reading begins and ends, in the words of Spark's connector."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from tallystick.errors import InvalidArgument
from tallystick.messaging.settings import EARLIEST, LATEST

Topics = str | Sequence[str] | re.Pattern[str]
"""A topic, several, or all whose whole name fits a pattern."""
Offsets = Mapping[str, Mapping[int, int]]
"""By topic and partition."""
Place = str | datetime | Offsets

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = -2, -1
"""What the connector calls the beginning and the end of a partition."""


def subscription(topics: Topics) -> dict[str, str]:
    if isinstance(topics, re.Pattern):
        return {"subscribePattern": java_pattern(topics)}
    return {"subscribe": ",".join(names(topics))}


def names(topics: str | Sequence[str]) -> list[str]:
    """Raises `InvalidArgument` where there are none, or where one is no name."""
    found = [topics] if isinstance(topics, str) else list(topics)
    if not found:
        raise InvalidArgument("topics", "name at least one")
    for name in found:
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", name):
            raise InvalidArgument("topics", f"{name[:60]!r} is no topic of Kafka; for a pattern give re.compile(…)")
    return found


def java_pattern(pattern: re.Pattern[str]) -> str:
    flags = "".join(
        letter
        for flag, letter in ((re.IGNORECASE, "i"), (re.DOTALL, "s"), (re.MULTILINE, "m"), (re.VERBOSE, "x"))
        if pattern.flags & flag
    )
    text = re.sub(r"\(\?P<", "(?<", pattern.pattern)
    return f"(?{flags}){text}" if flags else text


def batch_options(topics: Topics, starting: Place, ending: Place) -> dict[str, str]:
    """Offsets name the partitions that are read: no others are."""
    for name, place, wrong in (("starting", starting, LATEST), ("ending", ending, EARLIEST)):
        if place == wrong:
            raise InvalidArgument(name, f"nothing is there to read from the end or up to the beginning: {wrong!r}")
    first, last = _offsets("starting", starting, topics), _offsets("ending", ending, topics)
    if first is None and last is None:
        return {**subscription(topics), **_begins(starting), **_ends(ending)}
    read = {place for offsets in (first, last) if offsets is not None for place in offsets}
    return {
        "assign": json.dumps(_by_topic(dict.fromkeys(sorted(read), 0), listed=True)),
        **(_begins(starting) if first is None else {"startingOffsets": _json(read, first, _FIRST)}),
        **(_ends(ending) if last is None else {"endingOffsets": _json(read, last, _LAST)}),
    }


def stream_options(topics: Topics, starting: Place, partitions: Collection[tuple[str, int]]) -> dict[str, str]:
    """`partitions`: all that there are, needed with offsets only; those without one are read from their beginning."""
    offsets = _offsets("starting", starting, topics)
    if offsets is None:
        return {**subscription(topics), **_begins(starting)}
    unknown = sorted(set(offsets) - set(partitions))
    if unknown:
        raise InvalidArgument("starting", f"topic {unknown[0][0]} has no partition {unknown[0][1]}")
    return {**subscription(topics), "startingOffsets": _json(set(partitions), offsets, _FIRST)}


def _begins(starting: Place) -> dict[str, str]:
    if not isinstance(starting, datetime):
        return {"startingOffsets": _word("starting", starting)}
    # Where nothing is as young as that yet, it begins with what comes next.
    return {"startingTimestamp": str(_ms(starting)), "startingOffsetsByTimestampStrategy": "latest"}


def _ends(ending: Place) -> dict[str, str]:
    if not isinstance(ending, datetime):
        return {"endingOffsets": _word("ending", ending)}
    return {"endingTimestamp": str(_ms(ending))}


def _word(name: str, place: Place) -> str:
    if place not in (EARLIEST, LATEST):
        raise InvalidArgument(
            name, f'{place!r} is no place: "{EARLIEST}", "{LATEST}", a time or {{topic: {{partition: offset}}}} is'
        )
    return str(place)


def _ms(when: datetime) -> int:
    # Kafka's times are cut to milliseconds; so is ours, lest a record of the same moment be missed.
    return max(0, (when.astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1))


def _offsets(name: str, place: Place, topics: Topics) -> dict[tuple[str, int], int] | None:
    if not isinstance(place, Mapping):
        return None
    for topic in place:
        is_wanted = topics.fullmatch(topic) if isinstance(topics, re.Pattern) else topic in names(topics)
        if not is_wanted:
            raise InvalidArgument(name, f"it has offsets of topic {topic!r}, which is not among those to read")
    found = {(topic, int(number)): int(offset) for topic, parts in place.items() for number, offset in parts.items()}
    if not found:
        raise InvalidArgument(name, "it has no offsets at all")
    return found


def _json(places: Collection[tuple[str, int]], offsets: Mapping[tuple[str, int], int], default: int) -> str:
    return json.dumps(_by_topic({place: offsets.get(place, default) for place in sorted(places)}))


def _by_topic(offsets: Mapping[tuple[str, int], int], *, listed: bool = False) -> dict[str, object]:
    by_topic: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in offsets.items():
        by_topic.setdefault(topic, {})[str(partition)] = offset
    return {topic: [int(each) for each in parts] if listed else parts for topic, parts in by_topic.items()}
