"""What waits when the writer wakes becomes one transaction, in as few statements as can be."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

import pytest

from tallystick.broker.log.connections import connect_writer
from tallystick.broker.log.next_numbers import NextNumbers
from tallystick.broker.log.tables import key_of, migrate
from tallystick.broker.log.writer import Append, Transaction, Writer
from tests.unit.broker.log.appending import Appending

TOPIC = 1


@pytest.fixture
def connection(tmp_path: Path) -> sqlite3.Connection:
    path = tmp_path / "broker.db"
    made = connect_writer(path)
    migrate(made, path)
    made.execute("INSERT INTO topics (id, name, properties, created_ms) VALUES (1, 't', '{}', 0)")
    return made


def statements_while(
    connection: sqlite3.Connection, append: Appending, queueing: Callable[[Writer], None]
) -> list[str]:
    """What the writer runs for all that was queued while it was held up."""
    writer = Writer(connection, NextNumbers({TOPIC: 0}), append.loop)
    held, go_on = threading.Event(), threading.Event()
    seen: list[str] = []

    def hold(_: sqlite3.Connection) -> None:
        held.set()
        go_on.wait()

    holding = threading.Thread(target=writer.pause, args=(hold,))
    holding.start()
    held.wait()
    connection.set_trace_callback(seen.append)
    queueing(writer)
    go_on.set()
    holding.join()
    writer.close()
    connection.set_trace_callback(None)
    # For each statement of a trigger the one that set it off is shown again.
    return [text.split()[0] for text, _ in groupby(seen)]


def queue_appends(writer: Writer, append: Appending, numbers: range) -> None:
    async def queue() -> None:
        for number in numbers:
            columns = (key_of(TOPIC, number), 0, 1, None, None, b"data")
            writer.append(Append(TOPIC, number, columns, lambda _: None))

    asyncio.run_coroutine_threadsafe(queue(), append.loop).result(10)


def count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM entries").fetchone()[0])


def test_appends_are_one_statement_however_many(connection: sqlite3.Connection, append: Appending) -> None:
    seen = statements_while(connection, append, lambda writer: queue_appends(writer, append, range(70)))
    assert seen == ["INSERT"]
    assert count(connection) == 70
    connection.close()


def test_appends_and_changes_share_a_transaction(connection: sqlite3.Connection, append: Appending) -> None:
    made_up = LookupError("made up")

    def works(transaction: Transaction) -> None:
        transaction.connection.execute("INSERT INTO documents VALUES ('k', 'n', '1')")

    def fails(transaction: Transaction) -> None:
        works(transaction)
        raise made_up

    with ThreadPoolExecutor() as threads:
        answers = []

        def queueing(writer: Writer) -> None:
            queue_appends(writer, append, range(3))
            for function in (fails, works):
                waiting = writer._queue.qsize()
                answers.append(threads.submit(writer.change, function))
                while writer._queue.qsize() == waiting:
                    threading.Event().wait(0.001)
            queue_appends(writer, append, range(3, 5))

        seen = statements_while(connection, append, queueing)
        assert [answer.exception() for answer in answers] == [made_up, None]
    assert seen == [
        *("BEGIN", "INSERT"),
        *("SAVEPOINT", "INSERT", "ROLLBACK", "RELEASE"),
        *("SAVEPOINT", "INSERT", "RELEASE"),
        *("INSERT", "COMMIT"),
    ]
    assert count(connection) == 5
    connection.close()
