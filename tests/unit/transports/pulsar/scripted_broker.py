"""A broker that answers as a test tells it to, for what no real one does on demand."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.frames import FrameReader, simple_frame
from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand

_FIELDS = BaseCommand.DESCRIPTOR.fields_by_number
_KIND_OF = {field.message_type.name: number for number, field in _FIELDS.items() if field.message_type is not None}
CONNECTED = pb.CommandConnected(server_version="scripted", protocol_version=21)

Answers = dict[str, Callable[[Any], list[Any]]]
"""By the name of a command: its content → the contents that are answered."""


def frame_of(content: Any) -> bytes:
    kind = _KIND_OF[type(content).__name__]
    return simple_frame(BaseCommand(**{"type": kind, _FIELDS[kind].name: content}))


class ScriptedBroker:
    def __init__(self, **answers: Callable[[Any], list[Any]]) -> None:
        self.answers: Answers = {
            "CONNECT": lambda _: [CONNECTED],
            "PING": lambda _: [pb.CommandPong()],
            "PARTITIONED_METADATA": lambda asked: [
                pb.CommandPartitionedTopicMetadataResponse(request_id=asked.request_id, partitions=0)
            ],
            "LOOKUP": lambda asked: [self.found(asked)],
            "PRODUCER": lambda asked: [pb.CommandProducerSuccess(request_id=asked.request_id, producer_name="p")],
            "CLOSE_PRODUCER": lambda asked: [pb.CommandSuccess(request_id=asked.request_id)],
            **answers,
        }
        self.heard: list[tuple[str, Any]] = []
        self.port = 0
        self._writers: list[asyncio.StreamWriter] = []

    @property
    def url(self) -> str:
        return f"pulsar://127.0.0.1:{self.port}"

    def found(self, asked: pb.CommandLookupTopic, **more: Any) -> pb.CommandLookupTopicResponse:
        return pb.CommandLookupTopicResponse(
            request_id=asked.request_id,
            brokerServiceUrl=self.url,
            **{"response": pb.CommandLookupTopicResponse.Connect, "authoritative": True, **more},
        )

    def commands(self, name: str) -> list[Any]:
        return [content for kind, content in self.heard if kind == name]

    def say(self, content: Any) -> None:
        """To everybody who is connected."""
        for writer in self._writers:
            writer.write(frame_of(content))

    async def until(self, name: str, count: int = 1) -> list[Any]:
        async with asyncio.timeout(30):
            while len(self.commands(name)) < count:
                await asyncio.sleep(0.005)
        return self.commands(name)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        frames = FrameReader()
        try:
            while data := await reader.read(1 << 16):
                for frame in frames.feed(data):
                    name = BaseCommand.Type.Name(frame.command.type)
                    content = getattr(frame.command, _FIELDS[frame.command.type].name)
                    self.heard.append((name, content))
                    for answer in self.answers.get(name, lambda _: [])(content):
                        writer.write(answer if isinstance(answer, bytes) else frame_of(answer))
        except ConnectionError:
            pass
        finally:
            self._writers.remove(writer)
            writer.close()


@asynccontextmanager
async def scripted(**answers: Callable[[Any], list[Any]]) -> AsyncIterator[ScriptedBroker]:
    broker = ScriptedBroker(**answers)
    server = await asyncio.start_server(broker._serve, "127.0.0.1", 0)
    broker.port = server.sockets[0].getsockname()[1]
    try:
        yield broker
    finally:
        server.close()
        await server.wait_closed()
        for writer in list(broker._writers):
            writer.transport.abort()
        while broker._writers:
            await asyncio.sleep(0.001)
