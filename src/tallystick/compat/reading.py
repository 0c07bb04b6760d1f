"""Can one schema read what another wrote? Evolution and verification both ask only this."""

from collections.abc import Callable, Iterable
from typing import Any

from tallystick.compat.rules import avro, json_schema, key_value, primitive, protobuf, type_change
from tallystick.compat.options import DEFAULT_OPTIONS, Options
from tallystick.finding import Direction, Finding
from tallystick.formats import Schema
from tallystick.model import schema_type as types
from tallystick.model.schema_type import SchemaType

Comparison = Callable[[Any, Any, Direction, Options], Iterable[Finding]]

_COMPARISONS: dict[SchemaType, Comparison] = {
    types.AVRO: avro.compare,
    types.PULSAR_JSON: avro.compare,
    types.PULSAR_PROTOBUF: avro.compare,
    types.JSON_SCHEMA: json_schema.compare,
    types.PROTOBUF: protobuf.compare,
    types.PROTOBUF_NATIVE: protobuf.compare,
    types.KEY_VALUE: key_value.compare,
}


def findings(old: Schema, new: Schema, direction: Direction, options: Options = DEFAULT_OPTIONS) -> list[Finding]:
    """Why the one cannot read what the other wrote; BACKWARD: the new reads the old, FORWARD: the old the new."""
    if old.definition.type != new.definition.type:
        return list(type_change.compare(old, new, direction))
    compare = _COMPARISONS.get(new.definition.type, primitive.compare)
    return list(compare(old, new, direction, options))
