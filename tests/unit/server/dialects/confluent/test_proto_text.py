"""The text of a descriptor compiles to the same descriptor."""

import base64

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tallystick.formats import parse
from tallystick.formats.protobuf.protoc import is_bundled
from tallystick.formats.protobuf.types import ProtobufSchema, Types
from tallystick.model.definition import Reference, References, SchemaDefinition
from tallystick.model.schema_type import PROTOBUF
from tallystick.server.dialects.confluent.proto_text import proto_text
from tests.conformance.cases import Case, compat_cases

_EVERYTHING = r"""
syntax = "proto2";
package a.b;
import "google/protobuf/descriptor.proto";
import public "google/protobuf/any.proto";
option java_package = "x.\"y";
option (file_option) = { n: 3 s: "q" [a.b.inner]: 5 };
option (words) = "1";
option (words) = "2";
message Option { optional int32 n = 1; optional string s = 2; extensions 10 to max; }
extend Option { optional int32 inner = 10; }
extend google.protobuf.FileOptions { optional Option file_option = 50001; repeated string words = 50002; }
extend google.protobuf.FieldOptions { optional double real = 50001; optional Kind kind = 50003; }
extend google.protobuf.FieldOptions { optional bytes raw = 50004; }
enum Kind {
  option allow_alias = true;
  A = 0 [deprecated = true]; B = -1; C = -1;
  reserved 5, 7 to 9, 100 to max;
  reserved "X", "Y";
}
message Main {
  option deprecated = true;
  reserved 2, 4 to 6, 1000 to max;
  reserved "old";
  extensions 100 to 199;
  required string s = 1 [default = "a\"\n\x01é'", (real) = inf, (kind) = B, (raw) = "\xff\0"];
  optional bytes y = 3 [default = "\001\377\"q", json_name = "YY"];
  optional float f = 7 [default = -inf];
  optional double g = 8 [default = nan];
  optional Kind e = 9 [default = B];
  repeated int32 packed = 10 [packed = true];
  optional group Grouped = 13 { optional int32 z = 1; repeated group Deeper = 2 { optional Main m = 1; } }
  oneof one { int32 o1 = 14; group InOneof = 15 { optional bool b = 1; } Main o2 = 16; }
  optional int64 a_b_c = 17 [jstype = JS_STRING, deprecated = true];
  optional bool flag = 18 [default = true];
  optional sint64 signed = 19 [default = -5];
  optional int32 a__b = 20;
  optional int32 _x = 21;
  optional int32 x_ = 22;
}
message Ordered {
  message N1 {}
  map<string, N1> m1 = 1;
  message N2 { enum E { Z = 0; } optional E e = 1; extend Main { optional N2 x = 101; } }
  optional group G1 = 2 {}
  message N3 {}
  map<int32, Kind> m2 = 4;
  message N4 {}
  extend Main { optional group G2 = 160 {} }
  message N5 {}
}
extend Main { repeated string listed = 150 [(real) = 1.5]; optional group AtTheTop = 151 { optional int32 q = 1; } }
message Set { option message_set_wire_format = true; extensions 4 to max; }
service S {
  option deprecated = true;
  rpc Ask (Main) returns (stream Option);
  rpc Tell (stream Main) returns (Main) { option idempotency_level = IDEMPOTENT; }
}
"""
_PROTO3 = """
syntax = "proto3";
message P {
  optional int32 a = 1;
  repeated int32 r = 2 [packed = false];
  P p = 3;
  oneof x { string q = 4; P w = 5; }
  map<string, bytes> m = 6;
  optional P op = 7;
  enum K { U = 0; }
  K k = 8;
}
"""
_EDITION = """
edition = "2023";
package e;
option features.field_presence = IMPLICIT;
message P {
  int32 a = 1 [features.field_presence = LEGACY_REQUIRED];
  P p = 2 [features.message_encoding = DELIMITED];
  repeated int32 r = 3 [features.repeated_field_encoding = EXPANDED];
  reserved foo, bar;
  reserved 9;
  enum K { option features.enum_type = CLOSED; U = 1; }
  K k = 4 [default = U, features.field_presence = EXPLICIT];
}
"""


@pytest.mark.parametrize("text", [_EVERYTHING, _PROTO3, _EDITION], ids=["proto2", "proto3", "edition"])
def test_nothing_is_lost(text: str) -> None:
    _require_same(_types(SchemaDefinition(PROTOBUF, text), {}))


def _cases() -> list[Case]:
    return [case for case in compat_cases() if case.file.format == "protobuf"]


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.id)
def test_nothing_is_lost_of_any_case(case: Case) -> None:
    for side in ("old", "new"):
        schema = case.schema(side)
        assert isinstance(schema, ProtobufSchema)
        _require_same(schema.types)


def _require_same(types: Types) -> None:
    references: dict[Reference, SchemaDefinition] = {}
    for file in types.files.file:
        if file.name != types.main.name and not is_bundled(file.name):
            definition = SchemaDefinition(PROTOBUF, _base64(file), tuple(references))
            references[Reference(file.name, file.name, 1)] = definition
    written = SchemaDefinition(PROTOBUF, proto_text(types.files, types.main), tuple(references))
    assert _bare(_types(written, references).main) == _bare(types.main)


def _types(definition: SchemaDefinition, references: References) -> Types:
    schema = parse(definition, references)
    assert isinstance(schema, ProtobufSchema)
    return schema.types


def _base64(file: FileDescriptorProto) -> str:
    return base64.b64encode(_bare(file).SerializeToString()).decode()


def _bare(file: FileDescriptorProto) -> FileDescriptorProto:
    bare = FileDescriptorProto()
    bare.CopyFrom(file)
    bare.ClearField("source_code_info")
    bare.ClearField("name")
    return bare
