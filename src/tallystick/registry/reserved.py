"""`validateFields`: names that a schema keeps free for later, as Confluent's registry keeps them.

They stand in the property `confluent:reserved` of a schema's metadata, with commas between them.
"""

import json
from collections.abc import Mapping

from tallystick.errors import InvalidSchema
from tallystick.finding import Finding, Place
from tallystick.formats import Schema, json_source
from tallystick.formats.avro.types import AvroSchema, Record
from tallystick.formats.json_schema.parse import JsonSchema
from tallystick.formats.protobuf.types import ProtobufSchema

_PROPERTY = "confluent:reserved"
_FORBIDDEN = "$$"


def findings(schema: Schema, before: Schema | None, version: int | None) -> list[Finding]:
    """Names that are reserved no longer, and fields that have a reserved name.

    Raises `InvalidSchema` for a JSON Schema with a property that begins as only the registry's own may.
    """
    names, fields = _reserved(schema), _fields(schema)
    _require_own_names(schema, fields)
    freed = [name for name in (_reserved(before) if before is not None else {}) if name not in names]
    return [
        *(_freed(name, version) for name in freed),
        *(_taken(name, place) for name in names if (place := fields.get(name)) is not None),
    ]


def _freed(name: str, version: int | None) -> Finding:
    return Finding(
        rule="RESERVED_FIELD_REMOVED",
        message=f"the name `{name}` was reserved and is no longer",
        fix=f"put `{name}` back into `{_PROPERTY}` of the metadata",
        version=version,
    )


def _taken(name: str, place: Place) -> Finding:
    return Finding(
        rule="RESERVED_FIELD_USED",
        message=f"the field `{name}` has a name that the metadata reserves",
        fix=f"give the field another name, or take `{name}` out of `{_PROPERTY}` where it was never registered",
        new=place,
    )


def _reserved(schema: Schema) -> dict[str, None]:
    metadata = json.loads(schema.definition.metadata or "{}")
    words = metadata.get("properties", {}).get(_PROPERTY, "").split(",")
    return dict.fromkeys(word.strip() for word in words if word.strip())


def _fields(schema: Schema) -> Mapping[str, Place]:
    """The fields at the top, with where they stand."""
    if isinstance(schema, AvroSchema) and isinstance(schema.root, Record):
        return {field.name: Place(f"/fields/{i}") for i, field in enumerate(schema.root.fields)}
    if isinstance(schema, ProtobufSchema) and schema.root is not None:
        return {field.name: Place(field.full_name) for field in schema.types.message(schema.root).fields.values()}
    if isinstance(schema, JsonSchema):
        raw = json_source.load(schema.definition.text)
        properties = raw.get("properties") if isinstance(raw, dict) else None
        return {name: Place(f"/properties/{name}") for name in properties} if isinstance(properties, dict) else {}
    return {}


def _require_own_names(schema: Schema, fields: Mapping[str, Place]) -> None:
    for name, place in fields.items():
        if isinstance(schema, JsonSchema) and name.startswith(_FORBIDDEN):
            raise InvalidSchema(
                f"the property {name!r} begins with {_FORBIDDEN}, which `validateFields` refuses",
                place,
                "give it another name",
            )
