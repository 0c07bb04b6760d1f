"""Values as our Protobuf codec gives them → values that Arrow takes as Spark's types of the same message."""

from typing import Any

from tallystick.formats.protobuf.schema import Field
from tallystick.formats.protobuf.types import Types
from tallystick.spark.types.protobuf import DURATION, TIMESTAMP


def for_arrow(types: Types, message: str, value: dict[str, Any]) -> dict[str, Any]:
    fields = types.message(message).by_name
    return {name: _field(types, fields[name], inner) for name, inner in value.items()}


def _field(types: Types, field: Field, value: Any) -> Any:
    if field.entry is not None:
        return [(key, _single(types, field.entry[1], item)) for key, item in value.items()]
    if field.is_repeated:
        return [_single(types, field, item) for item in value]
    return _single(types, field, value)


def _single(types: Types, field: Field, value: Any) -> Any:
    if field.kind == "enum":
        return str(value)
    if field.type_full_name in (TIMESTAMP, DURATION):
        nanos = value.get("nanos", 0)
        return value.get("seconds", 0) * 1_000_000 + (nanos // 1000 if nanos >= 0 else -(-nanos // 1000))
    if field.is_message:
        assert field.type_full_name is not None
        return for_arrow(types, field.type_full_name, value)
    return value
