"""What producers were told and consumers were given while a broker was killed again and again, and what is wrong in it.

The log of a topic, read from its beginning when all is over, is the measure. A broker that was killed may store what
was not acknowledged, so clients may send some of it twice, and may deliver again what was acknowledged just before.
But each time somebody starts over, they start over once, and go on in order from there.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """`number` counts the messages of its producer."""

    producer: str
    number: int
    key: str


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A partition, or a topic that has none; the entry in it; the message in the entry."""

    topic: str
    entry: int
    index: int


@dataclass(frozen=True, slots=True)
class Delivery:
    consumer: str
    place: Place
    message: Message


@dataclass(slots=True)
class History:
    acknowledged: dict[str, list[Message]] = field(default_factory=lambda: defaultdict(list))
    """By topic: what a receipt was sent for."""
    delivered: dict[str, list[Delivery]] = field(default_factory=lambda: defaultdict(list))
    """By subscription, in the order in which its consumers got it."""


def log_problems(
    acknowledged: Collection[Message],
    log: Sequence[Delivery],
    *,
    restarts: int,
    is_deduplicating: bool = False,
    by_key: Collection[str] = (),
) -> list[str]:
    """`log` is the topic from its beginning, each partition in its order; `by_key` are the producers that put messages
    of one key into one batch, and so keep the order of each key only."""
    stored = {delivery.message for delivery in log}
    lost = sorted(set(acknowledged) - stored)
    found = [f"lost: {len(lost)} acknowledged messages, the first is {lost[0]}"] if lost else []
    if is_deduplicating and len(stored) != len(log):
        found.append(f"stored twice: {len(log) - len(stored)} messages, though duplicates are refused")

    def sender(delivery: Delivery) -> tuple[str, str, str]:
        producer = delivery.message.producer
        return delivery.place.topic, producer, delivery.message.key if producer in by_key else ""

    for who, sent in _by(log, sender).items():
        numbers = [delivery.message.number for delivery in sent]
        found += _order_problems(" ".join(who), numbers, restarts=0 if is_deduplicating else restarts)
    return found


def delivery_problems(
    deliveries: Sequence[Delivery],
    log: Sequence[Delivery],
    *,
    restarts: int,
    order: Callable[[Delivery], Hashable] | None,
) -> list[str]:
    """`order` names what is delivered in the order of the log: a partition, a key; None where nothing is."""
    found = _place_problems(deliveries, log)
    if order is None or found:
        return found
    of_log = _by(log, order)
    for what, given in _by(deliveries, order).items():
        found += _gap_problems(str(what), given, of_log[what])
        for consumer, to_it in _by(given, lambda d: d.consumer).items():
            found += _restart_problems(f"{what} at {consumer}", [d.place for d in to_it], restarts)
    return found


def comes_back(deliveries: Iterable[Delivery], before: Collection[Place]) -> list[str]:
    """After a clean restart nothing that was acknowledged may be delivered."""
    again = sorted({delivery.place for delivery in deliveries} & set(before))
    return [f"came back: {len(again)} acknowledged messages, the first is {again[0]}"] if again else []


def in_partition(delivery: Delivery) -> Hashable:
    return delivery.place.topic


def in_key(delivery: Delivery) -> Hashable:
    return delivery.place.topic, delivery.message.key


def redelivered(deliveries: Collection[Delivery]) -> int:
    return len(deliveries) - len({delivery.place for delivery in deliveries})


def _by(deliveries: Iterable[Delivery], key: Callable[[Delivery], K]) -> Mapping[K, list[Delivery]]:
    groups: dict[K, list[Delivery]] = defaultdict(list)
    for delivery in deliveries:
        groups[key(delivery)].append(delivery)
    return groups


def _place_problems(deliveries: Sequence[Delivery], log: Sequence[Delivery]) -> list[str]:
    at = {delivery.place: delivery.message for delivery in log}
    strange = [delivery for delivery in deliveries if at.get(delivery.place) != delivery.message]
    missing = sorted(set(at) - {delivery.place for delivery in deliveries})
    found = []
    if strange:
        found.append(f"strange: {len(strange)} deliveries of what the log has not, the first is {strange[0]}")
    if missing:
        found.append(f"missing: {len(missing)} were never delivered, the first is {missing[0]}")
    return found


def _gap_problems(what: str, given: Sequence[Delivery], log: Sequence[Delivery]) -> list[str]:
    """Each one comes when the one before it in the log has been delivered, to whomever."""
    number_of = {delivery.place: number for number, delivery in enumerate(log)}
    seen: set[int] = set()
    for delivery in given:
        number = number_of[delivery.place]
        if number > 0 and number - 1 not in seen:
            return [f"out of order: {what}: {delivery.place} came before {log[number - 1].place}"]
        seen.add(number)
    return []


def _order_problems(what: str, numbers: Sequence[int], restarts: int) -> list[str]:
    """New numbers come in their order; going back is sending again."""
    highest = -1
    for number, is_new in _with_news(numbers):
        if is_new and number < highest:
            return [f"out of order: {what}: {number} is after {highest}"]
        highest = max(highest, number)
    return _restart_problems(what, numbers, restarts)


def _with_news(numbers: Sequence[int]) -> Iterable[tuple[int, bool]]:
    seen: set[int] = set()
    for number in numbers:
        yield number, number not in seen
        seen.add(number)


def _restart_problems(what: str, values: Sequence[int] | Sequence[Place], restarts: int) -> list[str]:
    back = sum(after <= before for before, after in pairwise(values))  # type: ignore[operator]
    return [f"out of order: {what}: went back {back} times, with {restarts} restarts"] if back > restarts else []
