"""The tables that the contract suites run over: one row for each backend."""

import base64
import datetime as dt
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet

from tallystick.model.definition import SchemaDefinition
from tallystick.model.key_value import KeyValue
from tallystick.model.schema_type import SchemaType
from tallystick.model.temporal import Instant, LocalDateTime, LocalTime

DEPTH = 10_000


@dataclass(frozen=True)
class FormatSample:
    """One schema of a format, what fits it, and what does not."""

    type: str
    text: str
    spaced: str
    """The same text with other white space."""
    value: Any
    wrong: Any
    nested: str
    """A text of 10,000 nested levels."""
    properties: dict[str, str] | None = None
    large: Callable[[], str] = lambda: "x" * 5_000_000
    """A text of 5 MB."""

    @property
    def definition(self) -> SchemaDefinition:
        return self.definition_of(self.text)

    def definition_of(self, text: str) -> SchemaDefinition:
        return SchemaDefinition(SchemaType(self.type), text, properties=self.properties or {})


_AVRO: dict[str, Any] = {
    "type": "record",
    "name": "shop.Order",
    "fields": [
        {"name": "id", "type": "long", "doc": "counts from 1"},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "customer", "type": "string"},
    ],
}
_ORDER: dict[str, Any] = {"id": 7, "tags": ["a", "b"], "note": None, "customer": "Zoë"}
_WRONG_ORDER: dict[str, Any] = {"id": "seven", "tags": [], "note": None, "customer": "Zoë"}
_NESTED_AVRO = '{"type":"array","items":' * DEPTH + '"int"' + "}" * DEPTH


def _large_avro() -> str:
    fields = [{"name": f"field_{i}", "type": ["null", "string"], "default": None} for i in range(72_000)]
    return json.dumps({"type": "record", "name": "Wide", "fields": fields})


_JSON_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"id": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["id"],
}


def _large_json_schema() -> str:
    return json.dumps({"type": "object", "properties": {f"field_{i}": {"type": "string"} for i in range(125_000)}})


_PROTO = """syntax = "proto3";
package shop;
message Order {
  int64 id = 1; // counts from 1
  repeated string tags = 2;
  string customer = 3;
}
"""


def _large_proto() -> str:
    fields = "".join(f"  string field_{i} = {i};\n" for i in range(20_000, 190_000))
    return f'syntax = "proto3";\nmessage Wide {{\n{fields}}}\n'


def _native_text() -> dict[str, str]:
    file = FileDescriptorProto(name="order.proto", package="shop", syntax="proto3")
    message = file.message_type.add(name="Order")
    optional, repeated = FieldDescriptorProto.LABEL_OPTIONAL, FieldDescriptorProto.LABEL_REPEATED
    message.field.add(name="id", number=1, type=FieldDescriptorProto.TYPE_INT64, label=optional)
    message.field.add(name="tags", number=2, type=FieldDescriptorProto.TYPE_STRING, label=repeated)
    message.field.add(name="customer", number=3, type=FieldDescriptorProto.TYPE_STRING, label=optional)
    return {
        "fileDescriptorSet": base64.b64encode(FileDescriptorSet(file=[file]).SerializeToString()).decode(),
        "rootMessageTypeName": "shop.Order",
        "rootFileDescriptorName": "order.proto",
    }


_PARSING_INFO = [
    {"number": 1, "name": "id", "type": "INT64", "label": "LABEL_OPTIONAL", "definition": None},
    {"number": 2, "name": "tags", "type": "STRING", "label": "LABEL_REPEATED", "definition": None},
    {"number": 3, "name": "customer", "type": "STRING", "label": "LABEL_OPTIONAL", "definition": None},
]
_FLAT_AVRO = {**_AVRO, "fields": [field for field in _AVRO["fields"] if field["name"] != "note"]}
_FLAT_ORDER = {"id": 7, "tags": ["a", "b"], "customer": "Zoë"}
_PAIR = {
    "encoding": "INLINE",
    "key": {"type": "INT32"},
    "value": {"type": "AVRO", "schema": json.dumps(_AVRO)},
}


def _nested_pair() -> str:
    """Pairs within pairs. Escapes by number grow by a few characters a level, where \\" would double each time."""
    text = '{"key":{"type":"STRING"},"value":{"type":"STRING"}}'
    for _ in range(40):
        inner = text.replace("\\", "\\u005c").replace('"', "\\u0022")
        text = f'{{"key":{{"type":"STRING"}},"value":{{"type":"KEY_VALUE","schema":"{inner}"}}}}'
    return text


def _primitive(schema_type: str, value: Any, wrong: Any) -> FormatSample:
    return FormatSample(schema_type, "", " \n\t", value, wrong, "[" * DEPTH)


_MOMENT = dt.datetime(2024, 2, 29, 12, 30, 15, 250_000, tzinfo=dt.UTC)

FORMATS = {
    "avro": FormatSample(
        "AVRO",
        json.dumps(_AVRO),
        json.dumps(_AVRO, indent=2),
        _ORDER,
        _WRONG_ORDER,
        _NESTED_AVRO,
        None,
        _large_avro,
    ),
    "json-schema": FormatSample(
        "JSON_SCHEMA",
        json.dumps(_JSON_SCHEMA),
        json.dumps(_JSON_SCHEMA, indent=2),
        {"id": 7, "tags": ["a", "Zoë"]},
        {"id": "seven"},
        '{"items":' * DEPTH + "{}" + "}" * DEPTH,
        None,
        _large_json_schema,
    ),
    "protobuf": FormatSample(
        "PROTOBUF",
        _PROTO,
        _PROTO.replace("  ", "\t"),
        _FLAT_ORDER,
        {**_FLAT_ORDER, "id": "seven"},
        'syntax = "proto3";' + "message A {" * DEPTH + "}" * DEPTH,
        None,
        _large_proto,
    ),
    "protobuf-native": FormatSample(
        "PROTOBUF_NATIVE",
        json.dumps(_native_text()),
        json.dumps(_native_text(), indent=2),
        _FLAT_ORDER,
        {**_FLAT_ORDER, "id": "seven"},
        '{"fileDescriptorSet":' * DEPTH + "1" + "}" * DEPTH,
    ),
    "pulsar-json": FormatSample(
        "PULSAR_JSON", json.dumps(_AVRO), json.dumps(_AVRO, indent=2), _ORDER, _WRONG_ORDER, _NESTED_AVRO
    ),
    "pulsar-protobuf": FormatSample(
        "PULSAR_PROTOBUF",
        json.dumps(_FLAT_AVRO),
        json.dumps(_FLAT_AVRO, indent=2),
        _FLAT_ORDER,
        {**_FLAT_ORDER, "id": "seven"},
        _NESTED_AVRO,
        {"__PARSING_INFO__": json.dumps(_PARSING_INFO)},
    ),
    "key-value": FormatSample(
        "KEY_VALUE",
        json.dumps(_PAIR),
        json.dumps(_PAIR, indent=2),
        KeyValue(5, _ORDER),
        KeyValue(5, _WRONG_ORDER),
        _nested_pair(),
        None,
        lambda: json.dumps({"key": {"type": "STRING"}, "value": {"type": "AVRO", "schema": "[" * 5_000_000}}),
    ),
    "external": _primitive("EXTERNAL", b"\x00opaque", {"id": 7}),
    "bytes": _primitive("BYTES", b"\x00\xff", "text"),
    "none": _primitive("NONE", b"", 5),
    "string": _primitive("STRING", "Zoë", b"bytes"),
    "boolean": _primitive("BOOLEAN", True, 1),
    "int8": _primitive("INT8", -128, 128),
    "int16": _primitive("INT16", 32_767, -32_769),
    "int32": _primitive("INT32", -5, 2**31),
    "int64": _primitive("INT64", 2**63 - 1, 2**63),
    "float": _primitive("FLOAT", 1.5, 1e39),
    "double": _primitive("DOUBLE", 0.1, "0.1"),
    "date": _primitive("DATE", _MOMENT, _MOMENT.date()),
    "time": _primitive("TIME", dt.time(12, 30, 15, 250_000), dt.time(12, 30, 15, 1)),
    "timestamp": _primitive("TIMESTAMP", _MOMENT, _MOMENT.replace(tzinfo=None)),
    "instant": _primitive("INSTANT", Instant(-1, 999_999_999), _MOMENT.replace(tzinfo=None)),
    "local-date": _primitive("LOCAL_DATE", dt.date(1969, 12, 31), _MOMENT),
    "local-time": _primitive("LOCAL_TIME", LocalTime(86_399_999_999_999), LocalTime(86_400_000_000_000)),
    "local-date-time": _primitive("LOCAL_DATE_TIME", LocalDateTime(dt.date(2024, 2, 29), LocalTime(1)), _MOMENT),
}
