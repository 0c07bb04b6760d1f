"""Where consumers and readers begin, go on, and share."""

import datetime as dt
import time
from collections import Counter

import pytest

from tallystick import AvroSchema, Busy, Client, InvalidArgument, Subscription, TimedOut
from tests.contracts import orders
from tests.contracts.clusters import PULSARS, Cluster
from tests.contracts.orders import WAIT_S, ids, order, received
from tests.integration.servers import wait_until

ORDERS = AvroSchema(orders.FIRST)


def _send(client: Client, topic: str, *numbers: int, keys: int = 0) -> list[object]:
    with client.producer(topic, ORDERS, batch_messages=1) as producer:
        return [producer.send(order(n), key=f"key {n % keys}" if keys else None) for n in numbers]


def test_a_subscription_goes_on_where_it_was(client: Client, topic: str) -> None:
    _send(client, topic, 0, 1, 2, 3)
    with client.consumer(topic, "s", ORDERS, start="earliest") as consumer:
        for message in received(consumer, 2):
            consumer.acknowledge_async(message).result(WAIT_S)
    with client.consumer(topic, "s", ORDERS, start="earliest") as consumer:
        assert ids(received(consumer, 2)) == [2, 3]


def test_acknowledgements_that_wait_are_sent_when_the_consumer_closes(client: Client, topic: str) -> None:
    _send(client, topic, 0, 1, 2)
    with client.consumer(topic, "s", ORDERS, start="earliest", acknowledge_delay_s=60) as consumer:
        for message in received(consumer, 2):
            consumer.acknowledge(message)
    with client.consumer(topic, "s", ORDERS, start="earliest") as consumer:
        assert ids(received(consumer, 1)) == [2]


def test_all_before_a_message_can_be_acknowledged_with_it(client: Client, topic: str) -> None:
    _send(client, topic, 0, 1, 2, 3)
    with client.consumer(topic, "s", ORDERS, start="earliest") as consumer:
        consumer.acknowledge_cumulative(received(consumer, 3)[-1])
    with client.consumer(topic, "s", ORDERS, start="earliest") as consumer:
        assert ids(received(consumer, 1)) == [3]


def test_each_subscription_has_a_place_of_its_own(client: Client, topic: str) -> None:
    _send(client, topic, 0, 1)
    for name in ("a", "b"):
        with client.consumer(topic, name, ORDERS, start="earliest") as consumer:
            for message in received(consumer, 2):
                consumer.acknowledge_async(message).result(WAIT_S)
            assert ids([message]) == [1]


def test_a_new_subscription_begins_with_what_comes_next_unless_told_otherwise(client: Client, topic: str) -> None:
    _send(client, topic, 0, 1)
    with client.consumer(topic, "s", ORDERS) as consumer:
        _send(client, topic, 2)
        assert ids(received(consumer, 1)) == [2]


def test_a_reader_begins_where_it_is_told(client: Client, topic: str) -> None:
    _send(client, topic, 0, 1)
    for _ in range(2):
        with client.reader(topic, ORDERS) as reader:
            assert ids(received(reader, 2)) == [0, 1]
    with client.reader(topic, ORDERS, start="latest") as reader:
        _send(client, topic, 2)
        assert ids(received(reader, 1)) == [2]


def test_seeking_by_name_and_by_position(client: Client, topic: str) -> None:
    sent = _send(client, topic, 0, 1, 2, 3)
    with client.consumer(topic, "s", ORDERS, start="earliest") as consumer:
        assert ids(received(consumer, 2)) == [0, 1]
        consumer.seek("earliest")
        assert ids(received(consumer, 4)) == [0, 1, 2, 3]
        consumer.seek(sent[2])  # type: ignore[arg-type]
        assert ids(received(consumer, 2)) == [2, 3]
        consumer.seek("latest")
        _send(client, topic, 4)
        assert ids(received(consumer, 1)) == [4]


def test_seeking_a_message_within_a_batch(client: Client, topic: str) -> None:
    with client.producer(topic, ORDERS, batch_delay_s=5.0) as producer:
        pending = [producer.send_async(order(number)) for number in range(6)]
        producer.flush()
        positions = [each.result(WAIT_S) for each in pending]
    with client.reader(topic, ORDERS) as reader:
        assert ids(received(reader, 6)) == list(range(6))
        reader.seek(positions[3])
        assert ids(received(reader, 3)) == [3, 4, 5]


def test_seeking_a_time(client: Client, topic: str) -> None:
    _send(client, topic, 0, 1)
    with client.reader(topic, ORDERS) as reader:
        times = [message.publish_time for message in received(reader, 2)]
        last = times[1]
        assert last is not None
        # The clock of a broker has milliseconds: what is sent from the next one on is later.
        wait_until(lambda: dt.datetime.now(dt.UTC) > last + dt.timedelta(milliseconds=2))
        _send(client, topic, 2, 3)
        reader.seek(last + dt.timedelta(milliseconds=1))
        assert ids(received(reader, 2)) == [2, 3]
        reader.seek(dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
        assert ids(received(reader, 4)) == [0, 1, 2, 3]


def test_a_place_that_is_none_is_refused(client: Client, topic: str) -> None:
    with client.producer(topic, ORDERS), client.reader(topic, ORDERS) as reader, pytest.raises(InvalidArgument):
        reader.seek("somewhere")


def test_the_last_position_of_each_partition_is_known(client: Client, cluster: Cluster, topic: str) -> None:
    sent = _send(client, topic, 0, 1)
    with client.reader(topic, ORDERS) as reader:
        assert list(reader.last_positions().values()) == [sent[-1]]
    divided = cluster.topic(partitions=2)
    with client.producer(divided, ORDERS) as producer:
        one = producer.new_message().value(order(0)).partition(1).send()
    with client.reader(divided, ORDERS) as reader:
        assert reader.last_positions() == {0: None, 1: one}


def test_one_consumer_of_several_topics(client: Client, cluster: Cluster) -> None:
    topics = [cluster.topic(name) for name in ("a", "b", "c")]
    for number, each in enumerate(topics):
        _send(client, each, number, number + 10)
    with client.consumer(topics, "s", ORDERS, start="earliest") as consumer:
        messages = received(consumer, 6)
        for message in messages:
            consumer.acknowledge_async(message).result(WAIT_S)
    for number, each in enumerate(topics):
        assert ids([message for message in messages if each in message.topic]) == [number, number + 10]
    with client.consumer(topics, "s", ORDERS, start="earliest") as consumer:
        _send(client, topics[1], 5)
        assert ids(received(consumer, 1)) == [5]


def test_all_partitions_are_read(client: Client, cluster: Cluster) -> None:
    topic = cluster.topic(partitions=3)
    _send(client, topic, *range(12), keys=12)
    with client.consumer(topic, "s", ORDERS, start="earliest") as consumer:
        messages = received(consumer, 12)
        assert sorted(ids(messages)) == list(range(12))
        for message in messages:
            consumer.acknowledge_async(message).result(WAIT_S)
    _send(client, topic, 12)
    with client.consumer(topic, "s", ORDERS, start="earliest") as consumer:
        assert ids(received(consumer, 1)) == [12]


@pytest.mark.parametrize("kind", list(Subscription))
def test_every_kind_of_subscription_delivers_each_message_once(
    client: Client, cluster: Cluster, kind: Subscription
) -> None:
    topic = cluster.topic(partitions=2)
    with client.consumer(topic, "s", ORDERS, start="earliest", kind=kind) as consumer:
        _send(client, topic, *range(8), keys=4)
        messages = received(consumer, 8)
        assert sorted(ids(messages)) == list(range(8))
        for message in messages:
            consumer.acknowledge_async(message).result(WAIT_S)
        with pytest.raises(TimedOut):
            consumer.receive(0.2)


@pytest.mark.parametrize("kind", [Subscription.SHARED, Subscription.KEY_SHARED])
def test_consumers_share_the_messages_of_a_subscription(client: Client, cluster: Cluster, kind: Subscription) -> None:
    topic = cluster.topic(partitions=2)
    with (
        client.consumer(topic, "s", ORDERS, start="earliest", kind=kind, queue_size=10) as one,
        client.consumer(topic, "s", ORDERS, start="earliest", kind=kind, queue_size=10) as other,
    ):
        _send(client, topic, *range(40), keys=20)
        taken: Counter[int] = Counter()
        by_key: dict[str | None, set[int]] = {}
        limit = time.monotonic() + WAIT_S
        while len(taken) < 40 and time.monotonic() < limit:
            for number, consumer in enumerate((one, other)):
                for message in consumer.receive_many(10, 0.02):
                    taken[message.value["id"]] += 1
                    by_key.setdefault(message.key, set()).add(number)
                    consumer.acknowledge(message)
        assert sorted(taken) == list(range(40))
        assert max(taken.values()) == 1
        if kind is Subscription.KEY_SHARED:
            assert {len(consumers) for consumers in by_key.values()} == {1}


@pytest.mark.parametrize("cluster", PULSARS, indirect=True)
def test_an_exclusive_subscription_lets_one_consumer_in(client: Client, topic: str) -> None:
    with client.consumer(topic, "s", ORDERS), pytest.raises(Busy):
        client.consumer(topic, "s", ORDERS)
    client.consumer(topic, "s", ORDERS).close()


@pytest.mark.parametrize("cluster", PULSARS, indirect=True)
def test_another_consumer_takes_over_when_the_active_one_closes(client: Client, topic: str) -> None:
    consumers = [client.consumer(topic, "s", ORDERS, kind="failover", name=name, start="earliest") for name in "ab"]
    _send(client, topic, 0, 1)
    waiting = [consumer.receive_async() for consumer in consumers]
    wait_until(lambda: any(each.done() for each in waiting), WAIT_S)
    active = 0 if waiting[0].done() else 1
    message = waiting[active].result()
    assert ids([message]) == [0]
    consumers[active].acknowledge_async(message).result(WAIT_S)
    consumers[active].close()
    assert ids([waiting[1 - active].result(WAIT_S)]) == [1]
    consumers[1 - active].close()


def test_an_unsubscribed_subscription_has_no_place_any_more(client: Client, topic: str) -> None:
    _send(client, topic, 0, 1)
    consumer = client.consumer(topic, "s", ORDERS, start="earliest")
    consumer.acknowledge_async(consumer.receive(WAIT_S)).result(WAIT_S)
    consumer.unsubscribe()
    consumer.close()
    with client.consumer(topic, "s", ORDERS, start="earliest") as consumer:
        assert ids(received(consumer, 2)) == [0, 1]
