"""librdkafka's errors as ours."""

from confluent_kafka import KafkaError

from tallystick.errors import (
    Closed,
    Forbidden,
    InvalidArgument,
    InvalidRecord,
    TallystickError,
    TimedOut,
    TopicNotFound,
    Unauthenticated,
    Unavailable,
)

_UNAUTHENTICATED = {
    KafkaError._AUTHENTICATION,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
    KafkaError.ILLEGAL_SASL_STATE,
}
DENIALS = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
MISFITS = {
    KafkaError.INCONSISTENT_GROUP_PROTOCOL,
    KafkaError.UNSUPPORTED_ASSIGNOR,
    KafkaError.UNSUPPORTED_VERSION,
    KafkaError.INVALID_SESSION_TIMEOUT,
    KafkaError.INVALID_GROUP_ID,
    KafkaError.GROUP_MAX_SIZE_REACHED,
    KafkaError.FENCED_INSTANCE_ID,
    KafkaError.UNRELEASED_INSTANCE_ID,
}
"""Why a group does not take a member, however often it asks."""
PASSING = {
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
    KafkaError._RESOLVE,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._WAIT_CACHE,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.BROKER_NOT_AVAILABLE,
    KafkaError.NETWORK_EXCEPTION,
    KafkaError.NOT_CONTROLLER,
}
"""What may be over the next time that one asks."""
_NO_TOPIC = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC}
_TIMED_OUT = {
    KafkaError._MSG_TIMED_OUT,
    KafkaError._TIMED_OUT,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError.REQUEST_TIMED_OUT,
}
_CLOSED = {KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT, KafkaError._DESTROY}
_TOO_LARGE = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE, KafkaError.INVALID_MSG_SIZE}


def translated(error: KafkaError, topic: str, servers: str) -> TallystickError:
    """What an operation on a topic failed with."""
    code = error.code()
    where = f"topic {topic} on Kafka at {servers}"
    if error.fatal() or code == KafkaError._FATAL:
        return Unavailable(f"{where}: the producer cannot go on and must be opened again: {_told(error)}")
    if code in _UNAUTHENTICATED:
        return unauthenticated(error, servers)
    if code in DENIALS:
        return Forbidden(f"{where}: {_told(error)}; an administrator of the cluster can allow it by an ACL")
    if code in _NO_TOPIC:
        return TopicNotFound(topic)
    if code in (KafkaError.TOPIC_EXCEPTION, KafkaError._UNKNOWN_PARTITION):
        return InvalidArgument(
            "topic" if code == KafkaError.TOPIC_EXCEPTION else "partition", f"{where}: {_told(error)}"
        )
    if code in MISFITS:
        return InvalidArgument("subscription", f"{where}: the group does not take this consumer: {_told(error)}")
    if code in _CLOSED:
        return Closed(f"{where}: closed before the message was sent")
    kind = TimedOut if code in _TIMED_OUT else Unavailable
    return kind(f"{where}: {_told(error)}")


def unauthenticated(error: KafkaError, servers: str) -> Unauthenticated:
    return Unauthenticated(f"Kafka at {servers} does not let us in: {_told(error)}; see the sasl.* and ssl.* options")


def send_failure(error: KafkaError, topic: str, servers: str, size_bytes: int) -> TallystickError:
    """What a message failed with. It may have been written nevertheless where no answer came in time."""
    if error.code() in _TOO_LARGE:
        return InvalidRecord(
            f"topic {topic}: the message has {size_bytes} bytes, more than Kafka takes ({_told(error)}); raise "
            "message.max.bytes in the options and max.message.bytes of the topic, or send less",
            (),
        )
    if error.code() == KafkaError._MSG_TIMED_OUT:
        return TimedOut(
            f"topic {topic} on Kafka at {servers}: the message was not acknowledged within the send time-out; it may "
            "still have been written"
        )
    return translated(error, topic, servers)


def _told(error: KafkaError) -> str:
    return f"{error.str()} ({error.name()})"
