"""A Protobuf descriptor as `.proto` text, for those who registered a descriptor and those who read it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any

from google.protobuf import message_factory, text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
    ServiceDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.text_encoding import CEscape

_METAS = {"confluent.message_meta", "confluent.field_meta"}
_MOST_FIELD = 1 << 29
_MOST_ENUM = (1 << 31) - 1
_LABELS = {
    FieldDescriptorProto.LABEL_OPTIONAL: "optional ",
    FieldDescriptorProto.LABEL_REQUIRED: "required ",
    FieldDescriptorProto.LABEL_REPEATED: "repeated ",
}


def proto_text(files: FileDescriptorSet, main: FileDescriptorProto) -> str:
    """A text that compiles to the main file of the set. Types are named in full, so that nothing depends on scopes."""
    return "\n".join(_Writer(files, main).file()) + "\n"


class KnownOptions:
    """Options with what the files of a set add to them."""

    def __init__(self, files: FileDescriptorSet) -> None:
        self._pool = DescriptorPool()
        for file in files.file:
            self._pool.AddSerializedFile(file.SerializeToString())

    def of(self, options: Message) -> Message:
        data = options.SerializeToString()
        return self._class(options).FromString(data) if data else options

    def tags(self, options: Message) -> list[str]:
        """What `confluent/meta.proto` lets people attach to messages and fields."""
        found = (value for field, value in self.of(options).ListFields() if field.full_name in _METAS)
        return [tag for meta in found for tag in meta.tags]

    def _class(self, options: Message) -> type[Message]:
        try:
            return message_factory.GetMessageClass(self._pool.FindMessageTypeByName(options.DESCRIPTOR.full_name))
        except KeyError:
            return type(options)


class _Inner:
    """The messages of a file or a message, some of which stand within a field: groups and the entries of maps.

    Clients count them all, so they are written in their order.
    """

    def __init__(self, messages: Sequence[DescriptorProto], fields: Iterable[FieldDescriptorProto], scope: str) -> None:
        self._messages = messages
        self._places = {f"{scope}.{message.name}": place for place, message in enumerate(messages)}
        used = {f.type_name for f in fields if f.type == FieldDescriptorProto.TYPE_GROUP}
        self._within = {n for n, place in self._places.items() if n in used or messages[place].options.map_entry}
        self._written = 0

    def within(self, field: FieldDescriptorProto) -> DescriptorProto | None:
        return self._messages[self._places[field.type_name]] if field.type_name in self._within else None

    def before(self, part: Iterable[FieldDescriptorProto]) -> list[DescriptorProto]:
        """What comes before the messages within some fields."""
        places = [self._places[field.type_name] for field in part if field.type_name in self._within]
        return self._until(max(places, default=0))

    def left(self) -> list[DescriptorProto]:
        return self._until(len(self._messages))

    def _until(self, place: int) -> list[DescriptorProto]:
        names = list(self._places)[self._written : place]
        self._written = max(self._written, place)
        return [self._messages[self._places[name]] for name in names if name not in self._within]


class _Writer:
    def __init__(self, files: FileDescriptorSet, main: FileDescriptorProto) -> None:
        self._main = main
        self._known = KnownOptions(files)

    @property
    def _has_editions(self) -> bool:
        return self._main.syntax == "editions"

    def file(self) -> Iterator[str]:
        file = self._main
        scope = f".{file.package}" if file.package else ""
        yield self._syntax()
        if file.package:
            yield f"package {file.package};"
        for index, name in enumerate(file.dependency):
            kind = "public " * (index in file.public_dependency) + "weak " * (index in file.weak_dependency)
            yield f"import {kind}{_quoted(name)};"
        yield from (f"import option {_quoted(name)};" for name in file.option_dependency)
        yield from (f"option {option};" for option in self._options(file.options))
        inner = _Inner(file.message_type, file.extension, scope)
        for extension in file.extension:
            yield from self._messages(inner.before([extension]), scope)
            yield from self._extension(extension, inner)
        yield from self._messages(inner.left(), scope)
        for enum in file.enum_type:
            yield from self._enum(enum)
        for service in file.service:
            yield from self._service(service)

    def _syntax(self) -> str:
        if self._has_editions:
            return f'edition = "{Edition.Name(self._main.edition).removeprefix("EDITION_")}";'
        return f'syntax = "{self._main.syntax or "proto2"}";'

    def _message(self, message: DescriptorProto, scope: str) -> Iterator[str]:
        yield f"message {message.name} {{"
        yield from _indented(self._message_body(message, f"{scope}.{message.name}"))
        yield "}"

    def _message_body(self, message: DescriptorProto, scope: str) -> Iterator[str]:
        yield from (f"option {option};" for option in self._options(message.options))
        yield from self._reserved(message.reserved_range, message.reserved_name, 1, _MOST_FIELD)
        for extensible in message.extension_range:
            options = self._bracketed(self._options(extensible.options))
            yield f"extensions {_range(extensible.start, extensible.end - 1, _MOST_FIELD - 1)}{options};"
        inner = _Inner(message.nested_type, [*message.field, *message.extension], scope)
        for part in _parts(message):
            yield from self._messages(inner.before(part), scope)
            yield from self._part(part, message, inner)
        for extension in message.extension:
            yield from self._messages(inner.before([extension]), scope)
            yield from self._extension(extension, inner)
        yield from self._messages(inner.left(), scope)
        for enum in message.enum_type:
            yield from self._enum(enum)

    def _messages(self, messages: Iterable[DescriptorProto], scope: str) -> Iterator[str]:
        for message in messages:
            yield from self._message(message, scope)

    def _part(self, part: Sequence[FieldDescriptorProto], message: DescriptorProto, inner: "_Inner") -> Iterator[str]:
        """A field, or the fields of a oneof."""
        if not _is_in_oneof(part[0]):
            yield from self._field(part[0], inner, self._label(part[0]))
            return
        oneof = message.oneof_decl[part[0].oneof_index]
        yield f"oneof {oneof.name} {{"
        yield from _indented(f"option {option};" for option in self._options(oneof.options))
        for field in part:
            yield from _indented(self._field(field, inner, ""))
        yield "}"

    def _field(self, field: FieldDescriptorProto, inner: "_Inner", label: str) -> Iterator[str]:
        options = self._bracketed(self._field_options(field))
        within = inner.within(field)
        if within is None:
            yield f"{label}{_type(field)} {field.name} = {field.number}{options};"
        elif within.options.map_entry:
            key, value = within.field
            yield f"map<{_type(key)}, {_type(value)}> {field.name} = {field.number}{options};"
        else:
            yield f"{label}group {within.name} = {field.number}{options} {{"
            yield from _indented(self._message_body(within, field.type_name))
            yield "}"

    def _label(self, field: FieldDescriptorProto) -> str:
        is_said = self._main.syntax in ("", "proto2") or field.proto3_optional
        return _LABELS[field.label] if is_said or field.label == FieldDescriptorProto.LABEL_REPEATED else ""

    def _field_options(self, field: FieldDescriptorProto) -> Iterator[str]:
        if field.HasField("default_value"):
            yield f"default = {_default(field)}"
        if field.json_name and not field.extendee and field.json_name != _json_name(field.name):
            yield f"json_name = {_quoted(field.json_name)}"
        yield from self._options(field.options)

    def _extension(self, extension: FieldDescriptorProto, inner: "_Inner") -> Iterator[str]:
        yield f"extend {extension.extendee} {{"
        yield from _indented(self._field(extension, inner, self._label(extension)))
        yield "}"

    def _enum(self, enum: EnumDescriptorProto) -> Iterator[str]:
        yield f"enum {enum.name} {{"
        yield from _indented(f"option {option};" for option in self._options(enum.options))
        yield from _indented(self._reserved(enum.reserved_range, enum.reserved_name, 0, _MOST_ENUM))
        for value in enum.value:
            yield f"  {value.name} = {value.number}{self._bracketed(self._options(value.options))};"
        yield "}"

    def _reserved(self, ranges: Sequence[Any], names: Sequence[str], past: int, most: int) -> Iterator[str]:
        """`past` is how far the end of a range lies behind its last number."""
        if ranges:
            yield f"reserved {', '.join(_range(r.start, r.end - past, most - past) for r in ranges)};"
        if names:
            yield f"reserved {', '.join(names if self._has_editions else map(_quoted, names))};"

    def _service(self, service: ServiceDescriptorProto) -> Iterator[str]:
        yield f"service {service.name} {{"
        yield from _indented(f"option {option};" for option in self._options(service.options))
        for method in service.method:
            yield from _indented(self._method(method))
        yield "}"

    def _method(self, method: MethodDescriptorProto) -> Iterator[str]:
        taken, given = "stream " * method.client_streaming, "stream " * method.server_streaming
        head = f"rpc {method.name} ({taken}{method.input_type}) returns ({given}{method.output_type})"
        options = list(self._options(method.options))
        if not options:
            yield f"{head};"
            return
        yield f"{head} {{"
        yield from _indented(f"option {option};" for option in options)
        yield "}"

    def _options(self, options: Message) -> Iterator[str]:
        return _settings(self._known.of(options), "")

    def _bracketed(self, options: Iterator[str]) -> str:
        listed = ", ".join(options)
        return f" [{listed}]" if listed else ""


def _settings(options: Message, before: str) -> Iterator[str]:
    for field, value in options.ListFields():
        if field.name == "map_entry" and not before:
            continue
        name = before + (f"(.{field.full_name})" if field.is_extension else field.name)
        if field.name == "features" and isinstance(value, Message):
            yield from _settings(value, f"{name}.")
            continue
        for each in value if field.is_repeated else [value]:
            yield f"{name} = {_value(field, each)}"


def _value(field: FieldDescriptor, value: Any) -> str:
    out = StringIO()
    text_format.PrintFieldValue(field, value, out, as_one_line=True)
    return out.getvalue().strip()


def _type(field: FieldDescriptorProto) -> str:
    return field.type_name or FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()


def _parts(message: DescriptorProto) -> list[list[FieldDescriptorProto]]:
    """The fields in order, those of a oneof together."""
    parts: dict[int, list[FieldDescriptorProto]] = {}
    for field in message.field:
        key = -1 - field.oneof_index if _is_in_oneof(field) else field.number
        parts.setdefault(key, []).append(field)
    return list(parts.values())


def _is_in_oneof(field: FieldDescriptorProto) -> bool:
    return field.HasField("oneof_index") and not field.proto3_optional


def _default(field: FieldDescriptorProto) -> str:
    if field.type == FieldDescriptorProto.TYPE_BYTES:
        return f'"{field.default_value}"'  # is escaped already
    return _quoted(field.default_value) if field.type == FieldDescriptorProto.TYPE_STRING else field.default_value


def _range(first: int, last: int, most: int) -> str:
    if first == last:
        return str(first)
    return f"{first} to {'max' if last >= most else last}"


def _quoted(text: str) -> str:
    return f'"{CEscape(text.encode(), as_utf8=True)}"'


def _json_name(name: str) -> str:
    """The name that the compiler gives by itself: an underscore goes, and the letter after it becomes a capital."""
    return re.sub(r"_+(.?)", lambda match: match[1].upper(), name)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
