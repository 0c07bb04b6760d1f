"""Values of one format → values of another: what the codec of the one gives, that of the other takes.

The two shapes of a translation are walked together, so every part of a value is changed by what stands at its place.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tallystick.errors import InvalidRecord
from tallystick.finding import Finding, Place
from tallystick.formats.json_source import pointer
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, SchemaType
from tallystick.translate import leaves
from tallystick.translate.branches import branch_of
from tallystick.translate.leaves import Change, Misfit, between
from tallystick.translate.shape import (
    NO_DEFAULT,
    Choice,
    Entries,
    Field,
    Items,
    Nullable,
    Record,
    Scalar,
    Shape,
    Symbols,
)
from tallystick.translate.to_avro import branch_name

_FROM: dict[SchemaType, Callable[[Scalar], Change]] = {
    AVRO: leaves.from_avro,
    JSON_SCHEMA: leaves.from_json,
    PROTOBUF: leaves.from_protobuf,
}
_TO: dict[SchemaType, Callable[[Scalar], Change]] = {
    AVRO: leaves.to_avro,
    JSON_SCHEMA: leaves.to_json,
    PROTOBUF: leaves.to_protobuf,
}
_ABSENT = object()


def converter(source: Shape, target: Shape, from_type: SchemaType, to_type: SchemaType) -> Change:
    """A function from values of one shape to values of the other; it raises `InvalidRecord` with the path."""
    change = _Making(from_type, to_type).change(source, target)

    def converted(value: Any) -> Any:
        try:
            return change(value)
        except Misfit as e:
            raise _refused(e, to_type) from e
        except RecursionError as e:
            raise _refused(Misfit("it is nested too deeply"), to_type) from e

    return converted


def _refused(misfit: Misfit, to_type: SchemaType) -> InvalidRecord:
    place = Place(pointer(tuple(misfit.path)))
    finding = Finding(
        rule="TRANSLATE_VALUE_UNFIT",
        message=f"`{place}` cannot be translated to {to_type}: {misfit.reason}",
        fix="send a value that both schemas can hold, or change the type of the field",
        new=place,
    )
    return InvalidRecord(finding.message, [finding])


class _Making:
    def __init__(self, from_type: SchemaType, to_type: SchemaType) -> None:
        self._from_type = from_type
        self._to_type = to_type
        self._records: dict[tuple[int, int], Change] = {}

    def change(self, source: Shape, target: Shape) -> Change:
        if isinstance(target, Record) and target.is_wrapper:
            return self._wrapping(source, target)
        match source, target:
            case Scalar(), Scalar():
                return self._scalar(source, target)
            case Symbols(), Symbols():
                return _symbols(source, target)
            case Symbols(), _:
                return _symbols(source, source)
            case Items(item=item), Items(item=became):
                return _list(self.change(item, became))
            case Entries(value=value), Entries(value=became):
                return _map(self.change(value, became))
            case Nullable(inner=inner), Nullable(inner=became):
                return _nullable(self.change(inner, became))
            case Nullable(inner=inner), _:
                return _nullable(self.change(inner, target))
            case Choice(), Choice():
                return self._choice(source, target)
            case Record(), Record():
                return self._record(source, target)
        raise AssertionError(f"{source} cannot have become {target}")

    def _scalar(self, source: Scalar, target: Scalar) -> Change:
        steps = [_FROM[self._from_type](source), between(source, target), _TO[self._to_type](target)]
        needed = [step for step in steps if step is not leaves.same]

        def changed(value: Any) -> Any:
            try:
                for step in needed:
                    value = step(value)
            except leaves.UNFIT as e:
                raise Misfit(f"{value!r:.60} does not fit {target.kind}") from e
            return value

        return changed if needed else leaves.same

    def _choice(self, source: Choice, target: Choice) -> Change:
        choose = branch_of(source, self._from_type)
        inner = [self.change(was, now) for was, now in zip(source.branches, target.branches, strict=True)]
        # Avro's codec is told the branch; a oneof is a field for each, which the record around it puts in its place.
        marks = [branch_name(branch) for branch in target.branches] if self._to_type == AVRO else list(target.members)

        def changed(value: Any) -> Any:
            branch, bare = choose(value)
            found = inner[branch](bare)
            return (marks[branch], found) if marks else found

        return changed

    def _wrapping(self, source: Shape, target: Record) -> Change:
        put = self._field(Field(target.fields[0].name, source), target.fields[0])

        def changed(value: Any) -> Any:
            made: dict[str, Any] = {}
            put(value, made)
            return made

        return changed

    def _record(self, source: Record, target: Record) -> Change:
        key = id(source), id(target)
        if key not in self._records:
            fields: list[tuple[str, Any, Callable[[Any, dict[str, Any]], None]]] = []
            self._records[key] = _members(fields)
            for was, now in zip(source.fields, target.fields, strict=True):
                default = _ABSENT if was.default is NO_DEFAULT or was.is_optional else was.default
                fields.append((was.name, default, self._field(was, now)))
        return self._records[key]

    def _field(self, source: Field, target: Field) -> Callable[[Any, dict[str, Any]], None]:
        change = self.change(source.shape, target.shape)
        takes_null = isinstance(source.shape, Nullable) and isinstance(target.shape, Nullable)
        says_absent = self._to_type == AVRO
        is_oneof = isinstance(target.shape, Choice) and bool(target.shape.members)

        def put(value: Any, made: dict[str, Any]) -> None:
            if value is _ABSENT or (value is None and not takes_null):
                if not target.is_optional and not isinstance(target.shape, Items | Entries):
                    raise Misfit("it is missing")
                if says_absent:
                    made[target.name] = None
            elif is_oneof:
                member, inner = change(value)
                made[member] = inner
            else:
                made[target.name] = change(value)

        return put


def _members(fields: list[tuple[str, Any, Callable[[Any, dict[str, Any]], None]]]) -> Change:
    def changed(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise Misfit(f"{value!r:.60} is no record")
        made: dict[str, Any] = {}
        for name, default, put in fields:
            try:
                put(value.get(name, default), made)
            except Misfit as e:
                e.path.insert(0, name)
                raise
        return made

    return changed


def _list(change: Change) -> Change:
    def changed(value: Any) -> Any:
        made = []
        for i, item in enumerate(value):
            try:
                made.append(change(item))
            except Misfit as e:
                e.path.insert(0, i)
                raise
        return made

    return changed


def _map(change: Change) -> Change:
    def changed(value: Any) -> Any:
        made = {}
        for key, item in value.items():
            name = key if isinstance(key, str) else str(key).lower() if isinstance(key, bool) else str(key)
            try:
                made[name] = change(item)
            except Misfit as e:
                e.path.insert(0, name)
                raise
        return made

    return changed


def _nullable(change: Change) -> Change:
    return lambda value: None if value is None else change(value)


def _symbols(source: Symbols, target: Symbols) -> Change:
    became = dict(zip(source.symbols, target.symbols, strict=True))

    def changed(value: Any) -> Any:
        if value not in became:
            raise Misfit(f"{value!r:.60} is no symbol of enum {source.name}")
        return became[value]

    return changed
