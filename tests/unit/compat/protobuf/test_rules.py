"""What the findings of the Protobuf rules say, and schemas that are large, deep or circular."""

from tallystick.compat.options import DEFAULT_OPTIONS
from tallystick.compat.rules.protobuf import compare
from tallystick.finding import Direction, Finding, Place
from tallystick.formats.protobuf import FORMAT, ProtobufSchema
from tallystick.model.definition import NO_REFERENCES, SchemaDefinition
from tallystick.model.schema_type import PROTOBUF


def parse(text: str) -> ProtobufSchema:
    schema = FORMAT.parse(SchemaDefinition(PROTOBUF, text), NO_REFERENCES)
    assert isinstance(schema, ProtobufSchema)
    return schema


def findings(old: str, new: str, *directions: Direction) -> list[Finding]:
    ways = directions or tuple(Direction)
    return [f for way in ways for f in compare(parse(old), parse(new), way, DEFAULT_OPTIONS)]


def test_finding_says_what_where_and_how_to_mend_it() -> None:
    old = 'syntax = "proto3";\npackage shop;\nmessage Order {\n  int64 total = 2;\n}\n'
    new = 'syntax = "proto3";\npackage shop;\n\nmessage Order {\n  int32 total = 2;\n}\n'
    assert findings(old, new) == [
        Finding(
            rule="PROTOBUF_FIELD_TYPE_NARROWED",
            message="the field `total` changed from int64 to int32, which does not hold every int64:"
            " int64 values outside its range are read as other numbers",
            fix="keep int64, or add a field of type int32 under a new number",
            old=Place("shop.Order.total", 4, 3),
            new=Place("shop.Order.total", 5, 3),
            was="int64 total = 2",
            now="int32 total = 2",
            direction=Direction.BACKWARD,
        )
    ]


def test_map_is_quoted_as_a_map() -> None:
    old = 'syntax = "proto3"; message A { map<string, int32> m = 1; }'
    (found,) = findings(old, old.replace("int32", "double"), Direction.BACKWARD)
    assert (found.was, found.now) == ("map<string, int32> m = 1", "map<string, double> m = 1")
    assert "the values of the map `m` changed from int32 to double" in found.message


def test_message_is_found_once_however_many_fields_use_it() -> None:
    uses = "".join(f"  Line f{i} = {i};\n" for i in range(1, 20))
    old = f'syntax = "proto3";\nmessage Order {{\n{uses}}}\nmessage Line {{\n  int32 price = 1;\n}}\n'
    found = findings(old, old.replace("int32 price", "string price"), Direction.BACKWARD)
    assert [(f.rule, str(f.new)) for f in found] == [("PROTOBUF_FIELD_TYPE_CHANGED", "Line.price (line 24, column 3)")]


def test_circle_of_messages_is_compared_once() -> None:
    old = 'syntax = "proto3"; message A { B b = 1; int32 x = 2; } message B { A a = 1; }'
    found = findings(old, old.replace("int32 x", "string x"))
    assert [f.rule for f in found] == ["PROTOBUF_FIELD_TYPE_CHANGED"] * 2


def test_chain_of_thousands_of_messages_is_followed_to_its_end() -> None:
    chain = 'syntax = "proto3";\n' + "".join(f"message M{i} {{ M{i + 1} a = 1; }}\n" for i in range(3000))
    found = findings(chain + "message M3000 { int32 z = 1; }", chain + "message M3000 { string z = 1; }")
    assert [(f.rule, f.new and f.new.path) for f in found] == [("PROTOBUF_FIELD_TYPE_CHANGED", "M3000.z")] * 2


def test_comments_and_formatting_change_nothing() -> None:
    old = 'syntax = "proto3"; message A { int32 x = 1; }'
    new = 'syntax = "proto3";\n// Documented.\nmessage A {\n  int32 x = 1; // Here, too.\n}\n'
    assert parse(old).types.fingerprint == parse(new).types.fingerprint
    assert findings(old, new) == []


def test_packages_may_change_in_the_types_of_fields_as_well() -> None:
    old = 'syntax = "proto3"; package a; message A { B b = 1; E e = 2; } message B {} enum E { Z = 0; }'
    assert findings(old, old.replace("package a", "package b.c")) == []


def test_several_things_wrong_with_one_message_are_all_found() -> None:
    old = 'syntax = "proto2"; message A { optional int32 a = 1; optional int32 b = 2; repeated int32 c = 3; }'
    new = (
        'syntax = "proto2"; message A { oneof o { int32 a = 1; string b = 2; }'
        " optional int64 c = 3; required int32 d = 4; }"
    )
    assert sorted(f.rule for f in findings(old, new, Direction.BACKWARD)) == [
        "PROTOBUF_FIELD_MADE_SINGULAR",
        "PROTOBUF_FIELD_TYPE_CHANGED",
        "PROTOBUF_REQUIRED_ADDED",
    ]
