import asyncio

import pytest

from tallystick.errors import Forbidden, Unavailable
from tallystick.transports.pulsar.backoff import Backoff, patiently


def test_waits_double_up_to_ten_seconds() -> None:
    backoff = Backoff()
    waits = [backoff.next_s() for _ in range(10)]
    for wait, full in zip(waits, [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10, 10], strict=True):
        assert 0.8 * full <= wait <= full


def test_what_passes_is_tried_again() -> None:
    tries = iter([Unavailable("1"), Unavailable("2")])

    async def work() -> str:
        error = next(tries, None)
        if error is not None:
            raise error
        return "done"

    assert asyncio.run(patiently(work, "pulsar://x", 30)) == "done"


def test_what_does_not_pass_is_raised() -> None:
    async def work() -> None:
        raise Forbidden("no")

    with pytest.raises(Forbidden):
        asyncio.run(patiently(work, "pulsar://x", 30))


def test_time_ends() -> None:
    async def refused() -> None:
        raise Unavailable("the reason")

    async def silent() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Unavailable, match=r"pulsar://x .* 0\.2 s.*the reason"):
        asyncio.run(patiently(refused, "pulsar://x", 0.2))
    with pytest.raises(Unavailable, match="no answer"):
        asyncio.run(patiently(silent, "pulsar://x", 0.1))
