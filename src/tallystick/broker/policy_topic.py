"""Changes of schema policies as Avro records on a topic of their namespace, `__policy_changes`.

The store is the truth. Its journal, written in the change's own transaction, is the outbox: a follower reads it and
appends a record for each change, once and in order, because the number in the journal is the sequence id of the
record and the log keeps the last one with it. A record that another cluster wrote is applied to the store here; its
change says where it was made and leaves no record of its own, so it does not go round in circles.

A record is as powerful as the change that it describes: who sends one needs the right to configure the namespace.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from tallystick.access import Caller
from tallystick.broker.names import TopicName
from tallystick.errors import InvalidRecord, TallystickError, Unsupported
from tallystick.finding import Finding
from tallystick.formats import Schema, format_of, is_same, parse
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO
from tallystick.model.settings import Enforce, PayloadValidation
from tallystick.model.strategy import Strategy
from tallystick.model.subject import Subject, Version
from tallystick.registry import lookup, policies
from tallystick.registry.ports import Entry, Transaction
from tallystick.registry.service import Registry
from tallystick.registry.watch import JournalWatch

log = logging.getLogger("tallystick.policies")

TOPIC = "__policy_changes"
PRODUCER = "tallystick.policies"
"""The producer of the records, whose sequence ids are the numbers of the changes in the journal."""
RECORD_MISPLACED = "RECORD_POLICY_MISPLACED"
RECORD_VALUE_UNKNOWN = "RECORD_POLICY_VALUE_UNKNOWN"

_FLAGS = ("auto_update", "validation_enforced")
_CHOICES: dict[str, type[StrEnum]] = {
    "strategy": Strategy,
    "enforce": Enforce,
    "payload_validation": PayloadValidation,
}
_POLICY = {*_FLAGS, *_CHOICES}
"""The settings that are policy. The others, the mode above all, are a matter of each cluster for itself."""

_PAUSE_SECONDS = 2.0
"""Between two tries where the store or the log does not answer."""
_PAGE = 200
_KINDS = ("settings.changed", "subject.described")

Append = Callable[[str, bytes, int], Awaitable[None]]
"""Namespace, payload, sequence id → appended to the namespace's topic, durably."""
LastSequence = Callable[[str], int]
"""The last sequence id that the producer has on a namespace's topic; 0 where there is none."""


@dataclass(frozen=True, slots=True)
class PolicyChange:
    namespace: str
    subject: str | None
    changes: dict[str, bool | str | None]
    origin: str
    number: int
    principal: str
    at: datetime


def topic_of(namespace: str) -> TopicName:
    return TopicName(namespace, TOPIC)


SCHEMA_VERSION = Version(1)


@cache
def definition() -> SchemaDefinition:
    """The schema of the records. It is the broker's own, the same everywhere: no registry has it under an id."""
    return SchemaDefinition(AVRO, files("tallystick.broker").joinpath("policy_change.avsc").read_text())


@cache
def _schema() -> Schema:
    return parse(definition())


def require_own_schema(brought: SchemaDefinition | None) -> None:
    """A client of the topic brings its schema, or none."""
    if brought is not None and not is_same(parse(brought), _schema()):
        raise Unsupported(f"topic {TOPIC} has a schema of its own; attach without one, or with what GET_SCHEMA answers")


def change_of(entry: Entry, cluster: str) -> PolicyChange | None:
    """The change of a policy that a line of the journal tells of; None for any other, and for one made elsewhere."""
    namespace = entry.subject.namespace if entry.subject is not None else entry.data.get("namespace")
    changes = {name: value for name, value in _changes(entry).items() if name in _POLICY}
    if not isinstance(namespace, str) or not changes or "origin" in entry.data:
        return None
    subject = None if entry.subject is None else entry.subject.name
    return PolicyChange(namespace, subject, changes, cluster, entry.id, entry.principal, entry.at)


def _changes(entry: Entry) -> dict[str, Any]:
    if entry.kind == "settings.changed":
        changes = entry.data["changes"]
        assert isinstance(changes, dict)
        return changes
    described = entry.kind == "subject.described" and "strategy" in entry.data
    return {"strategy": entry.data["strategy"]} if described else {}


def encode(change: PolicyChange) -> bytes:
    values = {name: getattr(change, name) for name in PolicyChange.__dataclass_fields__}
    return format_of(AVRO).encode(_schema(), values)


def decode(payload: bytes) -> PolicyChange:
    """Raises `InvalidRecord` for anything that is not the record of a change."""
    return PolicyChange(**format_of(AVRO).decode(_schema(), payload))


def apply(registry: Registry, caller: Caller, namespace: str, payload: bytes, cluster: str) -> bool:
    """Applies a record that another cluster wrote to a namespace's topic; False where that changes nothing.

    One that was made here has come back, and is let be. Raises `InvalidRecord` for what cannot be applied, and
    `Forbidden` where the caller may not change the policy.
    """
    change = decode(payload)
    if change.namespace != namespace:
        raise _refused(
            RECORD_MISPLACED,
            f"the record is of namespace {change.namespace}, but the topic is of {namespace}",
            "replicate each namespace's policies to the same namespace",
        )
    wanted = {name: _value(name, value) for name, value in change.changes.items()}
    subject = None if change.subject is None else Subject(namespace, change.subject)
    level = None if subject is not None else namespace
    now = policies.own(registry, subject, level)
    if change.origin == cluster or all(getattr(now, name) == value for name, value in wanted.items()):
        return False
    policies.change(registry, caller, wanted, subject, level, origin=change.origin)
    return True


def _value(name: str, value: bool | str | None) -> object:
    if name in _POLICY and value is None:
        return None
    if name in _FLAGS and isinstance(value, bool):
        return value
    if name in _CHOICES and value in list(_CHOICES[name]):
        return _CHOICES[name](value)
    raise _refused(
        RECORD_VALUE_UNKNOWN,
        f"{name[:40]!r} cannot be {str(value)[:40]!r} here",
        "bring both clusters to the same version of Tallystick",
    )


def _refused(rule: str, message: str, fix: str) -> InvalidRecord:
    return InvalidRecord(message, [Finding(rule=rule, message=message, fix=fix)])


class PolicyFollower:
    """Writes the changes that are made here to the topics of their namespaces.

    Each is appended before the next one is read, so all up to the last one in any of the topics are there already.
    """

    def __init__(self, registry: Registry, cluster: str, append: Append, last_sequence: LastSequence) -> None:
        self._registry = registry
        self._cluster = cluster
        self._append = append
        self._last_sequence = last_sequence
        self._position: int | None = None

    async def run(self) -> None:
        """Reads on until cancelled."""
        watch = JournalWatch(self._registry)
        while True:
            await watch.wait()
            try:
                while await self.step() == _PAGE:
                    pass
            except TallystickError as e:
                log.warning("policies are not written to their topics", extra={"reason": e.message})
                await asyncio.sleep(_PAUSE_SECONDS)

    async def step(self) -> int:
        """Writes what the journal has after the position; answers how many changes of settings that were."""
        if self._position is None:
            self._position = await asyncio.to_thread(self._written)
        entries, last = await asyncio.to_thread(self._registry.read, self._read)
        for entry in entries:
            change = change_of(entry, self._cluster)
            if change is not None:
                await self._write(change)
            self._position = entry.id
        if len(entries) < _PAGE:
            self._position = max(self._position, last)
        return len(entries)

    def _written(self) -> int:
        return max((self._last_sequence(namespace) for namespace in lookup.namespaces(self._registry)), default=0)

    def _read(self, tx: Transaction) -> tuple[Sequence[Entry], int]:
        """The changes of settings after the position, and where the journal ended before they were read."""
        position = self._position or 0
        last = tx.journal.last()
        return (tx.journal.after(position, _PAGE, _KINDS) if last != position else []), last

    async def _write(self, change: PolicyChange) -> None:
        # A try that failed may have got through all the same.
        if await asyncio.to_thread(self._last_sequence, change.namespace) < change.number:
            await self._append(change.namespace, encode(change), change.number)
