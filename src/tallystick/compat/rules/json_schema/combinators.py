"""What the reader asks through other schemas: one of them, exactly one, none, or one on a condition."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tallystick.compat.rules.json_schema import synthetic
from tallystick.compat.rules.json_schema.breach import Breach, Failure
from tallystick.compat.rules.json_schema.breaches import ANY_OF, BRANCH, CONDITION, NOT, ONE_OF
from tallystick.compat.rules.json_schema.goal import Goal
from tallystick.compat.rules.json_schema.writer import Writer
from tallystick.formats.json_schema.kinds import INTEGERS, Kinds
from tallystick.formats.json_schema.node import Node

if TYPE_CHECKING:
    from tallystick.compat.rules.json_schema.containment import Containment

Steps = Iterator[Goal | Failure]
Branches = tuple[Node, ...]


def check(proof: "Containment", writer: Writer, reader: Node) -> Steps:
    if reader.any_of and not _has_same(proof, writer, "any_of", reader.any_of):
        yield from _any_of(proof, writer, reader)
    if reader.one_of and not _has_same(proof, writer, "one_of", reader.one_of):
        yield from _one_of(proof, writer, reader)
    if reader.not_ is not None and not _is_excluded(proof, writer, reader.not_):
        yield Failure(NOT, writer, reader, ("not",))
    if reader.if_ is not None and not _has_condition(proof, writer, reader):
        yield Failure(CONDITION, writer, reader, ("if",))


def _has_same(proof: "Containment", writer: Writer, name: str, branches: Branches) -> bool:
    return any(
        len(own := getattr(node, name)) == len(branches)
        and all(proof.same(a, b) for a, b in zip(own, branches, strict=True))
        for node in writer.nodes
    )


def _any_of(proof: "Containment", writer: Writer, reader: Node) -> Steps:
    possible = [branch for branch in reader.any_of if not proof.are_disjoint(writer, branch)]
    if len(possible) == 1:
        yield Goal(writer, possible[0])
    elif not possible:
        yield Failure(BRANCH, writer, reader, ("anyOf",), {"keyword": "anyOf"})
    elif not any(proof.holds(writer, branch) for branch in possible):
        yield from _by_kind(writer, reader, ANY_OF, "anyOf")


def _one_of(proof: "Containment", writer: Writer, reader: Node) -> Steps:
    possible = [branch for branch in reader.one_of if not proof.are_disjoint(writer, branch)]
    if len(possible) == 1:
        yield Goal(writer, possible[0])
    elif not possible:
        yield Failure(BRANCH, writer, reader, ("oneOf",), {"keyword": "oneOf"})
    else:
        yield from _by_kind(writer, reader, ONE_OF, "oneOf")


def _by_kind(writer: Writer, reader: Node, breach: Breach, keyword: str) -> Steps:
    """Each kind of value on its own, where there are several: branches often differ by type."""
    parts = [Kinds({kind}) for kind in sorted(writer.kinds - INTEGERS)]
    if writer.kinds & INTEGERS:
        parts.append(writer.kinds & INTEGERS)
    if len(parts) == 1 or writer.disjunctions:
        yield Failure(breach, writer, reader, (keyword,))
    else:
        yield from (Goal(writer.also(synthetic.of_kinds(part)), reader) for part in parts)


def _is_excluded(proof: "Containment", writer: Writer, excluded: Node) -> bool:
    """Whether no value fits the excluded node: the writer excludes it too, or it has nothing in common with it."""
    if proof.are_disjoint(writer, excluded):
        return True
    return any(proof.holds(Writer([excluded], excluded), node) for node in writer.excluded)


def _has_condition(proof: "Containment", writer: Writer, reader: Node) -> bool:
    assert reader.if_ is not None
    assert reader.then is not None
    assert reader.else_ is not None
    for node in writer.nodes:
        own = (node.if_, node.then, node.else_)
        if all(
            a is not None and proof.same(a, b)
            for a, b in zip(own, (reader.if_, reader.then, reader.else_), strict=True)
        ):
            return True
    meets = proof.holds(writer.also(reader.if_), reader.then)
    return meets and proof.holds(writer.but(reader.if_), reader.else_)
