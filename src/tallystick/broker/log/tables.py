"""The tables of the log and their versions, applied in order when it is opened.

A migration that has been released is never edited. A database of a newer program is refused, not guessed at.

An entry's key holds its topic in the high bits and its number in the low ones, so that the table is one B-tree in
which a topic's entries lie side by side in their order, and needs no index. The triggers move the topic's row with
every entry: one INSERT is then all that an append takes, and one transaction by itself.
"""

import sqlite3
from pathlib import Path

from tallystick.errors import Unavailable

NUMBER_BITS = 40
MOST_TOPICS = 2 ** (63 - NUMBER_BITS) - 1
NUMBER_MASK = 2**NUMBER_BITS - 1

_FIRST = """
CREATE TABLE topics (
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id < 1 << 23),
    name TEXT NOT NULL UNIQUE,
    partitions INTEGER,
    properties TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    first INTEGER NOT NULL DEFAULT 0,
    next INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE deleted_topics (id INTEGER PRIMARY KEY);
CREATE TABLE entries (
    key INTEGER PRIMARY KEY,
    published_ms INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    producer TEXT,
    sequence INTEGER,
    data BLOB NOT NULL
);
CREATE TABLE sequences (
    topic INTEGER NOT NULL,
    producer TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (topic, producer)
) WITHOUT ROWID;
CREATE TABLE cursors (
    topic INTEGER NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (topic, name)
) WITHOUT ROWID;
CREATE TABLE documents (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TRIGGER entry_counts AFTER INSERT ON entries BEGIN
    UPDATE topics
    SET next = next + 1, bytes = bytes + length(new.data), messages = messages + new.messages
    WHERE id = new.key >> 40;
END;
CREATE TRIGGER entry_moves_sequence AFTER INSERT ON entries WHEN new.producer IS NOT NULL BEGIN
    INSERT INTO sequences VALUES (new.key >> 40, new.producer, new.sequence)
    ON CONFLICT DO UPDATE SET sequence = max(sequence, excluded.sequence);
END;
"""

MIGRATIONS = (_FIRST,)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise Unavailable(
            f"{path} has tables of version {version}, this program knows up to {len(MIGRATIONS)}; "
            "start the newer program that wrote them",
            version=version,
        )
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        connection.executescript(f"BEGIN; {script} PRAGMA user_version = {number}; COMMIT;")


def key_of(topic_id: int, number: int) -> int:
    return topic_id << NUMBER_BITS | number


def keys_of(topic_id: int) -> tuple[int, int]:
    """The first key of a topic, and the first one after all of its keys."""
    return topic_id << NUMBER_BITS, topic_id + 1 << NUMBER_BITS
