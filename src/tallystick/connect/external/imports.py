"""What a generated Protobuf class imports, as references of its schema."""

from typing import cast

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.message import Message

from tallystick.formats.protobuf.protoc import is_bundled
from tallystick.model.definition import Reference, References, SchemaDefinition
from tallystick.model.schema_type import PROTOBUF
from tallystick.serde.protobuf import descriptor_text

_ANY_VERSION = 1
"""The registry says which one it is, once the import is registered there."""


def imports_of(source: object) -> References:
    """The files that a generated class needs, each under a subject of its own name, as Confluent's serializers do.

    Nothing for other sources. Google's own files are everywhere.
    """
    found: dict[Reference, SchemaDefinition] = {}
    if isinstance(source, type) and issubclass(source, Message):
        _add(cast("FileDescriptor", source.DESCRIPTOR.file), found)
    return found


def _add(file: FileDescriptor, found: dict[Reference, SchemaDefinition]) -> tuple[Reference, ...]:
    """Adds what a file imports, and says what it imports itself."""
    direct = []
    for needed in file.dependencies:
        if not is_bundled(needed.name):
            reference = Reference(needed.name, needed.name, _ANY_VERSION)
            if reference not in found:
                found[reference] = SchemaDefinition(PROTOBUF, descriptor_text(needed), _add(needed, found))
            direct.append(reference)
    return tuple(direct)
