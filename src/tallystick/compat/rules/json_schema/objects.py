"""What the reader asks of objects and their properties.

Every object is open unless its schema closes it: values may hold any property that the schema does not name. The
STRICT policy counts on that. The LENIENT policy trusts two things and nothing else:

- Nobody writes a property that the writer's schema neither names nor covers by a pattern or by a schema of its
  own for additional properties. So a property (or pattern) may be added to an open object, and removed from it.
- A reader passes over a property that it does not name, although its schema closes the object, as long as the
  writer's schema makes it optional. So an optional property may be removed from a closed object, and added to it.

Under both policies a property that both schemas name must fit, a required one must be written, and an object that
was open must not be closed.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tallystick.compat.rules.json_schema import synthetic
from tallystick.compat.rules.json_schema.breach import Failure
from tallystick.compat.rules.json_schema.breaches import (
    ADDITIONAL_PROPERTIES,
    CLOSED_PATTERN,
    CLOSED_PROPERTY,
    DEPENDENT_REQUIRED,
    MAX_PROPERTIES,
    MIN_PROPERTIES,
    OPEN_PATTERN,
    OPEN_PROPERTY,
    PROPERTY_NAMES,
    REQUIRED,
)
from tallystick.compat.rules.json_schema.goal import Goal
from tallystick.compat.rules.json_schema.judge import matches
from tallystick.compat.rules.json_schema.writer import Writer
from tallystick.formats.json_schema.kinds import OBJECT, STRING
from tallystick.formats.json_schema.node import Additional, Node

if TYPE_CHECKING:
    from tallystick.compat.rules.json_schema.containment import Containment

Steps = Iterator[Goal | Failure]


def check(proof: "Containment", writer: Writer, reader: Node) -> Steps:
    if OBJECT not in writer.kinds:
        return
    yield from _required(proof, writer, reader)
    yield from _sizes(proof, writer, reader)
    yield from _properties(proof, writer, reader)
    yield from _patterns(proof, writer, reader)
    if reader.additional is not None:
        yield from _additional(proof, writer, reader, reader.additional)
    if reader.property_names is not None and not _has_fit_names(proof, writer, reader.property_names):
        yield Failure(PROPERTY_NAMES, writer, reader, ("propertyNames",))


def _required(proof: "Containment", writer: Writer, reader: Node) -> Steps:
    for name in sorted(reader.required - writer.required):
        yield Failure(REQUIRED, writer, reader, ("required",), {"name": name})
    for name in sorted(reader.dependent_required):
        if proof.emptiness.can_hold(writer, name):
            held = writer.also(synthetic.holding(name))
            for needed in sorted(reader.dependent_required[name] - held.required):
                steps = _dependent_keyword(reader, name)
                yield Failure(DEPENDENT_REQUIRED, writer, reader, steps, {"name": name, "needed": needed})
    for name in sorted(reader.dependent_schemas):
        if proof.emptiness.can_hold(writer, name):
            yield Goal(writer.also(synthetic.holding(name)), reader.dependent_schemas[name])


def _dependent_keyword(reader: Node, name: str) -> tuple[str, str]:
    keyword = "dependentRequired" if name in reader.raw.get("dependentRequired", ()) else "dependencies"
    return keyword, name


def _sizes(proof: "Containment", writer: Writer, reader: Node) -> Steps:
    if reader.min_properties > max(writer.least("min_properties"), len(writer.required)):
        yield Failure(MIN_PROPERTIES, writer, reader, ("minProperties",), {"demand": str(reader.min_properties)})
    if reader.max_properties is None:
        return
    most = _max_properties(proof, writer)
    if most is None or most > reader.max_properties:
        yield Failure(MAX_PROPERTIES, writer, reader, ("maxProperties",), {"demand": str(reader.max_properties)})


def _max_properties(proof: "Containment", writer: Writer) -> int | None:
    most = writer.most("max_properties")
    if not _is_closed(proof, writer) or writer.name_patterns:
        return most
    named = sum(proof.emptiness.can_hold(writer, name) for name in writer.names)
    return named if most is None else min(most, named)


def _is_closed(proof: "Containment", writer: Writer) -> bool:
    """Whether no property is allowed that has no name in the nodes and matches no pattern of theirs."""
    return proof.emptiness(_others(writer))


def _others(writer: Writer) -> Writer:
    """What is known of a property without a name that any node names, matching no pattern."""
    found = [node.additional.node for node in writer.nodes if node.additional is not None]
    return Writer([node for node in found if not node.refuses_nothing], found[0] if found else writer.home)


def _properties(proof: "Containment", writer: Writer, reader: Node) -> Steps:
    for name, node in reader.properties.items():
        if node.refuses_nothing or _has_same(proof, writer, name, node):
            continue
        if not proof.emptiness.can_hold(writer, name):
            continue
        own = proof.emptiness.property(writer, name)
        if own.nodes:
            yield Goal(own, node)
        elif not proof.is_lenient and not proof.holds(own, node):
            yield Failure(OPEN_PROPERTY, writer, reader, ("properties", name), {"name": name})


def _has_same(proof: "Containment", writer: Writer, name: str, node: Node) -> bool:
    """The answer for most properties of most schemas, so it must be a quick one."""
    return any((own := other.properties.get(name)) is not None and proof.same(own, node) for other in writer.nodes)


def _patterns(proof: "Containment", writer: Writer, reader: Node) -> Steps:
    for pattern, node in reader.patterns.items():
        if node.refuses_nothing:
            continue
        for name in writer.names:
            if matches(pattern, name) and proof.emptiness.can_hold(writer, name):
                yield Goal(proof.emptiness.property(writer, name), node)
        own = _matching(writer, pattern)
        if own.nodes:
            yield Goal(own, node)
        elif not proof.is_lenient and not proof.holds(own, node):
            yield Failure(OPEN_PATTERN, writer, reader, ("patternProperties", pattern), {"name": pattern})


def _matching(writer: Writer, pattern: str) -> Writer:
    """What is known of a property whose name no node names and that matches a pattern."""
    found: list[Node] = []
    for node in writer.nodes:
        if pattern in node.patterns:
            found.append(node.patterns[pattern])
        elif node.additional is not None and not node.additional.patterns and not node.additional.node.refuses_nothing:
            found.append(node.additional.node)
    return Writer(found, found[0] if found else writer.home)


def _additional(proof: "Containment", writer: Writer, reader: Node, additional: Additional) -> Steps:
    if additional.node.refuses_nothing:
        return
    yield from _named(proof, writer, reader, additional)
    for pattern in writer.name_patterns:
        if pattern not in additional.patterns:
            own = _matching(writer, pattern)
            if additional.node.outer_kinds:
                yield Goal(own, additional.node)
            elif not proof.emptiness(own):
                yield Failure(
                    CLOSED_PATTERN, writer, reader, _steps(reader), {"name": pattern}, ("patternProperties", pattern)
                )
    others = _others(writer)
    if additional.node.outer_kinds:
        yield Goal(others, additional.node)
    elif not proof.emptiness(others) and writer.most("max_properties") != 0:
        yield Failure(ADDITIONAL_PROPERTIES, writer, reader, _steps(reader))


def _named(proof: "Containment", writer: Writer, reader: Node, additional: Additional) -> Steps:
    """The properties that the writer names and the reader does not."""
    for name in writer.names:
        is_covered = name in additional.names or any(matches(pattern, name) for pattern in additional.patterns)
        if is_covered or not proof.emptiness.can_hold(writer, name):
            continue
        own = proof.emptiness.property(writer, name)
        if additional.node.outer_kinds:
            yield Goal(own, additional.node)
        elif not proof.is_lenient or name in writer.required:
            yield Failure(CLOSED_PROPERTY, writer, reader, _steps(reader), {"name": name}, _name_steps(writer, name))


def _name_steps(writer: Writer, name: str) -> tuple[str, ...]:
    return ("properties", name) if writer.declares(name) else ("required",)


def _steps(reader: Node) -> tuple[str, ...]:
    return ("additionalProperties",) if "additionalProperties" in reader.raw else ("unevaluatedProperties",)


def _has_fit_names(proof: "Containment", writer: Writer, wanted: Node) -> bool:
    held = [name for name in writer.names if proof.emptiness.can_hold(writer, name)]
    if any(not proof.judge.accepts(wanted, name) for name in held):
        return False
    known = [node.property_names for node in writer.nodes if node.property_names is not None]
    known.append(synthetic.of_kinds(frozenset({STRING})))
    if not _is_closed(proof, writer):
        return proof.holds(Writer(known, writer.home), wanted)
    return all(
        proof.holds(Writer([*known, synthetic.matching(pattern)], writer.home), wanted)
        for pattern in writer.name_patterns
    )
