"""librdkafka's errors as ours."""

import pytest
from confluent_kafka import KafkaError

from tallystick import errors
from tallystick.transports.kafka.failures import send_failure, translated

KINDS = {
    KafkaError._AUTHENTICATION: errors.Unauthenticated,
    KafkaError.SASL_AUTHENTICATION_FAILED: errors.Unauthenticated,
    KafkaError.TOPIC_AUTHORIZATION_FAILED: errors.Forbidden,
    KafkaError.GROUP_AUTHORIZATION_FAILED: errors.Forbidden,
    KafkaError.UNKNOWN_TOPIC_OR_PART: errors.TopicNotFound,
    KafkaError._UNKNOWN_PARTITION: errors.InvalidArgument,
    KafkaError.TOPIC_EXCEPTION: errors.InvalidArgument,
    KafkaError._PURGE_QUEUE: errors.Closed,
    KafkaError._MSG_TIMED_OUT: errors.TimedOut,
    KafkaError._TIMED_OUT: errors.TimedOut,
    KafkaError._TRANSPORT: errors.Unavailable,
    KafkaError._ALL_BROKERS_DOWN: errors.Unavailable,
}


@pytest.mark.parametrize("code", KINDS)
def test_each_has_its_kind(code: int) -> None:
    assert type(translated(KafkaError(code), "orders", "k:9092")) is KINDS[code]


@pytest.mark.parametrize("code", set(KINDS) - {KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED})
def test_each_names_the_topic(code: int) -> None:
    assert "orders" in str(translated(KafkaError(code), "orders", "k:9092"))


def test_a_producer_that_librdkafka_gave_up_must_be_opened_again() -> None:
    fatal = KafkaError(KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, "lost", fatal=True)
    later = KafkaError(KafkaError._FATAL, "lost")
    for error in (fatal, later):
        failure = send_failure(error, "orders", "k:9092", 1)
        assert isinstance(failure, errors.Unavailable)
        assert "opened again" in str(failure)


def test_a_message_that_is_too_large_is_told_its_size_and_what_to_raise() -> None:
    failure = send_failure(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE), "orders", "k:9092", 12345)
    assert isinstance(failure, errors.InvalidRecord)
    for part in ("orders", "12345", "message.max.bytes"):
        assert part in str(failure)


def test_a_message_that_timed_out_may_have_been_written() -> None:
    failure = send_failure(KafkaError(KafkaError._MSG_TIMED_OUT), "orders", "k:9092", 1)
    assert isinstance(failure, errors.TimedOut)
    assert "may still" in str(failure)
