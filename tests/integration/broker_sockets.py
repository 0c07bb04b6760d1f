"""Clients that do not behave: bare sockets that speak the broker's protocol, or nearly."""

import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.entries import build_entry
from tallystick.wire.pulsar.frames import FrameReader, message_frame, simple_frame

_FIELD_OF = {
    field.message_type.name: (pb.BaseCommand.Type.Name(field.number), field.name)
    for field in pb.BaseCommand.DESCRIPTOR.fields
    if field.message_type is not None
}


def command(content: Any) -> pb.BaseCommand:
    kind, field = _FIELD_OF[content.DESCRIPTOR.name]
    made = pb.BaseCommand(type=kind)
    getattr(made, field).CopyFrom(content)
    return made


def frame(content: Any) -> bytes:
    return simple_frame(command(content))


def send_frame(sequence: int = 0, payload: bytes = b"x", producer_id: int = 1, **metadata: Any) -> bytes:
    named = {"producer_name": "p", "sequence_id": sequence, "publish_time": 1, **metadata}
    entry = build_entry(pb.MessageMetadata(**named), payload)
    return message_frame(command(pb.CommandSend(producer_id=producer_id, sequence_id=sequence)), entry)


def producer_frame(topic: str, producer_id: int = 1, name: str | None = None, request_id: int = 1) -> bytes:
    content = pb.CommandProducer(topic=topic, producer_id=producer_id, request_id=request_id)
    if name is not None:
        content.producer_name = name
    return frame(content)


def subscribe_frame(topic: str, kind: str = "Exclusive", consumer_id: int = 1, **more: Any) -> bytes:
    named = {"subscription": "s", "request_id": 1, "initialPosition": "Earliest", **more}
    return frame(pb.CommandSubscribe(topic=topic, subType=kind, consumer_id=consumer_id, **named))


CONNECT = frame(pb.CommandConnect(client_version="bare", protocol_version=21))
PING = frame(pb.CommandPing())


class Bare:
    """A socket, and the frames that came over it."""

    def __init__(self, port: int, receive_bytes: int | None = None) -> None:
        self.socket = socket.socket()
        self.socket.settimeout(10)
        if receive_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.connect(("127.0.0.1", port))
        self._reader = FrameReader()
        self._frames: list[pb.BaseCommand] = []

    def send(self, *frames: bytes) -> None:
        self.socket.sendall(b"".join(frames))

    def next(self) -> pb.BaseCommand | None:
        """The next command of the broker that is no PING; None where it has hung up."""
        while not self._frames:
            try:
                data = self.socket.recv(1 << 18)
            except ConnectionResetError:
                return None
            if not data:
                return None
            arrived = (frame.command for frame in self._reader.feed(data))
            self._frames += [command for command in arrived if command.type != pb.BaseCommand.PING]
        return self._frames.pop(0)

    def until(self, *kinds: pb.BaseCommand.Type) -> pb.BaseCommand:
        """The next command of these kinds; the others are passed over."""
        while (command := self.next()) is not None:
            if command.type in kinds:
                return command
        raise AssertionError(f"the broker hung up before {[pb.BaseCommand.Type.Name(kind) for kind in kinds]}")

    def answer(self, *frames: bytes) -> pb.BaseCommand | None:
        self.send(*frames)
        return self.next()

    def take(self, count: int, kind: pb.BaseCommand.Type) -> None:
        for _ in range(count):
            self.until(kind)

    def is_served(self, *unwanted: pb.BaseCommand.Type) -> bool:
        """Still, on this very connection, and without such a command before the answer."""
        self.send(PING)
        return self.until(pb.BaseCommand.PONG, *unwanted).type == pb.BaseCommand.PONG

    def vanish(self) -> None:
        """Without a word of farewell."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


@contextmanager
def bare(port: int, receive_bytes: int | None = None) -> Iterator[Bare]:
    """A connection on which nothing was said. The system takes in so much of what is not read."""
    connection = Bare(port, receive_bytes)
    try:
        yield connection
    finally:
        connection.socket.close()


@contextmanager
def greeted(port: int, receive_bytes: int | None = None) -> Iterator[Bare]:
    with bare(port, receive_bytes) as connection:
        answer = connection.answer(CONNECT)
        assert answer is not None
        assert answer.type == pb.BaseCommand.CONNECTED
        yield connection


def filled(port: int, topic: str, entries: int, size: int) -> None:
    """Stores so many messages of so many bytes, which are all sent before the first receipt is read."""
    with greeted(port) as connection:
        connection.send(producer_frame(topic))
        connection.until(pb.BaseCommand.PRODUCER_SUCCESS)
        connection.socket.settimeout(60)
        payload = b"x" * size
        for number in range(entries):
            connection.send(send_frame(number, payload))
        connection.take(entries, pb.BaseCommand.SEND_RECEIPT)


def taking(stack: ExitStack, port: int, topic: str, kind: str = "Exclusive", subscription: str = "s") -> Bare:
    """A consumer that may be sent everything."""
    connection = stack.enter_context(greeted(port))
    connection.send(subscribe_frame(topic, kind, subscription=subscription))
    connection.until(pb.BaseCommand.SUCCESS)
    connection.send(frame(pb.CommandFlow(consumer_id=1, messagePermits=2**31)))
    return connection
