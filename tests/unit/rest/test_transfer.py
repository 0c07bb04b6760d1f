"""Plans, folders and layouts: values in, values out."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InvalidArgument, InvalidSchema
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import AVRO, PROTOBUF, SchemaType
from tallystick.model.subject import subject_of
from tallystick.rest.transfer import folder, layout
from tallystick.rest.transfer.plan import SettingsChange, plan
from tallystick.rest.transfer.snapshot import CopiedVersion, Level, Snapshot, moved

INT, LONG = SchemaDefinition(AVRO, '"int"'), SchemaDefinition(AVRO, '"long"')


def version(
    subject: str, number: int, id_: int, definition: SchemaDefinition = INT, *, deleted: bool = False
) -> CopiedVersion:
    return CopiedVersion(subject_of(subject), number, id_, definition, deleted)


def content(*versions: CopiedVersion, **levels: Level) -> Snapshot:
    return Snapshot(versions, {"" if name == "server" else name: level for name, level in levels.items()})


def referring(*names: str) -> SchemaDefinition:
    return SchemaDefinition(AVRO, '"int"', tuple(Reference(name, name, 1) for name in names))


def test_what_is_there_is_not_done_again() -> None:
    both = content(version("a", 1, 1), version("a", 2, 2, LONG, deleted=True), a=Level({"compatibility": "FULL"}))
    found = plan(both, both)
    assert found.is_empty
    assert found.unchanged == 2


def test_white_space_is_no_difference() -> None:
    spaced = SchemaDefinition(AVRO, ' "int"\n')
    assert plan(content(version("a", 1, 1)), content(version("a", 1, 1, spaced))).is_empty


def test_what_is_referred_to_is_registered_first_and_deleted_last() -> None:
    a, b, c = (
        version("a", 1, 1, referring("b"), deleted=True),
        version("b", 1, 2, referring("c"), deleted=True),
        version("c", 1, 3, deleted=True),
    )
    found = plan(content(a, b, c), content())
    assert found.registrations == (c, b, a)
    assert found.deletions == (a, b, c)


def test_a_long_chain_of_references_is_no_problem() -> None:
    chain = [version("s0", 1, 1), *(version(f"s{i}", 1, i + 1, referring(f"s{i - 1}")) for i in range(1, 3000))]
    assert plan(content(*reversed(chain)), content()).registrations == tuple(chain)


def test_a_circle_of_references_is_told() -> None:
    circle = content(version("a", 1, 1, referring("b")), version("b", 1, 2, referring("a")))
    with pytest.raises(InvalidSchema, match="circle"):
        plan(circle, content())


@pytest.mark.parametrize(
    ("there", "reason", "is_about_ids"),
    [
        (version("a", 1, 1, LONG), "another schema as this version", False),
        (version("b", 1, 1, LONG), "id 1 belongs to another schema there, b version 1", True),
        (version("b", 1, 9), "the same schema has id 9 there, as b version 1", True),
        (version("a", 1, 1, deleted=True), "a delete cannot be taken back", False),
    ],
)
def test_clashes(there: CopiedVersion, reason: str, is_about_ids: bool) -> None:
    found = plan(content(version("a", 1, 1)), content(there))
    assert [(reason in clash.reason, clash.is_about_ids) for clash in found.clashes] == [(True, is_about_ids)]
    assert found.registrations == ()


def test_ids_of_other_namespaces_do_not_clash() -> None:
    assert plan(content(version("a", 1, 1)), content(version(":.other:a", 1, 1, LONG))).clashes == ()


def test_one_schema_with_two_ids_in_the_source_clashes() -> None:
    twice = content(version("a", 1, 1), version("b", 1, 2, SchemaDefinition(AVRO, ' "int"')))
    assert [str(clash.version) for clash in plan(twice, content()).clashes] == ["b version 1"]


def test_a_type_that_only_others_know_can_be_compared() -> None:
    strange = SchemaDefinition(SchemaType("THRIFT"), "struct A {}")
    assert plan(content(version("a", 1, 1, strange)), content(version("a", 1, 1, strange))).is_empty


def test_settings_of_the_target_stay_and_a_stopped_import_is_tidied_up() -> None:
    source = content(server=Level({"compatibility": "FULL"}, "READWRITE"), a=Level(mode="READONLY"))
    target = content(
        server=Level({"compatibility": "NONE", "normalize": True}, "READWRITE"),
        b=Level({"compatibility": "FULL"}),
        c=Level(mode="IMPORT"),
    )
    assert plan(source, target).settings == (
        SettingsChange("", {"compatibility": "FULL"}, None),
        SettingsChange("a", None, "READONLY"),
        SettingsChange("c", None, None, takes_mode_back=True),
    )


def test_a_namespace_moves_with_its_references_and_settings() -> None:
    inside, outside = Reference("x", "a", 1), Reference("y", ":.other:b", 1)
    back = Reference("z", ":.:a", 1)
    source = Snapshot(
        (
            version("a", 1, 1, replace(INT, references=(inside, outside))),
            version(":.other:b", 1, 1, replace(INT, references=(back,))),
        ),
        {"": Level({"compatibility": "FULL"}, "READWRITE"), "a": Level(mode="READONLY"), ":.other:": Level({"x": 1})},
    )
    found = moved(source, {"public/default": "acme/eu"})
    assert [str(each.subject) for each in found.versions] == [":.acme.eu:a", ":.other:b"]
    assert found.versions[0].definition.references == (inside, outside)
    assert found.versions[1].definition.references == (Reference("z", ":.acme.eu:a", 1),)
    assert found.levels == {
        ":.acme.eu:": Level({"compatibility": "FULL"}),
        ":.acme.eu:a": Level(mode="READONLY"),
        ":.other:": Level({"x": 1}),
    }
    home = moved(source, {"public/other": "public/default"})
    assert home.versions[0].definition.references == (inside, Reference("y", ":.:b", 1))


SOMETHING = Snapshot(
    (
        version("Orders", 1, 1, SchemaDefinition(AVRO, '{"type": "fixed", "name": "F", "size": 1}')),
        version("a/../b:c", 1, 2, SchemaDefinition(PROTOBUF, 'syntax = "proto3";\r\nmessage A {}')),
        version("orders", 1, 3, replace(LONG, metadata='{"tags":{"x":["é"]}}'), deleted=True),
        version("x" * 400, 7, 2**31 - 1, SchemaDefinition(AVRO, ' "float"\n\n', (Reference("n", ":.o:s", 3),))),
        version(":.acme.eu:..", 1, 1),
    ),
    {
        "": Level({"compatibility": "FULL"}, "READWRITE"),
        ":.acme.eu:": Level(mode="READONLY"),
        "alias": Level({"alias": "orders"}),
        "orders": Level({"defaultMetadata": {"properties": {"a": "b"}}}),
    },
)


def test_a_folder_gives_back_what_was_saved(tmp_path: Path) -> None:
    folder.save(SOMETHING, tmp_path / "export")
    found = folder.load(tmp_path / "export")
    assert set(found.versions) == set(SOMETHING.versions)
    assert found.levels == SOMETHING.levels
    files = [path.relative_to(tmp_path / "export").as_posix() for path in (tmp_path / "export").rglob("*.*")]
    assert len({name.casefold() for name in files}) == len(files)


def test_a_later_export_leaves_nothing_behind(tmp_path: Path) -> None:
    folder.save(SOMETHING, tmp_path / "first")
    folder.save(content(version("only", 1, 1)), tmp_path / "first")
    folder.save(content(version("only", 1, 1)), tmp_path / "second")
    assert _files(tmp_path / "first") == _files(tmp_path / "second")


def _files(at: Path) -> dict[str, bytes]:
    return {path.relative_to(at).as_posix(): path.read_bytes() for path in at.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"subjects": [1]},
        {"subjects": {"a": {"versions": [{"version": 1, "id": 1, "file": "../../etc/passwd"}]}}},
        {"subjects": {"a": {"versions": [{"version": 1, "id": 1, "file": "/etc/passwd"}]}}},
        {"subjects": {"a": {"versions": [{"version": 1, "id": 1, "file": "missing.avsc"}]}}},
        {"subjects": {"a": {"versions": [{"version": "x", "id": 1, "file": "registry.json"}]}}},
        {"subjects": {"": {"versions": [{"version": 1, "id": 1, "file": "registry.json"}]}}},
        {"contexts": {":.a:": 3}},
    ],
)
def test_a_damaged_folder_is_told(tmp_path: Path, change: dict[str, Any]) -> None:
    index = {"format": 1, "registry": {}, "contexts": {}, "subjects": {}, **change}
    (tmp_path / "registry.json").write_text(json.dumps(index))
    with pytest.raises(InvalidArgument) as error:
        folder.load(tmp_path)
    assert error.value.argument == "folder"


@pytest.mark.parametrize("text", ["", "{", "[]", "\xff"])
def test_an_index_that_is_no_json_object_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "registry.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidArgument):
        folder.load(tmp_path)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(_JSON, st.sampled_from([(",", ":"), (", ", ": ")]), st.booleans())
def test_a_text_on_one_line_comes_back_as_it_was(value: Any, separators: tuple[str, str], is_ascii: bool) -> None:
    text = json.dumps(value, separators=separators, ensure_ascii=is_ascii)
    found = layout.layout_of(text)
    assert found is not None
    shown = layout.on_several_lines(text)
    assert shown == json.dumps(value, indent=2, ensure_ascii=is_ascii) + "\n"
    assert layout.on_one_line(shown, found) == text


@given(st.text(alphabet=' \n\t"\\{}[]:,a1é'))
def test_any_text_is_survived(text: str) -> None:
    found = layout.layout_of(text)
    if found is not None:
        assert layout.on_one_line(layout.on_several_lines(text), found) == text
