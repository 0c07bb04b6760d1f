"""Type hints to shapes."""

import collections.abc
import types
import typing
from enum import Enum, Flag
from typing import Any

from tallystick.serde.derive.classes import RawField, doc_of, is_record_class, raw_fields
from tallystick.serde.derive.faults import At
from tallystick.serde.derive.markers import Avro, Precision
from tallystick.serde.derive.shapes import (
    SCALARS,
    Choice,
    Entries,
    Field,
    Items,
    Literals,
    Record,
    Scalar,
    Shape,
    Symbols,
)

_ITEMS: dict[Any, tuple[type, tuple[type, ...]]] = {
    list: (list, (list,)),
    collections.abc.MutableSequence: (list, (list,)),
    collections.abc.Sequence: (list, (list, tuple)),
    tuple: (tuple, (tuple, list)),
    set: (set, (set, frozenset, list)),
    collections.abc.MutableSet: (set, (set, frozenset, list)),
    collections.abc.Set: (frozenset, (set, frozenset, list)),
    frozenset: (frozenset, (set, frozenset, list)),
}
"""What is read, and what can be written. Lists are written for all of them where a dict stands for the instance."""
_ENTRIES = frozenset({dict, collections.abc.Mapping, collections.abc.MutableMapping})


def record_of(cls: type) -> Record:
    """The shape of a dataclass or pydantic model; raises `InvalidSchema` with class, field and fix."""
    return _Records().record(cls)


class _Records:
    def __init__(self) -> None:
        self._known: dict[type, Record] = {}

    def record(self, cls: type) -> Record:
        if cls not in self._known:
            record = self._known[cls] = Record(cls, doc_of(cls))
            record.fields = tuple(self._field(cls, raw) for raw in raw_fields(cls))
        return self._known[cls]

    def _field(self, cls: type, raw: RawField) -> Field:
        shape = _Hints(self, At(cls, raw.name)).shape(raw.hint, raw.metadata)
        return Field(raw.name, raw.key, shape, raw.default, raw.doc)


class _Hints:
    """The type hint of one field."""

    def __init__(self, records: _Records, at: At) -> None:
        self._records = records
        self._at = at

    def shape(self, hint: Any, metadata: tuple[Any, ...] = ()) -> Shape:
        hint = _unwrapped(hint)
        origin = typing.get_origin(hint)
        if origin is typing.Annotated:
            return self.shape(hint.__origin__, (*hint.__metadata__, *metadata))
        if origin in (typing.Union, types.UnionType):
            return self._choice(typing.get_args(hint), metadata)
        marker = next((m for m in metadata if isinstance(m, Avro)), None)
        if marker is not None:
            return self._marked(hint, marker, _precision(metadata))
        return self._plain(hint, origin, metadata)

    def _plain(self, hint: Any, origin: Any, metadata: tuple[Any, ...]) -> Shape:
        if origin is typing.Literal:
            return self._literals(typing.get_args(hint))
        arguments = typing.get_args(hint)
        if origin in _ITEMS and arguments:
            return self._items(*_ITEMS[origin], arguments)
        if origin in _ENTRIES and arguments:
            return self._entries(arguments)
        if hint in SCALARS:
            return Scalar(hint, precision=_precision(metadata))
        if is_record_class(hint):
            return self._records.record(hint)
        if isinstance(hint, type) and issubclass(hint, Enum) and not issubclass(hint, Flag):
            return Symbols(hint)
        raise self._refused(hint)

    def _marked(self, hint: Any, marker: Avro, precision: Precision | None) -> Shape:
        if typing.get_origin(hint) in _ITEMS or typing.get_origin(hint) in _ENTRIES or is_record_class(hint):
            raise self._at.underivable(
                f"{marker} stands on {_told(hint)}, which has parts",
                "put it on the part: list[Annotated[int, Avro('int')]]",
            )
        return Scalar(hint, marker, precision)

    def _choice(self, hints: tuple[Any, ...], metadata: tuple[Any, ...]) -> Shape:
        branches = tuple(self.shape(hint, metadata) for hint in hints if hint is not types.NoneType)
        is_optional = types.NoneType in hints
        return Choice(branches, is_optional) if is_optional or len(branches) > 1 else branches[0]

    def _literals(self, values: tuple[Any, ...]) -> Shape:
        kinds = {type(value) for value in values}
        if len(kinds) != 1 or not kinds <= {str, int, bool}:
            raise self._at.underivable("its literals are of several types", "use texts or integers alone")
        return Literals(kinds.pop(), values)

    def _items(self, make: type, takes: tuple[type, ...], arguments: tuple[Any, ...]) -> Shape:
        if make is tuple:
            if len(arguments) != 2 or arguments[1] is not Ellipsis:
                raise self._at.underivable("a tuple of fixed length has no schema", "use tuple[X, ...] or a dataclass")
            arguments = arguments[:1]
        return Items(self.shape(arguments[0]), make, takes)

    def _entries(self, arguments: tuple[Any, ...]) -> Shape:
        key, values = arguments
        if key is not str:
            raise self._at.underivable(f"the keys of its dict are {_told(key)}", "use dict[str, …]")
        return Entries(self.shape(values))

    def _refused(self, hint: Any) -> Exception:
        bare = typing.get_origin(hint) or hint
        if bare in _ITEMS or bare in _ENTRIES:
            return self._at.underivable(f"{_told(hint)} does not say of what", "say it: list[str], dict[str, int]")
        return self._at.underivable(
            f"no schema type holds {_told(hint)}",
            "use bool, int, float, str, bytes, datetime, date, time, Decimal, UUID, an Enum, a dataclass, a pydantic "
            "model, list, set, tuple[X, ...], dict[str, X], or unions of them; or Annotated[X, Avro(…)]",
        )


def _unwrapped(hint: Any) -> Any:
    """What a NewType or a named alias stands for."""
    while True:
        inner = getattr(hint, "__supertype__", getattr(hint, "__value__", None))
        if inner is None:
            return hint
        hint = inner


def _precision(metadata: tuple[Any, ...]) -> Precision | None:
    """Ours, or what pydantic's Field(max_digits=…, decimal_places=…) says."""
    for marker in metadata:
        if isinstance(marker, Precision):
            return marker
        digits, places = getattr(marker, "max_digits", None), getattr(marker, "decimal_places", None)
        if digits is not None and places is not None:
            return Precision(digits, places)
    return None


def _told(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
