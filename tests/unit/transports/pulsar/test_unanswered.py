import time

from tallystick.errors import Unavailable
from tallystick.messaging.pending import Pending
from tallystick.model.position import Position
from tallystick.transports.pulsar.entry_writing import Sending
from tallystick.transports.pulsar.unanswered import Unanswered, fail


def sending(first: int, last: int | None = None, age_s: float = 0.0) -> Sending:
    sents: list[Pending[Position]] = [Pending() for _ in range(first, (last or first) + 1)]
    return Sending(b"%d" % first, first, last or first, time.monotonic() - age_s, sents, True)


def of(*sendings: Sending) -> Unanswered:
    unanswered = Unanswered()
    for one in sendings:
        unanswered.add(one)
    return unanswered


def test_frames_are_sent_once_for_a_connection() -> None:
    unanswered = of(sending(1), sending(2))
    assert unanswered.to_send() == [b"1", b"2"]
    unanswered.add(sending(3))
    assert unanswered.to_send() == [b"3"]
    assert unanswered.to_send() == []


def test_all_is_sent_again_in_order_on_the_next_connection() -> None:
    unanswered = of(sending(1), sending(2))
    unanswered.to_send()
    unanswered.add(sending(3))
    unanswered.answered(1)
    unanswered.detached()
    assert unanswered.head is None
    assert unanswered.to_send() == [b"2", b"3"]


def test_answers_come_in_order() -> None:
    unanswered = of(sending(1, 4), sending(5))
    assert unanswered.answered(1) is None, "it is not sent yet"
    unanswered.to_send()
    assert unanswered.answered(5) is None
    assert unanswered.is_ahead(5)
    assert not unanswered.is_ahead(0)
    assert unanswered.messages == 5
    found = unanswered.answered(4)
    assert found is not None
    assert found.first_sequence_id == 1
    assert len(unanswered) == 1


def test_the_oldest_expire() -> None:
    unanswered = of(sending(1, age_s=9), sending(2, age_s=5), sending(3))
    unanswered.to_send()
    unanswered.detached()
    unanswered.to_send()
    unanswered.add(sending(4))
    assert unanswered.expires_in_s(6.0) == 0.0
    assert [one.first_sequence_id for one in unanswered.take_expired(4.0)] == [1, 2]
    assert 3.0 < (unanswered.expires_in_s(4.0) or 0) <= 4.0
    assert of().expires_in_s(1.0) is None


def test_everybody_is_told() -> None:
    one, error = sending(1, 3), Unavailable("gone")
    fail(of(one).take_all(), error)
    assert [sent.error() for sent in one.sents] == [error] * 3
