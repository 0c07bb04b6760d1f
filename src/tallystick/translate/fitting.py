"""A shape as one format can hold it, step by step the same as the shape it was made from."""

from collections.abc import Callable

from tallystick.formats.json_source import Path
from tallystick.translate import rule as rules
from tallystick.translate.losses import EACH, Losses
from tallystick.translate.names import as_name, is_name, numbered
from tallystick.translate.shape import (
    Choice,
    Entries,
    Field,
    Items,
    Kind,
    Nullable,
    Record,
    Scalar,
    Shape,
    Symbols,
    describe,
)


class Fitting:
    """What all formats have in common; each format says where it differs.

    `pairs` are the records with what they became and the path to them.

    Every shape stays what it is, apart from scalars and names, and from what a format cannot hold at its place.
    """

    def __init__(self, losses: Losses) -> None:
        self.losses = losses
        self.pairs: list[tuple[Record, Record, Path]] = []
        self._fitted: dict[int, Record] = {}

    def root(self, shape: Shape) -> Shape:
        return self.shape(shape, ())

    def shape(self, shape: Shape, path: Path) -> Shape:
        match shape:
            case Scalar():
                return self.scalar(shape, path)
            case Symbols():
                return self.symbols(shape, path)
            case Items(item=item):
                return Items(self.inside(item, (*path, EACH)))
            case Entries(value=value, key=key):
                if key is not Kind.STRING:
                    self.losses.add(rules.MAP_KEY_TO_STRING, path, f"keys of {key}", "keys of string")
                return Entries(self.inside(value, (*path, EACH)))
            case Nullable(inner=inner):
                return Nullable(self.shape(inner, path))
            case Choice():
                return self.choice(shape, path)
            case Record():
                return self.record(shape, path)

    def scalar(self, scalar: Scalar, path: Path) -> Scalar:
        return scalar

    def symbols(self, symbols: Symbols, path: Path) -> Shape:
        return symbols

    def inside(self, shape: Shape, path: Path) -> Shape:
        """The items of a list, the values of a map."""
        return self.shape(shape, path)

    def choice(self, choice: Choice, path: Path) -> Shape:
        return Choice(tuple(self.shape(branch, path) for branch in choice.branches))

    def record(self, record: Record, path: Path) -> Record:
        if id(record) not in self._fitted:
            made = self._fitted[id(record)] = Record(self.record_name(record, path), record.doc)
            self.pairs.append((record, made, path))
            names = self.field_names(record, made, path)
            made.fields = tuple(
                self.field(field, name, (*path, field.name)) for field, name in zip(record.fields, names, strict=True)
            )
        return self._fitted[id(record)]

    def record_name(self, record: Record, path: Path) -> str:
        return record.name

    def field_names(self, record: Record, made: Record, path: Path) -> list[str]:
        return [field.name for field in record.fields]

    def field(self, field: Field, name: str, path: Path) -> Field:
        return Field(name, self.shape(field.shape, path), field.is_optional, doc=field.doc)

    # ---- what several formats do

    def loss(self, rule: rules.Rule, path: Path, was: Shape, now: Scalar) -> Scalar:
        self.losses.add(rule, path, describe(was), describe(now))
        return now

    def names(self, record: Record, path: Path, taken: set[str], bare: Callable[[str], str] = str) -> list[str]:
        """The names of the fields, which are identifiers, none of which is taken, and none the same as another one.

        `bare` is what names must differ in. `taken` grows.
        """
        # Those that are identifiers go first, so that no other takes their names.
        chosen = dict(
            sorted(((field.name, as_name(field.name)) for field in record.fields), key=lambda n: n[0] != n[1])
        )
        seen: set[str] = set()
        for own, name in chosen.items():
            found = next(name for name in numbered(name) if name not in taken and bare(name) not in seen)
            chosen[own] = found
            taken.add(found)
            seen.add(bare(found))
            if found != own:
                self.losses.add(rules.NAME_CHANGED, (*path, own), own, found)
        return [chosen[field.name] for field in record.fields]

    def as_text(self, symbols: Symbols, path: Path) -> Scalar | None:
        """A text instead of an enum whose symbols are no identifiers."""
        if all(is_name(symbol) for symbol in symbols.symbols):
            return None
        return self.loss(rules.ENUM_TO_STRING, path, symbols, Scalar(Kind.STRING))
