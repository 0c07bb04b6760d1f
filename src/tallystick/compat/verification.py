"""May this producer, may this consumer attach with this schema? (PIP-44)

Evolution asks whether a schema may become the next version; verification asks about a client. A producer whose schema
is registered is let in without a check, any other by the evolution check. A consumer must be able to read, and never
needs to be read: the last version, or all of them under BACKWARD_TRANSITIVE and FULL_TRANSITIVE.

Most refusals are explained by the rules of the catalogue. The three reasons that have nothing to do with how schemas
fit are checks of this module, `CHECKS`; their ids stand in a finding where a rule's would, and in no strategy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tallystick.compat import evolution, reading
from tallystick.compat.evolution import Registered
from tallystick.compat.options import DEFAULT_OPTIONS, Options
from tallystick.finding import Direction, Finding
from tallystick.formats import Schema, is_same
from tallystick.model.policy import Policy
from tallystick.model.strategy import Strategy

SCHEMA_NOT_REGISTERED = "VERIFICATION_SCHEMA_NOT_REGISTERED"
PRODUCER_WITHOUT_SCHEMA = "VERIFICATION_PRODUCER_WITHOUT_SCHEMA"
TOPIC_WITHOUT_SCHEMA = "VERIFICATION_TOPIC_WITHOUT_SCHEMA"

CHECKS = {
    SCHEMA_NOT_REGISTERED: "A client brings no new schema to a topic whose schemas are not updated automatically.",
    PRODUCER_WITHOUT_SCHEMA: "A producer needs a schema where validation is enforced and the topic has one.",
    TOPIC_WITHOUT_SCHEMA: "A consumer brings no schema to a topic that is in use without one.",
}
"""Every check of this module by its id, with the sentence that explains it."""

_READS_ALL = {Strategy.BACKWARD_TRANSITIVE, Strategy.FULL_TRANSITIVE}


@dataclass(frozen=True, slots=True)
class Attached:
    """The client is let in; `version` is that of its schema, None where its schema is no version of the topic's."""

    version: int | None


@dataclass(frozen=True, slots=True)
class Register:
    """The client is let in once its schema has become the next version."""


@dataclass(frozen=True, slots=True)
class Refused:
    findings: tuple[Finding, ...]


Verdict = Attached | Register | Refused


def check_producer(
    history: Sequence[Registered], schema: Schema | None, policy: Policy, options: Options = DEFAULT_OPTIONS
) -> Verdict:
    """`history` is in the order of the versions. A producer without a schema, or of bare bytes, brings None."""
    if schema is None:
        return _producer_without_schema(history, policy)
    version = version_of(history, schema)
    if version is not None:
        return Attached(version)
    if not policy.auto_update:
        return _not_registered(schema)
    findings = evolution.check(history, schema, policy.strategy, options)
    return Refused(tuple(findings)) if findings else Register()


def check_consumer(
    history: Sequence[Registered],
    schema: Schema | None,
    policy: Policy,
    *,
    topic_in_use: bool,
    options: Options = DEFAULT_OPTIONS,
) -> Verdict:
    """`topic_in_use`: the topic has producers, other consumers or messages.

    A consumer without a schema, of bare bytes, or one that takes the topic's own schema (AUTO_CONSUME) brings None.
    """
    if schema is None:
        return Attached(None)
    if not history:
        return _consumer_of_topic_without_schema(schema, policy, topic_in_use)
    findings = _unreadable(history, schema, policy.strategy, options)
    return Refused(tuple(findings)) if findings else Attached(version_of(history, schema))


def version_of(history: Sequence[Registered], schema: Schema) -> int | None:
    """The last version that is this schema, as parsed; white space, documentation and properties do not count."""
    return next((r.version for r in reversed(history) if is_same(r.schema, schema)), None)


def _unreadable(history: Sequence[Registered], schema: Schema, strategy: Strategy, options: Options) -> list[Finding]:
    if strategy in (Strategy.ALWAYS_COMPATIBLE, Strategy.ALWAYS_INCOMPATIBLE):
        return evolution.check(history, schema, strategy, options)
    read = history if strategy in _READS_ALL else history[-1:]
    return [
        finding.against(registered.version)
        for registered in read
        for finding in reading.findings(registered.schema, schema, Direction.BACKWARD, options)
    ]


def _producer_without_schema(history: Sequence[Registered], policy: Policy) -> Verdict:
    if not (policy.validation_enforced and history):
        return Attached(None)
    last = history[-1]
    return _refused(
        PRODUCER_WITHOUT_SCHEMA,
        "the producer has no schema, but the topic has one and its policy enforces validation",
        "create the producer with a schema of the topic, or let it take the topic's own (AUTO_PRODUCE)",
        version=last.version,
        was=last.schema.definition.type,
    )


def _consumer_of_topic_without_schema(schema: Schema, policy: Policy, topic_in_use: bool) -> Verdict:
    if policy.strategy is Strategy.ALWAYS_COMPATIBLE and topic_in_use:
        return Attached(None)
    if topic_in_use:
        return _refused(
            TOPIC_WITHOUT_SCHEMA,
            "the consumer has a schema, but the topic is in use without one: nothing says what its messages hold",
            "subscribe without a schema (BYTES), or register a schema for the topic first",
            now=schema.definition.type,
        )
    return Register() if policy.auto_update else _not_registered(schema)


def _not_registered(schema: Schema) -> Refused:
    return _refused(
        SCHEMA_NOT_REGISTERED,
        "the schema is not registered, and the topic's policy lets no client register one",
        "use a registered schema, ask an administrator to register this one, or switch automatic updates on",
        now=schema.definition.type,
    )


def _refused(
    check: str, message: str, fix: str, *, version: int | None = None, was: str | None = None, now: str | None = None
) -> Refused:
    assert check in CHECKS
    return Refused((Finding(rule=check, message=message, fix=fix, version=version, was=was, now=now),))
