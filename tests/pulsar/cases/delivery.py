"""Messages, acknowledgements, redelivery, seeks, on the binary protocol."""

import time

from tallystick.wire.pulsar import pulsar_pb2 as api
from tests.pulsar.binary import (
    EARLIEST,
    EXCLUSIVE,
    FAILOVER,
    KEY_SHARED,
    LATEST,
    acknowledge,
    batch,
    entry_of,
    flow,
    ids,
    last_id,
    produce,
    received,
    redeliver,
    seek,
    send,
    subscribe,
)
from tests.pulsar.raw import Raw, entry
from tests.pulsar.target import Case, Outcomes, Target, path_of


def _filled(at: Target, raw: Raw, count: int = 4) -> str:
    topic = at.topic()
    produce(raw, topic, number=90)
    for number in range(count):
        send(raw, f"m{number}".encode(), 90, number)
    return topic


def permits(at: Target) -> Outcomes:
    with at.raw() as raw:
        topic = _filled(at, raw)
        yield "subscribed", subscribe(raw, topic, initialPosition=1, kind=EXCLUSIVE)
        yield "without permits", received(raw)
        flow(raw, permits=2)
        yield "two permits", received(raw)
        flow(raw, permits=10)
        yield "ten more", received(raw)


def initial_position(at: Target) -> Outcomes:
    with at.raw() as raw:
        topic = _filled(at, raw)
        subscribe(raw, topic, number=1, name="latest", initialPosition=0)
        subscribe(raw, topic, number=2, name="earliest", initialPosition=1)
        flow(raw, 1)
        flow(raw, 2)
        send(raw, b"later", 90, 9)
        yield "what each got", sorted(received(raw, 1, 6))


def shared_redelivery(at: Target) -> Outcomes:
    with at.raw() as raw:
        topic = _filled(at, raw)
        subscribe(raw, topic, initialPosition=1)
        flow(raw)
        yield "first", received(raw, 2, 4)
        redeliver(raw, ids(raw, 1))
        yield "one again", received(raw, 2, 1)
        redeliver(raw, ids(raw, 1))
        yield "and again", received(raw, 2, 1)
        redeliver(raw, [])
        yield "all", sorted(received(raw, 2, 4))
        yield "acknowledged", acknowledge(raw, ids(raw, 0, 2))
        redeliver(raw, [])
        yield "what is left", sorted(received(raw, 1, 3))


def a_shared_consumer_leaves(at: Target) -> Outcomes:
    with at.raw() as raw, at.raw() as other:
        topic = _filled(at, raw)
        subscribe(raw, topic, initialPosition=1)
        flow(raw)
        yield "the first gets all", received(raw, 2, 4)
        subscribe(other, topic)
        flow(other)
        yield "the second none", received(other)
        acknowledge(raw, ids(raw, 1))
        raw.request("CLOSE_CONSUMER", api.CommandCloseConsumer(consumer_id=1, request_id=0))
        yield "until the first leaves", sorted(received(other, 2, 3))


def exclusive_redelivery(at: Target) -> Outcomes:
    with at.raw() as raw:
        topic = _filled(at, raw)
        subscribe(raw, topic, initialPosition=1, kind=EXCLUSIVE)
        flow(raw)
        yield "first", received(raw, 2, 4)
        acknowledge(raw, ids(raw, 0))
        redeliver(raw, ids(raw, 2))
        yield "asked for one", received(raw, 2, 3)
        acknowledge(raw, ids(raw, 2))
        redeliver(raw, [])
        yield "asked for all", received(raw, 2, 2)
        raw.request("CLOSE_CONSUMER", api.CommandCloseConsumer(consumer_id=1, request_id=0))
        subscribe(raw, topic, kind=EXCLUSIVE)
        flow(raw)
        yield "after it came back", received(raw, 2, 2)


def acknowledgements(at: Target) -> Outcomes:
    with at.raw() as raw:
        topic = _filled(at, raw)
        subscribe(raw, topic, initialPosition=1, kind=EXCLUSIVE)
        flow(raw)
        received(raw, 2, 4)
        yield "one", acknowledge(raw, ids(raw, 0))
        yield "again", acknowledge(raw, ids(raw, 0))
        yield "up to one", acknowledge(raw, ids(raw, 2), cumulative=True)
        position = last_id(raw).consumer_mark_delete_position
        yield "everything is acknowledged up to", entry_of(position)
        yield "one that does not exist", acknowledge(raw, ids(raw, 99))
    with at.raw() as raw:
        subscribe(raw, topic, kind=EXCLUSIVE)
        flow(raw)
        yield "left for the next", received(raw, 1)


def parts_of_batches(at: Target) -> Outcomes:
    with at.raw() as raw:
        topic = at.topic()
        produce(raw, topic, number=90)
        subscribe(raw, topic)
        payload = batch(b"a", b"b", b"c", b"d")
        yield "sent", send(raw, payload, 90, num_messages_in_batch=4)
        flow(raw, permits=2)
        yield "a batch is not divided", received(raw, 2, 1)
        place = ids(raw, 0)[0]
        place.batch_size = 4
        place.ack_set.append(0b1010)
        yield "two of four", acknowledge(raw, [place])
        redeliver(raw, [])
        flow(raw)
        yield "comes again with what is left", received(raw, 2, 1)
        stats = at.ask("GET", f"{path_of(topic)}/stats").json()["subscriptions"]["s"]
        yield "backlog", [stats["msgBacklog"], stats["unackedMessages"]]
        last = last_id(raw).last_message_id
        yield "the last message", [entry_of(last), last.batch_index]


def seeking(at: Target) -> Outcomes:
    with at.raw() as raw:
        topic = _filled(at, raw)
        subscribe(raw, topic, initialPosition=1, kind=EXCLUSIVE)
        flow(raw)
        yield "first", received(raw, 2, 4)
        places = {
            "an entry": {"message_id": ids(raw, 2)[0]},
            "the earliest": {"message_id": EARLIEST},
            "the latest": {"message_id": LATEST},
            "a time long ago": {"message_publish_time": 1},
            "a time to come": {"message_publish_time": int(time.time() * 1000) + 60_000},
        }
        for where, to in places.items():
            yield f"to {where}", seek(raw, **to)
            yield f"to {where}: the consumer is closed", len(raw.pushes("CLOSE_CONSUMER", 15, 1))
            yield f"to {where}: it comes back", subscribe(raw, topic, kind=EXCLUSIVE)
            flow(raw)
            yield f"to {where}: gets", received(raw, 0.7)
        yield "to nowhere", seek(raw)
        yield "a number that is none", seek(raw, 55, message_publish_time=1)


def the_end(at: Target) -> Outcomes:
    with at.raw() as raw:
        topic = at.topic()
        subscribe(raw, topic)
        last = last_id(raw).last_message_id
        yield "of an empty topic", [entry_of(last), last.batch_index]
        produce(raw, topic, number=90)
        send(raw, b"x", 90)
        last = last_id(raw).last_message_id
        yield "after one", [entry_of(last), last.batch_index]
        answer = last_id(raw, 55)
        yield "for a number that is none", api.ServerError.Name(answer.error)


def bad_checksums(at: Target) -> Outcomes:
    with at.raw() as raw:
        topic = at.topic()
        produce(raw, topic)
        spoiled = bytearray(entry(b"payload"))
        spoiled[-1] ^= 1
        raw.command("SEND", api.CommandSend(producer_id=1, sequence_id=3), bytes(spoiled))
        answer, _ = raw.next()
        yield "refused with", api.ServerError.Name(answer.send_error.error)
        yield "the next", send(raw, sequence=4)


def deduplication(at: Target) -> Outcomes:
    topic = at.topic(at.namespace(deduplication=True))
    with at.raw() as raw:
        subscribe(raw, topic, initialPosition=1)
        produce(raw, topic, number=90, producer_name="p")
        yield "sent", [send(raw, b"x", 90, sequence) for sequence in (0, 1, 2)]
        yield "sent again", [send(raw, b"x", 90, sequence) for sequence in (1, 2)]
        yield "a new one", send(raw, b"x", 90, 3)
        flow(raw)
        yield "kept", received(raw, 1)
    with at.raw() as raw:
        answer = raw.request(
            "PRODUCER", api.CommandProducer(topic=topic, producer_id=1, request_id=0, producer_name="p")
        )
        yield "the producer comes back at", answer.last_sequence_id


def delays(at: Target) -> Outcomes:
    """One message a topic, so that nothing else wakes the subscription up."""
    with at.raw() as raw:
        for number in range(10):
            topic = at.topic()
            produce(raw, topic, number=number)
            subscribe(raw, topic, number=number)
            flow(raw, number)
        for number in range(10):
            send(raw, b"x", number, deliver_at_time=int(time.time() * 1000) + 300 + 7 * number)
        yield "each comes", sorted(received(raw, 5, 10))


def failover_of_partitions(at: Target) -> Outcomes:
    topic = at.topic(partitions=3)
    with at.raw() as one, at.raw() as two, at.raw() as three:
        for name, raw in {"c": one, "a": two, "b": three}.items():
            for number in range(3):
                subscribe(raw, f"{topic}-partition-{number}", number=number, kind=FAILOVER, consumer_name=name)
        time.sleep(2)
        active = []
        for number in range(3):
            stats = at.ask("GET", f"{path_of(topic)}-partition-{number}/stats").json()
            active.append(stats["subscriptions"]["s"]["activeConsumerName"])
        yield "active consumers", active
        told = {
            name: {one.consumer_id: one.is_active for one in raw.pushes("ACTIVE_CONSUMER_CHANGE", 0.2)}
            for name, raw in {"c": one, "a": two, "b": three}.items()
        }
        yield (
            "told at last",
            {name: sorted(number for number, is_active in by.items() if is_active) for name, by in told.items()},
        )


def failover_by_priority(at: Target) -> Outcomes:
    with at.raw() as raw, at.raw() as other:
        topic = _filled(at, raw, 2)
        subscribe(raw, topic, kind=FAILOVER, consumer_name="a", priority_level=1, initialPosition=1)
        flow(raw)
        yield "alone", received(raw, 3, 2)
        subscribe(other, topic, kind=FAILOVER, consumer_name="b", priority_level=0)
        flow(other)
        yield "the better one takes over", received(other, 3, 2)
        other.close()
        yield "and gives back", received(raw, 3, 2)


def keys_stay_together(at: Target) -> Outcomes:
    with at.raw() as raw, at.raw() as other:
        topic = at.topic()
        produce(raw, topic, number=90)
        subscribe(raw, topic, kind=KEY_SHARED, consumer_name="one")
        subscribe(other, topic, kind=KEY_SHARED, consumer_name="two")
        flow(raw)
        flow(other)
        for number in range(40):
            send(raw, b"x", 90, number, partition_key=f"k{number % 8}")
        first, second = received(raw, 1), received(other, 1)
        entries = [{place for _, place, *_ in got} for got in (first, second)]
        keys = [{place % 8 for place in got} for got in entries]
        yield "each once", len(entries[0] | entries[1]) == 40 == len(first) + len(second)
        yield "keys with both", sorted(keys[0] & keys[1])
        yield (
            "in order",
            all([place for _, place, *_ in got] == sorted(place for _, place, *_ in got) for got in (first, second)),
        )


def readers(at: Target) -> Outcomes:
    with at.raw() as raw:
        topic = _filled(at, raw)
        yield (
            "from the earliest",
            subscribe(raw, topic, number=1, name="reader", kind=EXCLUSIVE, durable=False, start_message_id=EARLIEST),
        )
        flow(raw)
        yield "gets", received(raw, 1)
        third = ids(raw, 2)[0]
        subscribe(raw, topic, number=2, name="reader2", kind=EXCLUSIVE, durable=False, start_message_id=third)
        flow(raw, 2)
        yield "from an entry", received(raw, 1)
    with at.raw() as raw:
        yield "gone with its connection", at.ask("GET", f"{path_of(topic)}/subscriptions").json()


def a_topic_is_deleted(at: Target) -> Outcomes:
    with at.raw() as raw:
        topic = _filled(at, raw)
        subscribe(raw, topic)
        yield "with clients", at.ask("DELETE", path_of(topic)).status_code
        yield "by force", at.ask("DELETE", f"{path_of(topic)}?force=true").status_code
        yield "the consumer is closed", len(raw.pushes("CLOSE_CONSUMER", 15, 1))
        yield "the producer is closed", len(raw.pushes("CLOSE_PRODUCER", 15, 1))


CASES: dict[str, Case] = {
    "delivery: permits": permits,
    "delivery: initial position": initial_position,
    "delivery: redelivery, shared": shared_redelivery,
    "delivery: a shared consumer leaves": a_shared_consumer_leaves,
    "delivery: redelivery, exclusive": exclusive_redelivery,
    "delivery: acknowledgements": acknowledgements,
    "delivery: parts of batches": parts_of_batches,
    "delivery: seeking": seeking,
    "delivery: the end": the_end,
    "delivery: bad checksums": bad_checksums,
    "delivery: deduplication": deduplication,
    "delivery: delays": delays,
    "delivery: failover of partitions": failover_of_partitions,
    "delivery: failover by priority": failover_by_priority,
    "delivery: keys stay together": keys_stay_together,
    "delivery: readers": readers,
    "delivery: a topic is deleted": a_topic_is_deleted,
}
