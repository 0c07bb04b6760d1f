"""Pulsar's binary protocol by hand: shows error codes, texts and commands that client libraries hide."""

import itertools
import queue
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import crc32c

from tallystick.wire.pulsar import pulsar_pb2 as api

_Type = api.BaseCommand.Type


def entry(payload: bytes, producer: str = "p", sequence: int = 0, published_ms: int = 1, **metadata: Any) -> bytes:
    """What follows the command in a SEND."""
    head = api.MessageMetadata(producer_name=producer, sequence_id=sequence, publish_time=published_ms, **metadata)
    blob = head.SerializeToString()
    body = struct.pack(">I", len(blob)) + blob + payload
    return b"\x0e\x01" + struct.pack(">I", crc32c.crc32c(body)) + body


class Raw:
    """One connection, after the handshake. Answers are found by their request id; the rest is kept as pushed.

    A thread reads and answers keep-alives: Pulsar probes an older connection when its producer's name is asked for.
    """

    def __init__(self, service_url: str, protocol_version: int = 21, **connect: Any) -> None:
        address = urlsplit(service_url)
        assert address.hostname is not None
        assert address.port is not None
        self._socket = socket.create_connection((address.hostname, address.port), timeout=15)
        self._socket.settimeout(None)
        self._ids = itertools.count(1)
        self._arrived: queue.Queue[tuple[Any, bytes] | None] = queue.Queue()
        self._pushed: list[tuple[Any, bytes]] = []
        self.command("CONNECT", api.CommandConnect(client_version="raw", protocol_version=protocol_version, **connect))
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()
        self.greeting = self.next()[0]

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._reading.join(5)

    def command(self, kind: str, value: Any, body: bytes = b"") -> None:
        field = _field_of(value)
        blob = api.BaseCommand(type=kind, **{field: value}).SerializeToString()
        sized = struct.pack(">I", len(blob)) + blob + body
        self._socket.sendall(struct.pack(">I", len(sized)) + sized)

    def next(self, seconds: float = 15) -> tuple[Any, bytes]:
        """The next command of the server; TimeoutError or ConnectionError if there is none."""
        try:
            arrived = self._arrived.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None
        if arrived is None:
            self._arrived.put(None)
            raise ConnectionError("the server closed the connection")
        return arrived

    def request(self, kind: str, value: Any, body: bytes = b"") -> Any:
        """Sends it under a fresh request id and returns the answer's own message."""
        value.request_id = next(self._ids)
        self.command(kind, value, body)
        while True:
            command, rest = self.next()
            answer = _message_in(command)
            if type(answer).__name__ not in _PUSHED and getattr(answer, "request_id", None) == value.request_id:
                return answer
            self._pushed.append((command, rest))

    def keep(self, command: Any, body: bytes) -> None:
        """As pushed, for a later look."""
        self._pushed.append((command, body))

    def pushes(self, kind: str, seconds: float = 1.0, most: int | None = None) -> list[Any]:
        """What arrived of this type and was not asked for before: within the time, or until there are so many."""
        return [message for message, _ in self.pushes_with_bodies(kind, seconds, most)]

    def pushes_with_bodies(self, kind: str, seconds: float = 1.0, most: int | None = None) -> list[tuple[Any, bytes]]:
        deadline = time.monotonic() + seconds
        while (most is None or len(self._of(kind)) < most) and (left := deadline - time.monotonic()) > 0:
            try:
                self._pushed.append(self.next(left))
            except (TimeoutError, ConnectionError):
                break
        found = self._of(kind)
        self._pushed = [kept for kept in self._pushed if kept not in found]
        return [(_message_in(command), body) for command, body in found]

    def _of(self, kind: str) -> list[tuple[Any, bytes]]:
        number = _Type.Value(kind)
        return [pushed for pushed in self._pushed if pushed[0].type == number]

    def _read(self) -> None:
        try:
            while True:
                (size,) = struct.unpack(">I", self._exactly(4))
                frame = self._exactly(size)
                (length,) = struct.unpack(">I", frame[:4])
                command = api.BaseCommand.FromString(frame[4 : 4 + length])
                if command.type == _Type.Value("PING"):
                    self.command("PONG", api.CommandPong())
                elif command.type != _Type.Value("PONG"):
                    self._arrived.put((command, frame[4 + length :]))
        except OSError:
            self._arrived.put(None)

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._socket.recv(size - len(parts))
            if not part:
                raise ConnectionError("the server closed the connection")
            parts += part
        return bytes(parts)


_PUSHED = {"CommandCloseProducer", "CommandCloseConsumer", "CommandMessage", "CommandActiveConsumerChange"}


def _message_in(command: Any) -> Any:
    return next(value for field, value in command.ListFields() if field.name != "type")


def _field_of(value: Any) -> str:
    name = value.DESCRIPTOR.full_name
    fields = api.BaseCommand.DESCRIPTOR.fields
    return next(str(f.name) for f in fields if f.message_type is not None and f.message_type.full_name == name)


@contextmanager
def connected(service_url: str, **options: Any) -> Iterator[Raw]:
    raw = Raw(service_url, **options)
    try:
        yield raw
    finally:
        raw.close()
