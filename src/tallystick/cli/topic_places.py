"""Where reading a topic begins, as people write it."""

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tallystick.cli.faults import BadInput, unusable

if TYPE_CHECKING:
    from tallystick.model.position import Position

EARLIEST, LATEST = "earliest", "latest"

_AGE = re.compile(r"(\d{1,9})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_NUMBERS = re.compile(r"-?\d{1,18}(?::-?\d{1,18}){1,3}")
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)


def time_of(place: str, now: datetime) -> datetime | None:
    """A time (in UTC where it has no zone) or an age; None for what is neither."""
    age = _AGE.fullmatch(place)
    if age is not None:
        return now - min(timedelta(seconds=int(age[1]) * _SECONDS[age[2]]), now - _FIRST)
    try:
        at = datetime.fromisoformat(place)
    except ValueError:
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def place_of(text: str, now: datetime, *, is_kafka: bool) -> "str | datetime | Position":
    """`earliest`, `latest`, a time, an age or the position of a message; raises `BadInput`."""
    if text in (EARLIEST, LATEST):
        return text
    if _NUMBERS.fullmatch(text):
        return _position([int(part) for part in text.split(":")], is_kafka=is_kafka) or _raised(text, is_kafka)
    return time_of(text, now) or _raised(text, is_kafka)


def _position(numbers: list[int], *, is_kafka: bool) -> "Position | None":
    from tallystick.model.position import KafkaPosition, PulsarPosition

    if is_kafka:
        return KafkaPosition(*numbers) if len(numbers) == 2 and min(numbers) >= 0 else None
    return PulsarPosition(*numbers)


def _raised(text: str, is_kafka: bool) -> "Position":
    raise no_place(text, "PARTITION:OFFSET" if is_kafka else "LEDGER:ENTRY")


def no_place(text: str, position: str) -> BadInput:
    return unusable(
        f"{text!r} is no place in a topic",
        fix=f"give earliest, latest, a time, an age such as 15m, or {position}",
    )
