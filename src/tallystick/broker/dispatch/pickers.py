"""Who is next: in turn, or by key."""

from hashlib import blake2b

from tallystick.broker.consumer import Consumer
from tallystick.errors import Busy, InvalidArgument
from tallystick.wire.pulsar.hashing import murmur3_32

SLOTS = 1 << 16


class InTurn:
    """Shared: those of the highest priority (the lowest number) in turn, others while those have no room."""

    def __init__(self) -> None:
        self._by_priority: list[Consumer] = []
        self._last = 0

    def added(self, consumer: Consumer) -> None:
        self._by_priority.append(consumer)
        self._by_priority.sort(key=lambda c: c.priority)

    def removed(self, consumer: Consumer) -> None:
        self._by_priority.remove(consumer)

    def start_turn(self) -> None:
        pass

    def slot_of(self, key: bytes) -> int:
        return 0

    def pick(self, slot: int) -> Consumer | None:
        ready = [consumer for consumer in self._by_priority if consumer.can_take]
        if not ready:
            return None
        first = [consumer for consumer in ready if consumer.priority == ready[0].priority]
        self._last += 1
        return first[self._last % len(first)]

    def has_room(self) -> bool:
        return any(consumer.can_take for consumer in self._by_priority)

    def sent(self, consumer: Consumer, slot: int) -> None:
        pass

    def settled(self, consumer: Consumer, slot: int) -> None:
        pass


class ByKey:
    """Key_Shared: a key stays with one consumer while that holds anything of it, so its order is kept.

    Slots go to the consumer that scores highest for them: when consumers come or go, only the slots that they win or
    leave move. Where consumers bring ranges of their own, those decide.
    """

    def __init__(self, *, is_sticky: bool, keeps_order: bool) -> None:
        self._is_sticky = is_sticky
        self._keeps_order = keeps_order
        self._consumers: list[Consumer] = []
        self._assigned: dict[int, Consumer | None] = {}
        self._holders: dict[int, tuple[Consumer, int]] = {}
        """By slot: who holds entries of it that are not acknowledged, and how many."""
        self._must_wait: set[int] = set()

    def added(self, consumer: Consumer) -> None:
        if self._is_sticky:
            self._require_free(consumer)
        self._consumers.append(consumer)
        self._assigned.clear()

    def removed(self, consumer: Consumer) -> None:
        self._consumers.remove(consumer)
        self._assigned.clear()

    def _require_free(self, consumer: Consumer) -> None:
        if not consumer.sticky_ranges:
            raise InvalidArgument("key_shared ranges", "a sticky consumer names the ranges of hashes that it takes")
        for first, last in consumer.sticky_ranges:
            if not 0 <= first <= last < SLOTS:
                raise InvalidArgument("key_shared ranges", f"[{first}, {last}]: hashes go from 0 to {SLOTS - 1}")
            for other in self._consumers:
                if any(first <= b and a <= last for a, b in other.sticky_ranges):
                    raise Busy("consumer", f"Range conflict with consumer {other.name}: [{first}, {last}] is taken")

    def start_turn(self) -> None:
        self._must_wait.clear()

    def slot_of(self, key: bytes) -> int:
        return murmur3_32(key) % SLOTS

    def pick(self, slot: int) -> Consumer | None:
        if slot in self._must_wait:
            return None
        consumer = self._consumer_of(slot)
        holder = self._holders.get(slot)
        is_held_elsewhere = holder is not None and holder[0] is not consumer and self._keeps_order
        if consumer is None or is_held_elsewhere or not consumer.can_take:
            self._must_wait.add(slot)
            return None
        return consumer

    def _consumer_of(self, slot: int) -> Consumer | None:
        if slot not in self._assigned:
            self._assigned[slot] = self._in_range(slot) if self._is_sticky else self._highest(slot)
        return self._assigned[slot]

    def _in_range(self, slot: int) -> Consumer | None:
        return next((c for c in self._consumers if any(a <= slot <= b for a, b in c.sticky_ranges)), None)

    def _highest(self, slot: int) -> Consumer | None:
        best = min((c.priority for c in self._consumers), default=0)
        candidates = [c for c in self._consumers if c.priority == best]
        return max(candidates, key=lambda c: _score(slot, c), default=None)

    def has_room(self) -> bool:
        return any(consumer.can_take for consumer in self._consumers)

    def sent(self, consumer: Consumer, slot: int) -> None:
        _, held = self._holders.get(slot, (consumer, 0))
        self._holders[slot] = consumer, held + 1

    def settled(self, consumer: Consumer, slot: int) -> None:
        holder, held = self._holders[slot]
        if held > 1:
            self._holders[slot] = holder, held - 1
        else:
            del self._holders[slot]


def _score(slot: int, consumer: Consumer) -> bytes:
    return blake2b(slot.to_bytes(4, "big") + f"{consumer.name}\0{consumer.id}".encode(), digest_size=8).digest()
