"""Schemas by id, identity and GUID in SQL."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, bindparam, delete, exists, insert, select, tuple_, update

from tallystick.errors import SchemaIdTaken
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.subject import SchemaId, Subject, Version, subject_of
from tallystick.registry.ports import StoredSchema, VersionRow
from tallystick.stores.compiled import Compiled
from tallystick.stores.rows import version_row
from tallystick.stores.statements import next_number
from tallystick.stores.tables import counters, schema_references, schemas, subjects, versions

_INSERT = Compiled(insert(schemas), *schemas.c.keys())
_INSERT_REFERENCES = insert(schema_references)
_HAS_IDENTITY = (schemas.c.namespace == bindparam("namespace")) & (schemas.c.identity == bindparam("identity"))
_ID_OF = Compiled(select(schemas.c.id).where(_HAS_IDENTITY))
_BY_IDENTITY = Compiled(select(schemas).where(_HAS_IDENTITY))
_REFERENCES = (
    select(schema_references)
    .where(
        schema_references.c.namespace == bindparam("namespace"),
        schema_references.c.schema_id.in_(bindparam("ids", expanding=True)),
    )
    .order_by(schema_references.c.schema_id, schema_references.c.position)
)
_BY_IDS = select(schemas).where(
    schemas.c.namespace == bindparam("namespace"), schemas.c.id.in_(bindparam("ids", expanding=True))
)
_TYPES = select(schemas.c.id, schemas.c.type).where(
    schemas.c.namespace == bindparam("namespace"), schemas.c.id.in_(bindparam("ids", expanding=True))
)
_VERSIONS_OF = (
    select(versions, subjects.c.name)
    .join(subjects)
    .where(versions.c.namespace == bindparam("namespace"), versions.c.schema_id == bindparam("id"))
    .order_by(subjects.c.name, versions.c.version)
)
_SET_COUNTER = update(counters).where(counters.c.name == bindparam("counter")).values(last=bindparam("number"))


class SqlSchemas:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(
        self, namespace: str, definition: SchemaDefinition, identity: bytes, guid: UUID, id_: SchemaId | None
    ) -> SchemaId:
        known = self._id_of(namespace, identity)
        if known is None:
            taken = self._take_id(namespace, id_)
            # While we waited for the counter another change may have brought the same definition; SQLite has one
            # writer.
            known = self._id_of(namespace, identity) if self._connection.dialect.name != "sqlite" else None
            if known is None:
                self._insert(namespace, taken, definition, identity, guid)
                return taken
        if id_ is not None and id_ != known:
            raise SchemaIdTaken(namespace, id_, f"the same definition has the id {known} here")
        return known

    def _take_id(self, namespace: str, given: SchemaId | None) -> SchemaId:
        number = SchemaId(next_number(self._connection, namespace))
        if given is None:
            return number
        # The number just taken is given back or jumped over: the counter stays at or above every id in use.
        last = max(given, number - 1)
        self._connection.execute(_SET_COUNTER, {"counter": namespace, "number": last})
        if self.get(namespace, [given]):
            raise SchemaIdTaken(namespace, given, "another definition has it")
        return given

    def _id_of(self, namespace: str, identity: bytes) -> SchemaId | None:
        found = _ID_OF.one(self._connection, {"namespace": namespace, "identity": identity})
        return None if found is None else SchemaId(found.id)

    def _insert(self, namespace: str, id_: SchemaId, definition: SchemaDefinition, identity: bytes, guid: UUID) -> None:
        row = {
            "namespace": namespace,
            "id": id_,
            "identity": identity,
            "guid": guid,
            "type": definition.type,
            "text": definition.text,
            "metadata": definition.metadata,
            "rule_set": definition.rule_set,
            "properties": dict(definition.properties),
        }
        _INSERT.run(self._connection, row)
        if definition.references:
            self._connection.execute(_INSERT_REFERENCES, _reference_rows(namespace, id_, definition))

    def get(self, namespace: str, ids: Sequence[SchemaId]) -> Sequence[StoredSchema]:
        return self._stored(self._connection.execute(_BY_IDS, {"namespace": namespace, "ids": list(ids)}).all())

    def types(self, namespace: str, ids: Sequence[SchemaId]) -> Mapping[SchemaId, SchemaType]:
        found = self._connection.execute(_TYPES, {"namespace": namespace, "ids": list(ids)})
        return {SchemaId(row.id): SchemaType(row.type) for row in found}

    def by_identity(self, namespace: str, identity: bytes) -> StoredSchema | None:
        rows = _BY_IDENTITY.run(self._connection, {"namespace": namespace, "identity": identity})
        return next(iter(self._stored(rows)), None)

    def by_guid(self, guid: UUID) -> Sequence[StoredSchema]:
        rows = self._connection.execute(select(schemas).where(schemas.c.guid == guid)).all()
        return [stored for row in rows for stored in self._stored([row])]

    def versions_of(self, namespace: str, id_: SchemaId) -> Sequence[VersionRow]:
        found = self._connection.execute(_VERSIONS_OF, {"namespace": namespace, "id": id_})
        return [version_row(row) for row in found]

    def referring_to(self, subject: Subject, version: Version | None) -> Sequence[VersionRow]:
        r = schema_references
        targets = select(r.c.namespace, r.c.schema_id).where(
            r.c.target_namespace == subject.namespace, r.c.target_name == subject.name
        )
        if version is not None:
            targets = targets.where(r.c.version == version)
        query = (
            select(versions, subjects.c.name)
            .join(subjects)
            .where(tuple_(versions.c.namespace, versions.c.schema_id).in_(targets))
            .order_by(versions.c.schema_id, subjects.c.name, versions.c.version)
        )
        return [version_row(row) for row in self._connection.execute(query)]

    def last_id(self, namespace: str) -> int:
        return self._connection.execute(select(counters.c.last).where(counters.c.name == namespace)).scalar() or 0

    def _stored(self, rows: Sequence[Row[Any]]) -> list[StoredSchema]:
        """Rows of one namespace with their references."""
        if not rows:
            return []
        asked = {"namespace": rows[0].namespace, "ids": [row.id for row in rows]}
        references: dict[int, list[Reference]] = {}
        for found in self._connection.execute(_REFERENCES, asked):
            reference = Reference(found.name, found.subject, found.version)
            references.setdefault(found.schema_id, []).append(reference)
        return [_stored_schema(row, tuple(references.get(row.id, ()))) for row in rows]


def _stored_schema(row: Row[Any], references: tuple[Reference, ...]) -> StoredSchema:
    definition = SchemaDefinition(
        SchemaType(row.type), row.text, references, row.properties, row.metadata, row.rule_set
    )
    return StoredSchema(row.namespace, SchemaId(row.id), row.guid, row.identity, definition)


def _reference_rows(namespace: str, id_: SchemaId, definition: SchemaDefinition) -> list[dict[str, Any]]:
    rows = []
    for position, reference in enumerate(definition.references):
        target = subject_of(reference.subject, namespace)
        rows.append(
            {
                "namespace": namespace,
                "schema_id": id_,
                "position": position,
                "name": reference.name,
                "subject": reference.subject,
                "version": reference.version,
                "target_namespace": target.namespace,
                "target_name": target.name,
            }
        )
    return rows


def remove_unused(connection: Connection, namespace: str, ids: Sequence[int]) -> None:
    """Schemas that no version of any subject holds any more."""
    if not ids:
        return
    for table, id_ in ((schema_references, schema_references.c.schema_id), (schemas, schemas.c.id)):
        is_used = exists().where(versions.c.namespace == table.c.namespace, versions.c.schema_id == id_)
        connection.execute(delete(table).where(table.c.namespace == namespace, id_.in_(ids), ~is_used))
