"""Nodes against shapes: every mistake of a file becomes a finding, what is sound becomes parts."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tallystick.finding import Place
from tallystick.formats.json_source import Path as Steps
from tallystick.pipeline import findings as rules
from tallystick.pipeline import nodes, scalars, shapes, telling
from tallystick.pipeline.environment import Environ
from tallystick.pipeline.findings import Findings
from tallystick.pipeline.scalar_checks import SECRET_OPTION, Known, ScalarChecker
from tallystick.pipeline.scalars import Kind
from tallystick.pipeline.shapes import Section, Shape
from tallystick.pipeline.texts import NAME, NAME_FIX

ENV = "env"

_BLOCKS = ("|", ">")


@dataclass(frozen=True, slots=True)
class Part:
    """What stands at a place. `value` is a text, a number, a word, a list of parts, or parts by their keys."""

    value: Any
    place: Place
    owner: Place
    """Of the key that names it; of the part itself in a list."""
    is_sound: bool = True
    is_known: bool = True
    """False for a text whose references nobody has resolved."""

    def get(self, key: str) -> "Part | None":
        found = self.value.get(key)
        assert found is None or isinstance(found, Part)
        return found

    def plain(self, key: str, default: Any = None) -> Any:
        """The value of a key, or what counts where it is not there."""
        found = self.get(key)
        return default if found is None else found.value

    def items(self) -> Iterator[tuple[str, "Part"]]:
        yield from self.value.items()


class Checker:
    """Checks one file. `clusters` are the names that the file gives to its clusters."""

    def __init__(self, found: Findings, environ: Environ, clusters: Sequence[str]) -> None:
        self._findings = found
        self._clusters = clusters
        self._scalars = ScalarChecker(found, environ, clusters)

    def check(self, node: Node, shape: Shape, path: Steps = (), owner: Place | None = None) -> Part:
        """The part, which is sound where nothing was found in it."""
        before = len(self._findings)
        place = nodes.place(node, path)
        value, is_known = self._value(node, shape, path, place, owner or place)
        if isinstance(shape, shapes.Sql):
            place = _first_line(node, place)
        return Part(value, place, owner or place, len(self._findings) == before, is_known)

    def _value(self, node: Node, shape: Shape, path: Steps, place: Place, owner: Place) -> Known:
        match shape:
            case Section():
                return self._section(node, shape, path, place, owner), True
            case shapes.MapOf():
                return self._map(node, shape, path, place), True
            case shapes.ListOf():
                return self._list(node, shape, path, place), True
            case shapes.Columns():
                return self._columns(node, shape, path, place), True
            case shapes.Anything():
                return self._anything(node, path), True
            case shapes.Secret():
                return self._secret(node, path, place)
            case shapes.Option():
                is_secret = isinstance(node, MappingNode) or re.search(SECRET_OPTION, str(path[-1]))
                return self._secret(node, path, place) if is_secret else self._scalars.option(node, place)
            case _:
                return self._scalars.check(node, shape, place)

    def _section(self, node: Node, section: Section, path: Steps, place: Place, owner: Place) -> dict[str, Part] | None:
        if isinstance(node, MappingNode):
            parts = {}
            for key_node, value in self._entries(node, path):
                name = key_node.value
                key, at = section.key(name), nodes.place(key_node, (*path, name))
                if key is None:
                    telling.unknown_key(self._findings, name, section, at)
                else:
                    parts[name] = self.check(value, key.shape, (*path, name), at)
            self._constrain(section, parts.keys(), owner)
            return parts
        short = None if section.short is None else section.key(section.short)
        is_taken = isinstance(node, ScalarNode) or (short is not None and isinstance(short.shape, shapes.ListOf))
        if short is None or not is_taken or _is_nothing(node):
            telling.wrong_type(self._findings, node, section, place)
            return None
        self._constrain(section, [short.name], owner)
        return {short.name: self.check(node, short.shape, path, owner)}

    def _constrain(self, section: Section, given: Iterable[str], place: Place) -> None:
        there = set(given)
        for key in section.keys:
            if key.is_required and key.name not in there:
                telling.missing(
                    self._findings, f"`{key.name}`", f"{key.shape.expected} is expected", place, f"add `{key.name}:`"
                )
            if isinstance(key.shape, shapes.ClusterName) and key.shape.is_asked and key.name not in there:
                self._ask_for_cluster(section, place)
        for group in (section.exactly_one, section.at_least_one):
            if group and not there & set(group):
                known = " or ".join(f"`{name}`" for name in group)
                telling.missing(self._findings, known, "one of them is needed", place, f"add {known}")
        for group in (section.exactly_one, section.at_most_one):
            both = [f"`{name}`" for name in group if name in there]
            if len(both) > 1:
                message = f"{' and '.join(both)} stand together, and only one of them can be meant"
                self._findings.add(rules.KEYS_EXCLUSIVE, place, message, "keep one of them")
        for name, other in section.needs:
            if name in there and other not in there:
                telling.missing(self._findings, f"`{other}`", f"`{name}` needs it", place, f"add `{other}:`")

    def _ask_for_cluster(self, section: Section, place: Place) -> None:
        if len(self._clusters) > 1:
            message = f"the topic's cluster is not said, and the file has {len(self._clusters)}"
            known = ", ".join(f"`{one}`" for one in self._clusters)
            fix = f"write `{{cluster: …, {section.short}: …}}` with one of {known}"
            self._findings.add(rules.CLUSTER_MISSING, place, message, fix)

    def _map(self, node: Node, shape: shapes.MapOf, path: Steps, place: Place) -> dict[str, Part]:
        if not isinstance(node, MappingNode):
            telling.wrong_type(self._findings, node, shape, place)
            return {}
        if not node.value:
            telling.empty(self._findings, "mapping", place)
        parts = {}
        for key_node, value in self._entries(node, path):
            name = key_node.value
            at = nodes.place(key_node, (*path, name))
            if shape.are_names and not re.fullmatch(NAME, name):
                self._findings.add(rules.VALUE_INVALID, at, f"{name[:60]!r} is no name for a {shape.noun}", NAME_FIX)
            parts[name] = self.check(value, shape.value, (*path, name), at)
        return parts

    def _entries(self, node: MappingNode, path: Steps) -> Iterator[tuple[ScalarNode, Node]]:
        """The pairs of a mapping whose keys are texts that come once."""
        seen: dict[str, int] = {}
        for key, value in node.value:
            at = nodes.place(key, path)
            if not isinstance(key, ScalarNode):
                self._findings.add(rules.TYPE_WRONG, at, f"a key is a text, not {nodes.shown(key)}", "write a name")
            elif nodes.is_merge(key):
                fix = "write the keys out, or set the file's own `on_failure`, `starting`, `delivery`, `multi_schema`"
                self._findings.add(rules.YAML_UNSUPPORTED, at, "the merge key `<<` is not read here", fix)
            elif key.value in seen:
                at = nodes.place(key, (*path, key.value))
                message = f"`{key.value[:60]}` stands here already, in line {seen[key.value]}"
                self._findings.add(rules.KEY_TWICE, at, message, "keep one of the two, or give one another name")
            else:
                seen[key.value] = key.start_mark.line + 1
                yield key, value

    def _list(self, node: Node, shape: shapes.ListOf, path: Steps, place: Place) -> list[Part]:
        if isinstance(node, SequenceNode):
            if not node.value:
                telling.empty(self._findings, "list", place)
            return [self.check(item, shape.item, (*path, index)) for index, item in enumerate(node.value)]
        if not shape.is_one_enough:
            telling.wrong_type(self._findings, node, shape, place)
            return []
        return [self.check(node, shape.item, path)]

    def _columns(self, node: Node, shape: shapes.Columns, path: Steps, place: Place) -> list[tuple[str | None, Part]]:
        sql = shapes.Sql()
        if isinstance(node, MappingNode | SequenceNode) and not node.value:
            telling.empty(self._findings, "select list", place)
        if isinstance(node, MappingNode):
            pairs = self._entries(node, path)
            return [(key.value, self.check(value, sql, (*path, key.value))) for key, value in pairs]
        if isinstance(node, SequenceNode):
            return [(None, self.check(item, sql, (*path, index))) for index, item in enumerate(node.value)]
        if _is_nothing(node):
            telling.wrong_type(self._findings, node, shape, place)
            return []
        return [(None, self.check(node, sql, path))]

    def _anything(self, node: Node, path: Steps) -> Any:
        if isinstance(node, MappingNode):
            return {key.value: self._anything(value, (*path, key.value)) for key, value in self._entries(node, path)}
        if isinstance(node, SequenceNode):
            return [self._anything(item, (*path, index)) for index, item in enumerate(node.value)]
        assert isinstance(node, ScalarNode)
        if scalars.kind(node) is Kind.AMBIGUOUS:
            telling.ambiguous(self._findings, node, nodes.place(node, path))
        return scalars.value(node)

    def _secret(self, node: Node, path: Steps, place: Place) -> Known:
        variable: str | None = None
        if isinstance(node, MappingNode):
            given = {key.value: value for key, value in self._entries(node, path)}
            inner = given.get(ENV)
            if set(given) == {ENV} and isinstance(inner, ScalarNode):
                variable = inner.value
        return self._scalars.secret(str(path[-1]), variable, node, place)


def _is_nothing(node: Node) -> bool:
    return isinstance(node, ScalarNode) and scalars.kind(node) is Kind.NOTHING


def _first_line(node: Node, place: Place) -> Place:
    """Where the text itself begins; a block begins in the line after its mark."""
    if not isinstance(node, ScalarNode) or node.style not in _BLOCKS or place.line is None:
        return place
    return Place(place.path, place.line + 1, 1)
