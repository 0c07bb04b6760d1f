"""Files on the command line → schema definitions."""

import difflib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import BinaryIO

from tallystick.cli.faults import BadInput, unusable
from tallystick.errors import InvalidSchema
from tallystick.formats import json_source
from tallystick.model.definition import References, SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, SchemaType

STANDARD_INPUT = "-"

ENDINGS = {".avsc": AVRO, ".json": JSON_SCHEMA, ".proto": PROTOBUF}

MAX_BYTES = 32 * 1024 * 1024
"""More than any schema has; a device or a log given by mistake ends here."""


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """One schema as it was given: `name` is what the user called it."""

    name: str
    definition: SchemaDefinition
    references: References = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.definition.text

    @property
    def path(self) -> str:
        """The name as CI systems want it: relative to the working folder where it lies inside, with slashes."""
        return ci_path(self.name)


def ci_path(name: str) -> str:
    if name == STANDARD_INPUT:
        return name
    relative = os.path.relpath(name)
    return PurePath(name if relative.startswith("..") else relative).as_posix()


def types_of(names: Sequence[str], given: SchemaType | None) -> list[SchemaType]:
    """The type of each file: the one given for all, else by its ending, else the one that all the others have."""
    if given is not None:
        return [given] * len(names)
    by_ending = [ENDINGS.get(PurePath(name).suffix.lower()) for name in names]
    known = {found for found in by_ending if found is not None}
    shared = next(iter(known)) if len(known) == 1 else None
    return [found or shared or _unknown(name) for name, found in zip(names, by_ending, strict=True)]


def _unknown(name: str) -> SchemaType:
    if name == STANDARD_INPUT:
        raise unusable("standard input has no ending that tells its type", file=name, fix="give --type, such as AVRO")
    known = ", ".join(f"{ending} ({found})" for ending, found in ENDINGS.items())
    raise unusable(
        f"the ending {PurePath(name).suffix!r} does not tell which schema type this is; known endings are {known}",
        file=name,
        fix="rename the file or give --type",
    )


def read(name: str) -> str:
    """The text of a file, or of standard input for `-`."""
    try:
        if name == STANDARD_INPUT:
            return _decoded(name, _standard_input())
        with open(name, "rb") as stream:
            return _decoded(name, stream)
    except FileNotFoundError:
        raise unusable("there is no such file", file=name, fix=_similar(name)) from None
    except IsADirectoryError:
        raise unusable("this is a folder, not a file", file=name, fix="name the schema files in it") from None
    except OSError as e:
        raise unusable(f"cannot be read: {e.strerror or e}", file=name) from e


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise unusable("standard input is closed", file=STANDARD_INPUT, fix="pipe a schema into tally")
    return sys.stdin.buffer


def _decoded(name: str, stream: BinaryIO) -> str:
    content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise unusable(f"larger than {MAX_BYTES // 1024**2} MiB, so it is hardly a schema", file=name)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = content.count(b"\n", 0, e.start) + 1
        raise unusable(
            f"not UTF-8 text: byte {e.start + 1} (line {line}) is 0x{content[e.start]:02x}",
            file=name,
            fix="save the file as UTF-8" if b"\0" not in content or content[:1] in b"\xff\xfe" else "name a text file",
        ) from None


def _similar(name: str) -> str | None:
    path = Path(name)
    try:
        names = os.listdir(path.parent)
    except OSError:
        return f"the folder {str(path.parent)!r} does not exist either"
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"did you mean {str(path.with_name(close[0]))!r}?" if close else None


def refuse_empty(name: str, text: str, schema_type: SchemaType) -> None:
    """Types with a definition of their own have a text; an empty one is a mistake, even where protoc would take it."""
    if schema_type in ENDINGS.values() and not text.strip():
        raise unusable("there is nothing in it", file=name, fix=f"write a schema of type {schema_type} into it")


def refuse_other_format(name: str, text: str, schema_type: SchemaType) -> None:
    """Says so when a file's ending promises one format and the text plainly is another."""
    if ENDINGS.get(PurePath(name).suffix.lower()) != schema_type or schema_type == PROTOBUF:
        return
    try:
        value = json_source.load(text)
    except InvalidSchema:
        return
    if schema_type == JSON_SCHEMA and _is_avro(value):
        raise _mixed_up(name, "an Avro schema", JSON_SCHEMA, AVRO, ".avsc")
    if schema_type == AVRO and isinstance(value, dict) and ("$schema" in value or "properties" in value):
        raise _mixed_up(name, "a JSON Schema", AVRO, JSON_SCHEMA, ".json")


def _is_avro(value: object) -> bool:
    if not isinstance(value, dict):
        return isinstance(value, list)
    marks = {"record": "fields", "error": "fields", "enum": "symbols", "fixed": "size"}
    kind = value.get("type")
    return isinstance(kind, str) and marks.get(kind) in value


def _mixed_up(name: str, held: str, promised: SchemaType, actual: SchemaType, ending: str) -> BadInput:
    return unusable(
        f"this holds {held}, but its ending stands for {promised}",
        file=name,
        fix=f"give --type {actual}, or rename the file so that it ends in {ending}",
    )
