"""A schema of a third-party registry, which knows its ids from the start."""

import json
from typing import Any

from tallystick.errors import SchemaSerializationError
from tallystick.serde.schema import EncodeData, RegistrySettings, Schema, SchemaIdBytes


class NumberedJson(Schema[Any]):
    """JSON whose schema has one id. Keeps what was done with it."""

    def __init__(self, schema_id: bytes) -> None:
        self.schema_id = schema_id
        self.seen: list[str] = []

    def encode(self, topic: str, value: Any) -> EncodeData:
        return EncodeData(json.dumps(value).encode(), self.schema_id)

    def decode(self, topic: str, data: bytes, schema_id: SchemaIdBytes | None) -> Any:
        if schema_id != self.schema_id:
            raise SchemaSerializationError(f"id {schema_id!r} is not known")
        try:
            return json.loads(data)
        except ValueError as e:
            raise SchemaSerializationError(f"no JSON: {e}") from e

    def close(self) -> None:
        self.seen.append("close")

    def configure(self, settings: RegistrySettings) -> None:
        self.seen.append("configure")

    def prepare(self, topic: str, schema_id: SchemaIdBytes) -> None:
        assert isinstance(schema_id, bytes)
        self.seen.append(f"prepare {schema_id.hex()}")

    def schema_id_for(self, topic: str) -> SchemaIdBytes:
        return self.schema_id
