"""Commands and their answers, by their content alone."""

from typing import Any, Final

from tallystick.errors import TallystickError
from tallystick.transports.pulsar.refusals import translated
from tallystick.wire.pulsar.frames import simple_frame
from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand

_FIELDS = BaseCommand.DESCRIPTOR.fields_by_number
_CONTENT_OF = {kind: _FIELDS[kind].name for kind in BaseCommand.Type.values() if kind in _FIELDS}
_KIND_OF = {field.message_type.name: number for number, field in _FIELDS.items() if field.message_type is not None}
_REQUESTS = {
    field.message_type.name
    for field in _FIELDS.values()
    if field.message_type is not None and "request_id" in field.message_type.fields_by_name
}
_ERROR_FIELDS: dict[int, tuple[str, str]] = {
    BaseCommand.LOOKUP_RESPONSE: ("error", "message"),
    BaseCommand.PARTITIONED_METADATA_RESPONSE: ("error", "message"),
    BaseCommand.GET_SCHEMA_RESPONSE: ("error_code", "error_message"),
    BaseCommand.GET_OR_CREATE_SCHEMA_RESPONSE: ("error_code", "error_message"),
    BaseCommand.ACK_RESPONSE: ("error", "message"),
}
"""Answers that tell of an error by themselves."""
ANSWERS: Final = frozenset(
    {
        BaseCommand.SUCCESS,
        BaseCommand.PRODUCER_SUCCESS,
        BaseCommand.GET_LAST_MESSAGE_ID_RESPONSE,
        BaseCommand.GET_TOPICS_OF_NAMESPACE_RESPONSE,
        *_ERROR_FIELDS,
    }
)
"""To requests, but for ERROR."""


def frame_of(content: Any) -> bytes:
    """The frame of a content such as `CommandFlow`."""
    kind = _KIND_OF[type(content).__name__]
    return simple_frame(BaseCommand(**{"type": kind, _CONTENT_OF[kind]: content}))


def name_of(content: Any) -> str:
    """As the protocol calls the command."""
    return BaseCommand.Type.Name(_KIND_OF[type(content).__name__])


def is_request(content: Any) -> bool:
    return type(content).__name__ in _REQUESTS


def content_of(command: BaseCommand) -> Any:
    return getattr(command, _CONTENT_OF[command.type])


def error_in(kind: int, content: Any, topic: str) -> TallystickError | None:
    """The error that an answer tells of."""
    code, text = _ERROR_FIELDS.get(kind, ("", ""))
    if not code or not content.HasField(code):
        return None
    return translated(getattr(content, code), getattr(content, text), topic)
