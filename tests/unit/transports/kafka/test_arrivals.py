"""librdkafka's messages as ours."""

from typing import Any

from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME, KafkaError, Message

from tallystick.messaging.ports import Incoming
from tallystick.model.position import KafkaPosition
from tallystick.transports.kafka.arrivals import arrived
from tallystick.transports.kafka.claims import Claims


def _message(offset: int = 0, partition: int = 0, topic: str = "t", **more: Any) -> Message:
    given = {"value": b"v", "timestamp": (TIMESTAMP_CREATE_TIME, 5), **more}
    return Message(topic=topic, partition=partition, offset=offset, **given)


def _arrived(*messages: Message) -> list[Incoming]:
    claims = Claims()
    claims.begin(("t", 0), 0, None)
    claims.begin(("t", 1), 0, None)
    return arrived(messages, claims)


def test_positions_and_order_are_kept() -> None:
    found = _arrived(_message(0), _message(1), _message(0, partition=1), _message(2))
    assert [message.position for message in found] == [
        KafkaPosition(*place) for place in [(0, 0), (0, 1), (1, 0), (0, 2)]
    ]


def test_what_is_not_ours_and_what_is_an_error_is_left_out() -> None:
    error = _message(error=KafkaError(KafkaError._TRANSPORT))
    assert _arrived(_message(partition=2), _message(topic="other"), error) == []


def test_a_message_without_a_value_is_not_an_empty_one() -> None:
    assert [message.payload for message in _arrived(_message(0, value=None), _message(1, value=b""))] == [None, b""]


def test_text_headers_are_properties() -> None:
    headers = [
        ("a", b"1"),
        ("b", b"\xff"),
        ("c", None),
        ("replicated_from", b"west"),
        ("__value_schema_id", b"\0\0\0\0\7"),
    ]
    (message,) = _arrived(_message(headers=headers))
    assert message.properties == {"a": "1", "c": ""}
    assert message.replicated_from == "west"
    assert message.headers == [(name, value or b"") for name, value in headers]


def test_the_time_is_the_events_unless_the_broker_wrote_it() -> None:
    appended = _message(1, timestamp=(TIMESTAMP_LOG_APPEND_TIME, 6))
    times = [(message.event_time_ms, message.publish_time_ms) for message in _arrived(_message(0), appended)]
    assert times == [(5, 5), (None, 6)]


def test_keys_that_are_no_text_are_told_apart() -> None:
    keys = [b"a", "é".encode(), b"\xff", None]
    found = _arrived(*(_message(offset, key=key) for offset, key in enumerate(keys)))
    assert [message.is_key_text for message in found] == [True, True, False, True]
