"""What a broker is told of a client's schema, and why it refuses it.

A Pulsar says no more than that it does, so our own rules are asked for findings.
"""

import asyncio
import re

from tallystick.compat import verification
from tallystick.compat.evolution import Registered
from tallystick.compat.verification import Refused
from tallystick.errors import IncompatibleSchema, TallystickError
from tallystick.finding import Finding
from tallystick.formats import parse
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.policy import Policy
from tallystick.model.strategy import Strategy
from tallystick.transports.pulsar.lookup import Lookup
from tallystick.transports.pulsar.topics import TopicName
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.schemas import wire_schema

_WITHOUT_SCHEMA = {types.BYTES, types.NONE}
_STRATEGY = re.compile(r"strategy ([A-Z_]+)")


def schema_to_tell(definition: SchemaDefinition | None, topic: TopicName) -> pb.Schema | None:
    """Bytes have no schema, and neither has who takes what the topic has."""
    if definition is None or definition.type in _WITHOUT_SCHEMA:
        return None
    return wire_schema(definition, topic.local)


async def explained(
    refusal: IncompatibleSchema,
    lookup: Lookup,
    topic: TopicName,
    definition: SchemaDefinition | None,
    *,
    is_producer: bool,
) -> IncompatibleSchema:
    """The refusal with what our rules find between the topic's latest schema and this one, where it has no findings."""
    if refusal.findings or definition is None:
        return refusal
    try:
        latest = await lookup.latest(topic)
        if latest is None:
            return refusal
        findings = await asyncio.to_thread(_findings, *latest, definition, _strategy_in(refusal.message), is_producer)
    except TallystickError:
        # The refusal is the news; that it cannot be explained is not.
        return refusal
    told = "; ".join(f"[{finding.rule}] {finding.message} (fix: {finding.fix})" for finding in findings)
    return IncompatibleSchema(f"{refusal.message} {told}".rstrip(), findings)


def _strategy_in(text: str) -> Strategy:
    found = _STRATEGY.search(text)
    return Strategy(found[1]) if found and found[1] in Strategy.__members__ else Strategy.FULL


def _findings(
    version: int, latest: SchemaDefinition, definition: SchemaDefinition, strategy: Strategy, is_producer: bool
) -> tuple[Finding, ...]:
    history = [Registered(version, parse(latest, is_lenient=True))]
    schema, policy = parse(definition, is_lenient=True), Policy(strategy)
    if is_producer:
        verdict = verification.check_producer(history, schema, policy)
    else:
        verdict = verification.check_consumer(history, schema, policy, topic_in_use=True)
    return verdict.findings if isinstance(verdict, Refused) else ()
