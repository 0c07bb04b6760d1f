from datetime import UTC, datetime

import pytest

from tallystick.errors import InvalidArgument
from tallystick.messaging.settings import EARLIEST, LATEST
from tallystick.model.position import KafkaPosition, PulsarPosition
from tallystick.transports.pulsar.place import Place, message_id, seek_command, signed, start_of
from tallystick.wire.pulsar import pulsar_pb2 as pb

NOTHING = 2**64 - 1


def test_subscriptions_begin_at_an_end() -> None:
    assert Place(EARLIEST, False).initial == pb.CommandSubscribe.Earliest
    assert Place(LATEST, False).initial == pb.CommandSubscribe.Latest
    assert Place(datetime.now(UTC), False).initial == pb.CommandSubscribe.Earliest


def test_readers_begin_at_an_id() -> None:
    assert Place(EARLIEST, True).reader_id() == pb.MessageIdData(ledgerId=NOTHING, entryId=NOTHING)
    assert Place(LATEST, True).reader_id() == pb.MessageIdData(ledgerId=2**63 - 1, entryId=2**63 - 1)
    at = Place(PulsarPosition(3, 4), True).reader_id()
    assert (at.ledgerId, at.entryId, at.batch_index, at.HasField("batch_index")) == (3, 4, 0, True)


def test_a_reader_goes_on_after_what_it_got() -> None:
    place = Place(LATEST, True)
    place.begins_after(3, -1)
    place.came_to(3, 4)
    place.begins_after(3, 3)
    assert place.reader_id() == message_id(3, 4)
    assert [place.wanted(3, entry, 0b11) for entry in (3, 4, 5)] == [0, 0, 0b11]
    assert place.wanted(4, 0, 0b11) == 0b11


@pytest.mark.parametrize("is_reader", [True, False])
def test_of_the_batch_that_was_sought_the_rest_is_wanted(is_reader: bool) -> None:
    place = Place(LATEST, is_reader)
    place.came_to(9, 9)
    place.seek(PulsarPosition(3, 4, batch_index=2))
    assert place.wanted(3, 4, 0b11111) == 0b11100
    assert place.wanted(3, 5, 0b11111) == 0b11111


def test_a_subscription_may_be_rewound_by_others() -> None:
    place = Place(LATEST, False)
    place.seek(PulsarPosition(3, 4, batch_index=2))
    for entry in (4, 5):
        place.came_to(3, entry)
    assert place.wanted(3, 4, 0b111) == 0b111


def test_seeking() -> None:
    time = datetime(2024, 1, 1, tzinfo=UTC)
    assert seek_command(1, time).message_publish_time == 1704067200000
    assert seek_command(1, EARLIEST).message_id.ledgerId == NOTHING
    assert seek_command(1, PulsarPosition(2, 3, 0, 5)).message_id == pb.MessageIdData(ledgerId=2, entryId=3)


@pytest.mark.parametrize("start", ["first", datetime(2024, 1, 1), KafkaPosition(0, 0)])
def test_what_is_no_place(start: object) -> None:
    with pytest.raises(InvalidArgument):
        start_of(start)  # type: ignore[arg-type]


def test_numbers_without_sign() -> None:
    assert signed(NOTHING) == -1
    assert signed(5) == 5
