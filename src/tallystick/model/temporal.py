"""Points in time and times of day with nanoseconds, which Python's own `datetime` and `time` cannot hold.

Pulsar's INSTANT, LOCAL_TIME and LOCAL_DATE_TIME carry nanoseconds, and Java's clocks fill them. Decoding gives these
values, so that nothing is lost; encoding takes them or Python's own.
"""

import datetime as dt
from dataclasses import dataclass

NANOS_PER_SECOND = 1_000_000_000
NANOS_PER_DAY = 86_400 * NANOS_PER_SECOND
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A point in time: seconds since 1970-01-01T00:00Z, before it negative, and the nanoseconds after that second."""

    epoch_second: int
    nano: int = 0

    @classmethod
    def of(cls, moment: dt.datetime) -> "Instant":
        """The instant of a moment with a time zone."""
        since = moment - EPOCH
        return cls(since.days * 86_400 + since.seconds, since.microseconds * 1000)

    def as_datetime(self) -> dt.datetime:
        """The moment in UTC; nanoseconds below a microsecond are cut off."""
        return EPOCH + dt.timedelta(seconds=self.epoch_second, microseconds=self.nano // 1000)


@dataclass(frozen=True, slots=True, order=True)
class LocalTime:
    """A time of day without a zone, in nanoseconds since midnight."""

    nano_of_day: int

    @classmethod
    def of(cls, time: dt.time) -> "LocalTime":
        seconds = (time.hour * 60 + time.minute) * 60 + time.second
        return cls(seconds * NANOS_PER_SECOND + time.microsecond * 1000)

    def as_time(self) -> dt.time:
        """The time; nanoseconds below a microsecond are cut off."""
        return (dt.datetime.min + dt.timedelta(microseconds=self.nano_of_day // 1000)).time()


@dataclass(frozen=True, slots=True, order=True)
class LocalDateTime:
    """A day and a time of day without a zone."""

    date: dt.date
    time: LocalTime

    @classmethod
    def of(cls, moment: dt.datetime) -> "LocalDateTime":
        return cls(moment.date(), LocalTime.of(moment.time()))

    def as_datetime(self) -> dt.datetime:
        """The moment without a zone; nanoseconds below a microsecond are cut off."""
        return dt.datetime.combine(self.date, self.time.as_time())
