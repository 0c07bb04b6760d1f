"""The broker's log: appends that are acknowledged after the fsync, against one commit for each on the same SQLite."""

import asyncio
import functools
import itertools
import queue
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.benchmark import Benchmark, Contest, Work, shared, told
from tallystick.broker.log.log import Log
from tallystick.broker.log.values import Entry

NAIVE = "a commit for each append"
KIB = 1024
_SECONDS, _QUICK_SECONDS = 1.0, 0.3
_INSERT = "INSERT INTO entries (key, published_ms, messages, data) VALUES (?, ?, ?, ?)"
_FILL = """
WITH RECURSIVE numbers (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?1 - 1)
INSERT INTO entries SELECT (?2 << 40) + number, number, 1, NULL, NULL, randomblob(200) FROM numbers
"""


def _folder() -> Path:
    return Path(shared.enter_context(TemporaryDirectory(prefix="tallystick-bench-")))


class Ours:
    """A log, and a loop to append in."""

    def __init__(self, path: Path) -> None:
        self.loop = asyncio.new_event_loop()
        shared.callback(self.loop.close)
        self.log = Log.open(path, self.loop)
        shared.callback(self.log.close)
        row = self.log.topics()[0] if self.log.topics() else self.log.create_topic("bench")
        self.topic, self.next = row.id, row.next
        self.latencies_ms: list[float] = []

    def append(self, data: bytes, then: Callable[[], None]) -> None:
        started = time.perf_counter()

        def done(failure: BaseException | None) -> None:
            assert failure is None
            self.latencies_ms.append((time.perf_counter() - started) * 1000)
            then()

        self.log.append(self.topic, Entry(self.next, 0, 1, data), done)
        self.next += 1

    def rate(self, data: bytes, in_flight: int, seconds: float) -> float:
        """Appends in a second, where each answer makes room for the next append."""
        self.latencies_ms = []
        return self.loop.run_until_complete(self._rate(data, in_flight, seconds))

    async def _rate(self, data: bytes, in_flight: int, seconds: float) -> float:
        over, waiting, count = asyncio.Event(), in_flight, 0
        started = time.perf_counter()

        def again() -> None:
            nonlocal waiting, count
            count += 1
            if time.perf_counter() - started < seconds:
                self.append(data, again)
            else:
                waiting -= 1
                if waiting == 0:
                    over.set()

        for _ in range(in_flight):
            self.append(data, again)
        await over.wait()
        return count / (time.perf_counter() - started)

    def append_some(self, data: bytes, count: int) -> None:
        self.loop.run_until_complete(self._append_some(data, count))

    async def _append_some(self, data: bytes, count: int) -> None:
        over, left = asyncio.Event(), count

        def one_less() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                over.set()

        for _ in range(count):
            self.append(data, one_less)
        await over.wait()

    def p99_ms(self) -> float:
        return _p99(self.latencies_ms)


class Naive:
    """The same tables, and a transaction with its own fsync for every append."""

    def __init__(self, path: Path) -> None:
        Log.open(path).close()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        shared.callback(self._connection.close)
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("INSERT INTO topics (name, properties, created_ms) VALUES ('bench', '{}', 0)")
        self._numbers = itertools.count()

    def append(self, data: bytes) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(_INSERT, ((1 << 40) + next(self._numbers), 0, 1, data))
        self._connection.execute("COMMIT")

    def rate(self, data: bytes, seconds: float) -> float:
        started, count = time.perf_counter(), 0
        while time.perf_counter() - started < seconds:
            self.append(data)
            count += 1
        return count / (time.perf_counter() - started)


def _appends(size: int, in_flight: int, seconds: float) -> Contest:
    ours, naive, data = Ours(_folder() / "broker.db"), Naive(_folder() / "broker.db"), random.Random(1).randbytes(size)
    return Contest(
        lambda: ours.rate(data, in_flight, seconds),
        lambda: naive.rate(data, seconds),
        remark=lambda: f"p99 {ours.p99_ms():.3g} ms",
    )


def _busy_loop(seconds: float) -> Contest:
    """The p99 of an append at 1,000 in a second, while another thread takes every moment of the interpreter."""
    ours, naive, data = Ours(_folder() / "broker.db"), Naive(_folder() / "broker.db"), random.Random(1).randbytes(200)
    return Contest(
        lambda: _beside_a_busy_thread(lambda: ours.loop.run_until_complete(_ours_at_pace(ours, data, seconds))),
        lambda: _beside_a_busy_thread(lambda: _naive_at_pace(naive, data, seconds)),
    )


def _beside_a_busy_thread(work: Callable[[], list[float]]) -> float:
    over = threading.Event()

    def be_busy() -> None:
        while not over.is_set():
            sum(range(100))

    busy = threading.Thread(target=be_busy)
    busy.start()
    try:
        return _p99(work())
    finally:
        over.set()
        busy.join()


async def _ours_at_pace(ours: Ours, data: bytes, seconds: float) -> list[float]:
    ours.latencies_ms = []
    over, count = asyncio.Event(), int(1000 * seconds)
    started = time.perf_counter()
    for number in range(count):
        await asyncio.sleep(max(0.0, started + number / 1000 - time.perf_counter()))
        ours.append(data, lambda: over.set() if len(ours.latencies_ms) == count else None)
    await over.wait()
    return ours.latencies_ms


def _naive_at_pace(naive: Naive, data: bytes, seconds: float) -> list[float]:
    """A thread that writes, fed by a queue, as ours is."""
    waiting: queue.SimpleQueue[float | None] = queue.SimpleQueue()
    latencies_ms: list[float] = []

    def write() -> None:
        while (asked := waiting.get()) is not None:
            naive.append(data)
            latencies_ms.append((time.perf_counter() - asked) * 1000)

    writer = threading.Thread(target=write)
    writer.start()
    started = time.perf_counter()
    for number in range(int(1000 * seconds)):
        time.sleep(max(0.0, started + number / 1000 - time.perf_counter()))
        waiting.put(time.perf_counter())
    waiting.put(None)
    writer.join()
    return latencies_ms


def _p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


@functools.cache
def _filled(count: int) -> Ours:
    path = _folder() / "broker.db"
    log = Log.open(path)
    topic = log.create_topic("bench").id
    log.close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(_FILL, (count, topic))
    connection.close()
    return Ours(path)


def _append_and_read(count: int) -> Work:
    ours, chance, data = _filled(count), random.Random(count), random.Random(1).randbytes(200)

    def work() -> None:
        ours.append_some(data, 100)
        first = chance.randrange(count - 100)
        assert len(ours.log.read(ours.topic, first, 100, KIB * KIB)) == 100
        assert ours.log.first_published_at_or_after(ours.topic, first) == first

    return work


def _growth(small: int) -> Contest:
    return Contest(_append_and_read(small), tenfold=_append_and_read(10 * small))


def _appends_row(size: int, in_flight: int, goal: float | None) -> Benchmark:
    name = f"{size // KIB}k" if size >= KIB else f"{size}b"
    return Benchmark(
        row=f"broker_log_appends_{name}_{in_flight}_in_flight",
        prepare=partial(_appends, size, in_flight, _SECONDS),
        prepare_quick=partial(_appends, size, in_flight, _QUICK_SECONDS),
        peer_name=NAIVE,
        goal=goal,
        unit="/s",
        measure=told,
        is_rate=True,
        note="durable when answered",
        least_rounds=3,
    )


BENCHMARKS = [
    _appends_row(200, 1, None),
    _appends_row(200, 16, 4),
    _appends_row(200, 256, 10),
    _appends_row(64 * KIB, 1, None),
    _appends_row(64 * KIB, 16, None),
    _appends_row(64 * KIB, 256, None),
    Benchmark(
        row="broker_log_append_p99_beside_a_busy_thread",
        prepare=partial(_busy_loop, _SECONDS),
        prepare_quick=partial(_busy_loop, _QUICK_SECONDS),
        peer_name=NAIVE,
        goal=4,
        measure=told,
        note="1,000 appends in a second; the other thread never gives up the interpreter by itself",
        least_rounds=3,
    ),
    Benchmark(
        row="broker_log_growth_in_entries",
        prepare=partial(_growth, 100_000),
        prepare_quick=partial(_growth, 10_000),
        note="100 appends, a read of 100 at random, a search by time; 100,000 and 1,000,000 entries",
    ),
]
