"""Queries for entries. Each gives one row, whatever it finds.

A thread gives up the interpreter's lock for each row that it steps to, and while the event loop is busy it waits some
milliseconds to get it back: a thousand entries row by row take half a second then, in one row 15 ms.
"""

import json
import sqlite3

from tallystick.broker.log.tables import NUMBER_MASK, key_of, keys_of
from tallystick.broker.log.values import Entry

_MOST_BYTES = 256 * 2**20

_READ = """
WITH RECURSIVE taken (key, published_ms, messages, size, total) AS (
    SELECT * FROM (
        SELECT key, published_ms, messages, length(data), length(data)
        FROM entries WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT 1
    )
    UNION ALL
    SELECT entries.key, entries.published_ms, entries.messages, length(data), total + length(data)
    FROM taken JOIN entries ON entries.key = taken.key + 1
    WHERE entries.key < ?2 AND total + length(data) <= ?3
    LIMIT ?4
)
SELECT
    json_group_array(json_array(key, published_ms, messages, size)),
    CAST(group_concat((SELECT data FROM entries WHERE entries.key = taken.key), '') AS BLOB)
FROM taken
"""
_SEARCH = """
WITH RECURSIVE search (low, high) AS (
    SELECT first, next FROM topics WHERE id = ?1
    UNION ALL
    SELECT
        iif(published_ms >= ?3, low, (low + high) / 2 + 1),
        iif(published_ms >= ?3, (low + high) / 2, high)
    FROM search JOIN entries ON entries.key = ?2 + (low + high) / 2
    WHERE low < high
)
SELECT low FROM search WHERE low = high AND low < (SELECT next FROM topics WHERE id = ?1)
"""


def read(connection: sqlite3.Connection, topic_id: int, first: int, most_entries: int, most_bytes: int) -> list[Entry]:
    # A number that a client made up must not lead into the entries of another topic.
    start, after = key_of(topic_id, min(max(first, 0), NUMBER_MASK)), keys_of(topic_id)[1]
    limits = min(most_bytes, _MOST_BYTES), most_entries
    found, data = connection.execute(_READ, (start, after, *limits)).fetchone()
    entries, place = [], 0
    for key, published_ms, messages, size in json.loads(found):
        entries.append(Entry(key & NUMBER_MASK, published_ms, messages, data[place : place + size]))
        place += size
    return entries


def first_published_at_or_after(connection: sqlite3.Connection, topic_id: int, published_ms: int) -> int | None:
    found = connection.execute(_SEARCH, (topic_id, key_of(topic_id, 0), published_ms)).fetchone()
    return None if found is None else found[0]
