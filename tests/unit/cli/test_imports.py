"""References given as options, and the imports of `.proto` files."""

from pathlib import Path

import pytest

from tallystick.cli import imports
from tallystick.cli.sources import SchemaFile
from tallystick.formats.references import dependencies_first
from tallystick.model.definition import Reference
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF


def write(path: Path, text: str = "") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def order(file: SchemaFile) -> list[str]:
    return [reference.name for reference, _ in dependencies_first(file.definition, file.references)]


def test_a_name_ends_at_the_last_equals_sign(tmp_path: Path) -> None:
    file = write(tmp_path / "a.json", "{}")
    assert imports.given(f"https://x/?v=1={file}") == imports.Given("https://x/?v=1", file, "{}")


def test_a_file_that_has_an_equals_sign_needs_no_name(tmp_path: Path) -> None:
    file = write(tmp_path / "v=1.json", "{}")
    assert imports.given(file) == imports.Given(None, file, "{}")


def test_an_avro_reference_is_called_by_its_full_name_and_may_use_those_before_it(tmp_path: Path) -> None:
    main = write(tmp_path / "order.avsc", '"shop.Money"')
    currency = imports.Given(None, "c.avsc", '{"type": "enum", "name": "Currency", "namespace": "shop"}')
    money = imports.Given(None, "m.avsc", '{"type": "record", "name": "shop.Money"}')
    file = imports.load(main, AVRO, [currency, money], [])
    assert file.definition.references == (Reference("shop.Currency", "c.avsc", 1), Reference("shop.Money", "m.avsc", 1))
    assert order(file) == ["shop.Currency", "shop.Money"]


@pytest.mark.parametrize(
    ("text", "name"),
    [('{"$id": "https://x/a"}', "https://x/a"), ('{"id": "u"}', "u"), ("{}", "f.json"), ("{broken", "f.json")],
)
def test_a_json_schema_reference_is_called_by_its_identifier(tmp_path: Path, text: str, name: str) -> None:
    main = write(tmp_path / "a.json", "{}")
    file = imports.load(main, JSON_SCHEMA, [imports.Given(None, "f.json", text)], [])
    assert order(file) == [name]


def test_imports_are_found_beside_the_file_and_in_the_folders_named(tmp_path: Path) -> None:
    main = write(tmp_path / "a" / "order.proto", 'import "money.proto";\nimport public "deep/x.proto";')
    write(tmp_path / "a" / "money.proto", 'import "google/protobuf/any.proto";')
    write(tmp_path / "lib" / "deep" / "x.proto", 'import "money.proto";')
    file = imports.load(main, PROTOBUF, [], [str(tmp_path / "lib")])
    assert order(file) == ["money.proto", "deep/x.proto"]
    assert file.definition.references[0] == Reference("money.proto", str(tmp_path / "a" / "money.proto"), 1)


def test_each_version_imports_from_its_own_folder(tmp_path: Path) -> None:
    files = []
    for version in ("v1", "v2"):
        write(tmp_path / version / "money.proto", f"// {version}")
        files.append(imports.load(write(tmp_path / version / "a.proto", 'import "money.proto";'), PROTOBUF, [], []))
    assert [next(iter(file.references.values())).text for file in files] == ["// v1", "// v2"]


@pytest.mark.parametrize("name", ["common/money.proto", None])
def test_a_given_reference_answers_an_import(tmp_path: Path, name: str | None) -> None:
    wanted = name or "money.proto"
    main = write(tmp_path / "a.proto", f'import "{wanted}";')
    file = imports.load(main, PROTOBUF, [imports.Given(name, "protos/money.proto", "// given")], [])
    assert file.references == {
        Reference(wanted, "protos/money.proto", 1): file.references[file.definition.references[0]]
    }
    assert file.references[file.definition.references[0]].text == "// given"


def test_imports_in_comments_and_strings_do_not_count() -> None:
    text = """
    // import "a.proto";
    /* import "b.proto";
    */
    import 'c.proto';
    import weak "d.proto" ;
    option x = "import \\"e.proto\\";";
    import "c.proto";
    """
    assert list(imports.imports_in(text)) == ["c.proto", "d.proto"]


def test_imports_that_lead_out_of_the_folders_are_not_followed(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.proto")
    main = write(tmp_path / "in" / "a.proto", f'import "../secret.proto"; import "{secret}";')
    assert imports.load(main, PROTOBUF, [], []).references == {}


def test_imports_in_a_circle_end(tmp_path: Path) -> None:
    write(tmp_path / "b.proto", 'import "a.proto";')
    file = imports.load(write(tmp_path / "a.proto", 'import "b.proto";'), PROTOBUF, [], [])
    assert {reference.name for reference in file.references} == {"a.proto", "b.proto"}
