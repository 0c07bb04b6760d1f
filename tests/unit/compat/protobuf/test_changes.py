"""The changes between two Protobuf schemas, whether they break anything or not."""

import pytest

from tallystick.compat.changes.protobuf import changes
from tallystick.finding import Place
from tallystick.formats.protobuf import FORMAT, ProtobufSchema
from tallystick.model.definition import NO_REFERENCES, SchemaDefinition
from tallystick.model.schema_type import PROTOBUF


def parse(text: str) -> ProtobufSchema:
    schema = FORMAT.parse(SchemaDefinition(PROTOBUF, text), NO_REFERENCES)
    assert isinstance(schema, ProtobufSchema)
    return schema


def listed(old: str, new: str, head: str = 'syntax = "proto3"; ') -> list[str]:
    return [f"{change.kind} {change.what}" for change in changes(parse(head + old), parse(head + new))]


M = "message `M`"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("message M { int32 a = 1; }", "message M { int32 a = 1; int32 b = 2; }", [f"added field `b` of {M}"]),
        ("message M { int32 a = 1; }", "message M {}", [f"removed field `a` of {M}"]),
        ("message M { int32 a = 1; }", "message M { int32 b = 1; }", [f"renamed field `b` of {M}"]),
        ("message M { int32 a = 1; }", "message M { int64 a = 1; }", [f"widened type of field `a` of {M}"]),
        ("message M { int64 a = 1; }", "message M { int32 a = 1; }", [f"narrowed type of field `a` of {M}"]),
        ("message M { bytes a = 1; }", "message M { string a = 1; }", [f"narrowed type of field `a` of {M}"]),
        ("message M { int32 a = 1; }", "message M { string a = 1; }", [f"changed type of field `a` of {M}"]),
        ("message M { int32 a = 1; }", "message M { int32 a = 2; }", [f"changed number of field `a` of {M}"]),
        ("message M { int32 a = 1; }", "message M { repeated int32 a = 1; }", [f"changed label of field `a` of {M}"]),
        ("message M { int32 a = 1; }", "message M { optional int32 a = 1; }", [f"changed label of field `a` of {M}"]),
        (
            "message M { int32 a = 1; }",
            "message M { int32 a = 1 [deprecated = true]; }",
            [f"changed options of field `a` of {M}"],
        ),
        (
            "message M { int32 a = 1; }",
            "message M {\n// New.\nint32 a = 1; }",
            [f"changed comment on field `a` of {M}"],
        ),
        ("message M {}", "message M { reserved 1; }", [f"changed reserved numbers of {M}"]),
        ("message M {}", "message M {} message N {}", ["added message `N`"]),
        ("message M {} message N {}", "message M {}", ["removed message `N`"]),
        ("message M {} message N {}", "message N {} message M {}", ["changed first message"]),
        ("message M {}", "package p; message M {}", ["changed package"]),
        (
            "message M {}",
            'import "google/protobuf/any.proto"; message M {}',
            ["added import `google/protobuf/any.proto`"],
        ),
        (
            "message M { oneof a { int32 x = 1; } }",
            "message M { oneof b { int32 x = 1; } }",
            [f"renamed oneof `b` of {M}"],
        ),
        ("message M {} enum E { A = 0; }", "message M {} enum E { A = 0; B = 1; }", ["added value `B` of enum `E`"]),
        ("message M {} enum E { A = 0; }", "message M {} enum E { B = 0; }", ["renamed value `B` of enum `E`"]),
        (
            "message M {} enum E { A = 0; B = 1; }",
            "message M {} enum E { A = 0; B = 2; }",
            ["changed number of value `B` of enum `E`"],
        ),
        ("message M {} enum E { A = 0; }", "message M {}", ["removed enum `E`"]),
        ("message M {}", "message M {} service S {}", ["added service `S`"]),
        (
            "message M {} service S {}",
            "message M {} service S { rpc Go(M) returns (M); }",
            ["added method `Go` of service `S`"],
        ),
        ("message M { int32 a = 1; }", "message M{int32 a=1;}", []),
    ],
)
def test_change_is_listed(old: str, new: str, expected: list[str]) -> None:
    assert listed(old, new) == expected


def test_default_is_listed_with_both_values() -> None:
    old = 'syntax = "proto2"; message M { optional int32 a = 1 [default = 1]; }'
    (change,) = changes(parse(old), parse(old.replace("default = 1", "default = 2")))
    assert (change.what, change.was, change.now) == ("default of field `a` of message `M`", "1", "2")


def test_syntax_and_openness_are_listed() -> None:
    old = 'syntax = "proto2"; message M { optional E a = 1; } enum E { A = 0; }'
    new = 'edition = "2023"; message M { E a = 1; } enum E { A = 0; }'
    assert listed(old, new, head="") == ["changed syntax", "changed openness of enum `E`"]


def test_changes_have_the_places_of_both_texts() -> None:
    old = 'syntax = "proto3";\nmessage M {\n  int32 a = 1;\n}\n'
    new = 'syntax = "proto3";\n\nmessage M {\n    int32 b = 1;\n}\n'
    (change,) = changes(parse(old), parse(new))
    assert (change.old, change.new) == (Place("M.a", 3, 3), Place("M.b", 4, 5))
