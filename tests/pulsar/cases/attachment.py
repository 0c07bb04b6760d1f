"""Names, look-ups, and who is let in beside whom."""

from itertools import product
from typing import Any

from tallystick.wire.pulsar import pulsar_pb2 as api
from tests.pulsar.binary import (
    EXCLUSIVE,
    FAILOVER,
    KEY_SHARED,
    SHARED,
    code_of,
    produce,
    send,
    subscribe,
)
from tests.pulsar.raw import Raw
from tests.pulsar.target import Case, Outcomes, Target, path_of

_TYPES = (EXCLUSIVE, SHARED, FAILOVER, KEY_SHARED)


def _partitions(raw: Raw, topic: str, **more: Any) -> Any:
    command = api.CommandPartitionedTopicMetadata(topic=topic, request_id=0, **more)
    answer = raw.request("PARTITIONED_METADATA", command)
    return api.ServerError.Name(answer.error) if answer.HasField("error") else answer.partitions


def _lookup(raw: Raw, topic: str) -> Any:
    answer = raw.request("LOOKUP", api.CommandLookupTopic(topic=topic, request_id=0))
    failed = answer.response == api.CommandLookupTopicResponse.Failed
    return api.ServerError.Name(answer.error) if failed else [answer.brokerServiceUrl, answer.authoritative]


def greeting(at: Target) -> Outcomes:
    with at.raw() as raw:
        yield "protocol version", raw.greeting.connected.protocol_version
        yield "largest message", raw.greeting.connected.max_message_size
    with at.raw(protocol_version=12) as raw:
        yield "protocol version for an old client", raw.greeting.connected.protocol_version


def metadata(at: Target) -> Outcomes:
    topic, partitioned = at.topic(), at.topic(partitions=3)
    names = {
        "a topic": topic,
        "a partitioned topic": partitioned,
        "a partition": f"{partitioned}-partition-0",
        "a partition that is none": f"{partitioned}-partition-7",
        "a missing topic": f"{topic}-missing",
        "a missing namespace": "persistent://public/no-such-namespace/t",
        "a missing tenant": "persistent://no-such-tenant/n/t",
        "a name without a topic": "persistent://public/default",
        "a name of another kind": "ftp://public/default/t",
        "a name of too many parts": "persistent://public/default/a/b",
    }
    with at.raw() as raw:
        for what, name in names.items():
            yield f"partitions of {what}", _partitions(raw, name)
        yield "partitions without creation", _partitions(raw, f"{topic}-none", metadata_auto_creation_enabled=False)
        for what in ("a topic", "a partition", "a missing topic", "a missing namespace", "a missing tenant"):
            yield f"look-up of {what}", _lookup(raw, names[what])


def short_names(at: Target) -> Outcomes:
    local = at.fresh("short")
    with at.raw() as raw:
        yield "partitions", _partitions(raw, local)
        yield "look-up", _lookup(raw, local)
        yield "a producer", produce(raw, local)
    yield "is this one", at.ask("GET", f"/persistent/public/default/{local}/partitions").json()


def topics_of_a_namespace(at: Target) -> Outcomes:
    namespace = at.namespace()
    for name in ("a1", "a2", "b1"):
        at.ask("PUT", f"/persistent/{namespace}/{name}", expect=204)
    at.ask("PUT", f"/persistent/{namespace}/p/partitions", 2, expect=204)

    def ask(raw: Raw, **more: Any) -> Any:
        command = api.CommandGetTopicsOfNamespace(request_id=0, **{"namespace": namespace, **more})
        return raw.request("GET_TOPICS_OF_NAMESPACE", command)

    with at.raw() as raw:
        whole = ask(raw)
        yield "all", sorted(whole.topics)
        yield "persistent", sorted(ask(raw, mode=api.CommandGetTopicsOfNamespace.PERSISTENT).topics)
        yield "not persistent", sorted(ask(raw, mode=api.CommandGetTopicsOfNamespace.NON_PERSISTENT).topics)
        found = ask(raw, topics_pattern=f"persistent://{namespace}/a.*")
        # A server may leave it to the client to filter.
        yield "by pattern", sorted(one for one in found.topics if "/a" in one)
        yield "unchanged since", ask(raw, topics_hash=whole.topics_hash).changed
        missing = ask(raw, namespace="public/no-such-namespace")
        yield "of a missing namespace", code_of(missing) or list(missing.topics)


def producers(at: Target) -> Outcomes:
    topic, partitioned = at.topic(), at.topic(partitions=2)
    with at.raw() as raw, at.raw() as other:
        yield "one", produce(raw, topic)
        yield "the same number again", produce(raw, topic)
        yield "by name", produce(raw, topic, number=2, producer_name="n")
        yield "the name again", produce(raw, topic, number=3, producer_name="n")
        yield "the name from elsewhere", produce(other, topic, producer_name="n")
        yield "the name on another topic", produce(other, at.topic(), number=4, producer_name="n")
        yield "on a partitioned topic's own name", produce(raw, partitioned, number=5)
        yield "on a partition", produce(raw, f"{partitioned}-partition-1", number=6)
        yield "on a partition that is none", produce(raw, f"{partitioned}-partition-9", number=7)
        yield "on a name that is none", produce(raw, "x//y", number=8)
        raw.request("CLOSE_PRODUCER", api.CommandCloseProducer(producer_id=2, request_id=0))
        yield "the name when it is free", produce(other, topic, number=9, producer_name="n")
        closed = raw.request("CLOSE_PRODUCER", api.CommandCloseProducer(producer_id=77, request_id=0))
        yield "to close one that is none", code_of(closed) or "closed"


def names_of_producers(at: Target) -> Outcomes:
    topic = at.topic()
    with at.raw() as raw:
        answers = [
            raw.request("PRODUCER", api.CommandProducer(topic=topic, producer_id=number, request_id=0))
            for number in (1, 2)
        ]
    names = {answer.producer_name for answer in answers}
    yield "given names", [len(names), all(names)]
    yield "last sequence ids", [answer.last_sequence_id for answer in answers]


def types_of_subscriptions(at: Target) -> Outcomes:
    for first, second in product(_TYPES, _TYPES):
        topic = at.topic()
        with at.raw() as raw, at.raw() as other:
            subscribe(raw, topic, kind=first)
            yield f"{second} beside {first}", subscribe(other, topic, kind=second)


def consumers(at: Target) -> Outcomes:
    topic, partitioned = at.topic(), at.topic(partitions=2)
    with at.raw() as raw, at.raw() as other:
        yield "one", subscribe(raw, topic, kind=EXCLUSIVE)
        yield "the same number again", subscribe(raw, topic, kind=EXCLUSIVE)
        yield "on a partitioned topic's own name", subscribe(raw, partitioned, number=2)
        yield (
            "on a missing topic, not to be created",
            subscribe(raw, f"{topic}-missing", number=3, force_topic_creation=False),
        )
        yield "with another subscription", subscribe(raw, topic, number=4, name="t", kind=EXCLUSIVE)
        yield "with a strange name", subscribe(raw, topic, number=5, name="s/x y ä")
        raw.request("CLOSE_CONSUMER", api.CommandCloseConsumer(consumer_id=1, request_id=0))
        yield "another when it is free", subscribe(other, topic, kind=EXCLUSIVE)
        yield "of another type when it was empty", subscribe(other, topic, number=6, name="u", kind=SHARED)
        listed = at.ask("GET", f"{path_of(topic)}/subscriptions").json()
        yield "listed", sorted(listed)


def a_type_changes_when_nobody_is_left(at: Target) -> Outcomes:
    topic = at.topic()
    for number, (name, kind) in enumerate((("shared", SHARED), ("exclusive", EXCLUSIVE), ("by key", KEY_SHARED))):
        with at.raw() as raw:
            yield f"{number}: {name}", subscribe(raw, topic, kind=kind)
            # With its answer: brokers notice a connection that is gone only some time later.
            raw.request("CLOSE_CONSUMER", api.CommandCloseConsumer(consumer_id=1, request_id=0))


def unsubscribing(at: Target) -> Outcomes:
    topic = at.topic()

    def leave(raw: Raw, number: int = 1, **more: Any) -> str:
        answer = raw.request("UNSUBSCRIBE", api.CommandUnsubscribe(consumer_id=number, request_id=0, **more))
        return code_of(answer) or "unsubscribed"

    with at.raw() as raw, at.raw() as other:
        subscribe(raw, topic)
        subscribe(other, topic)
        yield "with two consumers", leave(raw)
        other.request("CLOSE_CONSUMER", api.CommandCloseConsumer(consumer_id=1, request_id=0))
        yield "alone", leave(raw)
        yield "again", leave(raw)
        yield "a number that is none", leave(raw, 55)
        yield "subscriptions left", at.ask("GET", f"{path_of(topic)}/subscriptions").json()


def created_by_use(at: Target) -> Outcomes:
    namespace = at.namespace()
    with at.raw() as raw:
        for name in ("by-producer", "by-consumer"):
            raw.request("LOOKUP", api.CommandLookupTopic(topic=f"persistent://{namespace}/{name}", request_id=0))
        yield "before", at.ask("GET", f"/persistent/{namespace}").json()
        yield "a producer", produce(raw, f"persistent://{namespace}/by-producer")
        yield "a consumer", subscribe(raw, f"persistent://{namespace}/by-consumer")
        yield "after", sorted(at.ask("GET", f"/persistent/{namespace}").json())


def creation_switched_off(at: Target) -> Outcomes:
    namespace = at.namespace()
    switched = at.ask("POST", f"/namespaces/{namespace}/autoTopicCreation", {"allowAutoTopicCreation": False})
    yield "switched off", switched.status_code
    if not switched.is_success:
        return
    topic = f"persistent://{namespace}/t"
    with at.raw() as raw:
        yield "partitions", _partitions(raw, topic)
        raw.request("LOOKUP", api.CommandLookupTopic(topic=topic, request_id=0))
        yield "a producer", produce(raw, topic)
        yield "a consumer", subscribe(raw, topic)
        yield "topics", at.ask("GET", f"/persistent/{namespace}").json()


def terminated(at: Target) -> Outcomes:
    topic = at.topic()
    with at.raw() as raw:
        produce(raw, topic)
        yield "a message", send(raw)
        ended = at.ask("POST", f"{path_of(topic)}/terminate")
        yield "terminated", ended.status_code
        if not ended.is_success:
            return
        yield "the producer is closed", len(raw.pushes("CLOSE_PRODUCER", 15, 1))
        yield "a new producer", produce(raw, topic, number=2)


CASES: dict[str, Case] = {
    "attachment: greeting": greeting,
    "attachment: partition metadata and look-up": metadata,
    "attachment: short names": short_names,
    "attachment: topics of a namespace": topics_of_a_namespace,
    "attachment: producers": producers,
    "attachment: names of producers": names_of_producers,
    "attachment: types of subscriptions": types_of_subscriptions,
    "attachment: consumers": consumers,
    "attachment: a type changes when nobody is left": a_type_changes_when_nobody_is_left,
    "attachment: unsubscribing": unsubscribing,
    "attachment: created by use": created_by_use,
    "attachment: creation switched off": creation_switched_off,
    "attachment: terminated topics": terminated,
}
