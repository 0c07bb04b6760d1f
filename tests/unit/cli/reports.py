"""A report made by hand: an order that lost a field and gained one, against two versions."""

from dataclasses import replace

from tallystick.cli.report import Report, Version
from tallystick.cli.sources import SchemaFile
from tallystick.compat.change import Change, ChangeKind
from tallystick.finding import Direction, Finding, Place
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO
from tallystick.model.strategy import Strategy

OLD_TEXT = '{\n  "fields": [\n    {"name": "id"},\n    {"name": "note"}\n  ]\n}\n'
NEW_TEXT = '{\n  "fields": [\n    {"name": "id"},\n    {"name": "price"}\n  ]\n}\n'

ADDED = Finding(
    rule="AVRO_FIELD_ADDED_NEEDS_DEFAULT",
    message="field `price` was added without a default, so old records have no value for it",
    fix="give field `price` a default",
    old=Place("", 1, 1),
    new=Place("/fields/1", 4, 5),
    now="price",
    direction=Direction.BACKWARD,
)
REMOVED = Finding(
    rule="AVRO_FIELD_REMOVED_NEEDS_DEFAULT",
    message="field `note` was removed, and it had no default",
    fix="keep field `note`",
    old=Place("/fields/1", 4, 5),
    new=Place("", 1, 1),
    was="note",
    direction=Direction.FORWARD,
)
CHANGES = (
    Change(kind=ChangeKind.REMOVED, what="field `note` of record `Order`", was='"string"', findings=(REMOVED,)),
    Change(kind=ChangeKind.ADDED, what="field `price` of record `Order`", now='"long"', findings=(ADDED,)),
    Change(kind=ChangeKind.WIDENED, what="type of field `id` of record `Order`", was='"int"', now='"long"'),
)


def schema_file(name: str, text: str = OLD_TEXT) -> SchemaFile:
    return SchemaFile(name, SchemaDefinition(AVRO, text))


def report(
    *findings: Finding,
    versions: int = 2,
    strategy: Strategy = Strategy.FULL_TRANSITIVE,
    changes: tuple[Change, ...] = CHANGES,
) -> Report:
    history = tuple(Version(number, schema_file(f"order-v{number}.avsc")) for number in range(1, versions + 1))
    return Report(
        strategy=strategy,
        candidate=schema_file("order.avsc", NEW_TEXT),
        history=history,
        compared=history if strategy.is_transitive else history[-1:],
        findings=findings,
        changes=changes,
    )


REFUSED = report(
    REMOVED.against(1), ADDED.against(1), REMOVED.against(2), replace(ADDED, old=Place("", 2, 2)).against(2)
)
ACCEPTED = report(changes=())
SINGLE = report(versions=0, changes=())
