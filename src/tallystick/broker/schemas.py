"""The schemas of topics, as clients bring and ask for them: the registry decides."""

import asyncio
import logging
from dataclasses import dataclass

from tallystick.access import Caller
from tallystick.broker import policy_topic
from tallystick.broker.names import TopicName
from tallystick.broker.payloads import check_payload
from tallystick.broker.topic import Topic
from tallystick.errors import InvalidArgument, InvalidRecord, SchemaNotFound, TallystickError, VersionNotFound
from tallystick.formats import Schema
from tallystick.model.settings import TOPIC_DEFAULTS, Enforce, PayloadValidation
from tallystick.model.subject import Subject, Version
from tallystick.registry import attachment, events, policies
from tallystick.registry.service import Registry
from tallystick.registry.watch import JournalWatch
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.entries import ParsedEntry
from tallystick.wire.pulsar.schemas import definition_of, version_of, wire_schema

log = logging.getLogger("tallystick.broker.schemas")

_PAUSE_SECONDS = 2.0
"""Between two tries where the store does not answer."""
_MOST_TOLD = 5
"""Findings that the text of a refusal quotes; the error itself has all."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a topic's policy asks of messages."""

    validation: PayloadValidation
    needs_schema: bool
    only_warns: bool


class TopicSchemas:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._asked: dict[Subject, _Asked] = {}
        """Of the topics that have had producers."""
        self._schemas: dict[tuple[Subject, bytes], Schema] = {}
        """The versions that messages named; forgotten when the registry changes."""

    async def attach_producer(self, caller: Caller, name: TopicName, schema: pb.Schema | None) -> Version | None:
        """The version of the producer's schema. Raises `IncompatibleSchema` with findings."""
        definition = definition_of(schema) if schema is not None else None
        if name.local == policy_topic.TOPIC:
            policy_topic.require_own_schema(definition)
            return policy_topic.SCHEMA_VERSION
        subject = name.subject
        found = await asyncio.to_thread(attachment.attach_producer, self._registry, caller, subject, definition)
        if subject not in self._asked:
            self._asked[subject] = await asyncio.to_thread(self._asked_of, subject)
        return found.version

    async def attach_consumer(
        self, caller: Caller, name: TopicName, schema: pb.Schema | None, *, topic_in_use: bool
    ) -> None:
        definition = definition_of(schema) if schema is not None else None
        if name.local == policy_topic.TOPIC:
            policy_topic.require_own_schema(definition)
            return
        await asyncio.to_thread(
            attachment.attach_consumer, self._registry, caller, name.subject, definition, topic_in_use=topic_in_use
        )

    async def get(self, caller: Caller, name: TopicName, version: bytes | None) -> tuple[pb.Schema, Version]:
        if name.local == policy_topic.TOPIC:
            return wire_schema(policy_topic.definition(), name.local), policy_topic.SCHEMA_VERSION
        wanted = version_of(version) if version else None
        found = await asyncio.to_thread(attachment.get_schema, self._registry, caller, name.subject, wanted)
        if found is None:
            raise SchemaNotFound(f"Schema of topic {name}") if wanted is None else VersionNotFound(wanted)
        return wire_schema(found.definition, name.whole.local), found.version

    # Messages

    def check_payload(self, topic: Topic, entry: ParsedEntry) -> None:
        """What the topic's policy asks of messages; raises `InvalidRecord` with findings."""
        subject = topic.name.subject
        asked = self._asked.get(subject)
        if asked is None or asked.validation is PayloadValidation.OFF:
            return
        findings = check_payload(
            lambda version: self._schema(subject, version),
            entry.metadata,
            entry.payload,
            topic.next,
            asked.validation,
            needs_schema=asked.needs_schema,
        )
        if not findings:
            return
        if asked.only_warns:
            self._registry.observer.warned(findings)
            return
        self._registry.observer.refused(findings)
        told = "; ".join(
            f"[{finding.rule}] {finding.message} (fix: {finding.fix})" for finding in findings[:_MOST_TOLD]
        )
        raise InvalidRecord(f"a message to {topic.name} does not fit: {told}", findings)

    def _schema(self, subject: Subject, version: bytes) -> Schema | None:
        """Read in the loop, once for a version that there is: what follows is in memory."""
        found = self._schemas.get((subject, version))
        if found is None:
            try:
                found = attachment.parsed_version(self._registry, subject, version_of(version))
            except InvalidArgument:
                return None
            if found is not None:
                self._schemas[subject, version] = found
        return found

    def _asked_of(self, subject: Subject) -> "_Asked":
        settings = policies.in_force(self._registry, subject, defaults=TOPIC_DEFAULTS)
        has_schemas = attachment.get_schema(self._registry, Caller(), subject, None) is not None
        return _Asked(
            settings.payload_validation or PayloadValidation.OFF,
            needs_schema=bool(settings.validation_enforced) and has_schemas,
            only_warns=settings.enforce is Enforce.WARN,
        )

    async def follow(self) -> None:
        """Learns of policies that change, until cancelled."""
        last, watch = -1, JournalWatch(self._registry)
        while True:
            await watch.wait()
            try:
                now = await asyncio.to_thread(events.last, self._registry)
                if now != last:
                    self._schemas.clear()
                    for subject in list(self._asked):
                        self._asked[subject] = await asyncio.to_thread(self._asked_of, subject)
                    last = now
            except TallystickError as e:
                log.warning("policies of topics cannot be read", extra={"reason": e.message})
                await asyncio.sleep(_PAUSE_SECONDS)
