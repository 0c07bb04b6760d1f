"""Prometheus metrics of topics, subscriptions and schema versions, taken when somebody asks for them.

A label is a series for ever, so their number is bounded: what is beyond a limit is summed under the label `*`.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tallystick.broker.admin.calls import LoopCalls
from tallystick.broker.broker import Broker
from tallystick.broker.subscription import Subscription
from tallystick.broker.topic import Topic
from tallystick.errors import BadRequest, Unavailable
from tallystick.wire.pulsar.schemas import version_of

MOST_TOPICS = 1000
_MOST_SUBSCRIPTIONS = 50
_MOST_VERSIONS = 50
_AT_ONCE = 100
"""Topics that are measured before messages have their turn again."""
OTHERS = "*"
_BEYOND = f"Beyond {MOST_TOPICS} topics those of a namespace are summed as topic {OTHERS!r}."


@dataclass(frozen=True, slots=True)
class SubscriptionNumbers:
    name: str
    messages_out: int
    bytes_out: int
    backlog: int
    unacked: int
    redelivered: int
    consumers: int


@dataclass(frozen=True, slots=True)
class TopicNumbers:
    namespace: str
    name: str
    messages_in: int
    bytes_in: int
    stored_bytes: int
    producers: int
    refused: int
    subscriptions: tuple[SubscriptionNumbers, ...]
    by_version: tuple[tuple[str, int], ...]


def numbers_of(topic: Topic) -> TopicNumbers:
    return TopicNumbers(
        topic.name.namespace,
        str(topic.name),
        topic.published.messages,
        topic.published.bytes,
        topic.bytes,
        len(topic.producers),
        topic.refused,
        tuple(_subscription(found) for found in topic.subscriptions.values()),
        tuple((_version(version), messages) for version, messages in topic.by_schema.most_common(_MOST_VERSIONS)),
    )


def _subscription(subscription: Subscription) -> SubscriptionNumbers:
    """Readers make names of their own each time; they are told together."""
    return SubscriptionNumbers(
        subscription.name if subscription.is_durable else OTHERS,
        subscription.out.messages,
        subscription.out.bytes,
        subscription.backlog,
        sum(consumer.unacked for consumer in subscription.consumers),
        subscription.redelivered,
        len(subscription.consumers),
    )


def _version(version: bytes) -> str:
    """As the registry counts, from 1; empty for messages that name none."""
    if not version:
        return ""
    try:
        return str(version_of(version))
    except BadRequest:
        return OTHERS


class BrokerMetrics(Collector):
    def __init__(self, measure: Callable[[], Sequence[TopicNumbers]]) -> None:
        self._measure = measure

    @classmethod
    def of(cls, broker: Broker, calls: LoopCalls) -> "BrokerMetrics":
        async def walk() -> list[TopicNumbers]:
            measured = []
            for at, topic in enumerate(broker.loaded):
                measured.append(numbers_of(topic))
                if at % _AT_ONCE == _AT_ONCE - 1:
                    await asyncio.sleep(0)
            return measured

        def measure() -> list[TopicNumbers]:
            try:
                return calls.run(walk)
            except Unavailable:
                return []

        return cls(measure)

    def collect(self) -> Iterable[Metric]:
        measured = sorted(self._measure(), key=lambda topic: topic.name)
        named = {topic.name for topic in measured[:MOST_TOPICS]}
        labelled = [((t.namespace, t.name if t.name in named else OTHERS), t) for t in measured]
        yield from _of_topics(labelled)
        yield from _of_subscriptions(labelled)


_Labels = tuple[str, ...]
_Labelled = Sequence[tuple[tuple[str, str], TopicNumbers]]


def _of_topics(topics: _Labelled) -> Iterator[Metric]:
    labels = ["namespace", "topic"]
    messages = CounterMetricFamily(
        "tallystick_broker_messages_in", f"Messages stored since the start. {_BEYOND}", labels=labels
    )
    yield _filled(messages, ((at, t.messages_in) for at, t in topics))
    size = CounterMetricFamily("tallystick_broker_bytes_in", "Bytes stored since the start.", labels=labels)
    yield _filled(size, ((at, t.bytes_in) for at, t in topics))
    kept = GaugeMetricFamily("tallystick_broker_stored_bytes", "Bytes that are kept.", labels=labels)
    yield _filled(kept, ((at, t.stored_bytes) for at, t in topics))
    producers = GaugeMetricFamily("tallystick_broker_producers", "Producers that are attached.", labels=labels)
    yield _filled(producers, ((at, t.producers) for at, t in topics))
    refused = CounterMetricFamily(
        "tallystick_broker_refused",
        "Entries refused since the start, by policy or as damaged.",
        labels=labels,
    )
    yield _filled(refused, ((at, t.refused) for at, t in topics))
    versions = CounterMetricFamily(
        "tallystick_broker_messages_by_schema",
        "Messages stored since the start, by the version of their schema; empty where they name none.",
        labels=[*labels, "version"],
    )
    yield _filled(versions, (((*at, version), number) for at, t in topics for version, number in t.by_version))


def _of_subscriptions(topics: _Labelled) -> Iterator[Metric]:
    labels = ["namespace", "topic", "subscription"]
    found = [((*at, name), numbers) for at, topic in topics for name, numbers in _named(at[1], topic)]
    messages = CounterMetricFamily(
        "tallystick_broker_messages_out",
        f"Messages sent since the start. Readers, and beyond {_MOST_SUBSCRIPTIONS} a topic's other subscriptions, are"
        f" summed as subscription {OTHERS!r}.",
        labels=labels,
    )
    yield _filled(messages, ((at, s.messages_out) for at, s in found))
    size = CounterMetricFamily("tallystick_broker_bytes_out", "Bytes sent since the start.", labels=labels)
    yield _filled(size, ((at, s.bytes_out) for at, s in found))
    backlog = GaugeMetricFamily("tallystick_broker_backlog", "Entries that are not acknowledged.", labels=labels)
    yield _filled(backlog, ((at, s.backlog) for at, s in found))
    unacked = GaugeMetricFamily(
        "tallystick_broker_unacked_messages", "Messages that consumers hold and have not acknowledged.", labels=labels
    )
    yield _filled(unacked, ((at, s.unacked) for at, s in found))
    again = CounterMetricFamily(
        "tallystick_broker_redelivered_messages", "Messages that were sent again since the start.", labels=labels
    )
    yield _filled(again, ((at, s.redelivered) for at, s in found))
    consumers = GaugeMetricFamily("tallystick_broker_consumers", "Consumers that are attached.", labels=labels)
    yield _filled(consumers, ((at, s.consumers) for at, s in found))


def _named(topic: str, numbers: TopicNumbers) -> Iterator[tuple[str, SubscriptionNumbers]]:
    for at, subscription in enumerate(sorted(numbers.subscriptions, key=lambda s: s.name)):
        is_named = topic != OTHERS and at < _MOST_SUBSCRIPTIONS
        yield subscription.name if is_named else OTHERS, subscription


def _filled(
    family: CounterMetricFamily | GaugeMetricFamily, numbers: Iterable[tuple[_Labels, float]]
) -> CounterMetricFamily | GaugeMetricFamily:
    sums: dict[_Labels, float] = {}
    for labels, number in numbers:
        sums[labels] = sums.get(labels, 0.0) + number
    for labels, number in sums.items():
        family.add_metric(labels, number)
    return family
