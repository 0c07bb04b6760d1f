"""What every store promises the registry."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tallystick.errors import SchemaIdTaken
from tallystick.formats import guid, identity
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.pipeline import PipelineState, PipelineStatus
from tallystick.model.schema_type import AVRO, BOOLEAN, SchemaType
from tallystick.model.settings import Mode, Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import SchemaId, Subject, Version
from tallystick.registry.ports import (
    ALL,
    Entry,
    JournalFilter,
    Page,
    PipelineRow,
    SchemaStore,
    State,
    Transaction,
    VersionRow,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
A = Subject("public/default", "a")
B = Subject("public/default", "b")


def text(name: str) -> SchemaDefinition:
    return SchemaDefinition(AVRO, f'{{"type": "enum", "name": "{name}", "symbols": []}}')


def put(
    tx: Transaction, definition: SchemaDefinition, id_: int | None = None, namespace: str = A.namespace
) -> SchemaId:
    wanted = None if id_ is None else SchemaId(id_)
    return tx.schemas.put(namespace, definition, identity(definition), guid(definition), wanted)


def append(tx: Transaction, subject: Subject, definition: SchemaDefinition, state: State = State.LIVE) -> Version:
    row = tx.subjects.lock(subject, create=True)
    assert row is not None
    number = Version(row.last_version + 1)
    tx.subjects.append(VersionRow(subject, number, put(tx, definition, namespace=subject.namespace), state, NOW, {}))
    return number


def history(store: SchemaStore, subject: Subject) -> list[tuple[int, int, str]]:
    return store.read(lambda tx: [(r.version, r.schema_id, str(r.state)) for r in tx.subjects.history(subject)])


def test_versions_count_up_from_one_per_subject(store: SchemaStore) -> None:
    wanted = [(A, "X"), (B, "X"), (A, "Y")]
    assert store.change(lambda tx: [append(tx, subject, text(name)) for subject, name in wanted]) == [1, 1, 2]


def test_equal_definitions_have_one_id_per_namespace(store: SchemaStore) -> None:
    ids = store.change(lambda tx: [put(tx, text("X")), put(tx, text("Y")), put(tx, text("X"))])
    elsewhere = store.change(lambda tx: put(tx, text("Y"), namespace="acme/sales"))
    assert (ids, elsewhere) == ([1, 2, 1], 1)


def test_a_given_id_is_kept_and_never_given_again(store: SchemaStore) -> None:
    ids = store.change(
        lambda tx: [put(tx, text("X"), 7), put(tx, text("Y")), put(tx, text("Z"), 3), put(tx, text("W"))]
    )
    assert ids == [7, 8, 3, 9]


def test_a_given_id_that_is_taken_is_refused(store: SchemaStore) -> None:
    store.change(lambda tx: put(tx, text("X"), 7))
    with pytest.raises(SchemaIdTaken):
        store.change(lambda tx: put(tx, text("Y"), 7))
    with pytest.raises(SchemaIdTaken):
        store.change(lambda tx: put(tx, text("X"), 8))


def test_a_change_that_fails_leaves_nothing(store: SchemaStore) -> None:
    def fail(tx: Transaction) -> None:
        append(tx, A, text("X"))
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        store.change(fail)
    assert history(store, A) == []
    assert store.read(lambda tx: tx.subjects.lock(A, create=False)) is None


def test_a_schema_comes_back_as_it_was(store: SchemaStore) -> None:
    definition = SchemaDefinition(
        AVRO,
        '"string"',
        (Reference("n1", "b", 1), Reference("n0", ":.acme.sales:c", 2)),
        {"k": "v"},
        '{"tags":{}}',
        '{"domainRules":[]}',
    )
    id_ = store.change(lambda tx: put(tx, definition))
    stored = store.read(lambda tx: tx.schemas.get(A.namespace, [id_]))
    assert [s.definition for s in stored] == [definition]
    assert stored[0].definition.properties == {"k": "v"}
    assert store.read(lambda tx: tx.schemas.by_guid(guid(definition)))[0].id == id_
    assert store.read(lambda tx: tx.schemas.by_identity(A.namespace, identity(definition))) == stored[0]


def test_subjects_are_listed_by_state_prefix_and_page(store: SchemaStore) -> None:
    def fill(tx: Transaction) -> None:
        for name in ["b", "a2", "a1", "a%", "é"]:
            append(tx, Subject("public/default", name), text("X"))
        append(tx, Subject("public/default", "a0"), text("X"), State.DELETED)
        append(tx, Subject("acme/sales", "a1"), text("X"))

    store.change(fill)

    def names(namespace: str | None, prefix: str, states: list[State], page: Page = ALL) -> list[str]:
        rows = store.read(lambda tx: tx.subjects.names(namespace, prefix, states, page))
        return [str(row.subject) for row in rows]

    assert names("public/default", "", [State.LIVE]) == ["a%", "a1", "a2", "b", "é"]
    assert names("public/default", "a", [State.LIVE, State.DELETED]) == ["a%", "a0", "a1", "a2"]
    assert names("public/default", "a", [State.DELETED]) == ["a0"]
    assert names("public/default", "a%", [State.LIVE]) == ["a%"]
    assert names("public/default", "", [State.LIVE], Page(1, 2)) == ["a1", "a2"]
    assert names(None, "a1", [State.LIVE]) == [":.acme.sales:a1", "a1"]


def test_subjects_are_listed_by_the_types_of_their_versions_in_a_state(store: SchemaStore) -> None:
    boolean, similar = SchemaDefinition(BOOLEAN, ""), SchemaDefinition(SchemaType("BOOL_AN"), "")

    def names(states: set[State], *types: SchemaType) -> list[str]:
        rows = store.read(lambda tx: tx.subjects.names(None, "", states, ALL, types=types))
        return [row.subject.name for row in rows]

    store.change(lambda tx: [append(tx, A, text("X")), append(tx, A, boolean), append(tx, A, text("Y"))])
    store.change(lambda tx: append(tx, B, boolean))
    assert [names({State.LIVE}, AVRO), names({State.LIVE}, BOOLEAN)] == [["a"], ["a", "b"]]
    assert names({State.LIVE}, similar.type) == []

    def append_similar(tx: Transaction) -> None:
        id_ = tx.schemas.put(B.namespace, similar, b"of a format that is not installed", UUID(int=1), None)
        tx.subjects.append(VersionRow(B, Version(2), id_, State.LIVE, NOW, {}))

    store.change(append_similar)
    assert names({State.LIVE}, similar.type) == ["b"]
    assert names({State.DELETED}, AVRO, BOOLEAN) == []
    store.change(lambda tx: tx.subjects.set_state(A, [Version(1), Version(2)], State.DELETED))
    assert [names({State.LIVE}, AVRO), names({State.LIVE}, BOOLEAN)] == [["a"], ["b"]]
    assert [names({State.DELETED}, AVRO), names({State.DELETED}, BOOLEAN)] == [["a"], ["a"]]
    store.change(lambda tx: tx.subjects.remove(A, [Version(1)]))
    assert [names({State.DELETED}, AVRO), names({State.DELETED}, BOOLEAN)] == [[], ["a"]]
    assert names({State.LIVE, State.DELETED}, BOOLEAN) == ["a", "b"]


def test_a_subject_that_is_only_described_is_listed_when_asked_for(store: SchemaStore) -> None:
    def names(described: bool) -> list[str]:
        rows = store.read(lambda tx: tx.subjects.names(None, "", {State.LIVE}, ALL, described=described))
        return [row.subject.name for row in rows]

    store.change(lambda tx: [tx.subjects.lock(A, create=True), tx.subjects.lock(B, create=True)])
    store.change(lambda tx: tx.subjects.describe(A, {"app": "shop"}))
    assert [names(True), names(False)] == [["a"], []]
    store.change(lambda tx: tx.subjects.describe(A, {}))
    assert names(True) == []


def test_states_change_and_versions_go_for_ever_with_their_schemas(store: SchemaStore) -> None:
    store.change(lambda tx: [append(tx, A, text("X")), append(tx, A, text("Y")), append(tx, B, text("Y"))])
    store.change(lambda tx: tx.subjects.set_state(A, [Version(1)], State.DELETED))
    assert history(store, A) == [(1, 1, "deleted"), (2, 2, "live")]
    store.change(lambda tx: tx.subjects.remove(A, [Version(1)]))
    assert history(store, A) == [(2, 2, "live")]
    assert store.read(lambda tx: tx.schemas.get(A.namespace, [SchemaId(1)])) == []
    store.change(lambda tx: tx.subjects.remove(A, None))
    assert store.read(lambda tx: len(tx.schemas.get(A.namespace, [SchemaId(2)]))) == 1
    assert store.change(lambda tx: append(tx, A, text("Z"))) == 1
    assert store.read(lambda tx: tx.schemas.last_id(A.namespace)) == 3


def test_who_refers_to_a_version_is_known(store: SchemaStore) -> None:
    referring = SchemaDefinition(AVRO, '"string"', (Reference("X", "a", 1),))
    store.change(lambda tx: [append(tx, A, text("X")), append(tx, A, text("Y")), append(tx, B, referring)])

    def found(version: int | None) -> list[tuple[str, int]]:
        number = None if version is None else Version(version)
        return store.read(lambda tx: [(r.subject.name, r.version) for r in tx.schemas.referring_to(A, number)])

    assert (found(1), found(2), found(None)) == ([("b", 1)], [], [("b", 1)])


def test_settings_are_kept_by_level(store: SchemaStore) -> None:
    server, namespace, own = Settings(mode=Mode.READONLY), Settings(strategy=Strategy.FULL), Settings(normalize=True)

    def fill(tx: Transaction) -> None:
        tx.settings.put(None, None, server)
        tx.settings.put(None, A.namespace, namespace)
        tx.settings.put(A, None, own)

    store.change(fill)
    assert store.read(lambda tx: tx.settings.levels(A)) == (own, namespace, server)
    assert store.read(lambda tx: tx.settings.levels(Subject("x/y", "a"))) == (None, None, server)
    store.change(lambda tx: tx.settings.put(A, None, None))
    assert store.read(lambda tx: tx.settings.get(A, None)) is None
    assert store.read(lambda tx: tx.settings.namespaces()) == [A.namespace]


def test_the_journal_goes_on_from_any_entry(store: SchemaStore) -> None:
    def write(kind: str) -> None:
        entry = Entry(kind=kind, subject=A, data={"n": 1}, principal="p", address=None, at=NOW)
        store.change(lambda tx: tx.journal.write(entry))

    for kind in ["one", "two", "three"]:
        write(kind)
    entries = store.read(lambda tx: tx.journal.after(1, 10))
    assert [(e.id, e.kind, e.subject, e.data, e.at) for e in entries] == [
        (2, "two", A, {"n": 1}, NOW),
        (3, "three", A, {"n": 1}, NOW),
    ]
    assert store.read(lambda tx: tx.journal.last()) == 3
    some = store.read(lambda tx: tx.journal.after(0, 10, {"one", "three", "four"}))
    assert [(e.id, e.kind) for e in some] == [(1, "one"), (3, "three")]


def test_the_journal_is_searched_from_its_end(store: SchemaStore) -> None:
    def write(tx: Transaction) -> None:
        for number, (subject, principal) in enumerate([(A, "ann"), (B, "bob"), (None, "ann"), (A, "bob")]):
            at = NOW + timedelta(hours=number)
            tx.journal.write(
                Entry(kind=f"k{number % 2}", subject=subject, data={}, principal=principal, address=None, at=at)
            )

    store.change(write)

    def ids(limit: int = 10, **wanted: Any) -> list[int]:
        return [entry.id for entry in store.read(lambda tx: tx.journal.newest(JournalFilter(**wanted), limit))]

    assert [ids(), ids(2), ids(before=3)] == [[4, 3, 2, 1], [4, 3], [2, 1]]
    assert [ids(subject=A), ids(principal="bob"), ids(kind="k0")] == [[4, 1], [4, 2], [3, 1]]
    assert ids(since=NOW + timedelta(hours=2)) == [4, 3]
    assert ids(subject=A, principal="ann", kind="k1") == []


def test_changes_at_the_same_time_leave_no_gap_and_take_no_id_twice(store: SchemaStore) -> None:
    def register(n: int) -> tuple[int, int]:
        def work(tx: Transaction) -> tuple[int, int]:
            row = tx.subjects.lock(A, create=True)
            assert row is not None
            number, id_ = Version(row.last_version + 1), put(tx, text(f"N{n % 20}"))
            tx.subjects.append(VersionRow(A, number, id_, State.LIVE, NOW))
            return number, id_

        return store.change(work)

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(register, range(60)))
    assert sorted(number for number, _ in done) == list(range(1, 61))
    by_name = {(n % 20, id_) for n, (_, id_) in enumerate(done)}
    assert len(by_name) == len({id_ for _, id_ in by_name}) == 20


def test_a_pipeline_has_one_status(store: SchemaStore) -> None:
    def row(name: str, batch: int) -> PipelineRow:
        status = PipelineStatus(state=PipelineState.RUNNING, batch=batch, details={"é": [1, {}]})
        return PipelineRow(name, status, "me", NOW)

    for told in [row("b", 1), row("a", 1), row("b", 2), row("B", 9)]:
        store.change(lambda tx, told=told: tx.pipelines.put(told))  # type: ignore[misc]
    assert store.read(lambda tx: tx.pipelines.all()) == [row("B", 9), row("a", 1), row("b", 2)]
    assert store.read(lambda tx: tx.pipelines.get("b")) == row("b", 2)
    assert store.change(lambda tx: [tx.pipelines.remove("b"), tx.pipelines.remove("b")]) == [True, False]
    assert store.read(lambda tx: tx.pipelines.get("b")) is None
