"""Schemas as clients get to see them: only what there is, AVRO unsaid."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from tallystick.errors import SchemaNotFound, SubjectNotFound
from tallystick.formats.protobuf.parse import is_base64
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import AVRO
from tallystick.model.subject import subject_of
from tallystick.registry.lookup import SubjectVersion
from tallystick.registry.ports import State, StoredSchema
from tallystick.registry.registration import Registration
from tallystick.server.dialects.confluent.answers import explained
from tallystick.server.dialects.confluent.bodies import NAMES
from tallystick.server.dialects.confluent.texts import is_descriptor


def definition(found: SchemaDefinition, guid: UUID, text: str | None = None) -> dict[str, Any]:
    """`text` takes the place of the definition's own where another format was asked for.

    What was registered as a descriptor brings it along, so that a copy of it is the same schema.
    """
    fields = {
        "guid": str(guid),
        "schemaType": None if found.type == AVRO else NAMES[found.type],
        "references": references(found.references),
        "metadata": found.metadata and json.loads(found.metadata),
        "ruleSet": found.rule_set and json.loads(found.rule_set),
        "schema": found.text if text is None else text,
        "descriptor": found.text if text is not None and is_descriptor(found) and not is_base64(text) else None,
    }
    return {name: value for name, value in fields.items() if value or name == "schema"}


def rule_set(found: SchemaDefinition) -> dict[str, Any]:
    rules: dict[str, Any] = json.loads(found.rule_set) if found.rule_set else {}
    return rules


def references(listed: Sequence[Reference]) -> list[dict[str, Any]]:
    return [{"name": r.name, "subject": r.subject, "version": r.version} for r in listed]


def qualified(listed: Sequence[Reference], namespace: str) -> tuple[Reference, ...]:
    """References whose subjects say where they are, wherever they are read."""
    return tuple(Reference(r.name, str(subject_of(r.subject, namespace)), r.version) for r in listed)


def registration(found: Registration, text: str | None = None) -> dict[str, Any]:
    """Findings that the policy let pass are told, so that they are seen before they are refused one day."""
    shown = {"id": found.id, "version": found.version, **definition(found.definition, found.guid, text)}
    return {**shown, **explained(found.warnings)} if found.warnings else shown


def version(found: SubjectVersion, text: str | None = None) -> dict[str, Any]:
    row = found.row
    shown = {
        "subject": str(row.subject),
        "version": row.version,
        "id": row.schema_id,
        **definition(found.schema.definition, found.schema.guid, text),
        "ts": int(row.created_at.timestamp() * 1000),
    }
    return shown if row.state is State.LIVE else {**shown, "deleted": True}


def require_known_type(stored: StoredSchema) -> StoredSchema:
    """Schemas of types that Confluent's clients do not have are not there for them."""
    if stored.definition.type not in NAMES:
        raise SchemaNotFound(f"Schema {stored.id}")
    return stored


def require_known_version(found: SubjectVersion) -> SubjectVersion:
    if found.schema.definition.type not in NAMES:
        raise SubjectNotFound(str(found.row.subject))
    return found
