"""Producers and consumers attach to a topic: with which version of its subject, or why not. (PIP-44)

Who may produce to a topic may bring it a schema, and so may the first consumer of an idle one. As in Pulsar the right
to register is not asked for; `auto_update` off is what forbids it. `compat.verification` decides, on what the registry
has at that moment, and a schema that it wants registered becomes the next version in the same change.

A client whose very text is registered costs one read transaction and no parsing: after a restart thousands of them
come at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tallystick.access import Action, Caller, require
from tallystick.compat import verification
from tallystick.compat.verification import Attached, Refused, Register, Verdict
from tallystick.errors import IncompatibleSchema, SubjectNotFound, VersionNotFound
from tallystick.finding import Finding
from tallystick.formats import Schema
from tallystick.model.definition import SchemaDefinition
from tallystick.model.policy import Policy
from tallystick.model.schema_type import EXTERNAL
from tallystick.model.settings import TOPIC_DEFAULTS, Enforce, Settings
from tallystick.model.subject import Subject, Version
from tallystick.registry import lookup
from tallystick.registry.ports import State, Transaction, VersionRow
from tallystick.registry.registration import (
    Candidate,
    Registration,
    append,
    candidate_of,
    compared,
    in_group,
    options_of,
    require_mode,
    require_size,
    settle,
    unchanged,
)
from tallystick.registry.service import Registry, meant, record, settings_of

_LARGEST_KEPT = 32_000
"""Characters of a text that is kept parsed for the next client that brings it."""
_MOST_TOLD = 5
"""Findings that the text of a refusal quotes; the error itself has all."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """The client is let in. `warnings` are findings that the policy lets pass."""

    version: Version | None
    """That of the client's schema; None where it has none, or a consumer's is no version of the topic's."""
    warnings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicSchema:
    """A version of a topic's subject, with the properties that it was brought with."""

    version: Version
    definition: SchemaDefinition


@dataclass(frozen=True, slots=True)
class _Client:
    is_producer: bool
    subject: Subject
    definition: SchemaDefinition | None
    topic_in_use: bool = True

    def __str__(self) -> str:
        return "producer" if self.is_producer else "consumer"


@dataclass(frozen=True, slots=True)
class _Topic:
    """What a client finds."""

    subject: Subject
    settings: Settings
    live: Sequence[VersionRow]

    @property
    def policy(self) -> Policy:
        settings = self.settings
        assert settings.strategy is not None
        return Policy(settings.strategy, settings.auto_update is not False, bool(settings.validation_enforced))


@dataclass(frozen=True, slots=True)
class _Case:
    topic: _Topic
    verdict: Attached | Register
    candidate: Candidate | None = None
    """The client's schema where it is no version yet."""
    warnings: tuple[Finding, ...] = ()
    registration: Registration | None = None

    @property
    def needs_change(self) -> bool:
        return isinstance(self.verdict, Register) or bool(self.warnings)


def attach_producer(
    registry: Registry, caller: Caller, subject: Subject, definition: SchemaDefinition | None
) -> Attachment:
    """Lets a producer in, and registers its schema where the policy allows that; None for one of bare bytes.

    Needs the right to produce. Raises `IncompatibleSchema` with findings.
    """
    require(caller, Action.PRODUCE, str(subject))
    return _attach(registry, caller, _Client(True, subject, _brought(registry, definition)))


get_or_create = attach_producer
"""The version of a schema that a producer is going to use for single messages (PIP-43)."""


def attach_consumer(
    registry: Registry, caller: Caller, subject: Subject, definition: SchemaDefinition | None, *, topic_in_use: bool
) -> Attachment:
    """Lets a consumer in that can read what the topic holds; None for one of bare bytes or of the topic's own schema.

    `topic_in_use`: the topic has producers, other consumers or messages. The first consumer of one that is not in use
    registers its schema. Needs the right to consume. Raises `IncompatibleSchema` with findings.
    """
    require(caller, Action.CONSUME, str(subject))
    return _attach(registry, caller, _Client(False, subject, _brought(registry, definition), topic_in_use))


def get_schema(registry: Registry, caller: Caller, subject: Subject, version: Version | None) -> TopicSchema | None:
    """A version of a topic's subject, or the last one (None). What was deleted is not there."""
    try:
        found = lookup.version(registry, caller, subject, version)
    except (SubjectNotFound, VersionNotFound):
        return None
    return TopicSchema(found.row.version, replace(found.schema.definition, properties=found.row.properties))


def parsed_version(registry: Registry, subject: Subject, version: Version) -> Schema | None:
    """The schema of a version, ready to read payloads with; for the broker itself, so no right is asked for."""

    def find(tx: Transaction) -> Schema | None:
        target = meant(tx, subject)
        live = (row for row in tx.subjects.history(target) if row.state is State.LIVE)
        row = next((row for row in live if row.version == version), None)
        return None if row is None else registry.parsed.get(tx, target.namespace, [row.schema_id])[row.schema_id]

    return registry.read(find)


def _brought(registry: Registry, definition: SchemaDefinition | None) -> SchemaDefinition | None:
    if definition is None:
        return None
    require_size(registry, definition)
    # What else an EXTERNAL schema says is for its own registry, and may hold credentials for it.
    return SchemaDefinition(EXTERNAL) if definition.type == EXTERNAL else definition


def _attach(registry: Registry, caller: Caller, client: _Client) -> Attachment:
    try:
        case = registry.read(lambda tx: _judged(registry, tx, client))
        if case.needs_change:
            prepared = case.candidate
            case = registry.change(lambda tx: _carried_out(registry, tx, caller, client, prepared))
    except IncompatibleSchema as e:
        registry.observer.refused(e.findings)
        raise
    if case.registration is not None:
        registry.observer.registered(case.registration)
    elif case.warnings:
        registry.observer.warned(case.warnings)
    assert isinstance(case.verdict, Attached)
    version = case.verdict.version
    return Attachment(None if version is None else Version(version), case.warnings)


def _judged(registry: Registry, tx: Transaction, client: _Client, prepared: Candidate | None = None) -> _Case:
    subject = meant(tx, client.subject)
    live = [row for row in tx.subjects.history(subject) if row.state is State.LIVE]
    topic = _Topic(subject, settings_of(tx, subject, TOPIC_DEFAULTS), live)
    if client.definition is None:
        return _ruled(topic, client, _verdict(registry, tx, topic, client, None))
    found = unchanged(tx, subject, live, client.definition, topic.settings)
    if found is not None and client.is_producer:
        return _Case(topic, Attached(found.version))
    if found is not None:
        schema = registry.parsed.get(tx, subject.namespace, [found.id])[found.id]
        return _ruled(topic, client, _verdict(registry, tx, topic, client, schema), None, found)
    prepared = prepared or _prepared(client.definition)
    candidate, found = settle(
        registry, tx, subject, live, client.definition, True, topic.settings, prepared, is_lenient=True
    )
    if found is not None and client.is_producer:
        return _Case(topic, Attached(found.version))
    verdict = _verdict(registry, tx, topic, client, candidate.schema)
    return _ruled(topic, client, verdict, candidate, found)


def _prepared(definition: SchemaDefinition) -> Candidate | None:
    """Many clients bring the same text; where it is not the registered one, it need not be parsed for each of them."""
    if definition.references or len(definition.text) > _LARGEST_KEPT:
        return None
    return _candidate(definition, frozenset(definition.properties.items()))


@lru_cache(maxsize=512)
def _candidate(definition: SchemaDefinition, properties: frozenset[tuple[str, str]]) -> Candidate:
    # The properties count here, although definitions that differ in nothing else are equal.
    return candidate_of(definition, is_lenient=True)


def _verdict(registry: Registry, tx: Transaction, topic: _Topic, client: _Client, schema: Schema | None) -> Verdict:
    # Without a schema it only counts whether there is a version.
    history = compared(registry, tx, topic.live if schema is not None else topic.live[-1:], topic.settings)
    options = options_of(topic.settings)
    if client.is_producer:
        asked = history if schema is None else in_group(history, schema, topic.settings)
        return verification.check_producer(asked, schema, topic.policy, options)
    in_use = client.topic_in_use
    return verification.check_consumer(history, schema, topic.policy, topic_in_use=in_use, options=options)


def _ruled(
    topic: _Topic,
    client: _Client,
    verdict: Verdict,
    candidate: Candidate | None = None,
    found: Registration | None = None,
) -> _Case:
    """The verdict as the policy enforces it: a refusal is an error, or a warning on what happens in its place."""
    version = None if found is None else found.version
    if isinstance(verdict, Refused):
        if topic.settings.enforce is not Enforce.WARN:
            raise _refusal(topic.subject, client, verdict.findings)
        brings = client.is_producer or not (topic.live or client.topic_in_use)
        lenient = Register() if client.definition is not None and brings else Attached(version)
        return _Case(topic, lenient, candidate, verdict.findings)
    return _Case(topic, Attached(version) if isinstance(verdict, Attached) else verdict, candidate)


def _carried_out(
    registry: Registry, tx: Transaction, caller: Caller, client: _Client, prepared: Candidate | None
) -> _Case:
    row = tx.subjects.lock(meant(tx, client.subject), create=True)
    assert row is not None
    case = _judged(registry, tx, client, prepared)
    subject = case.topic.subject
    if isinstance(case.verdict, Register):
        assert case.candidate is not None
        require_mode(case.topic.settings, subject, None)
        number = Version(row.last_version + 1)
        new = append(registry, tx, caller, subject, number, case.candidate, case.warnings)
        return replace(case, verdict=Attached(number), registration=new)
    if case.warnings:
        warnings = [finding.as_dict() for finding in case.warnings]
        record(tx, caller, "client.warned", subject, client=str(client), warnings=warnings)
    return case


def _refusal(subject: Subject, client: _Client, findings: Sequence[Finding]) -> IncompatibleSchema:
    told = "; ".join(f"[{f.rule}] {_against(f)}{f.message} (fix: {f.fix})" for f in findings[:_MOST_TOLD])
    more = f"; and {len(findings) - _MOST_TOLD} more" if len(findings) > _MOST_TOLD else ""
    return IncompatibleSchema(f"the {client} does not fit the schemas of {subject}: {told}{more}", findings)


def _against(finding: Finding) -> str:
    return "" if finding.version is None else f"version {finding.version}: "
