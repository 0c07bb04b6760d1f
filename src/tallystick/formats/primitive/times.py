"""Pulsar's numbers for moments, days and times of day.

DATE and TIMESTAMP are points in time: `datetime` with a zone, in whole milliseconds. TIME is what a clock in UTC
shows; Java writes it as milliseconds since 1970, of which only the time of day counts. LOCAL_DATE is `date`. INSTANT,
LOCAL_TIME and LOCAL_DATE_TIME keep nanoseconds (see `model.temporal`).
"""

import datetime as dt

from tallystick.model.temporal import EPOCH, NANOS_PER_DAY, Instant, LocalDateTime, LocalTime

_MILLIS_PER_DAY = 86_400_000
_MILLISECOND = dt.timedelta(milliseconds=1)
_EPOCH_DAY = EPOCH.date().toordinal()


def millis_of(moment: dt.datetime) -> int:
    return (moment - EPOCH) // _MILLISECOND


def moment_of(millis: int) -> dt.datetime:
    """Raises OverflowError outside of the years 1 to 9999, as `date_of` does."""
    return EPOCH + dt.timedelta(milliseconds=millis)


def millis_of_time(time: dt.time) -> int:
    return LocalTime.of(time).nano_of_day // 1_000_000


def time_of(millis: int) -> dt.time:
    return LocalTime(millis % _MILLIS_PER_DAY * 1_000_000).as_time()


def day_of(date: dt.date) -> int:
    return date.toordinal() - _EPOCH_DAY


def date_of(day: int) -> dt.date:
    ordinal = day + _EPOCH_DAY
    if not 0 < ordinal <= dt.date.max.toordinal():
        raise OverflowError
    return dt.date.fromordinal(ordinal)


def instant_of(value: Instant | dt.datetime) -> Instant:
    return Instant.of(value) if isinstance(value, dt.datetime) else value


def local_time_of(value: LocalTime | dt.time) -> LocalTime:
    return LocalTime.of(value) if isinstance(value, dt.time) else value


def local_date_time_of(value: LocalDateTime | dt.datetime) -> LocalDateTime:
    return LocalDateTime.of(value) if isinstance(value, dt.datetime) else value


def is_nano_of_day(nano: int) -> bool:
    return 0 <= nano < NANOS_PER_DAY
