"""Protobuf messages from outside."""

from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from tallystick.wire.pulsar.faults import MalformedFrame

M = TypeVar("M", bound=Message)


def read(kind: type[M], data: bytes, what: str) -> M:
    """A message with all its required fields; `what` names it in the `MalformedFrame` of any other bytes."""
    try:
        message = kind.FromString(data)
    except DecodeError as e:
        raise MalformedFrame(f"{what} cannot be read: {e}") from e
    # Python's parser lets required fields be absent; one with an enum value that is not known is absent, too.
    if not message.IsInitialized():
        raise MalformedFrame(f"{what} lacks a required field, or has a value there that is not known")
    return message
