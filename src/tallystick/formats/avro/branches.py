"""Which branch of a union a value is written as.

`fastavro` takes the first branch that looks right, which may cut a double down to a float or read any text as a
date. So the branch is chosen here and handed on as a pair (name of the branch, value). Only a union of null and one
plain primitive is left to `fastavro`: there is nothing to choose.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any
from uuid import UUID

from tallystick.formats.avro.defaults import Defaults
from tallystick.formats.avro.names import qualified
from tallystick.formats.avro.types import (
    Array,
    AvroType,
    Field,
    Fixed,
    Map,
    Named,
    Primitive,
    Record,
    Union,
    children,
    every_type,
)
from tallystick.formats.avro.validate import check_of, exact_check_of, named_branch

Choose = Callable[[Any], Any]


@lru_cache(maxsize=4096)
def choice_of(root: AvroType) -> Choose | None:
    """A function that marks the branches in a value that fits the type; None where nothing is to be marked."""
    needing = _types_with_a_choice(root)
    choices: dict[int, Choose] = {}
    for type_ in needing:
        choices[id(type_)] = _choice(type_, choices, {id(needed) for needed in needing})
    return choices.get(id(root))


def _types_with_a_choice(root: AvroType) -> list[AvroType]:
    """The types that hold a choice somewhere inside them."""
    parents: dict[int, list[AvroType]] = {}
    waiting = []
    for type_ in every_type(root):
        for child in children(type_):
            parents.setdefault(id(child), []).append(type_)
        if _is_choice(type_):
            waiting.append(type_)
    found: dict[int, AvroType] = {}
    while waiting:
        type_ = waiting.pop()
        if id(type_) not in found:
            found[id(type_)] = type_
            waiting.extend(parents.get(id(type_), ()))
    return list(found.values())


def _is_choice(type_: AvroType) -> bool:
    if isinstance(type_, Union):
        others = [branch for branch in type_.branches if branch.kind != "null"]
        return len(others) > 1 or any(not isinstance(b, Primitive) or b.logical is not None for b in others)
    return isinstance(type_, Fixed) and _is_uuid(type_)


def _is_uuid(type_: Fixed) -> bool:
    # fastavro knows UUIDs as text only.
    return type_.logical is not None and type_.logical.name == "uuid"


def _choice(type_: AvroType, choices: dict[int, Choose], needing: set[int]) -> Choose:
    # The parts' choices are looked up when a value comes: a record may hold itself.
    match type_:
        case Record():
            return _record_choice(type_, choices, needing)
        case Array(items=items):
            return lambda value: [choices[id(items)](item) for item in value]
        case Map(values=values):
            return lambda value: {key: choices[id(values)](item) for key, item in value.items()}
        case Union():
            return _union_choice(type_, choices)
    return lambda value: value.bytes if isinstance(value, UUID) else value


def _record_choice(record: Record, choices: dict[int, Choose], needing: set[int]) -> Choose:
    fields = [(field.name, id(field.type), _missing(field)) for field in record.fields if id(field.type) in needing]

    def choose(value: Any) -> Any:
        marked = dict(value)
        for name, type_id, default in fields:
            marked[name] = choices[type_id](marked.get(name, default))
        return marked

    return choose


def _missing(field: Field) -> Any:
    return None if field.default is None else Defaults().value_of(field)


def _union_choice(union: Union, choices: dict[int, Choose]) -> Choose:
    marks = {id(b): qualified(b.name) if isinstance(b, Named) else b.kind for b in union.branches}
    others = [branch for branch in union.branches if branch.kind != "null"]
    only = others[0] if len(others) == 1 else None

    def choose(value: Any) -> Any:
        if value is None:
            return None
        branch, value = (only, value) if only and not isinstance(value, tuple) else _chosen(union, value)
        inner = choices.get(id(branch))
        return marks[id(branch)], value if inner is None else inner(value)

    return choose


def _chosen(union: Union, value: Any) -> tuple[AvroType, Any]:
    """The branch and the value to write as it: the first branch that keeps the value as it is, else any that fits."""
    if isinstance(value, tuple):
        branch = named_branch(union, value)
        assert branch is not None
        return branch, value[1]
    fitting = [branch for branch in union.branches if check_of(branch)(value)]
    if not fitting:
        # A default, which stands for the first branch: that of a logical type is written as its plain type.
        return union.branches[0], value
    if len(fitting) == 1:
        return fitting[0], value
    exact = (branch for branch in fitting if exact_check_of(branch)(value))
    widest = next((branch for branch in fitting if branch.kind == "double"), fitting[0])
    return next(exact, widest), value
