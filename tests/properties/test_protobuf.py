"""The Protobuf rules against the Protobuf runtime, and against buf as a second opinion."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    FeatureSet,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.compat.options import DEFAULT_OPTIONS
from tallystick.compat.rule import CATALOGUE
from tallystick.compat.rules.protobuf import compare
from tallystick.finding import Direction
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.formats.protobuf.protoc import is_bundled
from tallystick.formats.protobuf.types import KINDS, Types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import PROTOBUF
from tests.conformance.cases import Case, compat_cases
from tests.properties.protobuf_records import witness

NUMBERS = [kind for kind in KINDS.values() if kind not in ("group", "message", "enum", "string", "bytes")]
SCALARS = [*NUMBERS, "string", "bytes"]
KEYS = [kind for kind in SCALARS if kind not in ("float", "double", "bytes")]
_TYPE_NUMBERS = {name: number for number, name in KINDS.items()}


# --- random schemas --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FieldSpec:
    """A field in the words of editions, which can say everything that proto2 and proto3 can."""

    name: str
    number: int
    kind: str
    shape: str = "explicit"
    """explicit, implicit, required, repeated, expanded, map or oneof."""
    key: str = "string"
    default: str | None = None
    target: str = "Inner"


@dataclass(frozen=True)
class EnumSpec:
    is_closed: bool
    values: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class FileSpec:
    outer: tuple[FieldSpec, ...]
    inner: tuple[FieldSpec, ...]
    enum: EnumSpec


def schema_of(spec: FileSpec) -> ProtobufSchema:
    file = FileDescriptorProto(name="random.proto", package="p", syntax="editions", edition=Edition.EDITION_2023)
    for name, fields in (("Outer", spec.outer), ("Inner", spec.inner)):
        _add_message(file.message_type.add(name=name), fields, spec.enum)
    enum = file.enum_type.add(name="State")
    enum.options.features.enum_type = FeatureSet.CLOSED if spec.enum.is_closed else FeatureSet.OPEN
    for name, number in spec.enum.values:
        enum.value.add(name=name, number=number)
    types = Types(FileDescriptorSet(file=[file]), file.name, "")
    return ProtobufSchema(SchemaDefinition(PROTOBUF), types, "p.Outer")


def _add_message(message: DescriptorProto, fields: tuple[FieldSpec, ...], enum: EnumSpec) -> None:
    if any(field.shape == "oneof" for field in fields):
        message.oneof_decl.add(name="choice")
    for spec in fields:
        field = message.field.add(name=spec.name, number=spec.number, label=FieldDescriptorProto.LABEL_OPTIONAL)
        features = field.options.features
        if spec.shape == "map":
            _add_map(message, field, spec)
            continue
        _set_type(field, spec)
        if spec.shape in ("repeated", "expanded"):
            field.label = FieldDescriptorProto.LABEL_REPEATED
            features.repeated_field_encoding = FeatureSet.EXPANDED if spec.shape == "expanded" else FeatureSet.PACKED
        elif spec.shape == "required":
            features.field_presence = FeatureSet.LEGACY_REQUIRED
        elif spec.shape == "implicit" and spec.kind not in ("message", "group") and not _is_closed(spec, enum):
            features.field_presence = FeatureSet.IMPLICIT
        elif spec.shape == "oneof":
            field.oneof_index = 0
        if spec.default is not None and spec.kind in NUMBERS and spec.shape in ("explicit", "oneof", "required"):
            field.default_value = (
                ("true" if int(spec.default) % 2 else "false") if spec.kind == "bool" else spec.default
            )


def _is_closed(spec: FieldSpec, enum: EnumSpec) -> bool:
    return spec.kind == "enum" and enum.is_closed


def _set_type(field: FieldDescriptorProto, spec: FieldSpec) -> None:
    field.type = FieldDescriptorProto.Type.Value("TYPE_" + spec.kind.upper().replace("GROUP", "MESSAGE"))
    if spec.kind == "group":
        field.options.features.message_encoding = FeatureSet.DELIMITED
    if spec.kind in ("message", "group"):
        field.type_name = f".p.{spec.target}"
    elif spec.kind == "enum":
        field.type_name = ".p.State"


def _add_map(message: DescriptorProto, field: FieldDescriptorProto, spec: FieldSpec) -> None:
    entry = message.nested_type.add(name="".join(part.title() for part in spec.name.split("_")) + "Entry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=1, type=FieldDescriptorProto.Type.Value("TYPE_" + spec.key.upper()))
    value = entry.field.add(name="value", number=2, label=FieldDescriptorProto.LABEL_OPTIONAL)
    _set_type(value, replace(spec, kind="message" if spec.kind == "group" else spec.kind))
    field.ClearField("options")
    field.label = FieldDescriptorProto.LABEL_REPEATED
    field.type = FieldDescriptorProto.TYPE_MESSAGE
    field.type_name = f"{message.name}.{entry.name}"


SHAPE = st.sampled_from(["explicit", "implicit", "required", "repeated", "expanded", "map", "oneof", "oneof"])
DEFAULT = st.sampled_from([None, None, None, "1", "2"])
FAMILIES = [
    ["int32", "int64", "uint32", "uint64", "bool", "enum"],
    ["sint32", "sint64"],
    ["fixed32", "sfixed32", "float"],
    ["fixed64", "sfixed64", "double"],
    ["string", "bytes", "message", "group"],
]


@st.composite
def fields(draw: st.DrawFn, is_inner: bool) -> tuple[FieldSpec, ...]:
    highest = 3 if is_inner else 6
    numbers = draw(st.lists(st.integers(1, highest), min_size=1, max_size=2 if is_inner else 4, unique=True))
    return tuple(
        FieldSpec(f"f{number}", number, draw(_kind(is_inner)), draw(SHAPE), draw(st.sampled_from(KEYS)), draw(DEFAULT))
        for number in numbers
    )


def _kind(is_inner: bool) -> st.SearchStrategy[str]:
    kinds = [*SCALARS, "enum", "enum", "enum"]
    return st.sampled_from(kinds if is_inner else [*kinds, "message", "message", "message", "group"])


def _related_kind(kind: str, is_inner: bool) -> st.SearchStrategy[str]:
    """A kind that people take for nearly the same."""
    family = next(family for family in FAMILIES if kind in family)
    return st.sampled_from([k for k in family if not is_inner or k not in ("message", "group")])


@st.composite
def enums(draw: st.DrawFn) -> EnumSpec:
    numbers = draw(st.lists(st.sampled_from([1, 2, 3, -1]), min_size=2, max_size=3, unique=True))
    return EnumSpec(draw(st.booleans()), (("ZERO", 0), *((f"V{n}".replace("-", "M"), n) for n in numbers)))


@st.composite
def files(draw: st.DrawFn) -> FileSpec:
    outer, inner = draw(fields(False)), draw(fields(True))
    if draw(st.booleans()):
        outer += (FieldSpec("f9", 9, "message", draw(st.sampled_from(["repeated", "map"]))),)
    return FileSpec(outer, inner, draw(enums()))


CHANGES = [
    "add",
    "remove",
    "kind",
    "related",
    "related",
    "related",
    "shape",
    "shape",
    "rename",
    "move",
    "default",
    "oneof",
]


@st.composite
def changed_fields(draw: st.DrawFn, old: tuple[FieldSpec, ...], is_inner: bool) -> tuple[FieldSpec, ...]:
    """The fields after up to two changes of a kind that people make."""
    new = {field.number: field for field in old}
    for _ in range(draw(st.integers(0, 2))):
        change = draw(st.sampled_from(CHANGES))
        free = next(n for n in range(1, 20) if n not in new)
        number = draw(st.sampled_from(sorted(new))) if new else free
        if change == "add" or not new:
            new[free] = FieldSpec(f"g{free}", free, draw(_kind(is_inner)), draw(SHAPE))
        elif change == "remove":
            del new[number]
        elif change == "move":
            new[free] = replace(new.pop(number), number=free)
        elif change == "rename":
            new[number] = replace(new[number], name=f"r{number}")
        elif change == "kind":
            new[number] = replace(new[number], kind=draw(_kind(is_inner)))
        elif change == "related":
            new[number] = replace(new[number], kind=draw(_related_kind(new[number].kind, is_inner)))
        elif change == "map":
            flipped = {"map": "repeated", "repeated": "map"}
            new = {n: replace(f, shape=flipped[f.shape]) if f.shape in flipped else f for n, f in new.items()}
        elif change == "oneof":
            shape = draw(st.sampled_from(["oneof", "explicit"]))
            new = {n: replace(f, shape=shape) if f.shape in ("oneof", "explicit") else f for n, f in new.items()}
        elif change == "shape":
            new[number] = replace(new[number], shape=draw(SHAPE), key=draw(st.sampled_from(KEYS)))
        else:
            new[number] = replace(new[number], default=draw(DEFAULT))
    return tuple(new.values())


@st.composite
def changed_enums(draw: st.DrawFn, old: EnumSpec) -> EnumSpec:
    change = draw(st.sampled_from(["none", "openness", "add", "remove", "remove", "renumber", "rename"]))
    *head, (name, number) = old.values
    if change == "openness":
        return replace(old, is_closed=not old.is_closed)
    if change == "add":
        return replace(old, values=(*old.values, ("NINE", 9)))
    if change == "remove" and len(head) > 1:  # an enum of one value writes nothing that could be lost
        return replace(old, values=tuple(head))
    if change == "renumber":
        return replace(old, values=(*head, (name, 8)))
    if change == "rename":
        return replace(old, values=(*head, ("RENAMED", number)))
    return old


@st.composite
def pairs(draw: st.DrawFn) -> tuple[FileSpec, FileSpec]:
    old = draw(files())
    new = FileSpec(
        draw(changed_fields(old.outer, False)), draw(changed_fields(old.inner, True)), draw(changed_enums(old.enum))
    )
    return old, new


# --- the runtime is right --------------------------------------------------------------------------------------


def assert_engine_and_runtime_agree(old: ProtobufSchema, new: ProtobufSchema) -> None:
    for direction in Direction:
        found = list(compare(old, new, direction, DEFAULT_OPTIONS))
        lost = witness(old, new, direction)
        if not any(CATALOGUE[finding.rule].has_witness for finding in found):
            assert lost is None, f"{direction}: nothing was found, but {lost}"
        else:
            assert lost is not None, f"{direction}: {[f.message for f in found]}, but every record is read"


@settings(max_examples=3 * settings().max_examples)
@given(pairs())
def test_what_can_be_read_is_read_and_what_cannot_has_a_witness(pair: tuple[FileSpec, FileSpec]) -> None:
    assert_engine_and_runtime_agree(*map(schema_of, pair))


CASES = [case for case in compat_cases() if case.file.format == "protobuf"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_case_agrees_with_the_runtime(case: Case) -> None:
    old, new = case.schema("old"), case.schema("new")
    assert isinstance(old, ProtobufSchema)
    assert isinstance(new, ProtobufSchema)
    assert_engine_and_runtime_agree(old, new)


# --- buf as a second opinion -----------------------------------------------------------------------------------


def test_buf_agrees_or_the_case_says_why_not(tmp_path: Path) -> None:
    complaints = buf_complaints(tmp_path)
    assert complaints
    for i, case in enumerate(CASES):
        agrees = bool(complaints.get(i)) == bool(case.findings)
        declared = case.facts.get("buf", {"agrees": True})
        assert agrees == declared["agrees"], f"{case.id}: buf says {complaints.get(i)}, we say {sorted(case.rules)}"
        assert agrees or declared["why"].strip()


def buf_complaints(folder: Path) -> dict[int, list[str]]:
    """The rules of buf's WIRE category that each case breaks, by the case's index, from one run over all cases."""
    for side in ("old", "new"):
        files = {file.name: file for i, case in enumerate(CASES) for file in _renamed(i, case, side)}
        image = FileDescriptorSet(file=files.values())
        (folder / f"{side}.binpb").write_bytes(image.SerializeToString())
    (folder / "buf.yaml").write_text("version: v2\nbreaking:\n  use: [WIRE]\n")
    found: dict[int, list[str]] = {}
    for complaint in _buf(folder):
        found.setdefault(int(complaint["path"].split("/")[0].removeprefix("case")), []).append(complaint["type"])
    return found


def _buf(folder: Path) -> Iterator[dict[str, Any]]:
    buf = Path(sys.executable).with_name("buf")
    run = subprocess.run(
        [buf, "breaking", "new.binpb", "--against", "old.binpb", "--config", "buf.yaml", "--error-format", "json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 100, run.stderr
    for line in run.stdout.splitlines():
        yield json.loads(line)


def _renamed(index: int, case: Case, side: str) -> Iterator[FileDescriptorProto]:
    """The files of a case in a package of its own, so that all cases fit into one image."""
    schema = case.schema(side)
    assert isinstance(schema, ProtobufSchema)
    for file in schema.types.files.file:
        copy = FileDescriptorProto.FromString(file.SerializeToString())
        copy.ClearField("source_code_info")
        if not is_bundled(file.name):
            copy.name = f"case{index}/{file.name}"
            copy.package = f"case{index}.{file.package}"
            dependencies = [name if is_bundled(name) else f"case{index}/{name}" for name in file.dependency]
            del copy.dependency[:]
            copy.dependency.extend(dependencies)
            _rename_types(copy, index)
        yield copy


def _rename_types(message: Any, index: int) -> None:
    for field, value in message.ListFields():
        if field.name in ("type_name", "extendee", "input_type", "output_type") and not value.startswith(".google."):
            setattr(message, field.name, f".case{index}{value}")
        elif field.message_type is not None and field.name != "options":
            for inner in value if field.is_repeated else [value]:
                _rename_types(inner, index)
