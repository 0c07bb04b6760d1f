"""What a schema file refers to: files given with `--reference`, and for Protobuf its imports."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tallystick.cli import sources
from tallystick.cli.sources import SchemaFile
from tallystick.errors import InvalidSchema
from tallystick.formats import json_source
from tallystick.model.definition import Reference, References, SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, PULSAR_JSON, PULSAR_PROTOBUF, SchemaType

_AVRO_TEXT = frozenset({AVRO, PULSAR_JSON, PULSAR_PROTOBUF})

_IMPORT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\bimport\s+(?:(?:public|weak|option)\s+)?(["'])(?P<name>[^"'\n]+)\1\s*;|"(?:[^"\\\n]|\\.)*\"""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Given:
    """One `--reference [NAME=]FILE`."""

    name: str | None
    file: str
    text: str


def given(option: str) -> Given:
    """The name ends at the last `=`, as URIs have some of their own; a file whose name has one is taken as it is."""
    name, _, file = option.rpartition("=")
    if not name or Path(option).is_file():
        return Given(None, option, sources.read(option))
    return Given(name, file, sources.read(file))


def load(name: str, schema_type: SchemaType, references: Sequence[Given], include: Sequence[str]) -> SchemaFile:
    """A file with all that it refers to."""
    text = sources.read(name)
    if schema_type == PROTOBUF:
        return _with_imports(name, text, references, [str(Path(name).parent), *include])
    found = _in_order(schema_type, references)
    return SchemaFile(name, SchemaDefinition(schema_type, text, tuple(found)), found)


def _in_order(schema_type: SchemaType, references: Sequence[Given]) -> References:
    """Each reference may use those before it."""
    found: dict[Reference, SchemaDefinition] = {}
    for one in references:
        name = one.name or _own_name(schema_type, one)
        definition = SchemaDefinition(schema_type, one.text, tuple(found))
        found[Reference(name, one.file, 1)] = definition
    return found


def _own_name(schema_type: SchemaType, reference: Given) -> str:
    """What the text calls itself: an Avro full name, a JSON Schema's identifier; the file's name where it has none."""
    try:
        value = json_source.load(reference.text)
    except InvalidSchema:
        value = None
    if isinstance(value, dict) and schema_type in _AVRO_TEXT:
        return _full_name(value) or reference.file
    if isinstance(value, dict) and schema_type == JSON_SCHEMA:
        return str(value.get("$id") or value.get("id") or reference.file)
    return reference.file


def _full_name(value: Mapping[str, object]) -> str:
    name, namespace = str(value.get("name", "")), value.get("namespace")
    return f"{namespace}.{name}" if namespace and name and "." not in name else name


def _with_imports(name: str, text: str, references: Sequence[Given], folders: Sequence[str]) -> SchemaFile:
    known = {one.name or one.file: one for one in references}
    # Without a name a file answers to its last part too: `--reference protos/money.proto` for `import "money.proto"`.
    known = {Path(one.file).name: one for one in references if one.name is None} | known
    loaded: dict[str, Reference] = {}
    texts: dict[str, str] = {}
    waiting = list(imports_in(text))
    while waiting:
        wanted = waiting.pop()
        found = None if wanted in loaded else known.get(wanted) or _on_disk(wanted, folders)
        if found is not None:
            loaded[wanted] = Reference(wanted, found.file, 1)
            texts[wanted] = found.text
            waiting.extend(imports_in(found.text))

    def definition(of: str) -> SchemaDefinition:
        return SchemaDefinition(PROTOBUF, of, tuple(loaded[i] for i in imports_in(of) if i in loaded))

    return SchemaFile(name, definition(text), {loaded[i]: definition(texts[i]) for i in loaded})


def imports_in(proto: str) -> Iterator[str]:
    """The paths that a `.proto` text imports, each once."""
    return iter(dict.fromkeys(match["name"] for match in _IMPORT.finditer(proto) if match["name"]))


def _on_disk(wanted: str, folders: Sequence[str]) -> Given | None:
    """An import that the folders have. One that leads out of them is left for the parser to refuse."""
    path = PurePosixPath(wanted)
    if path.is_absolute() or ".." in path.parts:
        return None
    for folder in folders:
        file = Path(folder) / path
        if file.is_file():
            return Given(wanted, str(file), sources.read(str(file)))
    return None
