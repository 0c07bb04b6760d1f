"""Definitions → schemas: `.proto` text, base64 descriptors, and Pulsar's JSON with a descriptor set."""

import base64
import binascii
import re
from functools import lru_cache
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError

from tallystick.errors import InvalidSchema
from tallystick.finding import Place
from tallystick.formats import json_source
from tallystick.formats.protobuf.protoc import Sources, compile_sources, is_bundled
from tallystick.formats.protobuf.types import ProtobufSchema, Types
from tallystick.formats.references import dependencies_first
from tallystick.model.definition import References, SchemaDefinition

MESSAGE_PROPERTY = "message"
"""The property of a definition that names the message of its records where that is not the first one."""

MAX_TEXT_LENGTH = 8 << 20
"""Characters of one definition. The largest that people register have a hundredth of that."""

_IMPORT_PATH = re.compile(r"(?!-)[\w.+ -]{1,200}(/[\w.+ -]{1,200}){0,20}")
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+(=[=\s]*)?")


def parse(definition: SchemaDefinition, references: References) -> ProtobufSchema:
    imports = [(reference.name, used.text) for reference, used in dependencies_first(definition, references)]
    types = _types(definition.text, tuple(imports))
    return ProtobufSchema(definition, types, _root(definition, types))


def parse_native(definition: SchemaDefinition, references: References) -> ProtobufSchema:
    if definition.references:
        raise InvalidSchema("a descriptor set has no references", fix="put the imported files into the set itself")
    types, root = _native_types(definition.text)
    return ProtobufSchema(definition, types, root, is_native=True)


def is_base64(text: str) -> bool:
    """Whether a text is a descriptor in base64; no `.proto` text looks like that."""
    return _BASE64.fullmatch(text) is not None and text.strip() != ""


def _root(definition: SchemaDefinition, types: Types) -> str | None:
    named = definition.properties.get(MESSAGE_PROPERTY)
    if named is None:
        return next(iter(types.own), None)
    for name in (named, types.absolute(named)):
        if name in types.own:
            return name
    raise InvalidSchema(
        f"the property {MESSAGE_PROPERTY!r} names {named!r}, which is no message of the text",
        fix=f"name one of {', '.join(list(types.own)[:10])}",
    )


@lru_cache(maxsize=256)
def _types(text: str, imports: tuple[tuple[str, str], ...]) -> Types:
    main = _free_name(imports)
    texts: list[tuple[str, str]] = []
    descriptors = FileDescriptorSet()
    for name, source in {**dict(imports), main: text}.items():
        _check_import_path(name)
        _check_length(source)
        if is_base64(source):
            descriptors.file.append(_descriptor(name, source))
        elif not is_bundled(name):
            texts.append((name, source))
    compiled = compile_sources(Sources(main, tuple(texts), descriptors.SerializeToString()))
    types = _built(compiled, main, "" if is_base64(text) else text)
    if not (types.main.message_type or types.main.enum_type or types.main.extension):
        raise InvalidSchema("the text defines no message", fix="add the message that the records are")
    return types


def _free_name(imports: tuple[tuple[str, str], ...]) -> str:
    """A definition has no file name of its own; it gets one that no import has."""
    name = "schema.proto"
    while name in dict(imports):
        name = "_" + name
    return name


def _check_import_path(name: str) -> None:
    if not _IMPORT_PATH.fullmatch(name) or not {".", ".."}.isdisjoint(name.split("/")):
        raise InvalidSchema(
            f"{name[:100]!r} is no import path", fix="name it as the import does, for example 'shop/common.proto'"
        )


def _check_length(text: str) -> None:
    if len(text) > MAX_TEXT_LENGTH:
        raise InvalidSchema(f"the text is longer than {MAX_TEXT_LENGTH} characters", fix="split it into several files")


def _descriptor(name: str, text: str) -> FileDescriptorProto:
    try:
        file = FileDescriptorProto.FromString(_decoded_base64(text))
    except DecodeError as e:
        raise InvalidSchema(
            "the text is base64, but not of a FileDescriptorProto", fix="send .proto text or its descriptor"
        ) from e
    file.name = name
    file.ClearField("source_code_info")
    return file


def _decoded_base64(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as e:
        raise InvalidSchema(f"not base64: {str(e)[:1].lower()}{str(e)[1:]}") from e


def _built(compiled: FileDescriptorSet, main: str, text: str) -> Types:
    try:
        return Types(compiled, main, text)
    except TypeError as e:
        raise InvalidSchema(f"the Protobuf runtime refuses it: {e}") from e


# --- PROTOBUF_NATIVE -------------------------------------------------------------------------------------------

_KEYS = ("fileDescriptorSet", "rootMessageTypeName", "rootFileDescriptorName")


@lru_cache(maxsize=256)
def _native_types(text: str) -> tuple[Types, str]:
    _check_length(text)
    set_text, root, main = _native_members(json_source.load(text))
    try:
        files = FileDescriptorSet.FromString(_decoded_base64(set_text))
    except DecodeError as e:
        raise InvalidSchema("fileDescriptorSet is no FileDescriptorSet", Place("/fileDescriptorSet")) from e
    _check_complete(files, main)
    for file in files.file:
        file.ClearField("source_code_info")
    compiled = compile_sources(Sources(main, (), files.SerializeToString()))
    types = _built(compiled, main, "")
    if not types.has_message(root):
        raise InvalidSchema(
            f"the root message {root!r} is not in the descriptor set", Place("/rootMessageTypeName"), _names(types)
        )
    return types, root


def _native_members(value: Any) -> tuple[str, str, str]:
    members: list[Any] = [value.get(key) if isinstance(value, dict) else None for key in _KEYS]
    for key, member in zip(_KEYS, members, strict=True):
        if not isinstance(member, str) or not member:
            raise InvalidSchema(
                f"the member {key!r} is missing or no text", fix=f"send an object with {', '.join(_KEYS)}"
            )
    return members[0], members[1], members[2]


def _check_complete(files: FileDescriptorSet, main: str) -> None:
    names = [file.name for file in files.file]
    for name in names:
        _check_import_path(name)
    if len(set(names)) < len(names):
        raise InvalidSchema("the descriptor set holds a file twice", Place("/fileDescriptorSet"))
    needed = {main} | {dependency for file in files.file for dependency in file.dependency}
    missing = sorted(needed - set(names))
    if missing:
        raise InvalidSchema(
            f"the descriptor set lacks {', '.join(map(repr, missing[:5]))}",
            Place("/fileDescriptorSet"),
            "send the set with all imports",
        )


def _names(types: Types) -> str:
    return f"name one of {', '.join(list(types.own)[:10])}" if types.own else "send the file that holds it as the root"
