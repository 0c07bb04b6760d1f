"""PIP-44: which schemas a producer or a consumer may bring, under each strategy."""

import struct
from collections.abc import Generator
from typing import Any

from tests.pulsar.binary import (
    AVRO,
    EXTERNAL,
    JSON,
    KEY_VALUE,
    PROTOBUF,
    STRING,
    produce,
    record,
    schema,
    subscribe,
)
from tests.pulsar.target import Case, Outcomes, Target

STRATEGIES = (
    *("UNDEFINED", "ALWAYS_COMPATIBLE", "ALWAYS_INCOMPATIBLE", "BACKWARD", "BACKWARD_TRANSITIVE"),
    *("FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"),
)

A = {"name": "a", "type": "string"}
B = {"name": "b", "type": "int", "default": 0}
C = {"name": "c", "type": "string"}
D = {"name": "d", "type": "string", "default": ""}

_CHANGES = {
    "the same": record(A, B),
    "add, no default": record(A, B, C),
    "add with default": record(A, B, D),
    "remove, no default": record(B),
    "remove with default": record(A),
    "type change": record({"name": "a", "type": "int"}, B),
    "promotion": record(A, {"name": "b", "type": "long", "default": 0}),
    "another name": record(A, B, name="Other"),
}


def key_value(key: Any, value: Any, encoding: str = "INLINE") -> Any:
    """A KeyValue schema of two Avro records, each given by its text."""
    data = b"".join(struct.pack(">i", len(part.encode())) + part.encode() for part in (key, value))
    sides = {f"{side}.schema.{what}": said for side in ("key", "value") for what, said in _SIDE.items()}
    return schema(data, KEY_VALUE, **{"kv.encoding.type": encoding, **sides})


_SIDE = {"name": "R", "type": "AVRO", "properties": "{}"}


def _attempts(at: Target, namespace: str, before: list[Any], candidates: dict[str, Any]) -> Outcomes:
    """Producers and consumers with the candidates, on topics where the schemas before are registered."""
    topic = yield from _prepared(at, namespace, before, "for consumers")
    for name, candidate in candidates.items():
        with at.raw() as raw:
            yield f"consumer: {name}", subscribe(raw, topic, candidate)
    left: str | None = None
    for name, candidate in candidates.items():
        topic = left or (yield from _prepared(at, namespace, before, f"for {name}"))
        with at.raw() as raw:
            version = produce(raw, topic, candidate)
        yield f"producer: {name}", version
        # One that was let in may have changed the topic.
        left = None if isinstance(version, int) else topic


def _prepared(at: Target, namespace: str, before: list[Any], purpose: str) -> Generator[tuple[str, Any], None, str]:
    topic = at.topic(namespace)
    with at.raw() as raw:
        versions = [produce(raw, topic, definition, number) for number, definition in enumerate(before)]
    if versions != list(range(len(before))):
        yield f"registered {purpose}", versions
    return topic


def _under(strategy: str, kind: str) -> Case:
    others = {"STRING": schema("", STRING), "EXTERNAL": schema("", EXTERNAL)}
    changed = {name: schema(text, kind) for name, text in _CHANGES.items()}

    def case(at: Target) -> Outcomes:
        namespace = at.namespace(schemaCompatibilityStrategy=strategy)
        yield from _attempts(at, namespace, [schema(record(A, B), kind)], {**changed, **others})

    return case


def _against_a_history(strategy: str) -> Case:
    """Candidates that fit the last version and not the first, or read one and not the other."""
    with_text = record(A, {"name": "b", "type": "string", "default": ""})
    candidates = {
        "b comes back as a text": schema(with_text),
        "the first one again": schema(record(A, B)),
        "one more": schema(record(A, B, D)),
    }

    def case(at: Target) -> Outcomes:
        namespace = at.namespace(schemaCompatibilityStrategy=strategy)
        yield from _attempts(at, namespace, [schema(record(A, B)), schema(record(A))], candidates)

    return case


def _of_type(before: Any, candidates: dict[str, Any]) -> Case:
    def case(at: Target) -> Outcomes:
        yield from _attempts(at, at.namespace(schemaCompatibilityStrategy="FULL"), [before], candidates)

    return case


def _key_values() -> dict[str, Any]:
    plain = record(A)
    return {
        "the same": key_value(plain, plain),
        "the value grows": key_value(plain, record(A, B)),
        "the key grows": key_value(record(A, B), plain),
        "the value needs more": key_value(plain, record(A, C)),
        "the key needs more": key_value(record(A, C), plain),
        "separated": key_value(plain, plain, "SEPARATED"),
        "Avro": schema(plain),
    }


def _externals() -> dict[str, Any]:
    return {
        "the same": schema("", EXTERNAL),
        "with data": schema("x", EXTERNAL),
        "Avro": schema(record(A), AVRO),
        "STRING": schema("", STRING),
    }


def _texts() -> dict[str, Any]:
    return {"the same": schema("", STRING), "Avro": schema(record(A), AVRO), "JSON": schema(record(A), JSON)}


CASES: dict[str, Case] = {
    **{f"verification {strategy}": _under(strategy, AVRO) for strategy in STRATEGIES},
    **{f"verification of JSON {strategy}": _under(strategy, JSON) for strategy in ("FULL", "BACKWARD")},
    "verification of Protobuf FORWARD": _under("FORWARD", PROTOBUF),
    **{f"verification of a history {strategy}": _against_a_history(strategy) for strategy in STRATEGIES},
    "verification of KEY_VALUE": _of_type(key_value(record(A), record(A)), _key_values()),
    "verification of EXTERNAL": _of_type(schema("", EXTERNAL), _externals()),
    "verification of STRING": _of_type(schema("", STRING), _texts()),
}
