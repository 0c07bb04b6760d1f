"""Frames: what follows each other on a connection.

A frame is its size, the size of its command, the command (`BaseCommand`) and, in SEND and MESSAGE, an entry. Sizes are
four big-endian bytes and do not count themselves.
"""

import struct
from dataclasses import dataclass

from tallystick.wire.pulsar import messages
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand

MOST_MESSAGE_BYTES = 5 * 1024 * 1024
"""Of metadata and payload together; clients learn it when they connect, and cut larger messages into chunks."""
MOST_FRAME_BYTES = MOST_MESSAGE_BYTES + 10 * 1024
"""The limit of real brokers too: some room for the command around the largest message."""

_SIZE = struct.Struct(">I")
_SIZES = struct.Struct(">II")
_WITHOUT_CONTENT = {BaseCommand.PING, BaseCommand.PONG}
_CONTENT_OF = {
    number: BaseCommand.DESCRIPTOR.fields_by_number[number].name
    for number in BaseCommand.Type.values()
    if number in BaseCommand.DESCRIPTOR.fields_by_number and number not in _WITHOUT_CONTENT
}


@dataclass(frozen=True, slots=True)
class Frame:
    command: BaseCommand
    body: bytes
    """All after the command: an entry in SEND and MESSAGE, else nothing."""


class FrameReader:
    """Cuts a byte stream into frames, however it arrives.

    Holds one unfinished frame and no more, and refuses one that is too large as soon as its size is known. After
    `MalformedFrame` the stream has lost its step: close the connection.
    """

    def __init__(self, most_bytes: int = MOST_FRAME_BYTES) -> None:
        self._most_bytes = most_bytes
        self._held = bytearray()

    def feed(self, data: bytes | bytearray | memoryview) -> list[Frame]:
        """The frames that are complete with these bytes."""
        if not self._held:
            frames, taken = self._cut(data)
            self._held += memoryview(data)[taken:]
            return frames
        self._held += data
        frames, taken = self._cut(self._held)
        del self._held[:taken]
        return frames

    def _cut(self, data: bytes | bytearray | memoryview) -> tuple[list[Frame], int]:
        frames: list[Frame] = []
        start = 0
        with memoryview(data) as view:
            while (end := self._end(view, start)) <= len(view):
                frames.append(_frame(view, start + _SIZE.size, end))
                start = end
        return frames, start

    def _end(self, view: memoryview, start: int) -> int:
        """Where the frame that starts there ends; beyond the view while its size is not known."""
        content = start + _SIZE.size
        if content > len(view):
            return content
        (size,) = _SIZE.unpack_from(view, start)
        if not _SIZE.size <= size <= self._most_bytes:
            raise MalformedFrame(
                f"a frame says it has {size} bytes; {_SIZE.size} to {self._most_bytes} are possible. "
                "Is this client speaking Pulsar's binary protocol, without TLS where the server has none?"
            )
        return content + int(size)


def _frame(view: memoryview, start: int, end: int) -> Frame:
    (size,) = _SIZE.unpack_from(view, start)
    body = start + _SIZE.size + size
    if body > end:
        raise MalformedFrame(f"a command says it has {size} bytes, but its frame ends before that")
    return Frame(_command(bytes(view[start + _SIZE.size : body])), bytes(view[body:end]))


def _command(data: bytes) -> BaseCommand:
    command = messages.read(BaseCommand, data, "a command")
    content = _CONTENT_OF.get(command.type)
    if content is not None and not command.HasField(content):
        raise MalformedFrame(f"the command {BaseCommand.Type.Name(command.type)} has no content")
    return command


def simple_frame(command: BaseCommand) -> bytes:
    """The frame of a command that stands alone."""
    data = command.SerializeToString()
    return _SIZES.pack(_SIZE.size + len(data), len(data)) + data


def message_frame(command: BaseCommand, entry: bytes) -> bytes:
    """The frame of a SEND or MESSAGE."""
    data = command.SerializeToString()
    return b"".join((_SIZES.pack(_SIZE.size + len(data) + len(entry), len(data)), data, entry))
