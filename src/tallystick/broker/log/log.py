"""The log: entries of topics in order, cursors, and the broker's catalogue. Durable when it says so."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tallystick.broker.log import changes, reading, trimming
from tallystick.broker.log.connections import Readers, connect_writer, lock
from tallystick.broker.log.housekeeping import Housekeeping
from tallystick.broker.log.next_numbers import NextNumbers
from tallystick.broker.log.rows import TOPIC_COLUMNS, cursor_state, json_text, topic_row
from tallystick.broker.log.tables import key_of, migrate
from tallystick.broker.log.values import CursorState, Entry, TopicRow
from tallystick.broker.log.writer import Append, Writer
from tallystick.errors import Unavailable

_NO_PROPERTIES: Mapping[str, str] = MappingProxyType({})
_MOST_INTEGER = 2**63 - 1
"""Times and sequence ids have 64 bits without a sign on the wire; what goes beyond is no time anyway."""

_TOPICS = f"SELECT {TOPIC_COLUMNS} FROM topics"  # noqa: S608
_NEXT_NUMBERS = "SELECT id, next FROM topics WHERE partitions IS NULL"
_SEQUENCES = "SELECT producer, sequence FROM sequences WHERE topic = ?"
_CURSORS = "SELECT name, state FROM cursors WHERE topic = ?"
_DOCUMENTS = "SELECT name, value FROM documents WHERE kind = ?"


class Log:
    """`append` and `pending_bytes` are for the event loop. Everything else may block, and is for other threads."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop | None, closing: ExitStack) -> None:
        closing.callback(lock(path).close)
        connection = connect_writer(path)
        closing.callback(connection.close)
        migrate(connection, path)
        self._readers = Readers(path)
        closing.callback(self._readers.close)
        self._writer = Writer(connection, NextNumbers(dict(connection.execute(_NEXT_NUMBERS).fetchall())), loop)
        closing.callback(self._writer.close)
        self._housekeeping = Housekeeping(path, self._writer)
        closing.callback(self._housekeeping.close)
        self._closing = closing

    @classmethod
    def open(cls, path: Path, loop: asyncio.AbstractEventLoop | None = None) -> "Log":
        """Makes the file and its folder where they are new. Without a loop it is the one of the first `append`.

        Raises `Unavailable` where another process has it open, or a newer program has written it.
        """
        with ExitStack() as closing:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                log = cls(path, loop, closing)
            except (OSError, sqlite3.Error) as e:
                raise Unavailable(f"cannot open {path}: {e}") from e
            log._closing = closing.pop_all()
        return log

    def close(self) -> None:
        """What was appended is committed first."""
        self._closing.close()

    def append(
        self,
        topic_id: int,
        entry: Entry,
        done: Callable[[BaseException | None], None],
        sequence: tuple[str, int] | None = None,
    ) -> None:
        """Never blocks. `done` is called in the loop, in the order of the appends, once the entry is on the disk or
        with the reason why it is not.

        An entry has the number that comes next. When one fails, those of its topic that were appended behind it fail
        as well; once the last of them is answered, numbers go on with the first that failed. `sequence` is the
        producer's name and its highest sequence id.
        """
        producer, highest = (None, None) if sequence is None else (sequence[0], min(sequence[1], _MOST_INTEGER))
        key, published_ms = key_of(topic_id, entry.number), min(entry.published_ms, _MOST_INTEGER)
        columns = key, published_ms, entry.messages, producer, highest, entry.data
        self._writer.append(Append(topic_id, entry.number, columns, done))

    @property
    def pending_bytes(self) -> int:
        """Of the entries that were appended and not answered yet. It is for the callers to keep it in bounds."""
        return self._writer.pending_bytes

    def read(self, topic_id: int, first: int, most_entries: int, most_bytes: int) -> list[Entry]:
        """From this entry on, or from the first that is kept; at least one where there is one."""
        with self._readers.reading() as connection:
            return reading.read(connection, topic_id, first, most_entries, most_bytes)

    def first_published_at_or_after(self, topic_id: int, published_ms: int) -> int | None:
        """The entry's number. Where times do not ascend because clocks differ, it is only near the place."""
        with self._readers.reading() as connection:
            return reading.first_published_at_or_after(connection, topic_id, min(published_ms, _MOST_INTEGER))

    def trim(self, topic_id: int, before: int) -> None:
        """Drops the entries below a number, in steps between which appends get through."""
        while self._writer.change(lambda to: trimming.trim_step(to, topic_id, before)):
            pass
        self._housekeeping.entries_deleted()

    def topics(self) -> list[TopicRow]:
        return [topic_row(row) for row in self._rows(_TOPICS)]

    def topic(self, topic_id: int) -> TopicRow:
        (row,) = self._rows(f"{_TOPICS} WHERE id = ?", topic_id)
        return topic_row(row)

    def create_topic(
        self, name: str, partitions: int | None = None, properties: Mapping[str, str] = _NO_PROPERTIES
    ) -> TopicRow:
        """Raises `AlreadyExists`."""
        return self._writer.change(lambda to: changes.create_topic(to, name, partitions, properties))

    def set_partitions(self, topic_id: int, partitions: int) -> None:
        self._writer.change(lambda to: changes.set_partitions(to, topic_id, partitions))

    def set_properties(self, topic_id: int, properties: Mapping[str, str]) -> None:
        self._writer.change(lambda to: changes.set_properties(to, topic_id, properties))

    def delete_topic(self, topic_id: int) -> None:
        """With its entries and cursors. The room that the entries took is freed in steps, later."""
        self._writer.change(lambda to: changes.delete_topic(to, topic_id))
        self._housekeeping.topic_deleted()

    def sequences(self, topic_id: int) -> dict[str, int]:
        """The highest sequence id of each producer."""
        return dict(self._rows(_SEQUENCES, topic_id))

    def cursors(self, topic_id: int) -> dict[str, CursorState]:
        return {name: cursor_state(text) for name, text in self._rows(_CURSORS, topic_id)}

    def save_cursors(self, states: Mapping[tuple[int, str], CursorState | None]) -> None:
        """Durable when it returns. None deletes a cursor; one of a topic that is gone is left out."""
        self._writer.change(lambda to: changes.save_cursors(to, states))

    def documents(self, kind: str) -> dict[str, Any]:
        return {name: json.loads(text) for name, text in self._rows(_DOCUMENTS, kind)}

    def put_document(self, kind: str, name: str, value: Any) -> None:
        """Durable when it returns. None deletes it."""
        if value is None:
            self._writer.change(lambda to: changes.delete_document(to, kind, name))
        else:
            text = json_text(value)
            self._writer.change(lambda to: changes.put_document(to, kind, name, text))

    def _rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        with self._readers.reading() as connection:
            return connection.execute(query, parameters).fetchall()
