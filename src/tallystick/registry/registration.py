"""Register, look up and check schemas."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from tallystick.access import Action, Caller, require
from tallystick.compat.options import OptionalProperties, Options
from tallystick.errors import (
    BadRequest,
    IncompatibleSchema,
    InvalidSchema,
    NotPermitted,
    SchemaNotFound,
    SchemaTooLarge,
    SubjectNotFound,
    VersionNotFound,
)
from tallystick.finding import Finding
from tallystick.formats import Schema, guid, guid_of, identity, is_same, parse
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.settings import SERVER_DEFAULTS, Enforce, Mode, Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import SchemaId, Subject, Version, subject_of
from tallystick.registry.contract import with_contract, with_inherited
from tallystick.registry.parsed import referenced
from tallystick.registry.ports import State, StoredSchema, Transaction, VersionRow
from tallystick.registry.service import Registry, meant, record, require_writable, settings_of

if TYPE_CHECKING:
    from tallystick.compat import evolution

_ASKS_ALL = {strategy for strategy in Strategy if strategy.is_transitive} | {Strategy.ALWAYS_INCOMPATIBLE}
"""Strategies that look at every version; ALWAYS_INCOMPATIBLE asks whether a schema is one of them."""


@dataclass(frozen=True, slots=True)
class Registration:
    """Where a schema stands. `warnings` are findings that the policy lets pass."""

    subject: Subject
    version: Version
    id: SchemaId
    guid: UUID
    definition: SchemaDefinition
    is_new: bool
    warnings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a registration asks for."""

    definition: SchemaDefinition
    normalize: bool
    id: SchemaId | None
    version: Version | None
    force: bool
    is_lenient: bool

    def is_met_by(self, found: Registration) -> bool:
        return self.id in (None, found.id) and self.version in (None, found.version)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A definition that may become a version."""

    definition: SchemaDefinition
    schema: Schema
    identity: bytes
    guid: UUID


def register(
    registry: Registry,
    caller: Caller,
    subject: Subject,
    definition: SchemaDefinition,
    *,
    normalize: bool = False,
    id_: SchemaId | None = None,
    version: Version | None = None,
    force: bool = False,
    is_lenient: bool = False,
    defaults: Settings = SERVER_DEFAULTS,
) -> Registration:
    """Get or create: the version that the schema has in the subject, or the next one if the policy allows it.

    An id can be given in IMPORT mode only, and so can a version that is not the next one. `force` asks no policy; it is
    for those who may change the policy. `is_lenient` reads the definition as Pulsar's brokers do. Raises
    `IncompatibleSchema` with findings.
    """
    require(caller, Action.REGISTER, str(subject))
    if force:
        require(caller, Action.CONFIGURE, str(subject))
    require_size(registry, definition)
    wanted = _Wanted(definition, normalize, id_, version, force, is_lenient)
    subject, candidate, found = registry.read(lambda tx: _prepare(registry, tx, subject, wanted, defaults))
    if found is not None:
        return found
    try:
        registration = registry.change(lambda tx: _register(registry, tx, caller, subject, candidate, wanted, defaults))
    except IncompatibleSchema as e:
        registry.observer.refused(e.findings)
        raise
    if registration.is_new:
        registry.observer.registered(registration)
    return registration


def require_size(registry: Registry, definition: SchemaDefinition) -> None:
    size, limit = len(definition.text.encode()), registry.limits.schema_bytes
    if size > limit:
        raise SchemaTooLarge(size, limit)


def _prepare(
    registry: Registry,
    tx: Transaction,
    subject: Subject,
    wanted: _Wanted,
    defaults: Settings,
) -> tuple[Subject, Candidate | None, Registration | None]:
    """All that needs no lock: parsing, and the common case that the schema is there already."""
    subject = meant(tx, subject)
    settings = settings_of(tx, subject, defaults)
    live = [row for row in tx.subjects.history(subject) if row.state is State.LIVE]
    found = unchanged(tx, subject, live, wanted.definition, settings)
    if found is not None and wanted.is_met_by(found):
        return subject, None, found
    candidate, found = settle(
        registry, tx, subject, live, wanted.definition, wanted.normalize, settings, is_lenient=wanted.is_lenient
    )
    return subject, candidate, found if found is not None and wanted.is_met_by(found) else None


def unchanged(
    tx: Transaction, subject: Subject, rows: Sequence[VersionRow], definition: SchemaDefinition, settings: Settings
) -> Registration | None:
    """The version that is this very text. It is not parsed for that: most clients ask for nothing else."""
    try:
        return _identical(tx, subject, rows, identity(_sent(definition, settings))) if rows else None
    except BadRequest:
        # No text of the type; the parser says where.
        return None


def _sent(definition: SchemaDefinition, settings: Settings) -> SchemaDefinition:
    return definition if settings.mode is Mode.IMPORT else with_contract(definition, settings.contract)


def settle(
    registry: Registry,
    tx: Transaction,
    subject: Subject,
    rows: Sequence[VersionRow],
    definition: SchemaDefinition,
    normalize: bool,
    settings: Settings,
    parsed: Candidate | None = None,
    *,
    is_lenient: bool = False,
) -> tuple[Candidate, Registration | None]:
    """What the definition becomes in this subject, and the version among the rows that it is already.

    First it is looked for as it was sent, then with the contract of the version before it.
    """
    sent = _sent(definition, settings)
    candidate = _candidate(tx, sent, subject.namespace, parsed, is_lenient=is_lenient)
    is_normalized = normalize or bool(settings.normalize)
    found = _among(registry, tx, subject, rows, candidate, is_normalized)
    if found is not None or settings.mode is Mode.IMPORT:
        return candidate, found
    whole = with_contract(with_inherited(definition, _last(registry, tx, subject, rows)), settings.contract)
    if whole != sent:
        candidate = _candidate(tx, whole, subject.namespace, parsed, is_lenient=is_lenient)
        found = _among(registry, tx, subject, rows, candidate, is_normalized)
    return candidate, found


def _last(registry: Registry, tx: Transaction, subject: Subject, rows: Sequence[VersionRow]) -> SchemaDefinition | None:
    last = next((row.schema_id for row in reversed(rows) if row.state is State.LIVE), None)
    return None if last is None else registry.parsed.get(tx, subject.namespace, [last])[last].definition


def _candidate(
    tx: Transaction,
    definition: SchemaDefinition,
    namespace: str,
    parsed: Candidate | None = None,
    *,
    is_lenient: bool = False,
) -> Candidate:
    if parsed is not None and parsed.definition == definition:
        return parsed
    return candidate_of(definition, referenced(tx, definition, namespace), is_lenient=is_lenient)


def candidate_of(
    definition: SchemaDefinition, references: References = NO_REFERENCES, *, is_lenient: bool = False
) -> Candidate:
    schema = parse(definition, references, is_lenient=is_lenient)
    known_by = identity(definition)
    return Candidate(definition, schema, known_by, guid_of(known_by))


def _register(
    registry: Registry,
    tx: Transaction,
    caller: Caller,
    subject: Subject,
    prepared: Candidate | None,
    wanted: _Wanted,
    defaults: Settings,
) -> Registration:
    row = tx.subjects.lock(subject, create=True)
    assert row is not None
    settings = settings_of(tx, subject, defaults)
    require_mode(settings, subject, wanted.id)
    history = tx.subjects.history(subject)
    live = [r for r in history if r.state is State.LIVE]
    candidate, found = settle(
        registry,
        tx,
        subject,
        live,
        wanted.definition,
        wanted.normalize,
        settings,
        prepared,
        is_lenient=wanted.is_lenient,
    )
    if found is not None and wanted.is_met_by(found):
        return found
    _require_references(tx, candidate.definition, subject)
    number = _number(history, row.last_version, wanted.version, settings)
    warnings: list[Finding] = []
    if settings.mode is not Mode.IMPORT and not wanted.force:
        warnings = _findings(registry, tx, history, subject, candidate, settings)
        if warnings and settings.enforce is not Enforce.WARN:
            raise incompatible(subject, warnings)
    return append(registry, tx, caller, subject, number, candidate, warnings, wanted.id)


def append(
    registry: Registry,
    tx: Transaction,
    caller: Caller,
    subject: Subject,
    number: Version,
    candidate: Candidate,
    warnings: Sequence[Finding],
    id_: SchemaId | None = None,
) -> Registration:
    """Makes a candidate a version of a subject that is locked, and writes that to the journal."""
    given = tx.schemas.put(subject.namespace, candidate.definition, candidate.identity, candidate.guid, id_)
    properties = dict(candidate.definition.properties)
    tx.subjects.append(VersionRow(subject, number, given, State.LIVE, datetime.now(UTC), properties))
    stored = StoredSchema(subject.namespace, given, candidate.guid, candidate.identity, candidate.definition)
    registry.parsed.keep(stored, candidate.schema)
    record(
        tx,
        caller,
        "schema.registered",
        subject,
        version=number,
        id=given,
        guid=str(candidate.guid),
        type=candidate.definition.type,
        warnings=[finding.as_dict() for finding in warnings],
    )
    return Registration(subject, number, given, candidate.guid, candidate.definition, True, tuple(warnings))


def require_mode(settings: Settings, subject: Subject, id_: SchemaId | None) -> None:
    require_writable(settings, subject)
    if settings.mode is Mode.IMPORT and id_ is None:
        raise NotPermitted(f"Subject {subject} is in IMPORT mode: a schema comes with its id; give one")
    if settings.mode is not Mode.IMPORT and id_ is not None:
        raise NotPermitted(f"Subject {subject} is not in import mode: ids are given here; leave it out")


def _require_references(tx: Transaction, definition: SchemaDefinition, subject: Subject) -> None:
    """Keeps the schemas that are referred to from being deleted until this change is in."""
    for reference in definition.references:
        target = subject_of(reference.subject, subject.namespace)
        tx.subjects.lock(target, create=False)
        if not any(row.version == reference.version and row.state is State.LIVE for row in tx.subjects.history(target)):
            raise SchemaNotFound(f"Reference {reference.name!r}: version {reference.version} of subject '{target}'")


def _number(history: Sequence[VersionRow], last: Version, wanted: Version | None, settings: Settings) -> Version:
    if wanted in (None, last + 1):
        return Version(last + 1)
    if settings.mode is not Mode.IMPORT:
        raise InvalidSchema(f"version {wanted} is not one more than the last version, {last}")
    if any(row.version == wanted for row in history):
        raise NotPermitted(f"Version {wanted} is there already, with another schema")
    return wanted


def _among(
    registry: Registry,
    tx: Transaction,
    subject: Subject,
    rows: Sequence[VersionRow],
    candidate: Candidate,
    normalize: bool,
) -> Registration | None:
    found = _identical(tx, subject, rows, candidate.identity) if rows else None
    if found is not None:
        return found
    if normalize:
        parsed = registry.parsed.get(tx, subject.namespace, {row.schema_id for row in rows})
        for row in reversed(rows):
            schema = parsed[row.schema_id]
            if is_same(schema, candidate.schema) and schema.definition.metadata == candidate.definition.metadata:
                known = schema.definition
                return Registration(subject, row.version, row.schema_id, guid(known), known, False)
    return None


def _identical(tx: Transaction, subject: Subject, rows: Sequence[VersionRow], known_by: bytes) -> Registration | None:
    stored = tx.schemas.by_identity(subject.namespace, known_by)
    row = next((row for row in reversed(rows) if stored is not None and row.schema_id == stored.id), None)
    if stored is None or row is None:
        return None
    return Registration(subject, row.version, row.schema_id, stored.guid, stored.definition, False)


def look_up(
    registry: Registry,
    caller: Caller,
    subject: Subject,
    definition: SchemaDefinition,
    *,
    normalize: bool = False,
    with_deleted: bool = False,
    is_lenient: bool = False,
) -> Registration:
    """The version that this schema is in a subject."""
    require(caller, Action.READ, str(subject))

    def find(tx: Transaction) -> Registration:
        target = meant(tx, subject)
        states = {State.LIVE, State.DELETED} if with_deleted else {State.LIVE}
        rows = [row for row in tx.subjects.history(target) if row.state in states]
        if not rows:
            raise SubjectNotFound(str(subject))
        settings = settings_of(tx, target)
        found = unchanged(tx, target, rows, definition, settings)
        if found is None:
            _, found = settle(registry, tx, target, rows, definition, normalize, settings, is_lenient=is_lenient)
        if found is None:
            raise SchemaNotFound
        return found

    return registry.read(find)


def check(
    registry: Registry,
    caller: Caller,
    subject: Subject,
    definition: SchemaDefinition,
    *,
    version: Version | None = None,
    latest_only: bool = False,
    is_lenient: bool = False,
    defaults: Settings = SERVER_DEFAULTS,
) -> list[Finding]:
    """Why a schema may not become the next version; compared with one version, with the latest, or as the policy says.

    A subject without versions takes everything; a version that does not exist is an error.
    """
    require(caller, Action.READ, str(subject))
    require_size(registry, definition)

    def find(tx: Transaction) -> list[Finding]:
        target = meant(tx, subject)
        settings = settings_of(tx, target, defaults)
        history = [row for row in tx.subjects.history(target) if row.state is State.LIVE]
        if version is not None:
            history = [row for row in history if row.version == version]
            if not history:
                raise VersionNotFound(version)
        if latest_only:
            history = history[-1:]
        candidate = _candidate(tx, definition, target.namespace, is_lenient=is_lenient)
        return _findings(registry, tx, history, target, candidate, settings)

    return registry.read(find)


def _findings(
    registry: Registry,
    tx: Transaction,
    history: Sequence[VersionRow],
    subject: Subject,
    candidate: Candidate,
    settings: Settings,
) -> list[Finding]:
    assert settings.strategy is not None
    # Loads the rules of every format, which a server that only answers look-ups never needs.
    from tallystick.compat import evolution

    live = [row for row in history if row.state is State.LIVE]
    versions = compared(registry, tx, live, settings)
    registered = in_group(versions, candidate.schema, settings)
    found = evolution.check(registered, candidate.schema, settings.strategy, options_of(settings))
    return [*_reserved_names(candidate.schema, versions[-1:], settings), *found]


def _reserved_names(schema: Schema, latest: Sequence["evolution.Registered"], settings: Settings) -> list[Finding]:
    if not settings.contract.get("validateFields"):
        return []
    from tallystick.registry import reserved

    return reserved.findings(schema, *((latest[0].schema, latest[0].version) if latest else (None, None)))


def compared(
    registry: Registry, tx: Transaction, live: Sequence[VersionRow], settings: Settings
) -> list["evolution.Registered"]:
    """The versions that a strategy looks at."""
    from tallystick.compat import evolution

    assert settings.strategy is not None
    rows = live if settings.strategy in _ASKS_ALL or settings.compatibility_group else live[-1:]
    parsed = registry.parsed.get(tx, rows[-1].subject.namespace, {row.schema_id for row in rows}) if rows else {}
    return [evolution.Registered(row.version, parsed[row.schema_id]) for row in rows]


def in_group(
    registered: list["evolution.Registered"], schema: Schema, settings: Settings
) -> list["evolution.Registered"]:
    """Those that the settings want a schema to be compared with: all of them, or those of its group."""
    group = settings.compatibility_group
    return [r for r in registered if _same_group(r.schema, schema, group)] if group else registered


def options_of(settings: Settings) -> Options:
    return Options(OptionalProperties(settings.optional_properties or "strict"))


def _same_group(a: Schema, b: Schema, key: str) -> bool:
    return _metadata_property(a, key) == _metadata_property(b, key)


def _metadata_property(schema: Schema, key: str) -> object:
    metadata = schema.definition.metadata
    return json.loads(metadata).get("properties", {}).get(key) if metadata else None


def incompatible(subject: Subject, findings: Sequence[Finding]) -> IncompatibleSchema:
    versions = sorted({finding.version for finding in findings if finding.version is not None})
    which = ", ".join(map(str, versions[:5])) + (" …" if len(versions) > 5 else "")
    return IncompatibleSchema(
        f'Schema being registered is incompatible with an earlier schema for subject "{subject}": '
        f"{len(findings)} finding{'s' if len(findings) != 1 else ''} against version {which}: "
        + "; ".join(f"[{f.rule}] {f.message} (fix: {f.fix})" for f in findings[:3]),
        findings,
    )
