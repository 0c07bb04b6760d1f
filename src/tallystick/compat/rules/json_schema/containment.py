"""Whether every value of one schema fits another: the proof, and what stands in its way.

To show that a reader's node takes every value of a writer is a goal. A goal comes down to checks of keywords,
each of which holds, fails, or leaves a goal on a part of the value; all of them must be met, so they wait in one
list and recursion in schemas costs no recursion here. A goal that has been seen is not looked at again: it is on
the way from the root to itself only if at least one step into the value lies between, because `$ref` circles
without such a step do not parse; values are finite, so the proof is sound.

Where one of several ways suffices (`anyOf`), each is tried in a proof of its own, whose goals are forgotten
when it fails: what was assumed in it must not serve elsewhere. What could not be shown stays so.
"""

from collections.abc import Iterator
from typing import Any

from tallystick.compat.options import OptionalProperties, Options
from tallystick.compat.rules.json_schema import arrays, combinators, objects, scalars, synthetic
from tallystick.compat.rules.json_schema.breach import Failure
from tallystick.compat.rules.json_schema.breaches import DYNAMIC_REF, FORBIDDEN, TOO_COMPLEX, UNEVALUATED
from tallystick.compat.rules.json_schema.emptiness import Emptiness
from tallystick.compat.rules.json_schema.goal import Goal
from tallystick.compat.rules.json_schema.judge import Judge
from tallystick.compat.rules.json_schema.sameness import Sameness
from tallystick.compat.rules.json_schema.writer import Writer
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.json_schema.node import Node

_EFFORT = 40_000
"""Nodes looked at in the branches and side proofs of one comparison."""
_NESTED = 12
"""Proofs within proofs."""

_Seen = set[tuple[object, Node]]


class _TooMuch(Exception):
    pass


class Containment:
    """One comparison of a writer's schema with a reader's."""

    def __init__(self, writer: JsonSchema, reader: JsonSchema, options: Options) -> None:
        self.is_lenient = options.optional_properties is OptionalProperties.LENIENT
        self.same = Sameness()
        self.judge = Judge(writer, reader)
        self.emptiness = Emptiness(self.same, self.judge, self.spend)
        self._root = Goal(Writer([writer.root], writer.root), reader.root)
        self._effort = _EFFORT
        self._seen: list[_Seen] = [set()]
        self._refuted: _Seen = set()

    def failures(self) -> Iterator[Failure]:
        try:
            yield from self._prove(self._root)
        except _TooMuch:
            yield Failure(TOO_COMPLEX, self._root.writer, self._root.reader)

    def holds(self, writer: Writer, reader: Node) -> bool:
        """Whether a goal can be shown, aside from the main proof."""
        question = (writer.key, reader)
        if question in self._refuted or len(self._seen) > _NESTED:
            return False
        self._seen.append(set())
        failed = next(self._prove(Goal(writer, reader)), None) is not None
        seen = self._seen.pop()
        if failed:
            self._refuted.add(question)
        else:
            self._seen[-1] |= seen
        return not failed

    def are_disjoint(self, writer: Writer, node: Node) -> bool:
        if any(self.same(excluded, node) for excluded in writer.excluded):
            return True
        return self.emptiness(writer.also(node))

    def spend(self, nodes: int) -> None:
        self._effort -= nodes
        if self._effort < 0:
            raise _TooMuch

    def _prove(self, first: Goal) -> Iterator[Failure]:
        goals = [first]
        while goals:
            goal = goals.pop()
            question = (goal.writer.key, goal.reader)
            if any(question in seen for seen in self._seen):
                continue
            self._seen[-1].add(question)
            # One node after the other is what a schema is worth; only sets of nodes can multiply.
            self.spend(len(goal.writer.nodes) - (len(self._seen) == 1))
            following = []
            for step in self._examine(*goal):
                if isinstance(step, Failure):
                    yield step
                else:
                    following.append(step)
            goals.extend(reversed(following))

    def _examine(self, writer: Writer, reader: Node) -> Iterator[Goal | Failure]:
        if reader.refuses_nothing or any(self.same(node, reader) for node in writer.nodes):
            return
        if self.emptiness(writer):
            return
        values = self.emptiness.values(writer)
        if values is not None:
            yield from self._examine_values(writer, reader, values)
            return
        kinds = self.emptiness.kinds(writer)
        if kinds != writer.kinds:
            writer = writer.also(synthetic.of_kinds(kinds))
        yield from self._included(writer, reader)
        if writer.disjunctions:
            yield from self._expanded(writer, reader)
        else:
            yield from self._keywords(writer, reader)

    def _included(self, writer: Writer, reader: Node) -> Iterator[Goal]:
        if reader.ref is not None:
            yield Goal(writer, reader.ref)
        for node in reader.all_of:
            yield Goal(writer, node)

    def _expanded(self, writer: Writer, reader: Node) -> Iterator[Goal | Failure]:
        """The branches of the writer one by one, unless what they have in common suffices."""
        if next(self._keywords(writer, reader), None) is None:
            return
        for branch in self.emptiness.branches(writer):
            yield Goal(branch, reader)

    def _keywords(self, writer: Writer, reader: Node) -> Iterator[Goal | Failure]:
        if reader.raw is False:
            yield Failure(FORBIDDEN, writer, reader)
            return
        if reader.dynamic:
            yield Failure(DYNAMIC_REF, writer, reader)
        for keyword in ("unevaluatedItems", "unevaluatedProperties"):
            unevaluated = reader.unevaluated_items if keyword == "unevaluatedItems" else reader.unevaluated_properties
            if unevaluated is not None and not unevaluated.refuses_nothing:
                yield Failure(UNEVALUATED, writer, reader, (keyword,), {"keyword": keyword})
        kinds = yield from scalars.check_kinds(self, writer, reader)
        if not kinds:
            return
        left = writer if kinds == writer.kinds else writer.also(synthetic.of_kinds(kinds))
        if left is not writer and self.emptiness(left):
            return
        yield from scalars.check(self, left, reader)
        yield from arrays.check(self, left, reader)
        yield from objects.check(self, left, reader)
        yield from combinators.check(self, left, reader)

    def _examine_values(self, writer: Writer, reader: Node, values: list[Any]) -> Iterator[Goal | Failure]:
        """Of values that can be counted, those are looked at that the reader refuses."""
        refused = [value for value in values if not self.judge.accepts(reader, value)]
        if refused:
            yield from scalars.check_values(self, writer, reader, refused)
