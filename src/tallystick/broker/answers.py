"""Answers to a client, and the one table of errors."""

from tallystick import errors
from tallystick.errors import TallystickError
from tallystick.wire.pulsar.faults import ChecksumMismatch, MalformedFrame
from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand, ServerError

_CODES: dict[type[TallystickError], ServerError] = {
    errors.Unauthenticated: ServerError.AuthenticationError,
    errors.Forbidden: ServerError.AuthorizationError,
    errors.IncompatibleSchema: ServerError.IncompatibleSchema,
    errors.InvalidSchema: ServerError.IncompatibleSchema,
    errors.UnknownSchemaType: ServerError.IncompatibleSchema,
    errors.SchemaTooLarge: ServerError.IncompatibleSchema,
    errors.NotFound: ServerError.MetadataError,
    errors.SubscriptionNotFound: ServerError.SubscriptionNotFound,
    errors.TopicNotFound: ServerError.TopicNotFound,
    errors.NamespaceNotFound: ServerError.TopicNotFound,
    errors.SchemaNotFound: ServerError.TopicNotFound,
    errors.VersionNotFound: ServerError.TopicNotFound,
    errors.SubjectNotFound: ServerError.TopicNotFound,
    errors.Unsupported: ServerError.NotAllowedError,
    errors.InvalidArgument: ServerError.NotAllowedError,
    errors.InvalidRecord: ServerError.NotAllowedError,
    errors.Unavailable: ServerError.ServiceNotReady,
    ChecksumMismatch: ServerError.ChecksumError,
    MalformedFrame: ServerError.UnknownError,
    TallystickError: ServerError.UnknownError,
}
_BY_ARGUMENT: dict[str, ServerError] = {
    "topic": ServerError.InvalidTopicName,
    "namespace": ServerError.InvalidTopicName,
    "seek": ServerError.MetadataError,
    "unsubscribe": ServerError.MetadataError,
}
_BUSY: dict[str, ServerError] = {
    "producer": ServerError.ProducerBusy,
    "consumer": ServerError.ConsumerBusy,
    "subscription": ServerError.ConsumerBusy,
    "topic": ServerError.NotAllowedError,
}


def code_of(error: TallystickError) -> ServerError:
    if isinstance(error, errors.Busy):
        return _BUSY.get(error.__dict__["what"], ServerError.UnknownError)
    if isinstance(error, errors.InvalidArgument) and error.argument in _BY_ARGUMENT:
        return _BY_ARGUMENT[error.argument]
    return next(_CODES[kind] for kind in type(error).__mro__ if kind in _CODES)


def success(request_id: int) -> BaseCommand:
    answer = BaseCommand(type=BaseCommand.SUCCESS)
    answer.success.request_id = request_id
    return answer


def failure(request_id: int, error: TallystickError) -> BaseCommand:
    answer = BaseCommand(type=BaseCommand.ERROR)
    answer.error.request_id = request_id
    answer.error.error = code_of(error)
    answer.error.message = error.message
    return answer
