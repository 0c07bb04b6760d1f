"""Times with nanoseconds, to and from Python's own."""

import datetime as dt

import pytest

from tallystick.model.temporal import Instant, LocalDateTime, LocalTime


@pytest.mark.parametrize(
    ("moment", "instant"),
    [
        (dt.datetime(1970, 1, 1, tzinfo=dt.UTC), Instant(0)),
        (dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC), Instant(-1, 999_999_000)),
        (dt.datetime(2024, 2, 29, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))), Instant(1_709_164_800)),
    ],
)
def test_instant_of_a_moment(moment: dt.datetime, instant: Instant) -> None:
    assert Instant.of(moment) == instant
    assert instant.as_datetime() == moment


def test_nanoseconds_below_a_microsecond_are_cut_off_for_python() -> None:
    assert Instant(0, 1_999).as_datetime().microsecond == 1
    assert LocalTime(1_999).as_time() == dt.time(0, 0, 0, 1)


def test_local_time_is_counted_from_midnight() -> None:
    assert LocalTime.of(dt.time(23, 59, 59, 999_999)) == LocalTime(86_399_999_999_000)
    assert LocalTime(0).as_time() == dt.time.min
    assert LocalTime(86_399_999_999_000).as_time() == dt.time.max


def test_local_date_time_is_a_date_and_a_time() -> None:
    moment = dt.datetime(2024, 2, 29, 0, 0, 1)
    value = LocalDateTime.of(moment)
    assert value == LocalDateTime(dt.date(2024, 2, 29), LocalTime(1_000_000_000))
    assert value.as_datetime() == moment


def test_values_are_ordered_as_time_is() -> None:
    assert Instant(-1, 5) < Instant(0, 0) < Instant(0, 1)
    day = dt.date(2024, 1, 1)
    assert LocalDateTime(day, LocalTime(5)) < LocalDateTime(day, LocalTime(6))
