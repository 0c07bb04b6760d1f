"""ProtobufSchema and ProtobufNativeSchema."""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, overload

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError, EncodeError, Message

from tallystick.errors import InvalidArgument, InvalidSchema
from tallystick.formats import Schema as ParsedSchema
from tallystick.formats import encoder_of, format_of, is_same
from tallystick.formats.protobuf.parse import MESSAGE_PROPERTY
from tallystick.formats.protobuf.protoc import is_bundled
from tallystick.formats.protobuf.types import ProtobufSchema as ParsedProtobuf
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import PROTOBUF, PROTOBUF_NATIVE
from tallystick.serde.native import Decode, NativeSchema, refusing
from tallystick.serde.schema import Read
from tallystick.serde.sources import definition_of

M = TypeVar("M")

MESSAGE_DIFFERS = "READER_MESSAGE_DIFFERS"


class _MessageSchema(NativeSchema[M]):
    """With a generated class, values are its instances, or dicts, and what is read are its instances."""

    def __init__(
        self, definition: SchemaDefinition, message_class: type[M] | None, references: References = NO_REFERENCES
    ) -> None:
        super().__init__(definition, references=references)
        self._class: Any = message_class

    def _encoder(self) -> Callable[[M], bytes]:
        encode = encoder_of(self.parsed)
        return encode if self._class is None else _of_instances(self._class, encode)

    def _converting(self, decode: Decode) -> Read[M]:
        return super()._converting(decode if self._class is None else _to_instances(self._class, decode))

    def _resolving(self, written: ParsedSchema) -> Read[M]:
        own = self.parsed
        assert isinstance(own, ParsedProtobuf)
        assert isinstance(written, ParsedProtobuf)
        message = _written_as(own, written)
        if message is None:
            return refusing(
                MESSAGE_DIFFERS,
                f"the message was written as {written.root}, and is read as {own.root}",
                f"read it with the class or text of {written.root}, or with AutoConsume()",
            )
        if is_same(written, own):
            return self.from_payload
        decode = format_of(own.definition.type).decode
        return self._converting(lambda payload: decode(written, payload, own, message))


class ProtobufSchema(_MessageSchema[M]):
    """From `.proto` text, or a generated class.

    With text, values are dicts of the text's first message, or of the one that `message` names. Imports other than
    Google's own are found in `references`.
    """

    @overload
    def __init__(
        self: "ProtobufSchema[dict[str, Any]]",
        source: str,
        *,
        message: str | None = None,
        references: References = NO_REFERENCES,
    ) -> None: ...

    @overload
    def __init__(self, source: type[M], *, references: References = NO_REFERENCES) -> None: ...

    def __init__(
        self, source: str | type[M], *, message: str | None = None, references: References = NO_REFERENCES
    ) -> None:
        if isinstance(source, str):
            told = {} if message is None else {MESSAGE_PROPERTY: message}
            super().__init__(definition_of(PROTOBUF, source, references, told), None, references)
            return
        descriptor = _descriptor(source, ".proto text, or a class that protoc generated")
        _refuse_missing_imports(descriptor.file, references)
        told = {MESSAGE_PROPERTY: descriptor.full_name}
        super().__init__(
            definition_of(PROTOBUF, descriptor_text(descriptor.file), references, told), source, references
        )


class ProtobufNativeSchema(_MessageSchema[M]):
    """From a generated class, with all that it imports: Pulsar's own way to keep Protobuf."""

    def __init__(self, source: type[M]) -> None:
        descriptor = _descriptor(source, "a class that protoc generated")
        files = FileDescriptorSet(file=[_proto(file) for file in _with_imports(descriptor.file)])
        text = json.dumps(
            {
                "fileDescriptorSet": base64.b64encode(files.SerializeToString(deterministic=True)).decode(),
                "rootMessageTypeName": descriptor.full_name,
                "rootFileDescriptorName": descriptor.file.name,
            }
        )
        super().__init__(SchemaDefinition(PROTOBUF_NATIVE, text), source)


def descriptor_text(file: FileDescriptor) -> str:
    """A file as the text of a PROTOBUF definition: its descriptor in base64, as Confluent's clients send it."""
    return base64.b64encode(_proto(file).SerializeToString(deterministic=True)).decode()


def _descriptor(source: Any, takes: str) -> Any:
    if not isinstance(source, type) or not issubclass(source, Message):
        name = source.__name__ if isinstance(source, type) else type(source).__name__
        raise InvalidArgument("source", f"{name} is not {takes}")
    return source.DESCRIPTOR


def _proto(file: FileDescriptor) -> FileDescriptorProto:
    proto = FileDescriptorProto()
    file.CopyToProto(proto)
    return proto


def _with_imports(file: FileDescriptor) -> list[FileDescriptor]:
    """The file and all that it imports, each once and after its own imports."""
    ordered: dict[str, FileDescriptor] = {}

    def add(each: FileDescriptor) -> None:
        if each.name not in ordered:
            for needed in each.dependencies:
                add(needed)
            ordered[each.name] = each

    add(file)
    return list(ordered.values())


def _refuse_missing_imports(file: FileDescriptor, references: References) -> None:
    known = {reference.name for reference in references}
    for needed in _imports(file):
        if needed not in known:
            raise InvalidSchema(
                f"{file.name} imports {needed}, which a registry keeps under a subject of its own",
                fix="give references={Reference(import path, subject, version): definition}, or use "
                "ProtobufNativeSchema, which holds the imports",
            )


def _imports(file: FileDescriptor) -> Iterator[str]:
    return (needed.name for needed in file.dependencies if not is_bundled(needed.name))


def _written_as(own: ParsedProtobuf, written: ParsedProtobuf) -> str | None:
    """What the writer calls the message that is read; None where it has no such message, or says it sent another."""
    if own.root is None or written.root is None:
        return None
    if own.is_native:
        return written.root
    meant = written.types.absolute(own.types.relative(own.root))
    if MESSAGE_PROPERTY in written.definition.properties:
        return written.root if written.root in (meant, own.root) else None
    return next((name for name in (meant, own.root) if written.types.has_message(name)), None)


def _of_instances(message_class: Any, encode: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    def to_payload(value: Any) -> bytes:
        if isinstance(value, message_class):
            try:
                return value.SerializeToString(deterministic=True)  # type: ignore[no-any-return]
            except EncodeError:
                pass  # a required field is missing; the format says which
        return encode(value)

    return to_payload


def _to_instances(message_class: Any, decode: Decode) -> Decode:
    def from_payload(payload: bytes) -> Any:
        record = message_class()
        try:
            record.MergeFromString(payload)
        except DecodeError:
            return decode(payload)  # which raises, and says what is wrong
        if not record.IsInitialized():
            decode(payload)
        return record

    return from_payload
