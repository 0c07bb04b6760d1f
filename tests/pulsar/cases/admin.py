"""The admin REST: lists of requests in `conformance/pulsar/admin`, and what stats say about messages."""

import json
import time
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.pulsar.binary import EXCLUSIVE, acknowledge, batch, flow, ids, produce, received, send, subscribe
from tests.pulsar.target import Case, Outcomes, Target, path_of

_REQUESTS = Path(__file__).parents[3] / "conformance" / "pulsar" / "admin"
_PLACES = {"ledgerId", "timestamp"}
"""Numbers that every server gives in its own way; findings are an addition of ours."""
_OF_A_NAMESPACE = (
    *("schema_compatibility_strategy", "is_allow_auto_update_schema", "schema_validation_enforced"),
    *("retention_policies", "message_ttl_in_seconds", "deduplicationEnabled", "replication_clusters", "deleted"),
)
"""What a namespace's policies say of messages and schemas; the rest spreads and slows the load of a cluster."""


def _answer(answer: httpx.Response) -> Any:
    """The status, then the body; of a refusal only that it gives a reason."""
    if answer.status_code >= 400:
        return answer.status_code
    if not answer.content:
        return [answer.status_code]
    is_json = answer.text != "ok"
    return [answer.status_code, _plain(answer.json()) if is_json else answer.text]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        plain = [_plain(one) for one in value]
        return sorted(plain) if all(isinstance(one, str) for one in plain) else plain
    if isinstance(value, dict):
        return {key: "…" if key in _PLACES else _plain(one) for key, one in value.items() if key != "findings"}
    return value


def _requests(path: Path) -> Case:
    def case(at: Target) -> Outcomes:
        own = at.fresh()
        for number, request in enumerate(yaml.safe_load(path.read_text()), 1):
            method, place, *body = request.replace("{X}", own).split(" ", 2)
            answer = at.ask(method, place, json.loads(body[0]) if body else None)
            yield f"{number:02} {request}", _answer(answer)
            if method != "GET" and path.stem == "topic-policies":
                # Pulsar takes them from a topic of its own, a moment after it answered.
                time.sleep(0.2)

    return case


def policies_of_a_namespace(at: Target) -> Outcomes:
    retention = {"retentionTimeInMinutes": 10, "retentionSizeInMB": 5}
    for what, namespace in {
        "new": at.namespace(),
        "changed": at.namespace(retention=retention, messageTTL=60, deduplication=True, schemaValidationEnforced=True),
    }.items():
        whole = at.ask("GET", f"/namespaces/{namespace}").json()
        yield what, {key: whole.get(key) for key in _OF_A_NAMESPACE}


def _subscription(at: Target, topic: str) -> dict[str, Any]:
    found: dict[str, Any] = at.ask("GET", f"{path_of(topic)}/stats").json()["subscriptions"]["s"]
    return found


def _filled(at: Target) -> str:
    topic = at.topic()
    with at.raw() as raw:
        subscribe(raw, topic, kind=EXCLUSIVE)
        produce(raw, topic, number=90)
        for number in range(5):
            send(raw, b"x", 90, number)
        send(raw, batch(b"a", b"b", b"c"), 90, 5, num_messages_in_batch=3)
    return topic


def stats(at: Target) -> Outcomes:
    topic = _filled(at)
    with at.raw() as raw:
        produce(raw, topic, number=90, producer_name="maker")
        subscribe(raw, topic, kind=EXCLUSIVE, consumer_name="taker")
        flow(raw, permits=20)
        received(raw, 2, 6)
        acknowledge(raw, ids(raw, 0, 1))
        whole = at.ask("GET", f"{path_of(topic)}/stats").json()
        yield "messages in", whole["msgInCounter"]
        yield "producers", [(one["producerName"], one["producerId"], one["accessMode"]) for one in whole["publishers"]]
        yield (
            "subscription",
            [whole["subscriptions"]["s"][key] for key in ("type", "msgBacklog", "isDurable", "msgOutCounter")],
        )
        yield "consumers", [one["consumerName"] for one in whole["subscriptions"]["s"]["consumers"]]
        yield "deduplication", whole["deduplicationStatus"]
        internal = at.ask("GET", f"{path_of(topic)}/internalStats").json()
        yield "entries", [internal["entriesAddedCounter"], internal["numberOfEntries"], internal["state"]]
        yield "cursors", sorted(internal["cursors"])
        last = at.ask("GET", f"{path_of(topic)}/lastMessageId").json()
        yield "the last message", [last["entryId"], last["batchIndex"]]


def stats_of_partitions(at: Target) -> Outcomes:
    topic = at.topic(partitions=2)
    with at.raw() as raw:
        for number in range(2):
            produce(raw, f"{topic}-partition-{number}", number=90 + number)
            subscribe(raw, f"{topic}-partition-{number}", number=number)
            send(raw, b"x", 90 + number)
        whole = at.ask("GET", f"{path_of(topic)}/partitioned-stats").json()
    yield "together", [whole["msgInCounter"], whole["metadata"], sorted(whole["subscriptions"])]
    yield "backlog together", whole["subscriptions"]["s"]["msgBacklog"]
    yield "each", {name[-1]: one["msgInCounter"] for name, one in sorted(whole["partitions"].items())}


def skipping(at: Target) -> Outcomes:
    topic = _filled(at)
    path = f"{path_of(topic)}/subscription/s"
    yield "backlog", _subscription(at, topic)["msgBacklog"]
    yield "skip two", at.ask("POST", f"{path}/skip/2").status_code
    yield "backlog then", _subscription(at, topic)["msgBacklog"]
    yield "skip all", at.ask("POST", f"{path}/skip_all").status_code
    yield "backlog at last", _subscription(at, topic)["msgBacklog"]
    yield "skip with nothing left", at.ask("POST", f"{path}/skip/2").status_code
    yield "reset to a time long ago", at.ask("POST", f"{path}/resetcursor/1000").status_code
    yield "backlog after the reset", _subscription(at, topic)["msgBacklog"]
    yield "reset to a time to come", at.ask("POST", f"{path}/resetcursor/99999999999999").status_code
    yield "backlog after that", _subscription(at, topic)["msgBacklog"]
    ledger = at.ask("GET", f"{path_of(topic)}/lastMessageId").json()["ledgerId"]
    place = {"ledgerId": ledger, "entryId": 3, "partitionIndex": -1}
    yield "reset to an entry", at.ask("POST", f"{path}/resetcursor", place).status_code
    yield "backlog from that entry", _subscription(at, topic)["msgBacklog"]
    yield "a subscription from the earliest", at.ask("PUT", f"{path_of(topic)}/subscription/t", "earliest").status_code
    others = at.ask("GET", f"{path_of(topic)}/stats").json()["subscriptions"]
    yield "its backlog", others["t"]["msgBacklog"]


def under_a_consumer(at: Target) -> Outcomes:
    topic = _filled(at)
    path = f"{path_of(topic)}/subscription/s"
    with at.raw() as raw:
        subscribe(raw, topic, kind=EXCLUSIVE)
        flow(raw)
        yield "gets", received(raw, 2, 6)
        yield "deleted", at.ask("DELETE", path).status_code
        yield "reset", at.ask("POST", f"{path}/resetcursor/1000").status_code
        yield "the consumer is closed", len(raw.pushes("CLOSE_CONSUMER", 15, 1))
        yield "it comes back", subscribe(raw, topic, kind=EXCLUSIVE)
        flow(raw)
        yield "and gets again", received(raw, 2, 6)
        yield "deleted by force", at.ask("DELETE", f"{path}?force=true").status_code
        yield "the consumer is closed again", len(raw.pushes("CLOSE_CONSUMER", 15, 1))
        yield "subscriptions", at.ask("GET", f"{path_of(topic)}/subscriptions").json()


CASES: dict[str, Case] = {
    **{f"admin: {path.stem}": _requests(path) for path in sorted(_REQUESTS.glob("*.yaml"))},
    "admin: policies of a namespace": policies_of_a_namespace,
    "admin: stats": stats,
    "admin: stats of partitions": stats_of_partitions,
    "admin: skipping and resetting": skipping,
    "admin: under a consumer": under_a_consumer,
}
