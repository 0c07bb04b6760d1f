"""The thread that fetches messages."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from tallystick.errors import Closed
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Incoming
from tallystick.model.position import KafkaPosition
from tallystick.transports.kafka.arrivals import arrived, size_of
from tallystick.transports.kafka.claims import Claim, Claims
from tallystick.transports.kafka.clients import Watch, log
from tallystick.transports.kafka.commits import Commits
from tallystick.transports.kafka.room import Room

T = TypeVar("T")
HandOver = Callable[[list[Incoming]], None]

_TURN_S = 0.05
_BUSY_TURN_S = 0.01
"""While there is something to acknowledge: nothing wakes a consumer that polls."""
_LAST_COMMIT_S = 5.0
_AT_ONCE = 1000
_PAUSE_AFTER_S = 2.0
"""A program that takes nothing for so long is slow. Pausing throws away what librdkafka has fetched, so not sooner."""


class Fetching:
    """Owns the consumer: fetches while there is room, and does what others ask for in between.

    Without room nothing is fetched, yet the group sees that we live: partitions are paused and the consumer is polled.
    """

    def __init__(
        self,
        consumer: Consumer,
        watch: Watch,
        claims: Claims,
        commits: Commits | None,
        room: Room,
        hand_over: HandOver,
    ) -> None:
        self._consumer = consumer
        self._watch = watch
        self._claims = claims
        self._commits = commits
        self._room = room
        self._hand_over = hand_over
        self._asked: SimpleQueue[tuple[Callable[[], Any], Pending[Any]]] = SimpleQueue()
        self._again: list[tuple[float, int, Incoming]] = []
        self._number = count()
        self._delivered_at = 0.0
        self._is_paused = False
        self._must_end = False
        self._ended: Pending[None] = Pending()
        self._thread = threading.Thread(target=self._run, name="tallystick-kafka-inlet", daemon=True)

    @property
    def has_ended(self) -> bool:
        return self._ended.done()

    def start(self, join: Callable[[], list[Message]]) -> Pending[None]:
        """The answer is there when the consumer has its partitions."""
        opened: Pending[None] = Pending()
        self._asked.put((lambda: self._deliver(join()), opened))
        self._thread.start()
        return opened

    def ask(self, work: Callable[[], T]) -> Pending[T]:
        """Any thread. The work is done between two fetches."""
        answer: Pending[T] = Pending()
        self._asked.put((work, answer))
        self._room.wake()
        if self._ended.done():
            self._refuse_all()
        return answer

    def deliver_later(self, message: Incoming, delay_s: float) -> None:
        """Any thread."""
        due = time.monotonic() + delay_s
        self.ask(lambda: heappush(self._again, (due, next(self._number), message)))

    def close(self) -> Pending[None]:
        self._must_end = True
        self._room.wake()
        return self._ended

    def join(self) -> None:
        self._thread.join()

    def assigned(self, partitions: list[TopicPartition]) -> None:
        """In this thread, when partitions come."""
        if self._is_paused:
            self._consumer.pause(partitions)

    def drop(self, is_dropped: Callable[[Claim], bool]) -> None:
        """In this thread: what was to come again of these partitions does not."""
        self._again = [each for each in self._again if not is_dropped(each[2].receipt)]  # type: ignore[arg-type]
        heapify(self._again)

    def _run(self) -> None:
        while not self._must_end:
            try:
                self._turn()
            except Exception:  # noqa: BLE001 - a thread's edge: what failed is told, and the others go on
                log.exception("fetching from Kafka failed")
                time.sleep(_TURN_S)
        try:
            self._commit_last()
            self._consumer.close()
        except (KafkaException, RuntimeError):
            log.exception("a consumer of Kafka did not close well")
        self._claims.end([claim.place for claim in self._claims])
        self._ended.set(None)
        self._refuse_all()

    def _turn(self) -> None:
        self._do_what_is_asked()
        self._deliver_again()
        if self._commits is not None:
            self._commits.turn(self._consumer)
        left = self._room.left()
        if left:
            self._fetch(left)
        else:
            self._hold()

    def _do_what_is_asked(self) -> None:
        while not self._asked.empty():
            work, answer = self._asked.get()
            try:
                answer.set(work())
            except Exception as e:  # noqa: BLE001 - it belongs to the one who asked
                answer.fail(e)

    def _refuse_all(self) -> None:
        while True:
            try:
                _, answer = self._asked.get_nowait()
            except Empty:
                return
            answer.fail(Closed("the consumer is closed"))

    def _fetch(self, left: int) -> None:
        if self._is_paused:
            self._consumer.resume(self._consumer.assignment())
            self._is_paused = False
        messages = self._consumer.consume(min(left, _AT_ONCE), 0)
        if not messages:
            # Asked for many, librdkafka would wait for all of them.
            message = self._consumer.poll(self._patience_s())
            messages = [] if message is None else [message]
        self._deliver(messages)

    def _hold(self) -> None:
        is_urgent = self._commits is not None and self._commits.is_urgent
        if not is_urgent:
            self._room.wait(_TURN_S)
        if self._room.left() or not self._asked.empty():
            return
        if not self._is_paused and time.monotonic() > self._delivered_at + _PAUSE_AFTER_S:
            self._consumer.pause(self._consumer.assignment())
            self._is_paused = True
        if self._is_paused or is_urgent:
            message = self._consumer.poll(_BUSY_TURN_S if is_urgent else 0)
            self._deliver([] if message is None else [message])

    def _deliver(self, messages: list[Message]) -> None:
        if messages:
            self._give(arrived(messages, self._claims), size_of(messages))

    def _give(self, incoming: list[Incoming], size_bytes: int) -> None:
        if incoming:
            self._room.fill(len(incoming), size_bytes)
            self._delivered_at = time.monotonic()
            self._hand_over(incoming)

    def _deliver_again(self) -> None:
        due = []
        while self._again and self._again[0][0] <= time.monotonic():
            message = self._again_now(heappop(self._again)[2])
            if message is not None:
                due.append(message)
        self._give(due, sum(len(message.payload or b"") for message in due))

    def _again_now(self, message: Incoming) -> Incoming | None:
        claim, position = message.receipt, message.position
        assert isinstance(claim, Claim)
        assert isinstance(position, KafkaPosition)
        with self._claims.lock:
            if claim.has_ended or claim.progress.is_acknowledged(position.offset):
                return None
            return replace(message, redelivery_count=claim.progress.redeliveries(position.offset))

    def _patience_s(self) -> float:
        if self._again:
            return max(0.0, min(_BUSY_TURN_S, self._again[0][0] - time.monotonic()))
        is_busy = self._commits is not None and any(claim.progress.is_behind for claim in self._claims)
        return _BUSY_TURN_S if is_busy else _TURN_S

    def _commit_last(self) -> None:
        """What is acknowledged already, as long as Kafka answers."""
        if self._commits is None:
            return
        limit = time.monotonic() + _LAST_COMMIT_S
        while not self._commits.is_settled and time.monotonic() < limit and not self._watch.is_away(self._consumer):
            self._commits.turn(self._consumer, at_once=True)
            self._consumer.poll(_BUSY_TURN_S)
        self._commits.end()
