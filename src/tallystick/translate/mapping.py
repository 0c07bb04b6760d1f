"""A translation place by place: what the values of each field were and what they become."""

from collections.abc import Iterator
from dataclasses import dataclass

from tallystick.formats.json_source import Path, pointer
from tallystick.translate.losses import EACH
from tallystick.translate.shape import Choice, Entries, Items, Nullable, Record, Shape, describe


@dataclass(frozen=True, slots=True)
class FieldTranslation:
    """What becomes of the values at one place. A path has `*` for each item of a list and each value of a map."""

    source_path: str
    target_path: str
    source: str
    target: str


def field_translations(source: Shape, target: Shape) -> Iterator[FieldTranslation]:
    """Every place of a value, the outer ones first; a record in itself is told once."""
    return _fields(source, target, (), (), frozenset())


def _fields(
    source: Shape, target: Shape, source_path: Path, target_path: Path, open_: frozenset[int]
) -> Iterator[FieldTranslation]:
    yield FieldTranslation(pointer(source_path), pointer(target_path), describe(source), describe(target))
    if isinstance(target, Record) and target.is_wrapper:
        held = target.fields[0]
        yield from _fields(source, held.shape, source_path, (*target_path, held.name), open_)
        return
    match source, target:
        case Nullable(inner=was), Nullable(inner=now):
            yield from list(_fields(was, now, source_path, target_path, open_))[1:]
        case Nullable(inner=was), _:
            yield from list(_fields(was, target, source_path, target_path, open_))[1:]
        case (Items(item=was), Items(item=now)) | (Entries(value=was), Entries(value=now)):
            yield from _fields(was, now, (*source_path, EACH), (*target_path, EACH), open_)
        case Choice(branches=before), Choice(branches=after, members=members):
            for i, (was, now) in enumerate(zip(before, after, strict=True)):
                path = (*target_path[:-1], members[i]) if members else target_path
                yield from _fields(was, now, source_path, path, open_)
        case Record(fields=fields), Record(fields=became) if id(source) not in open_:
            for field, new in zip(fields, became, strict=True):
                paths = (*source_path, field.name), (*target_path, new.name)
                yield from _fields(field.shape, new.shape, *paths, open_ | {id(source)})
