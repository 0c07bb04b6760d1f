"""What consumers do not acknowledge, and the memory that it takes."""

import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tallystick.wire.pulsar import pulsar_pb2 as pb
from tests.integration.broker_sockets import Bare, filled, frame, taking
from tests.integration.broker_watch import WatchedBroker, Witness, others_are_served, watched_broker

ENTRIES = 60_000
MOST_HELD = 50_000
"""By one consumer of those that share."""
MOST_MIB = 200


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A topic of many small entries."""
    data = tmp_path_factory.mktemp("data")
    with watched_broker(data) as broker:
        filled(broker.port, "large", ENTRIES, 50)
    return data


@pytest.fixture
def broker(data: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[WatchedBroker]:
    """A new process for each test, so that its memory tells something."""
    with watched_broker(data) as broker:
        witness = Witness(broker.url, tmp_path / "witness.log")
        with others_are_served(broker, witness, request.node.name, MOST_MIB):
            yield broker
        witness.close()


@pytest.mark.parametrize("kind", ["Shared", "Key_Shared"])
def test_a_consumer_that_never_acknowledges(broker: WatchedBroker, kind: str) -> None:
    before = broker.resident_mib
    with ExitStack() as stack:
        consumer = taking(stack, broker.port, "large", kind, f"never-{kind}")
        for _ in range(MOST_HELD):
            consumer.until(pb.BaseCommand.MESSAGE)
        print(f"{MOST_HELD} entries that are not acknowledged: {broker.resident_mib - before:.1f} MiB more")
        _gets_no_more(consumer)


@pytest.mark.parametrize("kind", ["Exclusive", "Failover", "Shared", "Key_Shared"])
def test_acknowledgements_that_leave_holes(broker: WatchedBroker, kind: str) -> None:
    before, choice, name = broker.resident_mib, random.Random(4), f"holes-{kind}"
    with ExitStack() as stack:
        left = _take_and_ack_some(taking(stack, broker.port, "large", kind, name), choice)
        print(f"{left} of {ENTRIES} entries left, at random: {broker.resident_mib - before:.1f} MiB more")
    with ExitStack() as stack:
        again = taking(stack, broker.port, "large", kind, name)
        for _ in range(left):
            again.until(pb.BaseCommand.MESSAGE)
        _gets_no_more(again)


def _take_and_ack_some(consumer: Bare, choice: random.Random) -> int:
    """How many it leaves."""
    left = 0
    for _ in range(ENTRIES // 1_000):
        ids = [consumer.until(pb.BaseCommand.MESSAGE).message.message_id for _ in range(1_000)]
        acked = choice.sample(ids, choice.randrange(400, 600))
        consumer.send(frame(pb.CommandAck(consumer_id=1, ack_type=pb.CommandAck.Individual, message_id=acked)))
        left += len(ids) - len(acked)
    assert consumer.is_served()
    return left


def _gets_no_more(consumer: Bare) -> None:
    consumer.send(frame(pb.CommandFlow(consumer_id=1, messagePermits=1)))
    assert consumer.is_served(pb.BaseCommand.MESSAGE)
