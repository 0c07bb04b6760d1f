"""When a schema is asked for, when it becomes the topic's, and when it goes."""

import time
from typing import Any

from tests.pulsar.binary import (
    JSON,
    NONE,
    SHARED,
    flow,
    get_or_create,
    get_schema,
    produce,
    record,
    schema,
    send,
    subscribe,
)
from tests.pulsar.cases.verification import A, B, C, D, key_value
from tests.pulsar.target import Case, Outcomes, Target, path_of

_FIRST, _GROWN, _OTHER = record(A), record(A, B), record(C)


def _rest_path(topic: str) -> str:
    return topic.replace("persistent://", "/schemas/")


def idle_topics(at: Target) -> Outcomes:
    topic = at.topic()
    with at.raw() as raw:
        yield "a consumer on an idle topic", subscribe(raw, topic, schema(_FIRST))
        yield "its schema is the topic's", get_schema(raw, topic)
        yield "another consumer that cannot read it", subscribe(raw, topic, schema(_OTHER), 2)
        yield "a consumer that grew", subscribe(raw, topic, schema(_GROWN), 3)
        yield "the topic's schema is still the first", get_schema(raw, topic)


def topics_in_use(at: Target) -> Outcomes:
    topic = at.topic()
    with at.raw() as raw:
        yield "a producer without schema", produce(raw, topic)
        yield "a consumer with one", subscribe(raw, topic, schema(_FIRST))
        yield "a message without", send(raw)
        yield "a consumer with one, then", subscribe(raw, topic, schema(_FIRST), 2)
        yield "a producer with one", produce(raw, topic, schema(_FIRST), 2)
        yield "a consumer with one, at last", subscribe(raw, topic, schema(_FIRST), 3)
    with at.raw() as raw:
        topic = at.topic()
        yield "a consumer without schema", subscribe(raw, topic)
        yield "a consumer with one beside it", subscribe(raw, topic, schema(_FIRST), 2)
    with at.raw() as raw:
        topic = at.topic()
        yield "a producer without schema that leaves", produce(raw, topic)
        yield "one message", send(raw)
    with at.raw() as raw:
        yield "a consumer with one on a topic with a message", subscribe(raw, topic, schema(_FIRST))


def without_schema(at: Target) -> Outcomes:
    topic = at.topic()
    with at.raw() as raw:
        produce(raw, topic, schema(_FIRST))
        yield "a producer without", produce(raw, topic, None, 2)
        yield "a consumer without", subscribe(raw, topic)
        yield "a producer of type NONE", produce(raw, topic, schema("", NONE), 3)
        yield "a consumer of type NONE", subscribe(raw, topic, schema("", NONE), 3)
    with at.raw() as raw:
        topic = at.topic()
        yield "type NONE first", produce(raw, topic, schema("", NONE))
        yield "then the topic has", get_schema(raw, topic)


def auto_update_off(at: Target) -> Outcomes:
    topic = at.topic(at.namespace(isAllowAutoUpdateSchema=False))
    path = f"{_rest_path(topic)}/schema"
    with at.raw() as raw:
        yield "a producer", produce(raw, topic, schema(_FIRST))
        yield "a consumer", subscribe(raw, topic, schema(_FIRST))
        yield "get or create", get_or_create(raw, topic, schema(_FIRST))
        yield "upload", at.ask("POST", path, _upload(_FIRST)).status_code
        yield "a producer, then", produce(raw, topic, schema(_FIRST), 2)
        yield "a producer that grew", produce(raw, topic, schema(_GROWN), 3)
        yield "a consumer that grew", subscribe(raw, topic, schema(_GROWN), 2)
        yield "a consumer that cannot read", subscribe(raw, topic, schema(_OTHER), 3)
        yield "upload of a grown one", at.ask("POST", path, _upload(_GROWN)).status_code
        yield "a producer that grew, then", produce(raw, topic, schema(_GROWN), 4)


def _upload(text: str, kind: str = "AVRO") -> dict[str, Any]:
    return {"type": kind, "schema": text, "properties": {}}


def validation_enforced(at: Target) -> Outcomes:
    topic = at.topic(at.namespace(schemaValidationEnforced=True))
    with at.raw() as raw:
        yield "a producer without, on a topic without", produce(raw, topic)
        yield "a producer with", produce(raw, topic, schema(_FIRST), 2)
        yield "a producer without", produce(raw, topic, None, 3)
        yield "a consumer without", subscribe(raw, topic)
        yield "the first producer sends on", send(raw)


def precedence(at: Target) -> Outcomes:
    topic = at.topic(at.namespace(schemaCompatibilityStrategy="ALWAYS_INCOMPATIBLE"))
    strategy = f"{path_of(topic)}/schemaCompatibilityStrategy"
    with at.raw() as raw:
        yield "first", produce(raw, topic, schema(_FIRST))
        yield "by the namespace's strategy", produce(raw, topic, schema(_GROWN), 2)
        yield "set on the topic", at.ask("PUT", strategy, "BACKWARD").status_code
        _wait_until_applied(at, strategy, "BACKWARD")
        yield "the topic's own", at.ask("GET", strategy).json()
        yield "by the topic's strategy", produce(raw, topic, schema(_GROWN), 3)
        yield "removed", at.ask("DELETE", strategy).status_code
        _wait_until_applied(at, strategy, "ALWAYS_INCOMPATIBLE")
        yield "by the namespace's again", produce(raw, topic, schema(record(A, B, D)), 4)


def _wait_until_applied(at: Target, path: str, value: str) -> None:
    """Pulsar takes a topic's policies from a topic of its own, a moment after it answered."""
    for _ in range(50):
        if at.ask("GET", f"{path}?applied=true").json() == value:
            return
        time.sleep(0.1)
    raise AssertionError(f"{path} did not become {value}")


def identity(at: Target) -> Outcomes:
    """Which texts are the schema that is registered already."""
    namespace = at.namespace(schemaCompatibilityStrategy="ALWAYS_COMPATIBLE")
    first, pair = schema(_GROWN), key_value(_FIRST, _FIRST)
    variants = {
        "with white space": (first, schema(_GROWN.replace(",", " ,\n\t"))),
        "with a doc": (first, schema(record({**A, "doc": "what it is"}, B, doc="the whole"))),
        "with properties": (first, schema(_GROWN, owner="shop")),
        "with another default": (first, schema(record(A, {**B, "default": 1}))),
        "with an alias": (first, schema(record({**A, "aliases": ["z"]}, B))),
        "fields the other way round": (first, schema(record(B, A))),
        "in a namespace": (first, schema(record(A, B, namespace="shop"))),
        "with a property of its own": (first, schema(record({**A, "sensitive": True}, B))),
        "as JSON": (first, schema(_GROWN, JSON)),
        "key and value": (pair, key_value(_FIRST, _FIRST)),
        "key and value, separated": (pair, key_value(_FIRST, _FIRST, "SEPARATED")),
        "key and value with white space": (pair, key_value(_FIRST, _FIRST.replace(",", " ,"))),
    }
    for name, (registered, variant) in variants.items():
        topic = at.topic(namespace)
        with at.raw() as raw:
            produce(raw, topic, registered)
            version = produce(raw, topic, variant, 2)
        yield name, "the same" if version == 0 else "another"


def deletion(at: Target) -> Outcomes:
    topic = at.topic()
    path = _rest_path(topic)
    with at.raw() as raw:
        yield "first", produce(raw, topic, schema(_FIRST))
        yield "second", produce(raw, topic, schema(_GROWN), 2)
        deleted = at.ask("DELETE", f"{path}/schema")
        yield "deleted", [deleted.status_code, deleted.json()]
        yield "the latest by REST", at.ask("GET", f"{path}/schema").status_code
        yield "the first by REST", at.ask("GET", f"{path}/schema/0").status_code
        yield "all by REST", at.ask("GET", f"{path}/schemas").json()
        yield "a consumer with a schema that did not fit", subscribe(raw, topic, schema(_OTHER), 5)
        yield "the same comes back", produce(raw, topic, schema(_FIRST), 3)
        listed = at.ask("GET", f"{path}/schemas").json()["getSchemaResponses"]
        yield "versions then", [one["version"] for one in listed]
        forced = at.ask("DELETE", f"{path}/schema?force=true")
        yield "deleted by force", [forced.status_code, forced.json()]
        yield "counted anew", produce(raw, topic, schema(_GROWN), 4)


def lookups(at: Target) -> Outcomes:
    topic, bare = at.topic(), at.topic()
    with at.raw() as raw:
        yield "get or create", get_or_create(raw, topic, schema(_FIRST))
        yield "again", get_or_create(raw, topic, schema(_FIRST))
        yield "a grown one", get_or_create(raw, topic, schema(_GROWN))
        yield "one that does not fit", get_or_create(raw, topic, schema(_OTHER))
        yield "one that is none", get_or_create(raw, topic, schema("{nonsense"))
        yield "on a missing topic", get_or_create(raw, f"{topic}-missing", schema(_FIRST))
        yield "the latest", get_schema(raw, topic)
        yield "version 0", get_schema(raw, topic, 0)
        yield "version 7", get_schema(raw, topic, 7)
        yield "of a topic without", get_schema(raw, bare)
        yield "of a missing topic", get_schema(raw, f"{topic}-none")
        yield "of a name that is none", get_schema(raw, "persistent://x")
        yield "a producer that brings nonsense", produce(raw, topic, schema("{nonsense"))
        yield "a consumer that brings nonsense", subscribe(raw, topic, schema("{nonsense"))


def partitions_share_a_schema(at: Target) -> Outcomes:
    topic = at.topic(partitions=2)
    with at.raw() as raw:
        yield "on one partition", produce(raw, f"{topic}-partition-0", schema(_FIRST))
        yield "the same on another", produce(raw, f"{topic}-partition-1", schema(_FIRST), 2)
        yield "one that does not fit on another", produce(raw, f"{topic}-partition-1", schema(_OTHER), 3)
        yield "a grown one there", produce(raw, f"{topic}-partition-1", schema(_GROWN), 4)
        yield "by the partition's name", get_schema(raw, f"{topic}-partition-0")
        yield "by the topic's name", get_schema(raw, topic)
        rest = at.ask("GET", f"{_rest_path(topic)}/schema").json()
        yield "by REST", [rest["version"], rest["type"], rest["data"]]


def versions_on_messages(at: Target) -> Outcomes:
    topic = at.topic()
    with at.raw() as raw:
        yield "a producer", produce(raw, topic, schema(_FIRST))
        subscribe(raw, topic, schema(_FIRST), kind=SHARED)
        flow(raw)
        yield "a version that exists", send(raw, schema_version=bytes(8))
        yield "a version that does not", send(raw, sequence=1, schema_version=(99).to_bytes(8, "big"))
        yield "no version", send(raw, sequence=2)


CASES: dict[str, Case] = {
    "schema: idle topics": idle_topics,
    "schema: topics in use": topics_in_use,
    "schema: clients without": without_schema,
    "schema: auto-update off": auto_update_off,
    "schema: validation enforced": validation_enforced,
    "schema: precedence of strategies": precedence,
    "schema: identity": identity,
    "schema: deletion": deletion,
    "schema: look-ups": lookups,
    "schema: partitions": partitions_share_a_schema,
    "schema: versions on messages": versions_on_messages,
}
