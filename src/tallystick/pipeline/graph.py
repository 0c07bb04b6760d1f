"""Which step reads and writes which topics, what follows from what, and whether records go round."""

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tallystick.pipeline.clusters import Cluster, FromTopics, ToTopic
from tallystick.pipeline.steps import Function, Landing, Replication, Route, Source, Step, Transform
from tallystick.pipeline.words import ReplicationDirection

_TOPIC = "{topic}"
_NAMESPACE = "public/default"


@dataclass(frozen=True, slots=True)
class TopicUse:
    """A topic of a cluster, or all topics that a pattern fits, under the names that a replication gives them."""

    cluster: str
    topic: str | None = None
    pattern: str | None = None
    rename: str = _TOPIC

    def __str__(self) -> str:
        return f"{self.cluster}: {self.topic if self.pattern is None else f'/{self.pattern}/'}"


@dataclass(frozen=True, slots=True)
class Edge:
    """One step writes what another one, or itself, reads."""

    writer: Step
    reader: Step
    through: TopicUse


def reads(step: Step) -> tuple[TopicUse, ...]:
    """The topics that records come from; not a route's internal one, which is its own."""
    match step:
        case Route():
            return _from(step.ingress)
        case Transform() | Function() | Landing():
            return _from(step.from_)
        case Replication():
            there = _from(step.from_)
            return (*there, *_at_targets(step)) if step.direction is ReplicationDirection.TWO_WAY else there
        case _:
            return ()


def writes(step: Step) -> tuple[TopicUse, ...]:
    """The topics that records go to, with those of `on_failure`."""
    match step:
        case Route():
            ends: Iterable[ToTopic | None] = (step.internal, *(egress.to for egress in step.egress), step.on_failure.to)
        case Transform() | Function() | Source():
            ends = (step.to, step.on_failure.to)
        case Landing():
            ends = (step.on_failure.to,)
        case Replication():
            back = _from(step.from_) if step.direction is ReplicationDirection.TWO_WAY else ()
            return (*_at_targets(step), *back)
        case _:
            return ()
    return tuple(dict.fromkeys(_to(end) for end in ends if end is not None))


def _from(end: FromTopics) -> tuple[TopicUse, ...]:
    if end.pattern is not None:
        return (TopicUse(end.cluster, pattern=end.pattern),)
    return tuple(TopicUse(end.cluster, topic) for topic in dict.fromkeys(end.topics))


def _to(end: ToTopic) -> TopicUse:
    return TopicUse(end.cluster, end.topic)


def _at_targets(step: Replication) -> tuple[TopicUse, ...]:
    if step.from_.pattern is not None:
        return tuple(TopicUse(name, pattern=step.from_.pattern, rename=step.rename) for name in step.to)
    return tuple(TopicUse(name, step.renamed(topic)) for name in step.to for topic in step.from_.topics)


class Graph:
    """The steps of a file and the topics between them.

    Clusters of the same URL are the same one. Two patterns are taken to meet only where they are equal.
    """

    def __init__(self, clusters: Mapping[str, Cluster], steps: Sequence[Step]) -> None:
        self._clusters = clusters
        self.steps = tuple(steps)
        read = {step.name: reads(step) for step in self.steps}
        self.edges = tuple(
            Edge(writer, reader, written)
            for writer in self.steps
            for written in writes(writer)
            for reader in self.steps
            if any(self.meet(written, one) for one in read[reader.name])
        )

    def order(self) -> tuple[Step, ...]:
        """Writers before those who read from them; of steps that know nothing of each other, as in the file."""
        left, ordered = list(self.steps), []
        while left:
            waiting = {edge.reader.name for edge in self.edges if edge.writer in left and edge.writer != edge.reader}
            # Replications may go in rings: then the file's order decides.
            first = next((step for step in left if step.name not in waiting), left[0])
            left.remove(first)
            ordered.append(first)
        return tuple(ordered)

    def cycles(self) -> list[tuple[Edge, ...]]:
        """Rings that records would run round in. Replications alone make none: they know what they have sent."""
        found: list[tuple[Edge, ...]] = []
        told: set[str] = set()
        for step in self.steps:
            if isinstance(step, Replication) or step.name in told:
                continue
            ring = self._ring(step)
            if ring:
                found.append(ring)
                told |= {edge.writer.name for edge in ring}
        return found

    def _ring(self, start: Step) -> tuple[Edge, ...]:
        """The shortest way from a step back to itself."""
        ways: deque[tuple[Edge, ...]] = deque((edge,) for edge in self.edges if edge.writer == start)
        seen: set[str] = set()
        while ways:
            way = ways.popleft()
            last = way[-1].reader
            if last == start:
                return way
            if last.name not in seen:
                seen.add(last.name)
                ways.extend((*way, edge) for edge in self.edges if edge.writer == last)
        return ()

    def meet(self, written: TopicUse, read: TopicUse) -> bool:
        """Whether what is written there is read here."""
        if self._identity(written.cluster) != self._identity(read.cluster):
            return False
        if written.topic is not None:
            return self._has(read, self._whole(written.cluster, written.topic))
        if read.topic is not None:
            return self._has(written, self._whole(read.cluster, read.topic))
        return (written.pattern, written.rename) == (read.pattern, read.rename)

    def _has(self, use: TopicUse, topic: tuple[str, str]) -> bool:
        if use.topic is not None:
            return self._whole(use.cluster, use.topic) == topic
        assert use.pattern is not None
        namespace, pattern = self._whole(use.cluster, use.pattern)
        before, _, after = use.rename.partition(_TOPIC)
        name = topic[1]
        if namespace != topic[0] or not (name.startswith(before) and name.endswith(after)):
            return False
        return re.fullmatch(pattern, name[len(before) : len(name) - len(after)]) is not None

    def _whole(self, cluster: str, topic: str) -> tuple[str, str]:
        """Namespace and name, as Pulsar tells topics apart; Kafka's have no namespace."""
        known = self._clusters.get(cluster)
        if known is not None and known.kind == "kafka":
            return "", topic
        parts = topic.removeprefix("persistent://").split("/", 2)
        return (_NAMESPACE, topic) if len(parts) < 3 else (f"{parts[0]}/{parts[1]}", parts[2])

    def _identity(self, cluster: str) -> str:
        known = self._clusters.get(cluster)
        return cluster if known is None else known.url.rstrip("/")
