"""Entries that go: in steps, beside appends, and their room is used again or given back."""

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tallystick.broker.log.log import Log
from tallystick.broker.log.tables import key_of
from tests.unit.broker.log.appending import Appending, entries

MIB = 2**20


def wait_until(is_so: Callable[[], bool], seconds: float = 20) -> None:
    limit = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < limit, "it did not happen in time"
        time.sleep(0.05)


def query(path: Path, text: str) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute(text).fetchone()[0])
    finally:
        connection.close()


def test_trimming_moves_the_first_entry_and_the_bytes(log: Log, append: Appending) -> None:
    topic, other = log.create_topic("t").id, log.create_topic("u").id
    append(log, topic, entries(6000))
    append(log, other, entries(10))
    log.trim(topic, 5000)
    row, untouched = log.topics()
    assert (row.first, row.next) == (5000, 6000)
    assert row.bytes == sum(len(one.data) for one in log.read(topic, 0, 10_000, 2**30))
    assert row.messages == sum(one.messages for one in entries(6000))
    assert log.read(topic, 0, 10_000, 2**30) == entries(1000, first=5000)
    assert (untouched.first, untouched.next) == (0, 10)


def test_trimming_goes_no_further_than_the_end_and_never_back(log: Log, append: Appending) -> None:
    topic = log.create_topic("t").id
    append(log, topic, entries(10))
    log.trim(topic, 1000)
    log.trim(topic, 3)
    (row,) = log.topics()
    assert (row.first, row.next, row.bytes) == (10, 10, 0)
    assert append(log, topic, entries(1, first=10)) == [None]
    assert log.read(topic, 0, 10, 1000) == entries(1, first=10)


def test_appends_get_through_while_much_is_trimmed(log: Log, append: Appending) -> None:
    topic = log.create_topic("t").id
    for first in range(0, 20_000, 1000):
        append(log, topic, entries(1000, first))
    seen: list[int] = []
    trimming = threading.Thread(target=log.trim, args=(topic, 20_000))
    trimming.start()
    number = 20_000
    while trimming.is_alive():
        append(log, topic, entries(1, number))
        number += 1
        seen.append(log.topics()[0].first)
    trimming.join()
    assert len({first for first in seen if 0 < first < 20_000}) >= 2
    assert log.read(topic, 0, 100_000, 2**30) == entries(number - 20_000, 20_000)


def test_what_a_deleted_topic_leaves_is_removed_even_after_opening_again(
    log: Log, append: Appending, path: Path
) -> None:
    topic, kept = log.create_topic("t").id, log.create_topic("u").id
    append(log, topic, entries(3000), ("p", 1))
    append(log, kept, entries(5))
    log.close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("DELETE FROM topics WHERE id = ?", (topic,))
        connection.execute("INSERT INTO deleted_topics VALUES (?)", (topic,))
    connection.close()
    again = Log.open(path)
    try:
        wait_until(lambda: query(path, "SELECT count(*) FROM entries") == 5)
        wait_until(lambda: query(path, "SELECT count(*) FROM deleted_topics") == 0)
        gone = again.create_topic("v").id
        again.delete_topic(gone)
        wait_until(lambda: query(path, "SELECT count(*) FROM deleted_topics") == 0)
        assert again.read(kept, 0, 10, 2**20) == entries(5)
    finally:
        again.close()


def test_room_of_trimmed_entries_is_used_again(log: Log, append: Appending, path: Path) -> None:
    """What is kept is small, so the file stays small however much goes through."""
    topic, number = log.create_topic("t").id, 0
    sizes: list[int] = []
    for _ in range(8):
        append(log, topic, entries(128, number, size=65_536))
        number += 128
        log.trim(topic, number - 32)
        sizes.append(query(path, "PRAGMA page_count"))
    assert max(sizes) < 2 * sizes[0]
    assert query(path, f"SELECT min(key) FROM entries WHERE key >= {key_of(topic, 0)}") == key_of(topic, number - 32)


def test_much_room_is_given_back_to_the_disk(log: Log, append: Appending, path: Path) -> None:
    topic = log.create_topic("t").id
    append(log, topic, entries(1600, size=65_536))
    wait_until(lambda: path.stat().st_size > 100 * MIB)
    log.trim(topic, 1590)
    wait_until(lambda: path.stat().st_size < 80 * MIB)
    assert log.read(topic, 0, 20, 2**30) == entries(10, 1590, size=65_536)
