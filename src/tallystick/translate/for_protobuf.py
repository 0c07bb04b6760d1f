"""Shapes as Protobuf can hold them: every record is a message, lists and maps hold scalars and messages only."""

from tallystick.formats.json_source import Path
from tallystick.model.schema_type import JSON_SCHEMA, SchemaType
from tallystick.translate import rule as rules
from tallystick.translate.fitting import Fitting
from tallystick.translate.losses import EACH, Losses
from tallystick.translate.names import as_name, as_type_name, free, namespace_of, unqualified
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
    type_names,
)

VALUE = "value"
"""The field of a message that only holds a value."""
ROOT_NAME = "Value"
_TEXTS = {
    Kind.DECIMAL: rules.DECIMAL_TO_STRING,
    Kind.UUID: rules.UUID_TO_STRING,
    Kind.DATE: rules.TIME_TO_STRING,
    Kind.TIME: rules.TIME_TO_STRING,
    Kind.LOCAL_TIMESTAMP: rules.TIME_TO_STRING,
}


class ForProtobuf(Fitting):
    """`package` is that of the file, known once the root is fitted."""

    def __init__(self, losses: Losses, source: SchemaType, root_name: str | None = None) -> None:
        super().__init__(losses)
        self.package = ""
        self._root_name = root_name or ROOT_NAME
        self._tells_null = source == JSON_SCHEMA
        self._given: set[str] = set()
        self._scopes: dict[str, set[str]] = {}
        self._names: dict[str, str] = {}
        self._enums: dict[str, Symbols] = {}
        self._taken: dict[Path, set[str]] = {}

    def root(self, shape: Shape) -> Record:
        self._given = type_names(shape)
        if isinstance(shape, Record):
            self.package = namespace_of(shape.name)
            return self.record(shape, ())
        self.package = namespace_of(self._root_name)
        return self._wrapped(shape, (), unqualified(self._root_name))

    def scalar(self, scalar: Scalar, path: Path) -> Scalar:
        if scalar.kind is Kind.NULL:
            self.losses.add(rules.NULL_TYPE, path, "null")
        if scalar.kind in _TEXTS:
            return self.loss(_TEXTS[scalar.kind], path, scalar, Scalar(Kind.STRING))
        if scalar.size is not None:
            return self.loss(rules.FIXED_SIZE_LOST, path, scalar, Scalar(Kind.BYTES))
        return Scalar(Kind.TIMESTAMP, 9) if scalar.kind is Kind.TIMESTAMP else scalar

    def symbols(self, symbols: Symbols, path: Path) -> Shape:
        text = self.as_text(symbols, path)
        if text is not None:
            return text
        if symbols.default is not None:
            self.losses.add(rules.DEFAULT_LOST, path, f"the enum's default {symbols.default}")
        if symbols.name not in self._enums:
            name = self._type_name(symbols.name, path)
            self._enums[symbols.name] = Symbols(name, self._values(symbols, name, path), doc=symbols.doc)
        return self._enums[symbols.name]

    def inside(self, shape: Shape, path: Path) -> Shape:
        return self._held(shape, path, _way(path))

    def _held(self, shape: Shape, path: Path, name: str) -> Shape:
        """The shape, or a message of that name where it can only be held by one."""
        if isinstance(shape, Nullable | Items | Entries | Choice):
            return self._wrapped(shape, path, name)
        return self.shape(shape, path)

    def record_name(self, record: Record, path: Path) -> str:
        return self._type_name(record.name, path)

    def field_names(self, record: Record, made: Record, path: Path) -> list[str]:
        scope = self._scope(made.name)
        self._taken[path] = scope
        found = self.names(record, path, scope, _camel)
        # protoc makes a message for the entries of each map.
        scope |= {f"{as_type_name(name)}Entry" for name in found}
        return found

    def field(self, field: Field, name: str, path: Path) -> Field:
        shape, is_optional = field.shape, field.is_optional
        if isinstance(shape, Nullable):
            if self._tells_null:
                rule = rules.ABSENT_AND_NULL_MERGED if is_optional else rules.NULL_TO_ABSENT
                self.losses.add(rule, path, "null", "absent")
            shape, is_optional = shape.inner, True
        if isinstance(shape, Choice):
            return Field(name, self._oneof(shape, name, path), is_optional=True, doc=field.doc)
        fitted = self.shape(shape, path)
        if isinstance(fitted, Items | Entries):
            if is_optional:
                self.losses.add(rules.NULL_TO_EMPTY, path, f"{describe(shape)}, or nothing", describe(fitted))
            return Field(name, fitted, doc=field.doc)
        if not is_optional and is_message(fitted):
            self.losses.add(rules.REQUIRED_TO_OPTIONAL, path, "required", "optional")
        return Field(name, fitted, is_optional or is_message(fitted), doc=field.doc)

    def _oneof(self, choice: Choice, name: str, path: Path) -> Choice:
        self.losses.add(rules.UNION_TO_ONEOF, path, describe(choice), f"oneof {name}")
        way = _way(path)
        branches = tuple(self._held(b, path, f"{way}{as_type_name(_said(b))}") for b in choice.branches)
        taken = self._taken.get(path[:-1], set())
        members: list[str] = []
        for branch in choice.branches:
            members.append(free(f"{name}_{_said(branch)}", taken))
            taken.add(members[-1])
        return Choice(branches, tuple(members))

    def _wrapped(self, shape: Shape, path: Path, name: str) -> Record:
        made = Record(self._type_name(f"{self.package}.{name}".lstrip("."), path), is_wrapper=True)
        self.losses.add(rules.VALUE_TO_MESSAGE, path, describe(shape), f"message {made.name}")
        self._scope(made.name).add(VALUE)
        made.fields = (self.field(Field(VALUE, shape), VALUE, path),)
        return made

    # ---- names

    def _scope(self, name: str) -> set[str]:
        """The names in a message or in the package: of types, fields and values of enums alike."""
        return self._scopes.setdefault(name, set())

    def _type_name(self, name: str, path: Path) -> str:
        """The full name in the file: in the package, or in the message that it is declared in."""
        if name in self._names:
            return self._names[name]
        outer = namespace_of(name)
        is_nested = outer in self._given and outer.startswith(f"{self.package}." if self.package else "")
        around = self._type_name(outer, path) if is_nested else self.package
        found = free(unqualified(name), self._scope(around))
        self._scope(around).add(found)
        if found != unqualified(name) and name in self._given:
            self.losses.add(rules.NAME_CHANGED, path, name, found)
        self._names[name] = f"{around}.{found}".lstrip(".")
        return self._names[name]

    def _values(self, symbols: Symbols, name: str, path: Path) -> tuple[str, ...]:
        """The names of an enum's values, which stand beside the enum and must differ in more than their case."""
        scope = self._scope(namespace_of(name) or self.package)
        prefix = _upper(unqualified(name))
        prefixed = tuple(f"{prefix}_{symbol}" for symbol in symbols.symbols)
        numbered = tuple(f"{symbol}_{number}" for number, symbol in enumerate(prefixed))
        values = next(
            (values for values in (symbols.symbols, prefixed) if _are_apart(values, name) and scope.isdisjoint(values)),
            numbered,
        )
        if values != symbols.symbols:
            self.losses.add(rules.NAME_CHANGED, path, ", ".join(symbols.symbols), ", ".join(values))
        scope.update(values)
        return values


def is_message(shape: Shape) -> bool:
    return isinstance(shape, Record) or (isinstance(shape, Scalar) and shape.kind is Kind.TIMESTAMP)


def _way(path: Path) -> str:
    """A name for the message of a value, after the fields that lead to it."""
    return "".join("Item" if step == EACH else as_type_name(str(step)) for step in path) or ROOT_NAME


def _said(shape: Shape) -> str:
    match shape:
        case Scalar(kind=kind):
            return as_name(str(kind))
        case Symbols(name=name) | Record(name=name):
            return unqualified(name).lower()
        case Items():
            return "list"
        case _:
            return "map"


def _are_apart(values: tuple[str, ...], name: str) -> bool:
    """Whether protoc tells them apart: it looks neither at case, nor at underscores, nor at the enum's name."""
    prefix = unqualified(name).replace("_", "").lower()
    plain = [value.replace("_", "").lower() for value in values]
    return len({value.removeprefix(prefix) or value for value in plain}) == len(values)


def _camel(name: str) -> str:
    """The field's name in Protobuf's JSON, which no other field of the message may have."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _upper(name: str) -> str:
    return "".join(f"_{c}" if c.isupper() and i else c for i, c in enumerate(name)).upper()
