"""Rules for unions."""

from collections.abc import Iterator

from tallystick.compat.rule import BACKWARD, FORWARD, rule
from tallystick.compat.rules.avro.pair import RESOLUTION, Pair, type_finding
from tallystick.finding import Finding
from tallystick.formats.avro import resolution
from tallystick.formats.avro.types import AvroType, Union, describe


def taker(reader: AvroType, writer: AvroType) -> tuple[AvroType, tuple[int, ...]] | None:
    """What of the reader takes the writer's type, with the steps to it."""
    if isinstance(reader, Union):
        index = resolution.branch_for(reader, writer)
        return None if index is None else (reader.branches[index], (index,))
    return (reader, ()) if resolution.matches(reader, writer) else None


def _untaken(pair: Pair) -> list[tuple[int, AvroType]]:
    return [(i, branch) for i, branch in enumerate(pair.writer.branches) if taker(pair.reader, branch) is None]


@rule(
    "AVRO_UNION_BRANCH_REMOVED",
    "A branch of a union that may have been written must stay readable.",
    BACKWARD,
    source=f"{RESOLUTION}, unions",
)
def union_branch_removed(pair: Pair) -> Iterator[Finding]:
    for i, branch in _untaken(pair):
        yield pair.finding(
            union_branch_removed,
            f"{pair.what} no longer takes {describe(branch)}, which may have been written",
            f"keep {describe(branch)} in the union",
            writer=pair.writer_spot.step(i),
            was=describe(pair.old),
            now=describe(pair.new),
        )


@rule(
    "AVRO_UNION_BRANCH_ADDED",
    "A branch may be added to a union only if old readers can take it.",
    FORWARD,
    source=f"{RESOLUTION}, unions",
)
def union_branch_added(pair: Pair) -> Iterator[Finding]:
    for i, branch in _untaken(pair):
        yield pair.finding(
            union_branch_added,
            f"{pair.what} may now hold {describe(branch)}, which readers with the old schema cannot take",
            f"do not write {describe(branch)} here: keep {describe(pair.old)}, or add a new field with a default",
            writer=pair.writer_spot.step(i),
            was=describe(pair.old),
            now=describe(pair.new),
        )


@rule(
    "AVRO_UNION_REPLACED",
    "A union and a type that stands for it, or two unions, must have a branch in common.",
    BACKWARD,
    FORWARD,
    source=f"{RESOLUTION}, unions",
)
def union_replaced(pair: Pair) -> Iterator[Finding]:
    yield from type_finding(
        pair,
        union_replaced,
        "and nothing of the one can be read as the other",
        f"keep {describe(pair.old)}, or add a new field of another name with a default",
    )
