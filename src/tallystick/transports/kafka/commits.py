"""A group's places, written to Kafka as messages are acknowledged."""

import time
from collections.abc import Iterable
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from tallystick.errors import Closed, TallystickError
from tallystick.messaging.pending import Pending
from tallystick.transports.kafka.claims import Claim, Claims
from tallystick.transports.kafka.clients import Watch, log
from tallystick.transports.kafka.failures import translated

News = list[tuple[Claim, int]]
_RETRY_S = 0.1


class Waiting(NamedTuple):
    """Who waits for Kafka to know of an acknowledgement, and until when."""

    done: Pending[None]
    claim: Claim
    limit: float


class Commits:
    """One commit at a time, in the consumer's thread; what is acknowledged meanwhile goes into the next.

    What fails is tried again, as most of it passes by itself: a group that rebalances, a broker that restarts.
    Kafka keeps one place for each partition: the first message that is not acknowledged. `done` of a message ahead of
    others is set as soon as that place is known to Kafka; after a restart such a message comes again.
    """

    def __init__(self, claims: Claims, watch: Watch, delay_s: float, timeout_s: float, servers: str) -> None:
        self._claims = claims
        self._watch = watch
        self._delay_s = delay_s
        self._timeout_s = timeout_s
        self._servers = servers
        self._changed: set[Claim] = set()
        self._waiting: list[Waiting] = []
        self._under_way: News | None = None
        self._waiting_for_answer: list[Waiting] = []
        self._sent_at = 0.0
        self._not_before = 0.0
        self._has_ended = False

    @property
    def is_urgent(self) -> bool:
        """Whether somebody waits for the answer."""
        return bool(self._waiting or self._waiting_for_answer)

    @property
    def is_settled(self) -> bool:
        """Whether Kafka knows all."""
        return not self._changed and self._under_way is None

    def acknowledge(self, claim: Claim, offset: int, *, cumulative: bool, done: Pending[None] | None) -> None:
        """Any thread."""
        with self._claims.lock:
            is_late = claim.has_ended or self._has_ended
            if not is_late:
                if cumulative:
                    claim.progress.acknowledge_through(offset)
                else:
                    claim.progress.acknowledge(offset)
                self._changed.add(claim)
                if done is not None:
                    self._waiting.append(Waiting(done, claim, time.monotonic() + self._timeout_s))
        if is_late and done is not None:
            done.fail(_gone(claim))

    def moved(self, claims: Iterable[Claim]) -> None:
        """The places of these partitions are to be kept, without any acknowledgement."""
        with self._claims.lock:
            self._changed.update(claims)

    def turn(self, consumer: Consumer, *, at_once: bool = False) -> None:
        """Sends what is due."""
        now = time.monotonic()
        if self._under_way is not None:
            self._give_up_on(self._waiting_for_answer, now)
        elif now < self._not_before or not (self._waiting or self._is_due(now, at_once)):
            return
        elif self._watch.is_away(consumer):
            # librdkafka would not let go of a commit, nor let itself be closed, for a long time.
            self._not_before = now + _RETRY_S
            self._give_up_on(self._waiting, now)
        else:
            self._send(consumer)

    def _is_due(self, now: float, at_once: bool) -> bool:
        return bool(self._changed) and (at_once or now > self._sent_at + self._delay_s)

    def answered(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        """librdkafka's on_commit."""
        if self._under_way is None:
            return
        failed = error or next((each.error for each in partitions if each.error is not None), None)
        self._finish(None if failed is None else self._failure(failed, self._under_way))

    def write(self, consumer: Consumer, claims: Iterable[Claim]) -> None:
        """Now, and waits for the answer: before partitions are given away."""
        news = self._news(claims)
        if not news or self._has_ended:
            return
        try:
            consumer.commit(offsets=_offsets(news), asynchronous=False)
        except KafkaException as e:
            log.warning("acknowledged messages come again: %s", self._failure(e.args[0], news))
            return
        _keep(news)

    def end(self) -> None:
        """Nothing is kept any more."""
        with self._claims.lock:
            self._has_ended = True
            waiting = self._waiting + self._waiting_for_answer
            self._waiting, self._waiting_for_answer = [], []
        _fail(waiting, Closed("the consumer was closed before Kafka had kept the acknowledgement"))

    def _send(self, consumer: Consumer) -> None:
        with self._claims.lock:
            claims, self._changed = self._changed, set()
            self._waiting_for_answer, self._waiting = self._waiting, []
        self._under_way = self._news(claims)
        self._sent_at = time.monotonic()
        if not self._under_way:
            self._finish(None)
            return
        try:
            consumer.commit(offsets=_offsets(self._under_way), asynchronous=True)
        except KafkaException as e:
            self._finish(self._failure(e.args[0], self._under_way))

    def _finish(self, error: TallystickError | None) -> None:
        news, self._under_way = self._under_way or [], None
        waiting, self._waiting_for_answer = self._waiting_for_answer, []
        if error is None:
            _keep(news)
            for each in waiting:
                _tell(each)
            return
        log.info("acknowledgements are sent again: %s", error)
        self._not_before = time.monotonic() + _RETRY_S
        with self._claims.lock:
            self._changed.update(claim for claim, _ in news if not claim.has_ended)
            if error.transient:
                self._waiting[:0] = waiting
        if error.transient:
            self._give_up_on(self._waiting, self._not_before, error)
        else:
            _fail(waiting, error)

    def _give_up_on(self, waiting: list[Waiting], now: float, error: TallystickError | None = None) -> None:
        """Those whose time is up. What they acknowledged is sent nevertheless, as soon as that can be."""
        with self._claims.lock:
            late = [each for each in waiting if now >= each.limit]
            waiting[:] = [each for each in waiting if now < each.limit]
        _fail(late, error or self._watch.unreachable(self._timeout_s))

    def _news(self, claims: Iterable[Claim]) -> News:
        with self._claims.lock:
            places = [(claim, claim.progress.low) for claim in claims if not claim.has_ended]
        return [(claim, low) for claim, low in places if low >= 0 and low != claim.kept]

    def _failure(self, error: KafkaError, news: News) -> TallystickError:
        return translated(error, ", ".join(sorted({claim.place[0] for claim, _ in news})), self._servers)


def _offsets(news: News) -> list[TopicPartition]:
    return [TopicPartition(*claim.place, low) for claim, low in news]


def _keep(news: News) -> None:
    for claim, low in news:
        claim.kept = low


def _fail(waiting: Iterable[Waiting], error: TallystickError) -> None:
    for each in waiting:
        each.done.fail(error)


def _tell(waiting: Waiting) -> None:
    claim = waiting.claim
    if claim.has_ended and claim.kept != claim.progress.low:
        waiting.done.fail(_gone(claim))
    else:
        waiting.done.set(None)


def _gone(claim: Claim) -> Closed:
    topic, partition = claim.place
    return Closed(f"partition {partition} of topic {topic} is not this consumer's any more: the message comes again")
