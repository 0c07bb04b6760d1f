"""The types of one set of files, in a pool of their own: two versions of one file never meet."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message as Record

from tallystick.finding import Place
from tallystick.formats.format import Schema
from tallystick.formats.protobuf.protoc import column_of
from tallystick.formats.protobuf.schema import DescriptorPath, Enum, Field, Message

KINDS: dict[int, str] = {
    int(number): name.removeprefix("TYPE_").lower() for name, number in FieldDescriptorProto.Type.items()
}

# Field numbers of google/protobuf/descriptor.proto, of which descriptor paths are made.
_FILE_MESSAGES, _FILE_ENUMS, _FILE_EXTENSIONS = 4, 5, 7
_FIELDS, _NESTED, _ENUMS, _EXTENSIONS, _ONEOFS = 2, 3, 4, 6, 8
_VALUES = 2


class Types:
    """Messages and enums by their full names, read when they are asked for."""

    def __init__(self, files: FileDescriptorSet, main: str, text: str) -> None:
        self.files = files
        self.main = next(file for file in files.file if file.name == main)
        self._text = text
        self._pool = DescriptorPool()
        serialized = [_without_source(file).SerializeToString() for file in files.file]
        for file in serialized:
            self._pool.AddSerializedFile(file)
        self.fingerprint = hashlib.sha256(b"".join(serialized)).digest()
        """Equal for equal files, whatever their comments."""
        self._messages: dict[str, Message] = {}
        self._enums: dict[str, Enum] = {}

    def relative(self, full_name: str) -> str:
        """The name within the file's package; a type of another package keeps its full name."""
        return full_name.removeprefix(f"{self.main.package}.") if self.main.package else full_name

    def absolute(self, name: str) -> str:
        return f"{self.main.package}.{name}" if self.main.package else name

    def has_message(self, full_name: str) -> bool:
        try:
            self._pool.FindMessageTypeByName(full_name)
        except KeyError:
            return False
        return True

    def message(self, full_name: str) -> Message:
        if full_name not in self._messages:
            self._messages[full_name] = self._read_message(self._pool.FindMessageTypeByName(full_name))
        return self._messages[full_name]

    def enum(self, full_name: str) -> Enum:
        if full_name not in self._enums:
            self._enums[full_name] = self._read_enum(self._pool.FindEnumTypeByName(full_name))
        return self._enums[full_name]

    def record_class(self, full_name: str) -> type[Record]:
        return message_factory.GetMessageClass(self._pool.FindMessageTypeByName(full_name))

    @cached_property
    def own(self) -> dict[str, DescriptorPath]:
        """The main file's messages in the order of the text, each before those inside it; no map entries."""
        return {
            name: path
            for name, path, element in _walk(self.main)
            if isinstance(element, DescriptorProto) and not element.options.map_entry
        }

    @cached_property
    def own_enums(self) -> dict[str, DescriptorPath]:
        return {name: path for name, path, element in _walk(self.main) if isinstance(element, EnumDescriptorProto)}

    @cached_property
    def records(self) -> list[str]:
        """The messages that a record may be: the first one, and those that no other message contains."""
        used = {
            inner
            for name in self.own
            for field in self.message(name).fields.values()
            if (inner := (field.entry[1] if field.entry else field).type_full_name) != name
        }
        return [name for i, name in enumerate(self.own) if i == 0 or name not in used]

    def place(self, path: str, descriptor_path: DescriptorPath | None) -> Place:
        """A place by its dotted path, with line and column if it stands in the definition's own text."""
        found = None if descriptor_path is None else self._lines.get(descriptor_path)
        if found is None:
            return Place(path)
        line, column = found
        return Place(path, line, column_of(self._text, line, column))

    def value_place(self, enum: Enum, name: str) -> Place:
        index = list(enum.numbers).index(name)
        return self.place(f"{enum.full_name}.{name}", enum.path and (*enum.path, _VALUES, index))

    def oneof_place(self, message: Message, oneof: str) -> Place:
        return self.place(f"{message.full_name}.{oneof}", message.oneof_paths[oneof])

    @cached_property
    def _lines(self) -> dict[DescriptorPath, tuple[int, int]]:
        if not self._text:
            return {}
        return {
            tuple(location.path): (location.span[0] + 1, location.span[1] + 1)
            for location in self.main.source_code_info.location
        }

    def _read_message(self, descriptor: Descriptor) -> Message:
        path = self.own.get(descriptor.full_name)
        own = DescriptorProto()
        descriptor.CopyToProto(own)
        lone = {f.name for f in own.field if f.proto3_optional}
        extensions = sorted(self._extensions(descriptor), key=lambda f: f.number)
        fields = [self._read_field(f, path, f.name in lone) for f in [*descriptor.fields, *extensions]]
        oneofs = [o for o in descriptor.oneofs if not lone.issuperset(f.name for f in o.fields)]
        return Message(
            full_name=descriptor.full_name,
            path=path,
            fields={f.number: f for f in fields},
            by_name={f.name: f for f in fields},
            typed=tuple(f.number for f in fields if f.type_name is not None),
            oneofs={o.name: tuple(f.number for f in o.fields) for o in oneofs},
            oneof_paths={o.name: path and (*path, _ONEOFS, o.index) for o in oneofs},
            reserved=tuple((r.start, r.end) for r in own.reserved_range),
        )

    def _extensions(self, descriptor: Descriptor) -> list[FieldDescriptor]:
        if not descriptor.is_extendable:
            return []
        found: list[FieldDescriptor] = self._pool.FindAllExtensions(descriptor)
        return found

    def _read_field(self, f: FieldDescriptor, parent: DescriptorPath | None, is_lone: bool) -> Field:
        named: Any = f.message_type or f.enum_type
        type_name = None if named is None else named.full_name
        return Field(
            name=f"[{self.relative(f.full_name)}]" if f.is_extension else f.name,
            number=f.number,
            kind=KINDS[f.type],
            type_name=type_name and self.relative(type_name),
            is_repeated=f.is_repeated,
            is_required=f.is_required,
            entry=self._read_entry(f.message_type),
            has_presence=f.has_presence,
            oneof=None if is_lone or f.containing_oneof is None else f.containing_oneof.name,
            default=None if f.is_repeated or f.message_type else f.default_value,
            full_name=f.full_name,
            type_full_name=type_name,
            path=self._extension_path(f) if f.is_extension else parent and (*parent, _FIELDS, f.index),
        )

    def _read_entry(self, descriptor: Descriptor | None) -> tuple[Field, Field] | None:
        if descriptor is None or not descriptor.GetOptions().map_entry:
            return None
        key, value = (self._read_field(f, None, False) for f in descriptor.fields)
        return key, value

    def _extension_path(self, f: Any) -> DescriptorPath | None:
        if f.file.name != self.main.name:
            return None
        if f.extension_scope is None:
            return (_FILE_EXTENSIONS, f.index)
        return (*self.own[f.extension_scope.full_name], _EXTENSIONS, f.index)

    def _read_enum(self, descriptor: EnumDescriptor) -> Enum:
        own = EnumDescriptorProto()
        descriptor.CopyToProto(own)
        names: dict[int, str] = {}
        for value in own.value:
            names.setdefault(value.number, value.name)
        return Enum(
            full_name=descriptor.full_name,
            path=self.own_enums.get(descriptor.full_name),
            is_closed=descriptor.is_closed,
            numbers={value.name: value.number for value in own.value},
            names=names,
            # Unlike a message's, the end of an enum's reserved range belongs to it.
            reserved=tuple((r.start, r.end + 1) for r in own.reserved_range),
        )


@dataclass(frozen=True, eq=False)
class ProtobufSchema(Schema):
    """`root` is the full name of the message that a record is unless the value says otherwise.

    It is None for a file that only others use: one with nothing but enums or extensions.
    """

    types: Types
    root: str | None
    is_native: bool = False
    """Whether it came as Pulsar's descriptors, where every record is the root."""

    def message_at(self, index: tuple[int, ...]) -> str:
        """The full name of a message by its index path: (1, 0) is the first message inside the second one.

        The messages that protoc makes for maps do not count. Raises KeyError where there is none.
        """
        return self._messages_by_index[index]

    def index_of(self, full_name: str) -> tuple[int, ...]:
        """The index path of a message of this file. Raises KeyError for other messages."""
        return self._indexes[full_name]

    @cached_property
    def _indexes(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        inside: Counter[str] = Counter()
        for name in self.types.own:
            outer = name.rpartition(".")[0]
            found[name] = (*found.get(outer, ()), inside[outer])
            inside[outer] += 1
        return found

    @cached_property
    def _messages_by_index(self) -> dict[tuple[int, ...], str]:
        return {index: name for name, index in self._indexes.items()}


def _walk(file: FileDescriptorProto) -> Iterator[tuple[str, DescriptorPath, DescriptorProto | EnumDescriptorProto]]:
    prefix = f"{file.package}." if file.package else ""
    for i, enum in enumerate(file.enum_type):
        yield prefix + enum.name, (_FILE_ENUMS, i), enum
    # A stack, last in first out, so the messages go in from the last to the first.
    stack: list[tuple[str, DescriptorPath, DescriptorProto]] = []
    stack += [(prefix + m.name, (_FILE_MESSAGES, i), m) for i, m in enumerate(file.message_type)][::-1]
    while stack:
        name, path, message = stack.pop()
        yield name, path, message
        for i, enum in enumerate(message.enum_type):
            yield f"{name}.{enum.name}", (*path, _ENUMS, i), enum
        stack += [(f"{name}.{m.name}", (*path, _NESTED, i), m) for i, m in enumerate(message.nested_type)][::-1]


def _without_source(file: FileDescriptorProto) -> FileDescriptorProto:
    if not file.HasField("source_code_info"):
        return file
    copy = FileDescriptorProto()
    copy.CopyFrom(file)
    copy.ClearField("source_code_info")
    return copy
