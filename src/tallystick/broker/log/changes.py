"""Changes of the catalogue and the cursors, each a function on the open transaction."""

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tallystick.broker.log.many_rows import MOST_ROWS, padded
from tallystick.broker.log.rows import cursor_text, json_text
from tallystick.broker.log.tables import MOST_TOPICS
from tallystick.broker.log.values import CursorState, TopicRow
from tallystick.broker.log.writer import Transaction
from tallystick.errors import AlreadyExists, TopicNotFound, Unsupported

_ADD_TOPIC = "INSERT INTO topics (name, partitions, properties, created_ms) VALUES (?, ?, ?, ?)"
_DELETE_TOPIC = (
    "DELETE FROM cursors WHERE topic = ?",
    "DELETE FROM sequences WHERE topic = ?",
    "INSERT INTO deleted_topics VALUES (?)",
)
_SAVE_CURSORS = """
INSERT INTO cursors SELECT * FROM {rows} WHERE column1 IN (SELECT id FROM topics)
ON CONFLICT DO UPDATE SET state = excluded.state
"""
_DELETE_CURSORS = "DELETE FROM cursors WHERE (topic, name) IN {rows}"


def create_topic(
    transaction: Transaction, name: str, partitions: int | None, properties: Mapping[str, str]
) -> TopicRow:
    created_ms = time.time_ns() // 1_000_000
    try:
        added = transaction.connection.execute(_ADD_TOPIC, (name, partitions, json_text(dict(properties)), created_ms))
    except sqlite3.IntegrityError as e:
        if e.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
            raise AlreadyExists(f"Topic {name} exists already") from e
        raise Unsupported(f"{MOST_TOPICS:,} topics were made in this data folder; start a new one") from e
    assert added.lastrowid is not None
    if partitions is None:
        transaction.numbers.add(added.lastrowid)
    return TopicRow(added.lastrowid, name, partitions, dict(properties), created_ms, 0, 0, 0, 0)


def set_partitions(transaction: Transaction, topic_id: int, partitions: int) -> None:
    _of_one_topic(transaction, "UPDATE topics SET partitions = ?2 WHERE id = ?1", topic_id, partitions)


def set_properties(transaction: Transaction, topic_id: int, properties: Mapping[str, str]) -> None:
    text = json_text(dict(properties))
    _of_one_topic(transaction, "UPDATE topics SET properties = ?2 WHERE id = ?1", topic_id, text)


def delete_topic(transaction: Transaction, topic_id: int) -> None:
    _of_one_topic(transaction, "DELETE FROM topics WHERE id = ?", topic_id)
    for statement in _DELETE_TOPIC:
        transaction.connection.execute(statement, (topic_id,))
    transaction.numbers.remove(topic_id)


def save_cursors(transaction: Transaction, states: Mapping[tuple[int, str], CursorState | None]) -> None:
    saved: list[tuple[Any, ...]] = [(*key, cursor_text(state)) for key, state in states.items() if state is not None]
    deleted: list[tuple[Any, ...]] = [key for key, state in states.items() if state is None]
    for query, rows in ((_SAVE_CURSORS, saved), (_DELETE_CURSORS, deleted)):
        for some in _parts(rows):
            values, parameters = padded([value for row in some for value in row], len(some[0]))
            transaction.connection.execute(query.format(rows=values), parameters)


def put_document(transaction: Transaction, kind: str, name: str, text: str) -> None:
    query = "INSERT INTO documents VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"
    transaction.connection.execute(query, (kind, name, text))


def delete_document(transaction: Transaction, kind: str, name: str) -> None:
    transaction.connection.execute("DELETE FROM documents WHERE kind = ? AND name = ?", (kind, name))


def _of_one_topic(transaction: Transaction, statement: str, topic_id: int, *values: object) -> None:
    if transaction.connection.execute(statement, (topic_id, *values)).rowcount == 0:
        raise TopicNotFound(f"with the id {topic_id}")


def _parts(rows: Sequence[tuple[Any, ...]]) -> Iterator[Sequence[tuple[Any, ...]]]:
    for start in range(0, len(rows), MOST_ROWS):
        yield rows[start : start + MOST_ROWS]
