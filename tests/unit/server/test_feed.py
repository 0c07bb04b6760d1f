"""Streams of events: they beat while nothing happens, and end before they take too much."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.access import Caller, Principal
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import STRING
from tallystick.model.subject import Subject
from tallystick.registry import registration
from tallystick.registry.service import Registry
from tallystick.server import feed as feeds
from tallystick.server.feed import Feed
from tallystick.server.prepared import PreparedAnswers
from tallystick.stores.sqlite import SqliteStore


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    registry = Registry(SqliteStore(tmp_path / "r.db"))
    for number in range(3):
        subject = Subject("public/default", f"s{number}")
        registration.register(registry, Caller(), subject, SchemaDefinition(STRING))
    yield registry
    registry.close()


async def some(feed: Feed, caller: Caller, after: int | None, count: int) -> list[bytes]:
    chunks = []
    async for chunk in feed.follow(caller, after):
        chunks.append(chunk)
        if len(chunks) == count:
            break
    return chunks


def test_a_quiet_stream_beats(registry: Registry) -> None:
    feed = Feed(registry, PreparedAnswers(), heartbeat_seconds=0.01)
    assert asyncio.run(some(feed, Caller(), None, 3)) == [b"retry: 500\n\n", b": still here\n\n", b": still here\n\n"]


def test_a_stream_ends_before_it_takes_too_much(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "_MOST_BYTES", 10)
    feed = Feed(registry, PreparedAnswers())
    chunks = asyncio.run(some(feed, Caller(), 0, 99))
    assert [chunk.split(b"\n")[0] for chunk in chunks] == [b"retry: 500", b"id: 1", b"id: 2", b"id: 3"]
    assert feed.streams == 0


def test_who_may_read_nothing_hears_nothing(registry: Registry) -> None:
    feed = Feed(registry, PreparedAnswers(), heartbeat_seconds=0.01)
    chunks = asyncio.run(some(feed, Caller(Principal("stranger")), 0, 2))
    assert chunks == [b"retry: 500\n\n", b": still here\n\n"]


def test_closing_ends_every_stream(registry: Registry) -> None:
    async def scenario() -> list[bytes]:
        feed = Feed(registry, PreparedAnswers())
        following = asyncio.ensure_future(some(feed, Caller(), None, 99))
        await asyncio.sleep(0.05)
        feed.close()
        return await asyncio.wait_for(following, 5)

    assert asyncio.run(scenario()) == [b"retry: 500\n\n"]
