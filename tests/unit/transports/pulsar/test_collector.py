"""Messages from any thread reach the loop in batches."""

import asyncio
import threading
from itertools import pairwise
from typing import Any

from tallystick.errors import Closed
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Outgoing
from tallystick.messaging.settings import ProducerSettings
from tallystick.model.position import Position
from tallystick.transports.pulsar.batching import Batch
from tallystick.transports.pulsar.collector import Collector


class Counted:
    """Counts how often the loop is woken."""

    def __init__(self, collector: Collector) -> None:
        self.wakes = 0
        self._wake = collector._loop.call_soon_threadsafe
        collector._loop = self  # type: ignore[assignment]
        self.call_later = asyncio.get_running_loop().call_later

    def call_soon_threadsafe(self, call: Any) -> None:
        self.wakes += 1
        self._wake(call)


def put(collector: Collector, count: int = 1) -> list[Pending[Position]]:
    sents: list[Pending[Position]] = [Pending() for _ in range(count)]
    for sent in sents:
        collector.put(Outgoing(b"x"), sent)
    return sents


async def until(batches: list[Batch | None], count: int) -> None:
    async with asyncio.timeout(30):
        while sum(len(batch.sents) for batch in batches if batch is not None) < count:
            await asyncio.sleep(0.001)


def test_the_loop_is_woken_for_batches_and_not_for_messages() -> None:
    async def work() -> None:
        batches: list[Batch | None] = []
        collector = Collector(ProducerSettings(batch_messages=100, batch_delay_s=30.0), batches.append)
        loop = Counted(collector)
        await asyncio.to_thread(put, collector, 1000)
        collector.flush()
        await until(batches, 1000)
        assert loop.wakes <= 2 * 10 + 1
        assert [len(batch.sents) for batch in batches if batch is not None] == [100] * 10
        collector.close(Closed("done"))

    asyncio.run(work())


def test_a_batch_waits_for_company_and_then_goes() -> None:
    async def work() -> None:
        batches: list[Batch | None] = []
        collector = Collector(ProducerSettings(batch_delay_s=0.05), batches.append)
        put(collector)
        await asyncio.sleep(0)
        put(collector)
        await until(batches, 2)
        assert [len(batch.sents) for batch in batches if batch is not None] == [2]
        assert batches[-1] is None
        put(collector)
        await until(batches, 3)
        collector.close(Closed("done"))

    asyncio.run(work())


def test_threads_get_along() -> None:
    async def work() -> None:
        batches: list[Batch | None] = []
        collector = Collector(ProducerSettings(batch_messages=7, batch_delay_s=0.001), batches.append)
        threads = [threading.Thread(target=put, args=[collector, 500]) for _ in range(4)]
        for thread in threads:
            thread.start()
        await until(batches, 2000)
        for thread in threads:
            thread.join()
        ids = [(b.first_sequence_id, b.last_sequence_id) for b in batches if b is not None]
        assert ids[0][0] == 0
        assert all(before[1] + 1 == after[0] for before, after in pairwise(ids))
        assert collector.messages == 0
        collector.close(Closed("done"))

    asyncio.run(work())


def test_what_comes_before_the_end_is_sent_and_what_comes_after_fails() -> None:
    async def work() -> None:
        batches: list[Batch | None] = []
        collector = Collector(ProducerSettings(batch_delay_s=30.0), batches.append)
        put(collector, 3)
        collector.close(Closed("done"))
        assert [len(batch.sents) for batch in batches if batch is not None] == [3]
        (late,) = put(collector)
        assert isinstance(late.error(), Closed)
        collector.flush()

    asyncio.run(work())
