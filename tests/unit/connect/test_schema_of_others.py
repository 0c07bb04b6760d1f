"""Anybody's own schema class: three methods, and it works wherever ours do (PIP-420)."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import InvalidArgument, SchemaSerializationError
from tallystick.model.definition import SchemaDefinition
from tallystick.model.key_value import KeyValue, KeyValueEncoding
from tallystick.model.schema_type import AVRO, EXTERNAL
from tallystick.rest import RegistryClient
from tallystick.serde.auto_produce import AutoProduceBytes
from tallystick.serde.avro import AvroSchema
from tallystick.serde.key_value import KeyValueSchema
from tallystick.serde.schema import EncodeData, RegistrySettings, Schema, SchemaIdBytes
from tallystick.wire.pulsar.schemas import KeyValueIds
from tests.servers import running_registry


class FileSchema(Schema[dict[str, Any]]):
    """Keeps the names of a record's fields in a folder, each list in a file that its hash names; values are rows."""

    def __init__(self, folder: Path, *names: str) -> None:
        self._folder = folder
        self._names = names
        self.closed = 0

    def encode(self, topic: str, value: dict[str, Any]) -> EncodeData:
        text = json.dumps(self._names)
        schema_id = hashlib.sha256(text.encode()).digest()[:6]
        (self._folder / schema_id.hex()).write_text(text)
        return EncodeData(json.dumps([value[name] for name in self._names]).encode(), schema_id)

    def decode(self, topic: str, data: bytes, schema_id: SchemaIdBytes | None) -> dict[str, Any]:
        assert isinstance(schema_id, bytes)
        file = self._folder / schema_id.hex()
        if not file.is_file():
            raise SchemaSerializationError(f"topic {topic}: {self._folder.name} has no schema {schema_id.hex()}")
        return dict(zip(json.loads(file.read_text()), json.loads(data), strict=True))

    def close(self) -> None:
        self.closed += 1


class RegisteringSchema(Schema[Any]):
    """Registers with the client's own registry, whichever that is."""

    def __init__(self) -> None:
        self.settings: RegistrySettings | None = None
        self._native = AvroSchema('"long"')

    def configure(self, settings: RegistrySettings) -> None:
        self.settings = settings

    def encode(self, topic: str, value: Any) -> EncodeData:
        assert self.settings is not None
        assert self.settings.lookup is not None
        found = self.settings.lookup.register(f"mine-{topic}", SchemaDefinition(AVRO, '"long"'))
        return EncodeData(self._native.to_payload(value), str(found.id).encode())

    def decode(self, topic: str, data: bytes, schema_id: SchemaIdBytes | None) -> Any:
        return self._native.decode(topic, data, None)


VALUE = {"id": 7, "note": "n"}


@pytest.fixture
def schema(tmp_path: Path) -> FileSchema:
    return FileSchema(tmp_path, "id", "note")


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[RegistrySettings]:
    with running_registry(tmp_path / "data") as server, RegistryClient(server.confluent) as client:
        yield RegistrySettings(client, "orders")


def test_the_broker_is_told_that_it_is_external(schema: FileSchema) -> None:
    assert schema.definition == SchemaDefinition(EXTERNAL)


def test_three_methods_are_all(schema: FileSchema, tmp_path: Path) -> None:
    encoded = schema.encode("orders", VALUE)
    assert encoded.schema_id is not None
    reader = FileSchema(tmp_path, "id")
    reader.configure(RegistrySettings())
    reader.prepare("orders", encoded.schema_id)
    assert reader.reader_of("orders", SchemaDefinition(EXTERNAL), encoded.schema_id)(encoded.data or b"", None) == VALUE
    with pytest.raises(SchemaSerializationError, match="has no schema ff"):
        reader.reader_of("orders", None, b"\xff")(b"[]", None)


@pytest.mark.parametrize("encoding", KeyValueEncoding)
def test_it_is_the_half_of_a_pair(schema: FileSchema, tmp_path: Path, encoding: KeyValueEncoding) -> None:
    key = FileSchema(tmp_path, "id")
    pair = KeyValueSchema(key, schema, encoding)
    value = KeyValue({"id": 7}, VALUE)
    encoded = pair.encode("orders", value)
    ids = encoded.schema_id
    assert isinstance(ids, KeyValueIds)
    assert (ids.key, ids.value) == (key.encode("", {"id": 7}).schema_id, schema.encode("", VALUE).schema_id)
    assert pair.reader_of("orders", None, ids)(encoded.data or b"", encoded.key) == value
    pair.close()
    assert (key.closed, schema.closed) == (1, 1)


def test_it_does_not_go_with_one_that_the_cluster_keeps(schema: FileSchema) -> None:
    with pytest.raises(InvalidArgument, match="make both with that registry's schemas, or neither"):
        KeyValueSchema(AvroSchema('"long"'), schema)


def test_without_an_id_of_its_own_it_cannot_vouch_for_bytes(schema: FileSchema) -> None:
    with pytest.raises(SchemaSerializationError, match=r"FileSchema does not tell its schema id .* schema_id_for"):
        AutoProduceBytes(schema).encode("orders", b"[]")


def test_it_gets_the_registry_of_the_client(settings: RegistrySettings) -> None:
    schema = RegisteringSchema()
    schema.configure(settings)
    assert schema.encode("orders", 7).data == b"\x0e"
    assert schema.settings is not None
    assert schema.settings.lookup is not None
    assert schema.settings.lookup.by_version("mine-orders").definition.text == '"long"'
