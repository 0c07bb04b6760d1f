"""The order of messages while schemas are being registered, decided without a broker.

Registrations are held up by hand here; the contract suite shows the same on real clusters.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tallystick.errors import Closed, IncompatibleSchema, TallystickError, TimedOut, Unavailable
from tallystick.messaging.engine import Engine
from tallystick.messaging.outbox import Outbox
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Mark, Outgoing, Outlet
from tallystick.messaging.schema_uses import SchemaUses
from tallystick.messaging.stamping import Stamp
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import KafkaPosition, Position
from tallystick.model.subject import Version
from tallystick.serde.primitive import STRING, StringSchema
from tallystick.serde.schema import EncodeData, RegistrySettings, Schema


class Arrivals(Outlet):
    """Takes everything, and answers with its number."""

    name = "arrivals"
    version = None

    def __init__(self) -> None:
        self.payloads: list[str] = []
        self.versions: list[int | None] = []

    async def attach(self, definition: SchemaDefinition) -> Version:
        raise NotImplementedError

    def flush(self) -> None: ...

    async def close(self) -> None: ...

    def put(self, message: Outgoing, sent: Pending[Position]) -> None:
        assert message.payload is not None
        self.payloads.append(message.payload.decode())
        self.versions.append(message.mark.version)
        sent.set(KafkaPosition(0, len(self.payloads)))


class HeldUp:
    """Registrations that end when they are told to."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._versions: dict[int, int] = {}
        self.asked: list[int] = []
        self._answers: dict[int, list[TallystickError | None]] = {}
        self._gates: dict[int, asyncio.Event] = {}

    def hold(self, schema: Schema[Any]) -> None:
        self._gates[id(schema)] = asyncio.Event()

    def let_go(self, schema: Schema[Any]) -> None:
        self._engine.loop.call_soon_threadsafe(self._gates[id(schema)].set)

    def answer(self, schema: Schema[Any], *answers: TallystickError | None) -> None:
        self._answers[id(schema)] = list(answers)

    async def stamp(self, schema: Schema[Any]) -> Stamp:
        self.asked.append(id(schema))
        if id(schema) in self._gates:
            await self._gates[id(schema)].wait()
        answers = self._answers.get(id(schema))
        if answers and (error := answers.pop(0)) is not None:
            raise error
        number = self._versions.setdefault(id(schema), len(self._versions) + 1)
        return Stamp(Mark(Version(number)))


@pytest.fixture
def engine() -> Iterator[Engine]:
    opened = Engine()
    yield opened
    opened.close()


@pytest.fixture
def held_up(engine: Engine) -> HeldUp:
    return HeldUp(engine)


@pytest.fixture
def arrivals() -> Arrivals:
    return Arrivals()


def outbox_of(engine: Engine, arrivals: Arrivals, stamps: HeldUp, timeout_s: float = 30) -> Outbox:
    return Outbox(engine, arrivals, stamps, SchemaUses(RegistrySettings()), "orders", timeout_s)


def put(outbox: Outbox, schema: Schema[Any], text: str) -> Pending[Position]:
    sent: Pending[Position] = Pending()
    outbox.put(schema, text, EncodeData(text.encode()), Outgoing(None), sent)
    return sent


def test_messages_wait_in_order_behind_one_whose_schema_is_registering(
    engine: Engine, arrivals: Arrivals, held_up: HeldUp
) -> None:
    outbox, new = outbox_of(engine, arrivals, held_up), StringSchema()
    engine.run(outbox.know(STRING)).result(30)
    held_up.hold(new)
    sent = [put(outbox, schema, text) for schema, text in ((STRING, "a"), (new, "b"), (STRING, "c"), (new, "d"))]
    assert sent[0].done()
    assert not any(each.done() for each in sent[1:])
    held_up.let_go(new)
    for each in sent:
        each.result(30)
    assert arrivals.payloads == ["a", "b", "c", "d"]
    assert arrivals.versions == [1, 2, 1, 2]
    assert held_up.asked == [id(STRING), id(new)]


def test_a_message_whose_schema_is_refused_fails_alone(engine: Engine, arrivals: Arrivals, held_up: HeldUp) -> None:
    outbox, wrong = outbox_of(engine, arrivals, held_up), StringSchema()
    held_up.hold(wrong)
    held_up.answer(wrong, IncompatibleSchema("no", []))
    sent = [put(outbox, schema, text) for schema, text in ((STRING, "a"), (wrong, "b"), (STRING, "c"), (wrong, "d"))]
    held_up.let_go(wrong)
    with pytest.raises(IncompatibleSchema):
        sent[1].result(30)
    with pytest.raises(IncompatibleSchema):
        sent[3].result(30)
    sent[2].result(30)
    assert arrivals.payloads == ["a", "c"]


def test_a_schema_that_was_refused_is_asked_for_again_later(
    engine: Engine, arrivals: Arrivals, held_up: HeldUp
) -> None:
    outbox, schema = outbox_of(engine, arrivals, held_up), StringSchema()
    held_up.answer(schema, IncompatibleSchema("no", []), None)
    with pytest.raises(IncompatibleSchema):
        put(outbox, schema, "a").result(30)
    put(outbox, schema, "b").result(30)
    assert arrivals.payloads == ["b"]


def test_a_registry_that_is_away_is_asked_again(engine: Engine, arrivals: Arrivals, held_up: HeldUp) -> None:
    outbox = outbox_of(engine, arrivals, held_up)
    held_up.answer(STRING, Unavailable("away"), Unavailable("away"), None)
    put(outbox, STRING, "a").result(30)
    assert len(held_up.asked) == 3


def test_a_registry_that_stays_away_fails_the_message_in_time(
    engine: Engine, arrivals: Arrivals, held_up: HeldUp
) -> None:
    outbox = outbox_of(engine, arrivals, held_up, timeout_s=0.2)
    held_up.answer(STRING, *[Unavailable("away")] * 50)
    with pytest.raises(TimedOut, match=r"orders.*away"):
        put(outbox, STRING, "a").result(30)


def test_closing_fails_what_waits_for_a_registration(engine: Engine, arrivals: Arrivals, held_up: HeldUp) -> None:
    outbox = outbox_of(engine, arrivals, held_up)
    held_up.hold(STRING)
    sent = [put(outbox, STRING, "a"), put(outbox, STRING, "b")]
    engine.run(outbox.close()).result(30)
    for each in [*sent, put(outbox, STRING, "c")]:
        with pytest.raises(Closed):
            each.result(30)
    assert arrivals.payloads == []


def test_whatever_a_foreign_schema_raises_reaches_the_sender(
    engine: Engine, arrivals: Arrivals, held_up: HeldUp
) -> None:
    class Broken(StringSchema):
        def encode(self, topic: str, value: str) -> EncodeData:
            raise ZeroDivisionError

    outbox, sent = outbox_of(engine, arrivals, held_up), Pending[Position]()
    outbox.put(Broken(), "a", None, Outgoing(None), sent)
    with pytest.raises(ZeroDivisionError):
        sent.result(30)
    put(outbox, STRING, "b").result(30)
    assert arrivals.payloads == ["b"]
