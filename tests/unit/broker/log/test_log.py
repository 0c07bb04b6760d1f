"""The log's promises, one by one, on the real file."""

import asyncio
import random
import threading
from pathlib import Path

import pytest

from tallystick.broker.log.log import Log
from tallystick.broker.log.values import CursorState, Entry
from tallystick.errors import AlreadyExists, TopicNotFound, Unavailable
from tests.unit.broker.log.appending import Appending, entries, entry

NAME = "persistent://public/default/orders"


def test_a_topic_is_there_after_opening_again(log: Log, path: Path) -> None:
    made = log.create_topic(NAME, None, {"owner": "sales"})
    partitioned = log.create_topic(NAME + "-2", 3)
    log.close()
    again = Log.open(path)
    try:
        assert again.topics() == [made, partitioned]
        assert made.properties == {"owner": "sales"}
        assert partitioned.partitions == 3
        assert made.created_ms > 1_600_000_000_000
    finally:
        again.close()


def test_a_name_is_taken_once_and_ids_are_not_used_again(log: Log) -> None:
    first = log.create_topic(NAME)
    with pytest.raises(AlreadyExists, match="orders"):
        log.create_topic(NAME)
    log.delete_topic(first.id)
    assert log.topics() == []
    assert log.create_topic(NAME).id > first.id


def test_partitions_and_properties_change(log: Log) -> None:
    made = log.create_topic(NAME, 2)
    log.set_partitions(made.id, 4)
    log.set_properties(made.id, {"a": "b"})
    (row,) = log.topics()
    assert (row.partitions, row.properties) == (4, {"a": "b"})


def test_what_is_asked_of_a_topic_that_is_not_there(log: Log, append: Appending) -> None:
    with pytest.raises(TopicNotFound):
        log.set_partitions(7, 2)
    with pytest.raises(TopicNotFound):
        log.set_properties(7, {})
    with pytest.raises(TopicNotFound):
        log.delete_topic(7)
    assert log.read(7, 0, 10, 1000) == []
    assert log.first_published_at_or_after(7, 0) is None
    assert log.cursors(7) == {}
    assert log.sequences(7) == {}
    log.trim(7, 100)
    log.save_cursors({(7, "sub"): CursorState(1)})
    assert log.cursors(7) == {}
    (failure,) = append(log, 7, [entry(0)])
    assert isinstance(failure, TopicNotFound)


def test_a_partitioned_topic_takes_no_entries(log: Log, append: Appending) -> None:
    (failure,) = append(log, log.create_topic(NAME, 2).id, [entry(0)])
    assert isinstance(failure, TopicNotFound)


@pytest.mark.parametrize("count", [1, 2, 4, 5, 16, 17, 300, 2500])
def test_entries_come_back_as_they_were(log: Log, append: Appending, count: int) -> None:
    topic, other = log.create_topic(NAME).id, log.create_topic(NAME + "-other").id
    added = entries(count)
    assert append(log, topic, added) == [None] * count
    assert append(log, other, entries(3)) == [None] * 3
    assert log.read(topic, 0, count + 10, 2**30) == added
    row = log.topics()[0]
    assert (row.first, row.next) == (0, count)
    assert row.bytes == sum(len(one.data) for one in added)
    assert row.messages == sum(one.messages for one in added)


def test_any_bytes_come_back(log: Log, append: Appending) -> None:
    topic, chance = log.create_topic(NAME).id, random.Random(5)
    datas = [b"", b"\0", b"\0" * 5000, bytes(range(256)) * 40, b"\xff\xfe\xed", "ü€𝄞".encode()[1:], b""]
    datas += [chance.randbytes(chance.choice([1, 100, 4000, 5000, 70_000])) for _ in range(60)]
    datas.append(chance.randbytes(5 * 2**20))
    added = [entry(number, data) for number, data in enumerate(datas)]
    append(log, topic, added)
    assert log.read(topic, 0, 1000, 2**30) == added


def test_numbers_beyond_what_sqlite_holds_are_cut(log: Log, append: Appending) -> None:
    topic = log.create_topic(NAME).id
    assert append(log, topic, [entry(0, published_ms=2**64 - 1)], ("p", 2**64 - 1)) == [None]
    assert log.read(topic, 0, 1, 1) == [entry(0, published_ms=2**63 - 1)]
    assert log.sequences(topic) == {"p": 2**63 - 1}
    assert log.first_published_at_or_after(topic, 2**64 - 1) == 0


def test_a_read_is_bounded_by_entries_and_bytes_but_gives_one_at_least(log: Log, append: Appending) -> None:
    topic = log.create_topic(NAME).id
    append(log, topic, entries(20, size=800))

    def numbers(first: int, most_entries: int, most_bytes: int) -> list[int]:
        return [one.number for one in log.read(topic, first, most_entries, most_bytes)]

    assert numbers(5, 3, 2**20) == [5, 6, 7]
    assert numbers(5, 100, 2400) == [5, 6, 7]
    assert numbers(5, 100, 2399) == [5, 6]
    assert numbers(5, 100, 0) == [5]
    assert numbers(18, 100, 2**20) == [18, 19]
    assert numbers(20, 100, 2**20) == []


def test_a_number_that_is_none_stays_within_the_topic(log: Log, append: Appending) -> None:
    before, topic, after = (log.create_topic(name).id for name in "abc")
    for one in (before, topic, after):
        append(log, one, [entry(0, str(one).encode())])
    assert log.read(topic, -5, 10, 2**20) == [entry(0, str(topic).encode())]
    assert log.read(topic, 2**40, 10, 2**20) == []
    assert log.read(topic, 2**64 - 1, 10, 2**20) == []


def test_entries_must_come_in_order_without_gaps(log: Log, append: Appending) -> None:
    topic = log.create_topic(NAME).id
    told = append(log, topic, [entry(0), entry(2), entry(0), entry(1), entry(3), entry(2)])
    assert [failure is None for failure in told] == [True, False, False, True, False, True]
    assert all(failure is None or isinstance(failure, Unavailable) for failure in told)
    assert [one.number for one in log.read(topic, 0, 10, 2**20)] == [0, 1, 2]


def test_an_entry_of_a_topic_that_was_deleted_fails_alone(log: Log, append: Appending) -> None:
    gone, there = log.create_topic(NAME).id, log.create_topic(NAME + "-2").id
    append(log, gone, entries(10))
    log.save_cursors({(gone, "sub"): CursorState(3)})
    log.delete_topic(gone)

    async def both() -> list[BaseException | None]:
        first, second = append.loop.create_future(), append.loop.create_future()
        log.append(gone, entry(10), first.set_result)
        log.append(there, entry(0), second.set_result)
        return [await first, await second]

    first, second = asyncio.run_coroutine_threadsafe(both(), append.loop).result(10)
    assert isinstance(first, TopicNotFound)
    assert second is None
    assert log.cursors(gone) == {}


def test_a_done_that_raises_does_not_keep_others_from_theirs(log: Log, append: Appending) -> None:
    topic = log.create_topic(NAME).id
    complaints: list[object] = []

    async def run() -> None:
        append.loop.set_exception_handler(lambda _, context: complaints.append(context["exception"]))
        over = asyncio.Event()

        def fail(_: BaseException | None) -> None:
            raise ValueError

        log.append(topic, entry(0), fail)
        log.append(topic, entry(1), lambda _: over.set())
        await over.wait()

    asyncio.run_coroutine_threadsafe(run(), append.loop).result(10)
    assert [type(complaint) for complaint in complaints] == [ValueError]


def test_pending_bytes_are_those_without_an_answer(log: Log, append: Appending) -> None:
    topic = log.create_topic(NAME).id
    seen: list[int] = []

    async def run() -> None:
        over = asyncio.Event()
        for number in range(3):
            log.append(topic, entry(number, b"12345"), lambda _: over.set() if log.pending_bytes == 0 else None)
            seen.append(log.pending_bytes)
        await over.wait()

    asyncio.run_coroutine_threadsafe(run(), append.loop).result(10)
    assert seen == [5, 10, 15]
    assert log.pending_bytes == 0


def test_sequences_are_the_highest_of_each_producer(log: Log, append: Appending, path: Path) -> None:
    topic = log.create_topic(NAME).id
    append(log, topic, [entry(0)], ("a", 5))
    append(log, topic, [entry(1)], ("b", 1))
    append(log, topic, [entry(2)], ("a", 4))
    append(log, topic, [entry(3)])
    log.close()
    again = Log.open(path)
    assert again.sequences(topic) == {"a": 5, "b": 1}
    again.close()


def test_cursors_are_there_after_opening_again(log: Log, path: Path) -> None:
    topic = log.create_topic(NAME).id
    state = CursorState(5, ((7, 9), (12, 12)), {6: b"\xff\0\0\0\0\0\0\x80", 11: b"\1" + bytes(15)}, {"k": "v"})
    many = {(topic, f"sub-{n}"): CursorState(n) for n in range(1500)}
    log.save_cursors({(topic, "sub\0 ü"): state, (topic, "gone"): CursorState(1), **many})
    log.save_cursors({(topic, "gone"): None, (topic, "never there"): None, (topic, "sub-3"): CursorState(33)})
    log.close()
    again = Log.open(path)
    cursors = again.cursors(topic)
    again.close()
    assert cursors.pop("sub\0 ü") == state
    assert cursors == {f"sub-{n}": CursorState(n) for n in range(1500)} | {"sub-3": CursorState(33)}


def test_documents_are_small_json_values(log: Log) -> None:
    log.put_document("namespace", "public/default", {"retention": [1, None, "ü"]})
    log.put_document("namespace", "a/b", {})
    log.put_document("tenant", "public", {})
    log.put_document("namespace", "a/b", None)
    assert log.documents("namespace") == {"public/default": {"retention": [1, None, "ü"]}}
    assert log.documents("unknown") == {}


@pytest.mark.parametrize(("ms", "number"), [(0, 5), (5000, 5), (5001, 6), (7500, 8), (29_000, 29), (29_001, None)])
def test_time_finds_the_first_entry_that_is_kept(log: Log, append: Appending, ms: int, number: int | None) -> None:
    topic = log.create_topic(NAME).id
    append(log, log.create_topic(NAME + "-other").id, entries(40))
    append(log, topic, entries(30))
    log.trim(topic, 5)
    assert log.first_published_at_or_after(topic, ms) == number


def test_time_in_an_empty_topic_finds_nothing(log: Log) -> None:
    assert log.first_published_at_or_after(log.create_topic(NAME).id, 0) is None


def test_a_change_that_fails_takes_nothing_of_the_others_with_it(log: Log, append: Appending) -> None:
    log.create_topic(NAME)
    topic = log.create_topic("t").id
    outcomes: list[str] = []

    def create(name: str) -> None:
        try:
            log.create_topic(name)
            outcomes.append("made")
        except AlreadyExists:
            outcomes.append("taken")

    threads = [threading.Thread(target=create, args=(name,)) for name in [NAME, "a", NAME, "b"] * 8]
    for thread in threads:
        thread.start()
    assert append(log, topic, entries(500)) == [None] * 500
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["made"] * 2 + ["taken"] * 30
    assert len(log.topics()) == 4


def test_closing_commits_what_was_appended(log: Log, append: Appending, path: Path) -> None:
    topic = log.create_topic(NAME).id

    async def start() -> None:
        for one in entries(3000):
            log.append(topic, one, lambda _: None)

    asyncio.run_coroutine_threadsafe(start(), append.loop).result(10)
    log.close()
    again = Log.open(path)
    assert again.topics()[0].next == 3000
    again.close()


def test_after_closing_everything_is_refused(log: Log, append: Appending) -> None:
    topic = log.create_topic(NAME).id
    log.close()
    (failure,) = append(log, topic, [entry(0)])
    assert isinstance(failure, Unavailable)
    with pytest.raises(Unavailable, match="closed"):
        log.create_topic("b")
    with pytest.raises(Unavailable, match="closed"):
        log.topics()
    log.close()


def test_reads_see_only_whole_commits_while_appends_go_on(log: Log, append: Appending) -> None:
    topic = log.create_topic(NAME).id
    problems: list[object] = []
    over = threading.Event()

    def read_along() -> None:
        while not over.is_set():
            row = log.topics()[0]
            got = log.read(topic, 0, 10_000, 2**30)
            if [one.number for one in got[: row.next]] != list(range(row.next)):
                problems.append((row, len(got)))

    reader = threading.Thread(target=read_along)
    reader.start()
    for first in range(0, 2000, 50):
        append(log, topic, entries(50, first))
    over.set()
    reader.join()
    assert problems == []
    assert log.read(topic, 0, 10_000, 2**30) == entries(2000)


def test_entry_is_a_value() -> None:
    assert Entry(1, 2, 3, b"4") == Entry(1, 2, 3, b"4")
