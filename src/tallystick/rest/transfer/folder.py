"""Snapshot ↔ folder: an index, and a file for each schema.

    registry.json
    schemas/<tenant>/<namespace>/<subject>/<version>.avsc | .json | .proto

The same content gives the same bytes, so that two exports can be compared line by line.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from tallystick.errors import InvalidArgument, InvalidSchema
from tallystick.formats import json_source
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF
from tallystick.model.subject import Subject, subject_of
from tallystick.rest import bodies
from tallystick.rest.confluent import body_of, definition_of
from tallystick.rest.transfer import layout
from tallystick.rest.transfer.snapshot import SERVER, CopiedVersion, Level, Snapshot, is_context

INDEX = "registry.json"
_FORMAT = 1
_ENDINGS = {AVRO: "avsc", JSON_SCHEMA: "json", PROTOBUF: "proto"}
_LONGEST = 100


def save(snapshot: Snapshot, folder: Path) -> None:
    """Writes the folder, or brings an earlier export up to date. Raises `InvalidArgument` for a folder of others."""
    before = _files_of_earlier_export(folder)
    files = _file_names(snapshot.versions)
    for version in snapshot.versions:
        _write(folder / files[version.subject, version.version], _shown(version.definition))
    for name in before - set(files.values()):
        (folder / name).unlink(missing_ok=True)
    _write(folder / INDEX, json.dumps(_index(snapshot, files), ensure_ascii=False, indent=2) + "\n")
    _remove_empty(folder / "schemas")


def _files_of_earlier_export(folder: Path) -> set[str]:
    if not folder.is_dir():
        if folder.exists():
            raise InvalidArgument("folder", f"{folder} is a file")
        return set()
    if (folder / INDEX).is_file():
        return {str(_within(bodies.text(entry, "file"))) for _, entry in _entries(_loaded(folder))}
    if any(folder.iterdir()):
        raise InvalidArgument("folder", f"{folder} holds something else; name a new folder, or an earlier export")
    return set()


def _file_names(versions: Iterable[CopiedVersion]) -> dict[tuple[Subject, int], str]:
    folders: dict[Subject, str] = {}
    taken: set[str] = set()
    found = {}
    for version in versions:
        subject = version.subject
        if subject not in folders:
            folders[subject] = _unused("/".join(map(_file_name, [*subject.namespace.split("/"), subject.name])), taken)
        ending = _ENDINGS.get(version.definition.type, "txt")
        found[subject, version.version] = f"schemas/{folders[subject]}/{version.version}.{ending}"
    return found


def _file_name(name: str) -> str:
    """A name that every file system takes."""
    safe = re.sub(r"^\.|~", lambda match: f"%{ord(match[0]):02X}", quote(name, safe=" @+,="))
    if len(safe) <= _LONGEST:
        return safe
    return f"{safe[:_LONGEST]}~{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _unused(path: str, taken: set[str]) -> str:
    """Some file systems take `Orders` and `orders` for one name."""
    number, found = 1, path
    while found.casefold() in taken:
        number += 1
        found = f"{path}~{number}"
    taken.add(found.casefold())
    return found


def _shown(definition: SchemaDefinition) -> str:
    return definition.text if _layout(definition) is None else layout.on_several_lines(definition.text)


def _layout(definition: SchemaDefinition) -> str | None:
    """Texts on one line are shown on several; which line they came from is noted in the index."""
    if definition.type not in (AVRO, JSON_SCHEMA):
        return None
    return layout.layout_of(definition.text)


def _write(path: Path, text: str) -> None:
    """All or nothing: a file that is there is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(text.encode("utf-8", "surrogatepass"))
    os.replace(partial, path)


def _remove_empty(folder: Path) -> None:
    for inner, _, _ in os.walk(folder, topdown=False):
        if not os.listdir(inner):
            os.rmdir(inner)


def _index(snapshot: Snapshot, files: Mapping[tuple[Subject, int], str]) -> dict[str, Any]:
    histories: dict[str, list[dict[str, Any]]] = {}
    for version in snapshot.versions:
        entry = _version_entry(version, files[version.subject, version.version])
        histories.setdefault(str(version.subject), []).append(entry)
    levels = snapshot.levels
    names = sorted(histories.keys() | {place for place in levels if place != SERVER and not is_context(place)})
    return {
        "format": _FORMAT,
        "registry": _level_entry(levels.get(SERVER, Level())),
        "contexts": {place: _level_entry(levels[place]) for place in sorted(levels) if is_context(place)},
        "subjects": {
            name: {**_level_entry(levels.get(name, Level())), "versions": histories.get(name, [])} for name in names
        },
    }


def _level_entry(level: Level) -> dict[str, Any]:
    fields = {"config": dict(level.config), "mode": level.mode}
    return {name: value for name, value in fields.items() if value}


def _version_entry(version: CopiedVersion, file: str) -> dict[str, Any]:
    about = {key: value for key, value in body_of(version.definition).items() if key != "schema"}
    entry: dict[str, Any] = {"version": version.version, "id": version.id, "file": file, **about}
    spaced = _layout(version.definition)
    if spaced is not None:
        entry["layout"] = spaced
    if version.is_deleted:
        entry["deleted"] = True
    return entry


def load(folder: Path) -> Snapshot:
    """Raises `InvalidArgument` for a folder that no export wrote, or that lacks something."""
    try:
        return _snapshot(folder, _loaded(folder))
    except InvalidArgument as e:
        if e.argument == "folder":
            raise
        raise InvalidArgument("folder", f"{folder / INDEX} is damaged: {e.message}") from e


def _snapshot(folder: Path, index: dict[str, Any]) -> Snapshot:
    versions = [_version(folder, subject, entry) for subject, entry in _entries(index)]
    levels = {SERVER: _level(index.get("registry") or {})}
    for kind in ("contexts", "subjects"):
        levels |= {place: _level(bodies.an_object(entry)) for place, entry in _object(index, kind).items()}
    ordered = sorted(versions, key=lambda each: (each.subject, each.version))
    return Snapshot(tuple(ordered), {place: level for place, level in levels.items() if level != Level()})


def _loaded(folder: Path) -> dict[str, Any]:
    if not (folder / INDEX).is_file():
        raise InvalidArgument("folder", f"{folder} has no {INDEX}: no export wrote it")
    try:
        index = json_source.load(_read(folder / INDEX))
    except InvalidSchema as e:
        raise InvalidArgument("folder", f"{folder / INDEX} cannot be read: {e.message}") from e
    if not isinstance(index, dict) or index.get("format") != _FORMAT:
        raise InvalidArgument("folder", f"{folder / INDEX} is not of a format that this version of tally reads")
    return index


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as e:
        raise InvalidArgument("folder", f"{path} cannot be read: {e}") from e


def _entries(index: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, subject in _object(index, "subjects").items():
        for entry in bodies.a_list(bodies.an_object(subject).get("versions") or [], "versions"):
            yield name, bodies.an_object(entry)


def _object(index: Mapping[str, Any], name: str) -> dict[str, Any]:
    return bodies.an_object(index.get(name) or {})


def _within(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise InvalidArgument("folder", f"the file {name!r} is not inside of the folder")
    return path


def _version(folder: Path, subject: str, entry: dict[str, Any]) -> CopiedVersion:
    text = _read(folder / _within(bodies.text(entry, "file")))
    spaced = entry.get("layout")
    if spaced in (layout.COMPACT, layout.SPACED):
        text = layout.on_one_line(text, spaced)
    definition = definition_of({**entry, "schema": text})
    number, id_ = bodies.number(entry, "version"), bodies.number(entry, "id")
    return CopiedVersion(subject_of(subject), number, id_, definition, bool(entry.get("deleted")))


def _level(entry: Mapping[str, Any]) -> Level:
    mode = entry.get("mode")
    return Level(_object(entry, "config"), mode if isinstance(mode, str) else None)
