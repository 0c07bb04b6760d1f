"""Parsed schemas, kept while they are asked for.

A schema id never changes its meaning while the schema exists; after a delete for ever an import may bring it again.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable

from tallystick.formats import Schema, parse
from tallystick.model.definition import Reference, References, SchemaDefinition
from tallystick.model.subject import SchemaId, subject_of
from tallystick.registry.ports import State, StoredSchema, Transaction

_MOST_CHARACTERS = 16_000_000
"""How much schema text is kept parsed; parsed schemas take a few times that in memory."""


class ParsedSchemas:
    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, SchemaId], Schema] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def get(self, tx: Transaction, namespace: str, ids: Iterable[SchemaId]) -> dict[SchemaId, Schema]:
        found: dict[SchemaId, Schema] = {}
        missing: list[SchemaId] = []
        with self._lock:
            for id_ in ids:
                schema = self._kept.get((namespace, id_))
                if schema is None:
                    missing.append(id_)
                else:
                    self._kept.move_to_end((namespace, id_))
                    found[id_] = schema
        for stored in tx.schemas.get(namespace, missing) if missing else ():
            schema = parse(stored.definition, referenced(tx, stored.definition, namespace), is_lenient=True)
            self.keep(stored, schema)
            found[stored.id] = schema
        return found

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()
            self._characters = 0

    def keep(self, stored: StoredSchema, schema: Schema) -> None:
        with self._lock:
            if (stored.namespace, stored.id) in self._kept:
                return
            self._kept[stored.namespace, stored.id] = schema
            self._characters += len(stored.definition.text)
            while self._characters > _MOST_CHARACTERS and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._characters -= len(dropped.definition.text)


def referenced(tx: Transaction, definition: SchemaDefinition, namespace: str) -> References:
    """Everything that a definition refers to, as far as it is there: what is missing, the parser refuses."""
    found: dict[Reference, SchemaDefinition] = {}
    waiting = [(reference, namespace) for reference in definition.references]
    while waiting:
        reference, around = waiting.pop()
        if reference in found:
            continue
        target = subject_of(reference.subject, around)
        row = next((r for r in tx.subjects.history(target) if r.version == reference.version), None)
        if row is None or row.state is State.TOMBSTONE:
            continue
        for stored in tx.schemas.get(target.namespace, [row.schema_id]):
            found[reference] = stored.definition
            waiting.extend((inner, target.namespace) for inner in stored.definition.references)
    return found
