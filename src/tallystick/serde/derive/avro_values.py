"""The values of Avro: Python's own, but for enums, which are the names of their members."""

from tallystick.formats.avro.names import full_name
from tallystick.serde.derive.dialect import Dialect
from tallystick.serde.derive.shapes import Record, Shape


def avro_dialect(namespace: str | None) -> Dialect:
    def tag_of(shape: Shape) -> str | None:
        return full_name(shape.type.__name__, namespace or "") if isinstance(shape, Record) else None

    return Dialect(scalar_of=lambda shape: None, symbol_of=lambda member: member.name, tag_of=tag_of, is_whole=True)
