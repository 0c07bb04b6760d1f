"""Times as JSON has them: texts of ISO 8601.

Points in time are written in UTC with a `Z`; read, one without a zone is in UTC. What a text says beyond the digits
that a type keeps is no such time: nothing is rounded in silence.
"""

import datetime as dt
import re

from tallystick.model.temporal import EPOCH, NANOS_PER_SECOND, Instant, LocalDateTime, LocalTime

MILLIS, MICROS, NANOS = 3, 6, 9
"""Digits after the second."""

_TIME = re.compile(r"(?:(\d{4}-\d\d-\d\d)[T ])?(\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?")
_DURATION = re.compile(r"(-?)(\d{1,12})(?:\.(\d{1,9}))?s")


class _Parts:
    """A text taken apart: `at` has whole seconds, `nano` what is after them."""

    def __init__(self, text: str, digits: int) -> None:
        found = _TIME.fullmatch(text)
        fraction = "" if found is None else found[3] or ""
        if found is None or fraction[digits:].strip("0"):
            raise ValueError(text)
        self.day = None if found[1] is None else dt.date.fromisoformat(found[1])
        self.time = dt.time.fromisoformat(found[2])
        self.zone = found[4]
        self.nano = int(fraction.ljust(NANOS, "0"))


def moment(text: str, digits: int) -> dt.datetime | None:
    """A point in time."""
    try:
        parts = _Parts(text, digits)
        return None if parts.day is None else _at(parts) + dt.timedelta(microseconds=parts.nano // 1000)
    except (ValueError, OverflowError):
        return None


def _at(parts: _Parts) -> dt.datetime:
    assert parts.day is not None
    zone = dt.UTC if parts.zone in (None, "Z") else dt.datetime.fromisoformat(f"2000-01-01T00:00{parts.zone}").tzinfo
    return dt.datetime.combine(parts.day, parts.time, zone).astimezone(dt.UTC)


def instant(text: str) -> Instant | None:
    try:
        parts = _Parts(text, NANOS)
        return None if parts.day is None else Instant(Instant.of(_at(parts)).epoch_second, parts.nano)
    except (ValueError, OverflowError):
        return None


def local_date_time(text: str) -> LocalDateTime | None:
    """Day and time without a zone."""
    try:
        parts = _Parts(text, NANOS)
    except ValueError:
        return None
    if parts.day is None or parts.zone is not None:
        return None
    return LocalDateTime(parts.day, LocalTime(LocalTime.of(parts.time).nano_of_day + parts.nano))


def local_moment(text: str, digits: int) -> dt.datetime | None:
    """The same, as Python has it."""
    found = local_date_time(text)
    return None if found is None or found.time.nano_of_day % 10 ** (NANOS - digits) else found.as_datetime()


def local_time(text: str) -> LocalTime | None:
    """A time of day without a zone."""
    try:
        parts = _Parts(text, NANOS)
    except ValueError:
        return None
    if parts.day is not None or parts.zone is not None:
        return None
    return LocalTime(LocalTime.of(parts.time).nano_of_day + parts.nano)


def time(text: str, digits: int) -> dt.time | None:
    """The same, as Python has it."""
    found = local_time(text)
    return None if found is None or found.nano_of_day % 10 ** (NANOS - digits) else found.as_time()


def date(text: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None


def duration(text: str) -> dict[str, int] | None:
    """`1.5s`, as Protobuf's JSON has durations: seconds and nanoseconds of the same sign."""
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    sign = -1 if found[1] else 1
    return {"seconds": sign * int(found[2]), "nanos": sign * int((found[3] or "").ljust(NANOS, "0"))}


def shown(value: dt.datetime | dt.date | dt.time | Instant | LocalTime | LocalDateTime) -> str:
    match value:
        case Instant():
            return _shown_instant(value)
        case LocalTime():
            return _shown_time(value)
        case LocalDateTime(date=day, time=of_day):
            return f"{day.isoformat()}T{_shown_time(of_day)}"
        case dt.datetime() if value.tzinfo is not None:
            return value.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec=_timespec(value)) + "Z"
        case dt.datetime() | dt.time():
            return value.isoformat(timespec=_timespec(value))
    return value.isoformat()


def _timespec(value: dt.datetime | dt.time) -> str:
    return "microseconds" if value.microsecond % 1000 else "milliseconds" if value.microsecond else "seconds"


def _shown_instant(value: Instant) -> str:
    """Seconds since 1970 for a point in time that Python's calendar does not reach."""
    try:
        whole = (EPOCH + dt.timedelta(seconds=value.epoch_second)).replace(tzinfo=None).isoformat()
    except OverflowError:
        return f"{value.epoch_second}{_fraction(value.nano)}s"
    return f"{whole}{_fraction(value.nano)}Z"


def _shown_time(value: LocalTime) -> str:
    seconds, nano = divmod(value.nano_of_day, NANOS_PER_SECOND)
    return (dt.datetime.min + dt.timedelta(seconds=seconds)).time().isoformat() + _fraction(nano)


def _fraction(nano: int) -> str:
    """Thousandths, millionths or billionths: as many as it takes."""
    if not nano:
        return ""
    digits = f"{nano:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}"
