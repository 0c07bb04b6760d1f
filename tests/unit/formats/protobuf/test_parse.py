"""What a Protobuf definition means, and the errors of those that mean nothing."""

import base64
import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from tallystick.errors import InvalidSchema
from tallystick.finding import Place
from tallystick.formats.protobuf import FORMAT, NATIVE_FORMAT, ProtobufSchema, protoc
from tallystick.formats.protobuf.parse import MAX_TEXT_LENGTH
from tallystick.model.definition import NO_REFERENCES, Reference, References, SchemaDefinition
from tallystick.model.schema_type import PROTOBUF, PROTOBUF_NATIVE

ORDER = """syntax = "proto3";
package shop.v1;

message Order {
  string id = 1;
  map<string, Line> lines = 2;

  message Line {
    int32 price = 1;
    message Tax {}
  }
}

message Refund {
  Order order = 1;
}
"""


def parse(text: str, references: References = NO_REFERENCES, **properties: str) -> ProtobufSchema:
    definition = SchemaDefinition(PROTOBUF, text, tuple(references), properties)
    schema = FORMAT.parse(definition, references)
    assert isinstance(schema, ProtobufSchema)
    return schema


def fault(text: str, references: References = NO_REFERENCES) -> InvalidSchema:
    with pytest.raises(InvalidSchema) as caught:
        parse(text, references)
    return caught.value


def reference(name: str, text: str, *uses: Reference) -> dict[Reference, SchemaDefinition]:
    return {Reference(name, name, 1): SchemaDefinition(PROTOBUF, text, uses)}


def test_first_message_is_the_root() -> None:
    assert parse(ORDER).root == "shop.v1.Order"


@pytest.mark.parametrize("name", ["Refund", "shop.v1.Refund"])
def test_property_names_another_root(name: str) -> None:
    assert parse(ORDER, message=name).root == "shop.v1.Refund"


def test_property_that_names_no_message_is_refused() -> None:
    with pytest.raises(InvalidSchema, match=r"'Missing', which is no message of the text"):
        parse(ORDER, message="Missing")


def test_messages_and_index_paths_match_and_map_entries_do_not_count() -> None:
    schema = parse(ORDER)
    paths = {
        (0,): "shop.v1.Order",
        (0, 0): "shop.v1.Order.Line",
        (0, 0, 0): "shop.v1.Order.Line.Tax",
        (1,): "shop.v1.Refund",
    }
    assert {path: schema.message_at(path) for path in paths} == paths
    assert [schema.index_of(name) for name in paths.values()] == list(paths)


def test_places_have_lines_and_columns_of_characters() -> None:
    text = 'syntax = "proto3";\n\tmessage Ä_ {}'.replace("Ä_", "A") + "\nmessage B { /* é */\tint32 b = 1; }\n"
    types = parse(text).types
    field = types.message("B").fields[1]
    assert types.place("A", types.message("A").path) == Place("A", 2, 2)
    assert types.place("B.b", field.path) == Place("B.b", 3, 21)


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ('syntax = "proto3";\nmessage A {\n  int32 a = 1\n}\n', 4, 1, 'expected ";"'),
        ('syntax = "proto3";\nmessage A {\n  Missing a = 1;\n}\n', 3, 3, '"Missing" is not defined'),
        ('syntax = "proto3";\nmessage A {}\nmessage A {}\n', 3, 9, '"A" is already defined'),
        ('syntax = "proto3";\nmessage A {\n  int32 a = 1;\n  int32 b = 1;\n}\n', 4, 13, "field number 1 has already"),
        ('syntax = "proto3";\nmessage A {\n  int32 a = 1;\n  int32 a = 2;\n}\n', 4, 9, '"a" is already defined'),
        ('syntax = "proto3";\nmessage A {\n  int32 a = 0;\n}\n', 3, 13, "field numbers must be positive"),
        ('syntax = "proto9";\nmessage A {}\n', 1, 10, 'unrecognized syntax identifier "proto9"'),
        ('edition = "2099";\nmessage A {}\n', 1, 11, 'unknown edition "2099"'),
        ('syntax = "proto3";\nmessage Ärger {}\n', 2, 9, "a character that is not ASCII"),
        ('syntax = "proto3";\nmessage 1A {}\n', 2, 10, "need space between number"),
        ('syntax = "proto3";\nimport "schema.proto";\nmessage A {}\n', 2, 1, "file recursively imports itself"),
        ('syntax = "proto3";\n\tmessage A { /* é */ Missing a = 1; }\n', 2, 22, '"Missing" is not defined'),
        ("{}", 1, 1, "this is no statement of a .proto file"),
    ],
)
def test_faults_have_their_place(text: str, line: int, column: int, reason: str) -> None:
    error = fault(text)
    assert error.reason.startswith(reason)
    assert error.place is not None
    assert (error.place.path, error.place.line, error.place.column) == ("", line, column)


@pytest.mark.parametrize("text", ["", "  \n", 'syntax = "proto3";\n', "// Nothing.\n"])
def test_text_without_anything_is_refused(text: str) -> None:
    assert fault(text).reason == "the text defines no message"


def test_file_of_enums_is_accepted_because_others_import_it() -> None:
    schema = parse('syntax = "proto3";\nenum State {\n  NEW = 0;\n}\n')
    assert schema.root is None
    assert [finding.rule for finding in FORMAT.validate(schema, {})] == ["PROTOBUF_VALUE_WRONG_MESSAGE"]


def test_missing_import_says_what_to_add() -> None:
    error = fault('syntax = "proto3";\nimport "shop/common.proto";\nmessage A {}\n')
    assert error.reason == "the import 'shop/common.proto' is not there"
    assert error.place == Place("", 2, 1)
    assert error.fix is not None
    assert "add a reference with the name 'shop/common.proto'" in error.fix


@pytest.mark.parametrize("path", ["/etc/passwd", "../../etc/passwd", "protoc_worker.py", "."])
def test_imports_never_come_from_the_disk(path: str) -> None:
    assert fault(f'syntax = "proto3";\nimport "{path}";\nmessage A {{}}\n').reason.startswith("the import")


def test_imports_come_from_references_and_their_references() -> None:
    cents = reference("money/cents.proto", 'syntax = "proto3"; package money; message Cents { int64 value = 1; }')
    total = reference(
        "money/total.proto",
        'syntax = "proto3"; package money; import "money/cents.proto"; message Total { Cents cents = 1; }',
        *cents,
    )
    text = 'syntax = "proto3"; import "money/total.proto"; message Order { money.Total total = 1; }'
    definition = SchemaDefinition(PROTOBUF, text, tuple(total))
    schema = FORMAT.parse(definition, {**cents, **total})
    assert FORMAT.decode(schema, FORMAT.encode(schema, {"total": {"cents": {"value": 5}}})) == {
        "total": {"cents": {"value": 5}}
    }


def test_fault_in_a_reference_names_it() -> None:
    broken = reference("common.proto", 'syntax = "proto3";\nmessage Common { Missing a = 1; }\n')
    error = fault('syntax = "proto3"; import "common.proto"; message A { Common c = 1; }', broken)
    assert error.place == Place("common.proto", 2, 18)
    assert error.reason == """in the reference 'common.proto': "Missing" is not defined"""


def test_imports_in_a_circle_are_refused() -> None:
    one = reference("one.proto", 'syntax = "proto3"; import "two.proto"; message One {}')
    two = reference("two.proto", 'syntax = "proto3"; import "one.proto"; message Two {}')
    assert (
        "recursively imports itself"
        in fault('syntax = "proto3"; import "one.proto"; message A {}', {**one, **two}).reason
    )


@pytest.mark.parametrize(
    "name", ["../up.proto", "--plugin=x", "a\nb.proto", "a=b.proto", "a:b", "", "/abs.proto", "@args"]
)
def test_names_that_are_no_import_paths_are_refused(name: str) -> None:
    assert "is no import path" in fault(ORDER, reference(name, ORDER)).reason


def test_well_known_and_confluent_types_are_always_there() -> None:
    schema = parse(
        'syntax = "proto3"; import "google/protobuf/timestamp.proto"; import "confluent/meta.proto";'
        'import "confluent/type/decimal.proto"; message A { google.protobuf.Timestamp at = 1;'
        ' confluent.type.Decimal total = 2 [(confluent.field_meta).doc = "The sum."]; }'
    )
    assert schema.types.has_message("confluent.type.Decimal")


def test_reference_that_is_bundled_anyway_does_no_harm() -> None:
    mine = reference("google/protobuf/timestamp.proto", 'syntax = "proto3"; message Wrong {}')
    text = (
        'syntax = "proto3"; import "google/protobuf/timestamp.proto"; message A { google.protobuf.Timestamp at = 1; }'
    )
    assert parse(text, mine).root == "A"


def test_reference_may_have_the_name_we_give_ourselves() -> None:
    same = reference("schema.proto", 'syntax = "proto3"; message Common {}')
    assert parse('syntax = "proto3"; import "schema.proto"; message A { Common c = 1; }', same).root == "A"


def test_base64_descriptor_is_the_same_schema() -> None:
    text = parse(ORDER)
    descriptor = base64.b64encode(text.types.main.SerializeToString()).decode()
    schema = parse(descriptor)
    assert schema.root == text.root
    assert FORMAT.normal_form(schema) == FORMAT.normal_form(text)
    assert schema.types.place("shop.v1.Order", schema.types.message("shop.v1.Order").path).line is None


def test_base64_reference_serves_a_text_and_a_text_a_base64_schema() -> None:
    common = parse('syntax = "proto3"; package c; message Common { int32 a = 1; }')
    encoded = reference("common.proto", base64.b64encode(common.types.main.SerializeToString()).decode())
    user = parse('syntax = "proto3"; import "common.proto"; message A { c.Common c = 1; }', encoded)
    assert user.types.message("c.Common").by_name["a"].number == 1
    again = parse(
        base64.b64encode(user.types.main.SerializeToString()).decode(),
        reference("common.proto", 'syntax = "proto3"; package c; message Common { string a = 1; }'),
    )
    assert again.types.message("c.Common").by_name["a"].kind == "string"


@pytest.mark.parametrize("text", ["AAAA", "abc", "QUJD" * 1000])
def test_base64_of_something_else_is_refused(text: str) -> None:
    assert "base64" in fault(text).reason


def test_descriptor_with_an_unknown_type_is_refused() -> None:
    file = FileDescriptorProto(name="x", syntax="proto3")
    file.message_type.add(name="A").field.add(name="a", number=1, label=1, type=11, type_name=".Missing")
    assert '".Missing" is not defined' in fault(base64.b64encode(file.SerializeToString()).decode()).reason


def test_two_versions_of_a_file_live_side_by_side_and_the_global_pool_knows_neither() -> None:
    one, other = parse(ORDER), parse(ORDER.replace("int32 price", "string price"))
    kinds = [schema.types.message("shop.v1.Order.Line").fields[1].kind for schema in (one, other)]
    assert kinds == ["int32", "string"]
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("shop.v1.Order")


def test_features_of_syntaxes_and_editions_are_resolved() -> None:
    field = "message A { %s }"
    presences = {
        'syntax = "proto2"; ' + field % "required int32 a = 1;": (True, True),
        'syntax = "proto3"; ' + field % "int32 a = 1;": (False, False),
        'syntax = "proto3"; ' + field % "optional int32 a = 1;": (False, True),
        'edition = "2023"; ' + field % "int32 a = 1;": (False, True),
        'edition = "2024"; option features.field_presence = IMPLICIT; ' + field % "int32 a = 1;": (False, False),
        'edition = "2023"; ' + field % "int32 a = 1 [features.field_presence = LEGACY_REQUIRED];": (True, True),
    }
    for text, expected in presences.items():
        found = parse(text).types.message("A").fields[1]
        assert (found.is_required, found.has_presence) == expected, text
        assert found.oneof is None


# --- hostile input ---------------------------------------------------------------------------------------------


def test_ten_thousand_nested_messages_are_refused() -> None:
    depth = 10_000
    error = fault('syntax = "proto3"; ' + "".join(f"message A{i} {{" for i in range(depth)) + "}" * depth)
    assert error.reason == "messages are nested deeper than 32 levels"


@pytest.mark.parametrize(
    "text",
    [
        'syntax = "proto2"; option (a) = ' + "{ a: " * 100_000 + "}" * 100_000 + "; message A {}",
        'syntax = "proto2"; message A { optional int32 a = 1 [default = ' + "-" * 500_000 + "1]; }",
        'syntax = "proto3"; message A { string a = 1 [(' + ".".join("a" * 200_000) + ") = 1]; }",
        'syntax = "proto3"; message A {} ' + "/*" * 2_000_000,
        'syntax = "proto3"; message A { ' + "a" * 3_000_000,
        "\0\1\2",
        "\ud800",
        'syntax = "proto3"; message A { string a = 1; } "',
        "x" * (MAX_TEXT_LENGTH + 1) + "{",
    ],
    ids=[
        "deep option",
        "many signs",
        "long option name",
        "comment flood",
        "long name",
        "control",
        "surrogate",
        "cut",
        "huge",
    ],
)
def test_hostile_texts_end_in_a_short_error(text: str) -> None:
    assert len(fault(text).message) < 600


def test_chain_of_thousands_of_messages_is_parsed() -> None:
    text = 'syntax = "proto3";\n' + "".join(f"message M{i} {{ M{i + 1} a = 1; }}\n" for i in range(3000))
    assert len(parse(text + "message M3000 {}").types.own) == 3001


def test_protoc_that_crashes_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    parse('syntax = "proto3"; message BeforeTheCrash {}')
    worker = protoc._worker
    assert worker is not None
    worker._process.kill()
    worker._process.wait()
    assert parse('syntax = "proto3"; message AfterTheCrash {}').root == "AfterTheCrash"
    monkeypatch.setattr(protoc, "TIME_LIMIT_S", 0.0)
    assert "did not finish within" in fault('syntax = "proto3"; message TooSlow {}').reason
    monkeypatch.undo()
    assert parse('syntax = "proto3"; message AfterTheStall {}').root == "AfterTheStall"


def test_threads_share_protoc() -> None:
    texts = [f'syntax = "proto3"; message T{i} {{ int32 a = {i + 1}; }}' for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        assert [schema.root for schema in pool.map(parse, texts)] == [f"T{i}" for i in range(40)]


def test_forked_process_starts_its_own_protoc() -> None:
    parse('syntax = "proto3"; message BeforeTheFork {}')
    child = os.fork()
    if child == 0:
        is_good = parse('syntax = "proto3"; message InTheChild {}').root == "InTheChild"
        protoc._close()
        os._exit(0 if is_good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert parse('syntax = "proto3"; message AfterTheFork {}').root == "AfterTheFork"


# --- PROTOBUF_NATIVE -------------------------------------------------------------------------------------------


def native(**members: object) -> SchemaDefinition:
    files = parse(
        ORDER + 'import "google/protobuf/empty.proto";\nmessage E { google.protobuf.Empty e = 1; }\n'
    ).types.files
    facts = {
        "fileDescriptorSet": base64.b64encode(files.SerializeToString()).decode(),
        "rootMessageTypeName": "shop.v1.Refund",
        "rootFileDescriptorName": "schema.proto",
    }
    return SchemaDefinition(PROTOBUF_NATIVE, json.dumps({**facts, **members}))


def test_native_schema_has_the_root_that_it_names() -> None:
    schema = NATIVE_FORMAT.parse(native(), NO_REFERENCES)
    assert (schema.root, schema.is_native) == ("shop.v1.Refund", True)
    assert NATIVE_FORMAT.decode(schema, NATIVE_FORMAT.encode(schema, {"order": {"id": "x"}})) == {
        "order": {"id": "x", "lines": {}}
    }


def _set_without_imports() -> str:
    files = FileDescriptorSet(file=[parse(ORDER).types.main])
    files.file[0].dependency.append("google/protobuf/empty.proto")
    return base64.b64encode(files.SerializeToString()).decode()


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"fileDescriptorSet": None}, "the member 'fileDescriptorSet' is missing or no text"),
        ({"fileDescriptorSet": "%%%"}, "not base64"),
        ({"fileDescriptorSet": "AAAA"}, "fileDescriptorSet is no FileDescriptorSet"),
        ({"fileDescriptorSet": _set_without_imports()}, "the descriptor set lacks 'google/protobuf/empty.proto'"),
        ({"rootMessageTypeName": "shop.v1.Missing"}, "the root message 'shop.v1.Missing' is not in the descriptor set"),
        ({"rootMessageTypeName": 5}, "the member 'rootMessageTypeName' is missing or no text"),
        ({"rootFileDescriptorName": "other.proto"}, "the descriptor set lacks 'other.proto'"),
        ({"rootFileDescriptorName": "--help"}, "the descriptor set lacks '--help'"),
    ],
)
def test_incomplete_native_schema_is_refused(members: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        NATIVE_FORMAT.parse(native(**members), NO_REFERENCES)
    assert caught.value.reason.startswith(reason)


@pytest.mark.parametrize("text", ["[]", "null", "{", "[" * 10_000, '"x"', ""])
def test_native_schema_must_be_an_object(text: str) -> None:
    with pytest.raises(InvalidSchema):
        NATIVE_FORMAT.parse(SchemaDefinition(PROTOBUF_NATIVE, text), NO_REFERENCES)


def test_file_twice_in_a_native_schema_is_refused() -> None:
    files = FileDescriptorSet(file=[parse(ORDER).types.main] * 2)
    twice = base64.b64encode(files.SerializeToString()).decode()
    with pytest.raises(InvalidSchema, match="holds a file twice"):
        NATIVE_FORMAT.parse(native(fileDescriptorSet=twice), NO_REFERENCES)
