"""What the reader asks of values as a whole: their type, their list of values, numbers and texts."""

from collections.abc import Generator, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tallystick.compat.rules.json_schema import synthetic
from tallystick.compat.rules.json_schema.breach import Breach, Failure, quoted
from tallystick.compat.rules.json_schema.breaches import (
    CONTENT,
    ENUM,
    ENUM_VALUE,
    MAX_ITEMS,
    MAX_LENGTH,
    MAX_PROPERTIES,
    MAXIMUM,
    MIN_ITEMS,
    MIN_LENGTH,
    MIN_PROPERTIES,
    MINIMUM,
    MULTIPLE_OF,
    PATTERN,
    REQUIRED,
    TYPE,
    TYPE_CHANGED,
)
from tallystick.compat.rules.json_schema.goal import Goal
from tallystick.compat.rules.json_schema.judge import matches
from tallystick.compat.rules.json_schema.writer import Writer
from tallystick.formats.json_schema.keywords import exact
from tallystick.formats.json_schema.kinds import INTEGERS, NUMBERS, STRING, Kinds, equal_text, names
from tallystick.formats.json_schema.node import Bound, Node

if TYPE_CHECKING:
    from tallystick.compat.rules.json_schema.containment import Containment

Steps = Iterator[Goal | Failure]


def check_kinds(proof: "Containment", writer: Writer, reader: Node) -> Generator[Failure, None, Kinds]:
    """Answers with the kinds that the reader takes."""
    kinds = writer.kinds
    for keyword, taken in _taken(reader):
        lost = kinds - taken
        if lost:
            words = {"read": _list(taken), "written": _list(kinds), "lost": _list(lost)}
            breach = TYPE if kinds & taken or writer.expanded else TYPE_CHANGED
            yield Failure(breach, writer, reader, (keyword,), words, ("type",))
            kinds &= taken
    return kinds


def check(proof: "Containment", writer: Writer, reader: Node) -> Steps:
    if reader.values is not None:
        keyword = "const" if "const" in reader.raw else "enum"
        yield Failure(ENUM, writer, reader, (keyword,))
        return
    if writer.kinds & NUMBERS:
        yield from _numbers(writer, reader)
    if STRING in writer.kinds:
        yield from _texts(writer, reader)


def check_values(proof: "Containment", writer: Writer, reader: Node, refused: list[Any]) -> Steps:
    """Why single values are refused; the reader refuses each of them, so each must have a reason."""
    included = (*reader.all_of, *((reader.ref,) if reader.ref is not None else ()))
    passed_on: dict[Node, list[Any]] = {}
    for value in refused:
        left = writer.also(synthetic.of_values([value]))
        reasons: list[Failure] = list(check_kinds(proof, left, reader)) or list(_value(left, reader, value))
        refusing = [node for node in included if not proof.judge.accepts(node, value)]
        for node in refusing:
            passed_on.setdefault(node, []).append(value)
        if not reasons and not refusing:
            reasons.append(_value_failure(left, reader, value))
        yield from reasons
    for node, values in passed_on.items():
        yield Goal(writer.also(synthetic.of_values(values)), node)


def _taken(reader: Node) -> Iterator[tuple[str, Kinds]]:
    yield "type", reader.kinds
    for keyword, branches in (("anyOf", reader.any_of), ("oneOf", reader.one_of)):
        if branches:
            yield keyword, Kinds().union(*(branch.outer_kinds for branch in branches))


def _list(kinds: Kinds) -> str:
    return " or ".join(names(kinds)) or "nothing"


def _value_failure(writer: Writer, reader: Node, value: Any) -> Failure:
    keyword = next((name for name in ("enum", "const") if isinstance(reader.raw, dict) and name in reader.raw), None)
    own = next((name for name in ("enum", "const") if any(_has(node, name) for node in writer.nodes)), "enum")
    words = {"value": quoted(value) or "null"}
    return Failure(ENUM_VALUE, writer, reader, (keyword,) if keyword is not None else (), words, (own,))


def _has(node: Node, name: str) -> bool:
    return isinstance(node.raw, dict) and name in node.raw


def _value(writer: Writer, reader: Node, value: Any) -> Iterator[Failure]:
    if reader.values is not None and equal_text(value) not in map(equal_text, reader.values):
        yield _value_failure(writer, reader, value)
        return
    match value:
        case bool() | None:
            return
        case int() | float():
            known = synthetic.of_values([value])
            exactly = Bound(exact(value), False)
            known.minimum, known.maximum, known.multiple_of = exactly, exactly, abs(exact(value)) or None
            yield from _numbers(writer.also(known), reader, is_zero=value == 0)
        case str():
            yield from _sized(writer, reader, len(value), _TEXT_SIZES)
            if reader.pattern is not None and not matches(reader.pattern, value):
                yield Failure(PATTERN, writer, reader, ("pattern",))
        case list():
            yield from _sized(writer, reader, len(value), _LIST_SIZES)
        case dict():
            yield from _sized(writer, reader, len(value), _OBJECT_SIZES)
            for name in sorted(reader.required - value.keys()):
                yield Failure(REQUIRED, writer, reader, ("required",), {"name": name})


_TEXT_SIZES = (MIN_LENGTH, "min_length", "minLength"), (MAX_LENGTH, "max_length", "maxLength")
_LIST_SIZES = (MIN_ITEMS, "min_items", "minItems"), (MAX_ITEMS, "max_items", "maxItems")
_OBJECT_SIZES = (
    (MIN_PROPERTIES, "min_properties", "minProperties"),
    (MAX_PROPERTIES, "max_properties", "maxProperties"),
)
Sizes = tuple[tuple[Breach, str, str], tuple[Breach, str, str]]


def _sized(writer: Writer, reader: Node, size: int, sizes: Sizes) -> Iterator[Failure]:
    (too_few, least, least_keyword), (too_many, most, most_keyword) = sizes
    if size < getattr(reader, least):
        yield Failure(too_few, writer, reader, (least_keyword,), {"demand": str(getattr(reader, least))})
    limit = getattr(reader, most)
    if limit is not None and size > limit:
        yield Failure(too_many, writer, reader, (most_keyword,), {"demand": str(limit)})


def _numbers(writer: Writer, reader: Node, *, is_zero: bool = False) -> Iterator[Failure]:
    least, most = reader.minimum, reader.maximum
    if least is not None and (writer.minimum is None or writer.minimum < least):
        keyword = _keyword(reader, least, "minimum", "exclusiveMinimum")
        own = _own_keyword(writer, "minimum", "exclusiveMinimum")
        words = {"demand": _side(least, "greater than", "at least")}
        yield Failure(MINIMUM, writer, reader, (keyword,), words, (own,))
    if most is not None and (writer.maximum is None or _looser(writer.maximum, most)):
        keyword = _keyword(reader, most, "maximum", "exclusiveMaximum")
        own = _own_keyword(writer, "maximum", "exclusiveMaximum")
        words = {"demand": _side(most, "less than", "at most")}
        yield Failure(MAXIMUM, writer, reader, (keyword,), words, (own,))
    if reader.multiple_of is not None and not is_zero and not _is_multiple(writer, reader.multiple_of):
        yield Failure(MULTIPLE_OF, writer, reader, ("multipleOf",), {"demand": _number(reader.multiple_of)})


def _looser(bound: Bound, than: Bound) -> bool:
    return (bound.limit, not bound.excludes) > (than.limit, not than.excludes)


def _is_multiple(writer: Writer, step: Fraction) -> bool:
    steps = [node.multiple_of for node in writer.nodes if node.multiple_of is not None]
    if writer.kinds & NUMBERS <= INTEGERS:
        steps.append(Fraction(1))
    return any((own / step).denominator == 1 for own in steps)


def _keyword(reader: Node, bound: Bound, inclusive: str, exclusive: str) -> str:
    edge = reader.raw.get(exclusive)
    return exclusive if bound.excludes and edge is not None and not isinstance(edge, bool) else inclusive


def _own_keyword(writer: Writer, inclusive: str, exclusive: str) -> str:
    has_inclusive = any(_has(node, inclusive) for node in writer.nodes)
    return inclusive if has_inclusive or not any(_has(node, exclusive) for node in writer.nodes) else exclusive


def _side(bound: Bound, beyond: str, up_to: str) -> str:
    return f"{beyond if bound.excludes else up_to} {_number(bound.limit)}"


def _number(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else repr(float(number))


def _texts(writer: Writer, reader: Node) -> Iterator[Failure]:
    if reader.min_length > writer.least("min_length"):
        yield Failure(MIN_LENGTH, writer, reader, ("minLength",), {"demand": str(reader.min_length)})
    most = writer.most("max_length")
    if reader.max_length is not None and (most is None or most > reader.max_length):
        yield Failure(MAX_LENGTH, writer, reader, ("maxLength",), {"demand": str(reader.max_length)})
    if reader.pattern is not None and all(node.pattern != reader.pattern for node in writer.nodes):
        yield Failure(PATTERN, writer, reader, ("pattern",))
    if _lacks_content(writer, reader):
        yield Failure(CONTENT, writer, reader, (reader.content[0].split(":")[0],))


def _lacks_content(writer: Writer, reader: Node) -> bool:
    # Encoding and media type of one node are judged together: the text is decoded first.
    return bool(reader.content) and all(node.content != reader.content for node in writer.nodes)
