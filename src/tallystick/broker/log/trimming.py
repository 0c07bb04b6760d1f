"""Deleting entries in steps, each short enough that appends do not wait long behind it."""

import sqlite3

from tallystick.broker.log.tables import key_of, keys_of
from tallystick.broker.log.writer import Transaction

_MOST_ENTRIES = 2048
_MOST_BYTES = 8 * 2**20

_STEP = """
WITH RECURSIVE taken (key, total) AS (
    SELECT * FROM (SELECT key, length(data) FROM entries WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT 1)
    UNION ALL
    SELECT entries.key, total + length(data)
    FROM taken JOIN entries ON entries.key = taken.key + 1
    WHERE entries.key < ?2 AND total < ?3
    LIMIT ?4
)
SELECT max(key) + 1, max(total) FROM taken
"""
_DELETE = "DELETE FROM entries WHERE key >= ? AND key < ?"


def trim_step(transaction: Transaction, topic_id: int, before: int) -> bool:
    """Whether something was left to delete."""
    connection = transaction.connection
    found = connection.execute("SELECT first, min(next, ?) FROM topics WHERE id = ?", (before, topic_id)).fetchone()
    if found is None or found[0] >= found[1]:
        return False
    first, before = found
    end, size = _step(connection, key_of(topic_id, first), key_of(topic_id, before))
    number = end - key_of(topic_id, 0)
    connection.execute("UPDATE topics SET first = ?, bytes = bytes - ? WHERE id = ?", (number, size, topic_id))
    return number < before


def purge_step(transaction: Transaction) -> bool:
    """Deletes some of what topics left behind that were deleted; whether there was anything."""
    connection = transaction.connection
    found = connection.execute("SELECT id FROM deleted_topics LIMIT 1").fetchone()
    if found is None:
        return False
    first, after = keys_of(found[0])
    end, _ = _step(connection, first, after)
    if end == after:
        connection.execute("DELETE FROM deleted_topics WHERE id = ?", found)
    return True


def _step(connection: sqlite3.Connection, first: int, before: int) -> tuple[int, int]:
    """Where the step ended, `before` where nothing was found; and the bytes that it deleted."""
    end, size = connection.execute(_STEP, (first, before, _MOST_BYTES, _MOST_ENTRIES)).fetchone()
    if end is None:
        return before, 0
    connection.execute(_DELETE, (first, end))
    return end, size
