"""What is wrong only when clusters and steps are seen together."""

from collections.abc import Iterator, Mapping, Sequence

from tallystick.finding import Place
from tallystick.pipeline import findings as rules
from tallystick.pipeline.clusters import KAFKA, Cluster, FromTopics, ToTopic
from tallystick.pipeline.findings import Findings
from tallystick.pipeline.graph import Edge, Graph, TopicUse, reads, writes
from tallystick.pipeline.steps import Function, Landing, Route, Source, Step, Transform
from tallystick.pipeline.words import Framing


def check_cluster(cluster: Cluster, findings: Findings) -> None:
    """What this kind of cluster cannot do, or cannot do without."""
    place, told = cluster.place, cluster.credentials
    if cluster.registry is None and cluster.is_framed:
        _needs_registry(cluster, cluster.framing, place, findings)
    if cluster.kind == KAFKA:
        return
    if cluster.framing is Framing.HEADER:
        _no_headers(cluster, place, findings)
    if cluster.options:
        message = f"`options` are for Kafka's client library, and {cluster.name} is a Pulsar"
        findings.add(rules.KEYS_EXCLUSIVE, place, message, "leave them out")
    if told is not None and told.username is not None:
        message = "a Pulsar cluster knows its clients by token or certificate, not by user and password"
        findings.add(rules.KEYS_EXCLUSIVE, place, message, "write `credentials: {token: {env: NAME}}`")


def check_steps(clusters: Mapping[str, Cluster], steps: Sequence[Step], findings: Findings) -> None:
    """Names, framings, internal topics, rings. `clusters` are those that are sound."""
    by_name: dict[str, Step] = {}
    for step in steps:
        other = by_name.setdefault(step.name, step)
        if other is not step:
            message = (
                f"the name {step.name!r} belongs to a step of `{other.section}` already, in line {other.place.line}"
            )
            findings.add(rules.NAME_TAKEN, step.place, message, "give one of them another name")
        for end in _ends(step):
            if end.framing is not None and end.cluster in clusters:
                _check_framing(clusters[end.cluster], end.framing, end.place, findings)
    graph = Graph(clusters, tuple(by_name.values()))
    for ring in graph.cycles():
        findings.add(rules.CYCLE, ring[0].writer.place, f"records go round: {_told(ring)}", "write to another topic")
    _check_internal_topics(graph, findings)


def _ends(step: Step) -> Iterator[FromTopics | ToTopic]:
    match step:
        case Route():
            yield step.ingress
            yield from (egress.to for egress in step.egress)
        case Transform() | Function():
            yield step.from_
            yield step.to
        case Source():
            yield step.to
        case Landing():
            yield step.from_


def _check_framing(cluster: Cluster, framing: Framing, place: Place, findings: Findings) -> None:
    if framing is Framing.HEADER and cluster.kind != KAFKA:
        _no_headers(cluster, place, findings)
    elif framing is not Framing.TRANSPORT and cluster.registry is None and not cluster.is_framed:
        _needs_registry(cluster, framing, place, findings)


def _needs_registry(cluster: Cluster, framing: Framing, place: Place, findings: Findings) -> None:
    why = "on Kafka" if cluster.kind == KAFKA else f"with `framing: {framing}`"
    message = f"cluster {cluster.name} has no `registry`, and records carry ids of a registry {why}"
    findings.add(rules.KEY_MISSING, place, message, f"add `registry: http://HOST:PORT` to cluster {cluster.name}")


def _no_headers(cluster: Cluster, place: Place, findings: Findings) -> None:
    message = f"only Kafka's records have headers for schema ids, and {cluster.name} is a Pulsar"
    findings.add(rules.VALUE_INVALID, place, message, "write `framing: payload`, or leave it out")


def _check_internal_topics(graph: Graph, findings: Findings) -> None:
    """Records in the mesh's own frame are of no use to anybody else, and other records are none of the mesh's."""
    for route in graph.steps:
        if not isinstance(route, Route):
            continue
        own = TopicUse(route.internal.cluster, route.internal.topic)
        sharing = [step for step in graph.steps if step is not route and _uses(graph, step, own)]
        if any(graph.meet(own, TopicUse(egress.to.cluster, egress.to.topic)) for egress in route.egress):
            sharing.append(route)
        if sharing:
            message = (
                f"the internal topic {route.internal.topic} of route {route.name} is used by {sharing[0].name} too"
            )
            findings.add(rules.TOPIC_SHARED, route.internal.place, message, "give it a topic of its own")


def _uses(graph: Graph, step: Step, topic: TopicUse) -> bool:
    return any(graph.meet(topic, use) for use in (*reads(step), *writes(step)))


def _told(ring: Sequence[Edge]) -> str:
    return " → ".join(
        [ring[0].writer.name, *(f"{edge.through.topic or edge.through} → {edge.reader.name}" for edge in ring)]
    )
