"""A proxy between a client and a broker that cuts and halts connections."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from tallystick.wire.pulsar.frames import FrameReader, message_frame
from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand
from tests.integration.pulsar_loop import Loop
from tests.ports import free_port

Change = Callable[[BaseCommand], BaseCommand | None]
"""What becomes of an answer of the broker; None: the client never gets it."""


class FaultProxy:
    """Brokers are told of by name in the answers to look-ups; here they say that the way goes through the proxy."""

    def __init__(self, broker_port: int) -> None:
        self.port = free_port()
        self.connections = 0
        """So many were made."""
        self.cuts_after: Iterator[int] = iter(())
        """How many bytes a connection takes from the client before it is cut, one number for each new connection."""
        self.change: Change = lambda command: command
        self._broker_port = broker_port
        self._loop = Loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_flowing = self._loop.run(_event())
        self._server = self._loop.run(self._listen())

    @property
    def url(self) -> str:
        return f"pulsar://127.0.0.1:{self.port}"

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._accept, "127.0.0.1", self.port)

    def refuse(self) -> None:
        """Nobody listens any more, and who was connected is not."""

        async def stop() -> None:
            self._server.close()
            await self._server.wait_closed()
            self._cut()

        self._loop.run(stop())

    def listen(self) -> None:
        self._server = self._loop.run(self._listen())

    def cut(self) -> None:
        self._loop.loop.call_soon_threadsafe(self._cut)

    def halt(self) -> None:
        """Nothing goes either way, and nobody is told."""
        self._loop.loop.call_soon_threadsafe(self._is_flowing.clear)

    def resume(self) -> None:
        self._loop.loop.call_soon_threadsafe(self._is_flowing.set)

    def close(self) -> None:
        async def stop() -> None:
            self._server.close()
            self._cut()
            self._is_flowing.set()
            while self._tasks:
                await asyncio.wait(self._tasks)

        self._loop.run(stop())
        self._loop.close()

    def _cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            broker_reader, broker_writer = await asyncio.open_connection("127.0.0.1", self._broker_port)
        except OSError:
            writer.transport.abort()
            return
        pair = (writer, broker_writer)
        self._writers.update(pair)
        for pumping in (
            self._to_broker(reader, broker_writer, next(self.cuts_after, None)),
            self._to_client(broker_reader, writer),
        ):
            task = asyncio.get_running_loop().create_task(self._until_cut(pumping, pair))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _until_cut(self, pumping: Coroutine[Any, Any, None], pair: tuple[asyncio.StreamWriter, ...]) -> None:
        with contextlib.suppress(OSError):
            await pumping
        for writer in pair:
            writer.transport.abort()
        self._writers.difference_update(pair)

    async def _to_broker(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cut_after: int | None
    ) -> None:
        passed = 0
        while data := await reader.read(1 << 16):
            await self._is_flowing.wait()
            if writer.is_closing():
                return
            if cut_after is not None and passed + len(data) > cut_after:
                writer.write(data[: cut_after - passed])
                await writer.drain()
                return
            passed += len(data)
            writer.write(data)
            await writer.drain()

    async def _to_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames = FrameReader()
        while data := await reader.read(1 << 16):
            await self._is_flowing.wait()
            if writer.is_closing():
                return
            for frame in frames.feed(data):
                command = self.change(_through_proxy(frame.command))
                if command is not None:
                    writer.write(message_frame(command, frame.body))
            await writer.drain()


def _through_proxy(command: BaseCommand) -> BaseCommand:
    if command.type == BaseCommand.LOOKUP_RESPONSE:
        command.lookupTopicResponse.proxy_through_service_url = True
    return command


async def _event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@contextlib.contextmanager
def fault_proxy(broker_url: str) -> Iterator[FaultProxy]:
    proxy = FaultProxy(int(broker_url.rpartition(":")[2]))
    try:
        yield proxy
    finally:
        proxy.close()
