"""Which Protobuf texts are the same."""

import json
import re
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
)
from google.protobuf.message import Message

from tallystick.formats.protobuf.parse import is_base64
from tallystick.formats.protobuf.protoc import is_bundled
from tallystick.formats.protobuf.types import ProtobufSchema

# Strings and comments are kept as they are. A line comment keeps its end: without it, it would swallow the rest.
_KEPT = r"""(?P<kept>"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|/\*.*?(?:\*/|\Z)|//[^\n]*+\n?)"""
_SPACE = re.compile(rf"{_KEPT}|(?P<space>[ \t\r\n\f\v]+)", re.DOTALL)


def canonical_text(text: str) -> str:
    """The text without white space, except one space where two tokens would grow together."""
    if is_base64(text):
        return "".join(text.split())
    return _SPACE.sub(lambda match: _kept(match, text), text)


def _kept(match: re.Match[str], text: str) -> str:
    if match["space"] is None:
        return _line_comment(match["kept"]) if match["kept"].startswith("//") else match["kept"]
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    return " " if _would_join(before, after) else ""


def _line_comment(comment: str) -> str:
    return comment.rstrip() + "\n"


def _would_join(before: str, after: str) -> bool:
    """Two words would become one, a sign or a point would join a number, two slashes would start a comment."""
    if not before or not after:
        return False
    return (_is_word(before) and _is_word(after)) or (before + after) in ("//", "/*")


def _is_word(character: str) -> bool:
    return character.isalnum() or character in "_."


def normal_form(schema: ProtobufSchema) -> str:
    """The descriptor without comments and with all that has no order in order, so that a reordered text is equal.

    The order of the messages counts only for the first one, which is the record's, and the order of an enum's
    values only for the first one, which is the default.
    """
    main = schema.types.main
    parts = {
        "file": _file(main),
        "imports": sorted(main.dependency),
        "imported": {f.name: _file(f) for f in schema.types.files.file if f is not main and not is_bundled(f.name)},
        "root": schema.root if schema.is_native else None,
    }
    return json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _file(file: FileDescriptorProto) -> Any:
    return {
        "package": file.package,
        "syntax": file.syntax or "proto2",
        "edition": file.edition,
        "public": sorted(file.dependency[i] for i in file.public_dependency),
        "first": file.message_type[0].name if file.message_type else None,
        "messages": {message.name: _message(message) for message in file.message_type},
        "enums": {enum.name: _enum(enum) for enum in file.enum_type},
        "extensions": _fields(file.extension, []),
        "services": {service.name: _service(service) for service in file.service},
        "options": _options(file),
    }


def _message(message: DescriptorProto) -> Any:
    oneofs = [oneof.name for oneof in message.oneof_decl]
    return {
        "fields": _fields(message.field, oneofs),
        "messages": {nested.name: _message(nested) for nested in message.nested_type},
        "enums": {enum.name: _enum(enum) for enum in message.enum_type},
        "extensions": _fields(message.extension, []),
        "extensible": sorted([r.start, r.end, _options(r)] for r in message.extension_range),
        "oneofs": {oneof.name: _options(oneof) for oneof in message.oneof_decl},
        "reserved": [sorted([r.start, r.end] for r in message.reserved_range), sorted(message.reserved_name)],
        "options": _options(message),
    }


def _fields(fields: Any, oneofs: list[str]) -> Any:
    return [_field(field, oneofs) for field in sorted(fields, key=lambda f: (f.extendee, f.number))]


def _field(field: FieldDescriptorProto, oneofs: list[str]) -> Any:
    own_json_name = field.json_name if field.json_name != _json_name(field.name) else ""
    oneof = oneofs[field.oneof_index] if field.HasField("oneof_index") else ""
    default = field.default_value if field.HasField("default_value") else None
    return [
        field.number,
        field.name,
        FieldDescriptorProto.Label.Name(field.label),
        FieldDescriptorProto.Type.Name(field.type),
        field.type_name,
        field.extendee,
        default,
        oneof,
        own_json_name,
        field.proto3_optional,
        _options(field),
    ]


def _json_name(name: str) -> str:
    """protoc's rule: an underscore goes, and the letter after it becomes a capital."""
    return re.sub(r"_+(.?)", lambda match: match[1].upper(), name)


def _enum(enum: EnumDescriptorProto) -> Any:
    return {
        "first": enum.value[0].name if enum.value else None,
        "values": sorted([value.number, value.name, _options(value)] for value in enum.value),
        "reserved": [sorted([r.start, r.end] for r in enum.reserved_range), sorted(enum.reserved_name)],
        "options": _options(enum),
    }


def _service(service: ServiceDescriptorProto) -> Any:
    return [
        _options(service),
        sorted(
            [m.name, m.input_type, m.output_type, m.client_streaming, m.server_streaming, _options(m)]
            for m in service.method
        ),
    ]


def _options(element: Any) -> str:
    """Options as bytes in hexadecimal: custom ones are not known here, but they are kept in the bytes."""
    options: Message = element.options
    return options.SerializeToString(deterministic=True).hex()
