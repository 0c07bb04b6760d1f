"""Consumers and readers of our client on the embedded broker: who gets what, again, and from where."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count

import httpx
import pytest

from tallystick.errors import Busy, Closed, Unsupported
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Incoming
from tallystick.messaging.settings import EARLIEST, LATEST, Subscription
from tallystick.model.position import PulsarPosition
from tests.integration.pulsar_loop import SECONDS, Client, Inbox, client_of, numbered, put, send, send_all, wait_until
from tests.servers import RunningRegistry, running_registry

SHARED_KINDS = [Subscription.SHARED, Subscription.KEY_SHARED]
SINGLE_KINDS = [Subscription.EXCLUSIVE, Subscription.FAILOVER]
_numbers = count()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("data"), broker=True) as running:
        yield running


@pytest.fixture
def client(server: RunningRegistry) -> Iterator[Client]:
    with client_of(server.pulsar) as client:
        yield client


@pytest.fixture
def topic() -> str:
    return f"consuming-{next(_numbers)}"


def acknowledge(box: Inbox, *messages: Incoming, cumulative: bool = False) -> None:
    """Waits for the broker's answer."""
    for message in messages:
        done: Pending[None] = Pending()
        box.inlet.acknowledge(message, cumulative=cumulative, done=done)
        done.result(SECONDS)


def again(client: Client, box: Inbox, topic: str, kind: Subscription) -> Inbox:
    """The next consumer of the subscription."""
    client.close(box.inlet)
    return client.inbox(topic, subscription="s", kind=kind)


def backlog(server: RunningRegistry, topic: str) -> int:
    """Entries that are not acknowledged."""
    stats = httpx.get(f"{server.pulsar_admin}/persistent/public/default/{topic}/stats").json()
    return int(stats["subscriptions"]["s"]["msgBacklog"])


def a_moment_later() -> datetime:
    """A time after what was published until now, in the protocol's milliseconds."""
    now = time.time()
    wait_until(lambda: time.time() > now + 0.003)
    return datetime.now(UTC)


# Subscriptions


@pytest.mark.parametrize("kind", Subscription)
def test_what_is_acknowledged_does_not_come_again(client: Client, topic: str, kind: Subscription) -> None:
    box, outlet = client.inbox(topic, subscription="s", kind=kind), client.outlet(topic, batch_messages=10)
    send_all(outlet, numbered(30))
    acknowledge(box, *box.take(30)[:17])
    box = again(client, box, topic, kind)
    assert box.payloads(13) == numbered(13, 17)


@pytest.mark.parametrize("kind", SINGLE_KINDS)
@pytest.mark.parametrize("last", [0, 4, 9, 10, 25, 29])
def test_cumulative_acknowledgement(client: Client, topic: str, kind: Subscription, last: int) -> None:
    box, outlet = client.inbox(topic, subscription="s", kind=kind), client.outlet(topic, batch_messages=10)
    send_all(outlet, numbered(30))
    acknowledge(box, box.take(30)[last], cumulative=True)
    send(outlet, b"end")
    box = again(client, box, topic, kind)
    assert box.payloads(30 - last) == [*numbered(29 - last, last + 1), b"end"]


@pytest.mark.parametrize("kind", SHARED_KINDS)
def test_shared_subscriptions_acknowledge_each_message_by_itself(
    client: Client, topic: str, kind: Subscription
) -> None:
    box, outlet = client.inbox(topic, subscription="s", kind=kind), client.outlet(topic)
    send(outlet)
    with pytest.raises(Unsupported, match=topic):
        box.inlet.acknowledge(box.take(1)[0], cumulative=True)


def test_an_entry_is_acknowledged_with_its_last_message(client: Client, server: RunningRegistry, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic, batch_messages=100)
    send_all(outlet, numbered(100))
    arrived = box.take(100)
    for message in [*arrived[50:], *arrived[1:50], *arrived[3:9]]:
        box.inlet.acknowledge(message)
    acknowledge(box, arrived[99])
    assert backlog(server, topic) == 1
    acknowledge(box, arrived[0])
    assert backlog(server, topic) == 0


def test_acknowledgements_go_out_by_themselves(client: Client, server: RunningRegistry, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic, batch_messages=1)
    send_all(outlet, numbered(20))
    for message in box.take(20):
        box.inlet.acknowledge(message)
    wait_until(lambda: backlog(server, topic) == 0)


def test_a_closed_consumer_sends_what_waits(client: Client, server: RunningRegistry, topic: str) -> None:
    box = client.inbox(topic, subscription="s", acknowledge_delay_s=60.0)
    send(client.outlet(topic))
    (message,) = box.take(1)
    box.inlet.acknowledge(message)
    client.close(box.inlet)
    assert backlog(server, topic) == 0
    late: Pending[None] = Pending()
    box.inlet.acknowledge(message, done=late)
    with pytest.raises(Closed):
        late.result(SECONDS)


def test_an_exclusive_subscription_has_one_consumer(client: Client, topic: str) -> None:
    box = client.inbox(topic, subscription="s")
    with pytest.raises(Busy, match=topic):
        client.inbox(topic, subscription="s")
    client.close(box.inlet)
    client.inbox(topic, subscription="s")


def test_consumers_share(client: Client, topic: str) -> None:
    boxes = [client.inbox(topic, subscription="s", kind=Subscription.SHARED) for _ in range(2)]
    send_all(client.outlet(topic, batch_messages=1), numbered(40))
    boxes[0].wait(lambda: bool(boxes[0].messages))
    wait_until(lambda: sum(len(box.messages) for box in boxes) == 40)
    shares = [{message.payload for message in box.messages} for box in boxes]
    assert shares[0] | shares[1] == set(numbered(40))
    assert all(shares)


def test_keys_stay_with_their_consumer(client: Client, topic: str) -> None:
    boxes = [client.inbox(topic, subscription="s", kind=Subscription.KEY_SHARED) for _ in range(2)]
    outlet = client.outlet(topic, batch_messages=1)
    for number in range(60):
        put(outlet, str(number).encode(), key=f"key-{number % 6}".encode())
    wait_until(lambda: sum(len(box.messages) for box in boxes) == 60)
    keys = [{message.key for message in box.messages} for box in boxes]
    assert not keys[0] & keys[1]
    for box in boxes:
        numbers = [int(message.payload or b"") for message in box.messages]
        assert numbers == sorted(numbers)


def test_a_failover_consumer_takes_over(client: Client, topic: str) -> None:
    first = client.inbox(topic, subscription="s", kind=Subscription.FAILOVER, name="a")
    second = client.inbox(topic, subscription="s", kind=Subscription.FAILOVER, name="b")
    outlet = client.outlet(topic, batch_messages=1)
    send_all(outlet, numbered(10))
    acknowledge(first, *first.take(10)[:5])
    assert second.messages == []
    client.close(first.inlet)
    assert second.payloads(5) == numbered(5, 5)


def test_a_subscription_ends(client: Client, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic)
    send(outlet, b"before")
    box.take(1)
    client.loop.run(box.inlet.unsubscribe())
    box = client.inbox(topic, subscription="s", start=LATEST)
    send(outlet, b"after")
    assert box.payloads(1) == [b"after"]


# Fetching ahead


def test_no_more_is_fetched_than_the_queue_holds(client: Client, topic: str) -> None:
    send_all(client.outlet(topic, batch_messages=1), numbered(50))
    box = client.inbox(topic, subscription="s", start=EARLIEST, queue_size=10)
    box.wait(lambda: len(box.messages) == 10)
    assert box.payloads(1) == numbered(1)
    # A quarter of the queue has to be taken first; the answer to this question would come after more messages.
    client.loop.run(box.inlet.last_positions())
    assert len(box.messages) == 9
    assert [payload for _ in range(49) for payload in box.payloads(1)] == numbered(49, 1)


def test_one_busy_partition_of_many_does_not_run_dry(client: Client, server: RunningRegistry, topic: str) -> None:
    """Messages are told of late, when half of the queue was taken."""
    url = f"{server.pulsar_admin}/persistent/public/default/{topic}/partitions"
    assert httpx.put(url, json=8).status_code == 204
    box, outlet = client.inbox(topic, subscription="s", queue_size=16), client.outlet(topic, batch_messages=1)
    for number in range(100):
        put(outlet, str(number).encode(), partition=3)
    for start in range(0, 96, 8):
        assert box.payloads(8) == numbered(8, start)


@pytest.mark.parametrize("queue_size", [1, 3, 1000])
def test_batches_larger_than_the_queue(client: Client, topic: str, queue_size: int) -> None:
    send_all(client.outlet(topic, batch_messages=25), numbered(300))
    box = client.inbox(topic, subscription="s", start=EARLIEST, queue_size=queue_size)
    assert [payload for _ in range(300) for payload in box.payloads(1)] == numbered(300)


# Again


@pytest.mark.parametrize("kind", SHARED_KINDS)
def test_a_rejected_message_comes_again(client: Client, topic: str, kind: Subscription) -> None:
    box = client.inbox(topic, subscription="s", kind=kind, reject_delay_s=0.2)
    send_all(client.outlet(topic, batch_messages=1), numbered(3))
    arrived = box.take(3)
    began = time.monotonic()
    box.inlet.reject(arrived[1])
    acknowledge(box, arrived[0], arrived[2])
    (message,) = box.take(1)
    assert (message.payload, message.redelivery_count) == (b"1", 1)
    assert time.monotonic() - began >= 0.2
    box.inlet.reject(message)
    assert box.take(1)[0].redelivery_count == 2


def test_of_a_rejected_batch_only_the_rest_comes_again(client: Client, topic: str) -> None:
    box = client.inbox(topic, subscription="s", kind=Subscription.SHARED, reject_delay_s=0.2, acknowledge_delay_s=60.0)
    outlet = client.outlet(topic)
    send_all(outlet, numbered(5))
    arrived = box.take(5)
    for index in (0, 2, 4):
        box.inlet.acknowledge(arrived[index])
    box.inlet.reject(arrived[1])
    comes_again = box.take(2)
    assert [message.payload for message in comes_again] == [b"1", b"3"]
    # One from each delivery: together they complete the entry.
    acknowledge(box, arrived[1], comes_again[1])
    send(outlet, b"end")
    box = again(client, box, topic, Subscription.SHARED)
    assert box.payloads(1) == [b"end"]


@pytest.mark.parametrize("kind", Subscription)
def test_all_that_is_not_acknowledged_comes_again(client: Client, topic: str, kind: Subscription) -> None:
    box = client.inbox(topic, subscription="s", kind=kind)
    send_all(client.outlet(topic, batch_messages=4), numbered(12))
    acknowledge(box, *box.take(12)[:6])
    box.inlet.redeliver_all()
    assert box.payloads(6) == numbered(6, 6)


@pytest.mark.parametrize("kind", SINGLE_KINDS)
def test_the_order_holds_where_one_consumer_rejects(client: Client, topic: str, kind: Subscription) -> None:
    box = client.inbox(topic, subscription="s", kind=kind, reject_delay_s=0.05)
    send_all(client.outlet(topic, batch_messages=1), numbered(6))
    arrived = box.take(6)
    acknowledge(box, *arrived[:2])
    box.inlet.reject(arrived[3])
    assert box.payloads(4) == numbered(4, 2)


# Seeking


def test_seek_to_the_ends(client: Client, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic, batch_messages=7)
    send_all(outlet, numbered(20))
    acknowledge(box, *box.take(20))
    client.loop.run(box.inlet.seek(EARLIEST))
    assert box.payloads(20) == numbered(20)
    client.loop.run(box.inlet.seek(LATEST))
    send(outlet, b"new")
    assert box.payloads(1) == [b"new"]


@pytest.mark.parametrize("kind", Subscription)
@pytest.mark.parametrize("index", [0, 3, 7, 13, 19])
def test_seek_to_a_position(client: Client, topic: str, kind: Subscription, index: int) -> None:
    box, outlet = client.inbox(topic, subscription="s", kind=kind), client.outlet(topic, batch_messages=7)
    positions = send_all(outlet, numbered(20))
    acknowledge(box, *box.take(20))
    client.loop.run(box.inlet.seek(positions[index]))
    wanted = box.take(20 - index)
    assert [message.payload for message in wanted] == numbered(20 - index, index)
    # What came before the position in its batch needs no acknowledgement.
    acknowledge(box, *wanted)
    send(outlet, b"end")
    box = again(client, box, topic, kind)
    assert box.payloads(1) == [b"end"]


def test_seek_to_a_time(client: Client, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic)
    send_all(outlet, numbered(3))
    box.take(3)
    middle = a_moment_later()
    send_all(outlet, numbered(3, 3))
    box.take(3)
    client.loop.run(box.inlet.seek(middle))
    assert box.payloads(3) == numbered(3, 3)
    client.loop.run(box.inlet.seek(datetime(2020, 1, 1, tzinfo=UTC)))
    assert box.payloads(6) == numbered(6)
    client.loop.run(box.inlet.seek(datetime(2100, 1, 1, tzinfo=UTC)))
    send(outlet, b"new")
    assert box.payloads(1) == [b"new"]


def test_after_a_seek_acknowledgements_of_before_do_not_count(client: Client, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s", acknowledge_delay_s=60.0), client.outlet(topic)
    send_all(outlet, numbered(3))
    before = box.take(3)
    box.inlet.acknowledge(before[0])
    client.loop.run(box.inlet.seek(EARLIEST))
    assert box.payloads(3) == numbered(3)
    acknowledge(box, *before)
    box = again(client, box, topic, Subscription.EXCLUSIVE)
    assert box.payloads(3) == numbered(3)


def test_what_was_fetched_before_a_seek_does_not_stop_the_flow(client: Client, topic: str) -> None:
    send_all(client.outlet(topic, batch_messages=1), numbered(30))
    box = client.inbox(topic, subscription="s", start=EARLIEST, queue_size=5)

    async def seek() -> None:
        await box.inlet.seek(EARLIEST)
        box.drop()

    for _ in range(5):
        box.wait(lambda: len(box.messages) == 5)
        client.loop.run(seek())
    assert [payload for _ in range(30) for payload in box.payloads(1)] == numbered(30)


# Readers


def test_readers_begin_where_they_are_told(client: Client, topic: str) -> None:
    outlet = client.outlet(topic, batch_messages=1)
    send_all(outlet, numbered(3))
    earliest, latest = client.inbox(topic, start=EARLIEST), client.inbox(topic, start=LATEST)
    send(outlet, b"3")
    assert earliest.payloads(4) == numbered(4)
    assert latest.payloads(1) == [b"3"]
    (last,) = client.loop.run(earliest.inlet.last_positions()).values()
    assert isinstance(last, PulsarPosition)
    client.loop.run(latest.inlet.seek(PulsarPosition(last.ledger, 1)))
    assert latest.payloads(3) == numbered(3, 1)
    with pytest.raises(Unsupported, match="seek"):
        earliest.inlet.redeliver_all()


def test_a_reader_begins_at_a_time(client: Client, topic: str) -> None:
    outlet = client.outlet(topic)
    send_all(outlet, numbered(3))
    middle = a_moment_later()
    send_all(outlet, numbered(3, 3))
    assert client.inbox(topic, start=middle).payloads(3) == numbered(3, 3)


def test_a_new_subscription_begins_at_a_time_and_an_old_one_where_it_was(client: Client, topic: str) -> None:
    outlet = client.outlet(topic, batch_messages=1)
    send_all(outlet, numbered(3))
    middle = a_moment_later()
    send_all(outlet, numbered(3, 3))
    box = client.inbox(topic, subscription="s", start=middle)
    acknowledge(box, *box.take(3)[:1])
    client.close(box.inlet)
    box = client.inbox(topic, subscription="s", start=middle)
    assert box.payloads(2) == numbered(2, 4)


def test_the_last_position_of_an_empty_topic_is_none(client: Client, topic: str) -> None:
    box = client.inbox(topic)
    assert client.loop.run(box.inlet.last_positions()) == {-1: None}
    position = send_all(client.outlet(topic), numbered(3))[-1]
    assert client.loop.run(box.inlet.last_positions()) == {-1: position}
