"""JSON → the value of a Protobuf message, in the forms of Protobuf's own JSON mapping.

Fields go by the names in the text or in lowerCamelCase, 64-bit numbers may be texts, bytes are Base64, and timestamps
and durations may be texts.
"""

from collections.abc import Mapping
from typing import Any

from tallystick.cli import topic_times as times
from tallystick.cli.topic_from_json import BASE64, NOT_FINITE, FromJson, Hints, base64_of
from tallystick.formats.json_source import Path, pointer
from tallystick.formats.protobuf.schema import Field
from tallystick.formats.protobuf.types import Types

_LONG = frozenset({"int64", "uint64", "sint64", "fixed64", "sfixed64"})
_FLOATS = frozenset({"float", "double"})
_BOOLEANS = {"true": True, "false": False}
_TIMESTAMP, _DURATION = "google.protobuf.Timestamp", "google.protobuf.Duration"


def value_of(types: Types, message: str, raw: Any) -> FromJson:
    reader = _Reader(types)
    try:
        return FromJson(reader.message(message, raw, ()), reader.hints)
    except RecursionError:
        return FromJson(raw, {})


class _Reader:
    def __init__(self, types: Types) -> None:
        self.hints: Hints = {}
        self._types = types

    def message(self, name: str, raw: Any, path: Path) -> Any:
        if isinstance(raw, str) and name in (_TIMESTAMP, _DURATION):
            return self._well_known(name, raw, path)
        if not isinstance(raw, dict):
            return raw
        fields = self._types.message(name).by_name
        value = {}
        for key, inner in raw.items():
            known = fields.get(key) or next((f for f in fields.values() if _camel(f.name) == key), None)
            if known is None or (known.name != key and known.name in raw):
                value[key] = inner
            else:
                value[known.name] = self._field(known, inner, (*path, known.name))
        return value

    def _well_known(self, name: str, raw: str, path: Path) -> Any:
        if name == _DURATION:
            duration = times.duration(raw)
            return self._hinted(raw, path, 'write a duration, such as "1.5s"') if duration is None else duration
        instant = times.instant(raw)
        if instant is None:
            return self._hinted(raw, path, 'write a time of ISO 8601, such as "2026-01-31T12:00:00Z"')
        return {"seconds": instant.epoch_second, "nanos": instant.nano}

    def _field(self, field: Field, raw: Any, path: Path) -> Any:
        if field.entry is not None and isinstance(raw, dict):
            key, value = field.entry
            return {_map_key(key, name): self._item(value, inner, (*path, name)) for name, inner in raw.items()}
        if field.is_repeated and isinstance(raw, list):
            return [self._item(field, inner, (*path, i)) for i, inner in enumerate(raw)]
        return self._item(field, raw, path)

    def _item(self, field: Field, raw: Any, path: Path) -> Any:
        if field.is_message and field.type_full_name is not None:
            return self.message(field.type_full_name, raw, path)
        if not isinstance(raw, str):
            return raw
        if field.kind == "bytes":
            found = base64_of(raw)
            return self._hinted(raw, path, BASE64) if found is None else found
        if field.kind in _LONG:
            return _whole_number(raw)
        return NOT_FINITE.get(raw, raw) if field.kind in _FLOATS else raw

    def _hinted(self, raw: Any, path: Path, hint: str) -> Any:
        self.hints[pointer(path)] = hint
        return raw


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _map_key(key: Field, name: str) -> Any:
    """JSON has texts alone as keys."""
    if key.kind == "string":
        return name
    keys: Mapping[str, Any] = _BOOLEANS
    return keys.get(name, name) if key.kind == "bool" else _whole_number(name)


def _whole_number(text: str) -> Any:
    """Left as it is where it is none."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else text
