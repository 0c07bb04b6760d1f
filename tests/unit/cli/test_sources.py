"""Files → definitions: types, encodings and what cannot be read."""

from pathlib import Path

import pytest

from tallystick.cli import sources
from tallystick.cli.faults import BadInput, Fault
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, PULSAR_JSON

RECORD = '{"type": "record", "name": "A", "fields": []}'


def fault_of(name: str) -> Fault:
    with pytest.raises(BadInput) as caught:
        sources.read(name)
    assert caught.value.fault.file == name
    return caught.value.fault


def test_the_ending_tells_the_type() -> None:
    assert sources.types_of(["a.avsc", "b.JSON", "dir.x/c.proto"], None) == [AVRO, JSON_SCHEMA, PROTOBUF]


def test_a_given_type_holds_for_all() -> None:
    assert sources.types_of(["a.avsc", "b.txt", "-"], PULSAR_JSON) == [PULSAR_JSON] * 3


def test_a_file_without_a_known_ending_is_of_the_type_of_the_others() -> None:
    assert sources.types_of(["-", "/dev/fd/63", "a.proto"], None) == [PROTOBUF] * 3


@pytest.mark.parametrize("names", [["a.txt"], ["-"], ["a.avsc", "b.json", "c"]])
def test_an_unknown_type_is_a_fault(names: list[str]) -> None:
    with pytest.raises(BadInput) as caught:
        sources.types_of(names, None)
    assert caught.value.fault.file == names[-1]
    assert "--type" in (caught.value.fault.fix or "")


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    file = tmp_path / "a.avsc"
    file.write_bytes(b'\xef\xbb\xbf"int"\r\n')
    assert sources.read(str(file)) == '"int"\r\n'


def test_a_missing_file_is_answered_with_a_similar_one(tmp_path: Path) -> None:
    (tmp_path / "order-v1.avsc").touch()
    fault = fault_of(str(tmp_path / "order_v1.avsc"))
    assert fault.reason == "there is no such file"
    assert fault.fix == f"did you mean '{tmp_path / 'order-v1.avsc'}'?"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert fault_of(str(tmp_path / "no" / "a.avsc")).fix == f"the folder '{tmp_path / 'no'}' does not exist either"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert fault_of(str(tmp_path)).reason == "this is a folder, not a file"


def test_text_that_is_not_utf8_names_the_byte_and_its_line(tmp_path: Path) -> None:
    file = tmp_path / "a.avsc"
    file.write_bytes('{\n"doc": "Größe"}'.encode("latin-1"))
    fault = fault_of(str(file))
    assert fault.reason == "not UTF-8 text: byte 13 (line 2) is 0xf6"
    assert fault.fix == "save the file as UTF-8"


def test_a_program_is_not_a_text_to_be_saved_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "a.avsc"
    file.write_bytes(b"\x7fELF\x00\x80")
    assert fault_of(str(file)).fix == "name a text file"


def test_an_endless_file_is_refused() -> None:
    assert fault_of("/dev/zero").reason == "larger than 32 MiB, so it is hardly a schema"


@pytest.mark.parametrize(
    "text",
    [
        RECORD,
        '{"type": "enum", "name": "E", "symbols": ["A"]}',
        '{"type": "fixed", "name": "F", "size": 4}',
        '["null", "string"]',
    ],
)
def test_avro_in_a_json_file_is_told_not_guessed(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        sources.refuse_other_format("a.json", text, JSON_SCHEMA)
    assert caught.value.fault.reason == "this holds an Avro schema, but its ending stands for JSON_SCHEMA"
    assert caught.value.fault.fix == "give --type AVRO, or rename the file so that it ends in .avsc"


def test_json_schema_in_an_avsc_file_is_told() -> None:
    with pytest.raises(BadInput) as caught:
        sources.refuse_other_format("a.avsc", '{"type": "object", "properties": {}}', AVRO)
    assert "give --type JSON_SCHEMA" in (caught.value.fault.fix or "")


@pytest.mark.parametrize(
    ("name", "text", "schema_type"),
    [
        ("a.json", '{"type": "array", "items": {"type": "string"}}', JSON_SCHEMA),
        ("a.json", '{"type": ["object"], "properties": {"fields": {}}}', JSON_SCHEMA),
        ("a.json", "true", JSON_SCHEMA),
        ("a.json", "{broken", JSON_SCHEMA),
        ("a.avsc", RECORD, AVRO),
        ("a.txt", RECORD, JSON_SCHEMA),
        ("a.proto", RECORD, PROTOBUF),
    ],
)
def test_what_may_be_right_is_left_to_the_parser(name: str, text: str, schema_type: str) -> None:
    sources.refuse_other_format(name, text, schema_type)  # type: ignore[arg-type]


def test_ci_paths_are_relative_to_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert sources.ci_path(str(tmp_path / "a" / "b.avsc")) == "a/b.avsc"
    assert sources.ci_path("./a/../b.avsc") == "b.avsc"
    assert sources.ci_path("/elsewhere/b.avsc") == "/elsewhere/b.avsc"
    assert sources.ci_path("-") == "-"
