"""How a consumer gets its partitions: as a member of a group, or all of them as a reader."""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from tallystick.messaging.settings import EARLIEST, StartAt
from tallystick.model.position import KafkaPosition
from tallystick.transports.kafka.claims import Claims
from tallystick.transports.kafka.clients import Watch, log
from tallystick.transports.kafka.commits import Commits
from tallystick.transports.kafka.failures import DENIALS, MISFITS, translated
from tallystick.transports.kafka.starting import Place, committed, offsets_at

_TURN_S = 0.05
_UNKNOWN = -1
"""An offset before all others: the first message that arrives says where it begins."""

Assigned = Callable[[list[TopicPartition]], None]


class Membership(Protocol):
    def join(self, places: Sequence[Place], limit: float) -> list[Message]:
        """Returns when the partitions are there, or at the limit; with messages that came meanwhile. Blocks."""


class Reader:
    """All partitions that the topics have when it is opened, without a group."""

    def __init__(self, consumer: Consumer, claims: Claims, start: StartAt | KafkaPosition) -> None:
        self._consumer = consumer
        self._claims = claims
        self._start = start

    def join(self, places: Sequence[Place], limit: float) -> list[Message]:
        offsets = offsets_at(self._consumer, places, self._start, _left(limit))
        if isinstance(self._start, KafkaPosition):
            # Of the other partitions nothing is said, so nothing of them is left out.
            offsets = offsets_at(self._consumer, places, EARLIEST, _left(limit)) | offsets
        for place, offset in offsets.items():
            self._claims.begin(place, offset, None)
        self._consumer.assign([TopicPartition(*place, offset) for place, offset in offsets.items()])
        return []


class Group:
    """The partitions that the group gives us. What is acknowledged is kept before they are given to others."""

    def __init__(
        self,
        consumer: Consumer,
        claims: Claims,
        commits: Commits,
        start: StartAt,
        *,
        timeout_s: float,
        is_incremental: bool,
        watch: Watch,
        servers: str,
        assigned: Assigned,
    ) -> None:
        self._consumer = consumer
        self._claims = claims
        self._commits = commits
        self._start = start
        self._timeout_s = timeout_s
        self._assign = consumer.incremental_assign if is_incremental else consumer.assign
        self._watch = watch
        self._servers = servers
        self._assigned = assigned
        self._has_joined = False

    def join(self, places: Sequence[Place], limit: float) -> list[Message]:
        topics = list(dict.fromkeys(topic for topic, _ in places))
        self._consumer.subscribe(topics, on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost)
        while not self._has_joined and time.monotonic() < limit:
            message = self._consumer.poll(_TURN_S)
            if message is not None and message.error() is None:
                return [message]
            self._watch.hear(message)
            self._watch.require_hope()
            error = self._watch.heard
            if error is not None and error.code() in DENIALS | MISFITS:
                raise translated(error, ", ".join(topics), self._servers)
        return []

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Says where each begins, and keeps that place: what comes from now on is not missed, whoever reads it."""
        places = [(each.topic, each.partition) for each in partitions]
        try:
            kept = committed(consumer, places, self._timeout_s)
            new = offsets_at(consumer, [place for place in places if place not in kept], self._start, self._timeout_s)
        except KafkaException as e:
            log.warning("Kafka at %s does not say where the group is: %s", self._servers, e)
            kept, new = {}, dict.fromkeys(places, _UNKNOWN)
        else:
            self._assign([TopicPartition(*place, offset) for place, offset in (kept | new).items()])
        claims = [self._claims.begin(place, offset, kept.get(place)) for place, offset in (kept | new).items()]
        self._commits.moved(claim for claim in claims if claim.kept is None)
        self._assigned(partitions)
        self._has_joined = True

    def _on_revoke(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        places = [(each.topic, each.partition) for each in partitions]
        self._commits.write(consumer, self._claims.of(places))
        self._claims.end(places)

    def _on_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """They are somebody else's already."""
        self._claims.end((each.topic, each.partition) for each in partitions)


def _left(limit: float) -> float:
    return max(0.01, limit - time.monotonic())
