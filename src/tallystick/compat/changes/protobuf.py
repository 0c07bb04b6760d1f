"""Every difference between two Protobuf schemas. Elements are matched as on the wire: fields by their numbers."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict

from google.protobuf.descriptor_pb2 import Edition, FileDescriptorProto, ServiceDescriptorProto

from tallystick.compat.change import Change, ChangeKind
from tallystick.compat.rules.protobuf.fields import declaration
from tallystick.compat.rules.protobuf.scalars import Survival, survival
from tallystick.finding import Place
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.formats.protobuf.schema import DescriptorPath, Enum, Field, Message, Ranges
from tallystick.formats.protobuf.types import Types

ADDED, REMOVED, RENAMED, CHANGED = ChangeKind.ADDED, ChangeKind.REMOVED, ChangeKind.RENAMED, ChangeKind.CHANGED
_SERVICES = 6


class _Places(TypedDict):
    old: Place
    new: Place


def changes(old: ProtobufSchema, new: ProtobufSchema) -> Iterator[Change]:
    return _Diff(_Side(old.types), _Side(new.types)).changes(old.root, new.root, new.is_native)


@dataclass(frozen=True)
class _Side:
    types: Types

    @property
    def file(self) -> FileDescriptorProto:
        return self.types.main

    def place(self, element: Message | Field | Enum) -> Place:
        return self.types.place(element.full_name, element.path)

    @cached_property
    def _comments(self) -> dict[DescriptorPath, str]:
        return {
            tuple(location.path): " ".join(f"{location.leading_comments} {location.trailing_comments}".split())
            for location in self.file.source_code_info.location
            if location.leading_comments or location.trailing_comments
        }

    def comment(self, path: DescriptorPath | None) -> str:
        return self._comments.get(path, "") if path is not None else ""

    def options(self, path: DescriptorPath | None) -> str:
        """The options of an element as text; custom ones show as numbers, because their types are not at hand."""
        if path is None:
            return ""
        element: Any = self.file
        for number, index in zip(path[::2], path[1::2], strict=True):
            element = getattr(element, element.DESCRIPTOR.fields_by_number[number].name)[index]
        return _one_line(element.options) if element.HasField("options") else ""


@dataclass(frozen=True)
class _Diff:
    old: _Side
    new: _Side

    def changes(self, old_root: str | None, new_root: str | None, is_native: bool) -> Iterator[Change]:
        yield from self._file(old_root, new_root, is_native)
        yield from self._messages()
        yield from self._enums()
        yield from self._services()

    def _file(self, old_root: str | None, new_root: str | None, is_native: bool) -> Iterator[Change]:
        top = _Places(old=Place("", 1, 1), new=Place("", 1, 1))
        if self.old.file.package != self.new.file.package:
            yield _changed("package", top, self.old.file.package, self.new.file.package)
        if _syntax(self.old.file) != _syntax(self.new.file):
            yield _changed("syntax", top, _syntax(self.old.file), _syntax(self.new.file))
        if (was := _one_line(self.old.file.options)) != (now := _one_line(self.new.file.options)):
            yield _changed("options of the file", top, was, now)
        for name in sorted(set(self.old.file.dependency) ^ set(self.new.file.dependency)):
            kind = REMOVED if name in self.old.file.dependency else ADDED
            yield Change(kind=kind, what=f"import `{name}`", **top)
        if old_root and new_root and self.old.types.relative(old_root) != self.new.types.relative(new_root):
            one, other = self.old.types.message(old_root), self.new.types.message(new_root)
            places = _Places(old=self.old.place(one), new=self.new.place(other))
            yield _changed("root message" if is_native else "first message", places, old_root, new_root)

    def _messages(self) -> Iterator[Change]:
        olds = {self.old.types.relative(name): name for name in self.old.types.own}
        news = {self.new.types.relative(name): name for name in self.new.types.own}
        for name, full_name in olds.items():
            if name not in news:
                place = self.old.place(self.old.types.message(full_name))
                yield Change(kind=REMOVED, what=f"message `{full_name}`", old=place)
        for name, full_name in news.items():
            message = self.new.types.message(full_name)
            if name in olds:
                yield from self._message(self.old.types.message(olds[name]), message)
            else:
                yield Change(kind=ADDED, what=f"message `{full_name}`", new=self.new.place(message))

    def _message(self, old: Message, new: Message) -> Iterator[Change]:
        what = f"message `{new.full_name}`"
        renamed_oneofs = _renamed_oneofs(old, new)
        moved = {n for n, f in old.by_name.items() if n in new.by_name and new.by_name[n].number != f.number}
        for number, field in old.fields.items():
            if number not in new.fields and field.name not in moved:
                what_field = f"field `{field.name}` of {what}"
                yield Change(kind=REMOVED, what=what_field, old=self.old.place(field), was=declaration(field))
        for number, field in new.fields.items():
            if field.name in moved:
                yield self._moved(old.by_name[field.name], field, what)
            elif number not in old.fields or old.fields[number].name in moved:
                what_field = f"field `{field.name}` of {what}"
                yield Change(kind=ADDED, what=what_field, new=self.new.place(field), now=declaration(field))
            else:
                yield from self._field(old.fields[number], field, what, renamed_oneofs)
        yield from self._oneofs(old, new, what)
        yield from self._reserved(old, new, what)
        yield from self._annotations(old, new, what)

    def _moved(self, old: Field, new: Field, of: str) -> Change:
        places = _Places(old=self.old.place(old), new=self.new.place(new))
        return _changed(f"number of field `{new.name}` of {of}", places, declaration(old), declaration(new))

    def _field(self, old: Field, new: Field, of: str, renamed_oneofs: dict[str, str]) -> Iterator[Change]:
        what = f"field `{new.name}` of {of}"
        if old != new:
            yield from self._declaration(old, new, what, renamed_oneofs)
        yield from self._annotations(old, new, what)

    def _declaration(self, old: Field, new: Field, what: str, renamed_oneofs: dict[str, str]) -> Iterator[Change]:
        places = _Places(old=self.old.place(old), new=self.new.place(new))
        if _type(old) != _type(new):
            was, now = declaration(old), declaration(new)
            yield Change(kind=self._type_change(old, new), what=f"type of {what}", was=was, now=now, **places)
        if _label(old) != _label(new):
            yield _changed(f"label of {what}", places, _label(old), _label(new))
        if _has_other_default(old, new):
            yield _changed(f"default of {what}", places, repr(old.default), repr(new.default))
        if renamed_oneofs.get(old.oneof or "", old.oneof) != new.oneof:
            yield _changed(f"oneof of {what}", places, old.oneof, new.oneof)
        if old.name != new.name:
            yield Change(kind=RENAMED, what=what, was=old.name, now=new.name, **places)

    def _type_change(self, old: Field, new: Field) -> ChangeKind:
        if old.entry or new.entry or (old.type_name and new.type_name):
            return CHANGED
        forth = survival(old, self.old.types, new, self.new.types)
        back = survival(new, self.new.types, old, self.old.types)
        if (forth, back) == (Survival.ALL, Survival.SOME):
            return ChangeKind.WIDENED
        return ChangeKind.NARROWED if (forth, back) == (Survival.SOME, Survival.ALL) else CHANGED

    def _oneofs(self, old: Message, new: Message, of: str) -> Iterator[Change]:
        renamed = _renamed_oneofs(old, new)
        for name in old.oneofs:
            place = self.old.types.oneof_place(old, name)
            if name in renamed:
                now = self.new.types.oneof_place(new, renamed[name])
                what = f"oneof `{renamed[name]}` of {of}"
                yield Change(kind=RENAMED, what=what, old=place, new=now, was=name, now=renamed[name])
            elif name not in new.oneofs:
                yield Change(kind=REMOVED, what=f"oneof `{name}` of {of}", old=place)
            elif (before := _members(old, name)) != (after := _members(new, name)):
                places = _Places(old=place, new=self.new.types.oneof_place(new, name))
                yield _changed(f"members of oneof `{name}` of {of}", places, before, after)
        for name in new.oneofs:
            if name not in old.oneofs and name not in renamed.values():
                yield Change(kind=ADDED, what=f"oneof `{name}` of {of}", new=self.new.types.oneof_place(new, name))

    def _reserved(self, old: Message | Enum, new: Message | Enum, of: str) -> Iterator[Change]:
        if set(old.reserved) != set(new.reserved):
            places = _Places(old=self.old.place(old), new=self.new.place(new))
            yield _changed(f"reserved numbers of {of}", places, _ranges(old.reserved), _ranges(new.reserved))

    def _annotations(self, old: Message | Field | Enum, new: Message | Field | Enum, what: str) -> Iterator[Change]:
        pairs = (
            ("options of", self.old.options(old.path), self.new.options(new.path)),
            ("comment on", self.old.comment(old.path), self.new.comment(new.path)),
        )
        for aspect, was, now in pairs:
            if was != now:
                places = _Places(old=self.old.place(old), new=self.new.place(new))
                yield _changed(f"{aspect} {what}", places, _short(was), _short(now))

    def _enums(self) -> Iterator[Change]:
        olds = {self.old.types.relative(name): name for name in self.old.types.own_enums}
        news = {self.new.types.relative(name): name for name in self.new.types.own_enums}
        for name, full_name in olds.items():
            if name not in news:
                enum = self.old.types.enum(full_name)
                yield Change(kind=REMOVED, what=f"enum `{full_name}`", old=self.old.place(enum))
        for name, full_name in news.items():
            enum = self.new.types.enum(full_name)
            if name in olds:
                yield from self._enum(self.old.types.enum(olds[name]), enum)
            else:
                yield Change(kind=ADDED, what=f"enum `{full_name}`", new=self.new.place(enum))

    def _enum(self, old: Enum, new: Enum) -> Iterator[Change]:
        what = f"enum `{new.full_name}`"
        places = _Places(old=self.old.place(old), new=self.new.place(new))
        if old.is_closed != new.is_closed:
            yield _changed(f"openness of {what}", places, _openness(old), _openness(new))
        if next(iter(old.names)) != next(iter(new.names)):
            yield _changed(f"first value of {what}", places, next(iter(old.numbers)), next(iter(new.numbers)))
        yield from self._values(old, new, what)
        yield from self._reserved(old, new, what)
        yield from self._annotations(old, new, what)

    def _values(self, old: Enum, new: Enum, of: str) -> Iterator[Change]:
        renamed = {
            name: other
            for number, name in old.names.items()
            if name not in new.numbers and (other := new.names.get(number)) is not None and other not in old.numbers
        }
        for name, number in old.numbers.items():
            place, value = self.old.types.value_place(old, name), f"value `{name}` of {of}"
            if name in renamed:
                now = self.new.types.value_place(new, renamed[name])
                what = f"value `{renamed[name]}` of {of}"
                yield Change(kind=RENAMED, what=what, old=place, new=now, was=name, now=renamed[name])
            elif name not in new.numbers:
                yield Change(kind=REMOVED, what=value, old=place, was=f"{name} = {number}")
            elif new.numbers[name] != number:
                places = _Places(old=place, new=self.new.types.value_place(new, name))
                yield _changed(f"number of {value}", places, str(number), str(new.numbers[name]))
        for name, number in new.numbers.items():
            if name not in old.numbers and name not in renamed.values():
                place = self.new.types.value_place(new, name)
                yield Change(kind=ADDED, what=f"value `{name}` of {of}", new=place, now=f"{name} = {number}")

    def _services(self) -> Iterator[Change]:
        olds = {service.name: (i, service) for i, service in enumerate(self.old.file.service)}
        news = {service.name: (i, service) for i, service in enumerate(self.new.file.service)}
        for name, (i, _) in olds.items():
            if name not in news:
                yield Change(kind=REMOVED, what=f"service `{name}`", old=_service_place(self.old, name, i))
        for name, (i, service) in news.items():
            place = _service_place(self.new, name, i)
            if name not in olds:
                yield Change(kind=ADDED, what=f"service `{name}`", new=place)
            else:
                places = _Places(old=_service_place(self.old, name, olds[name][0]), new=place)
                yield from _methods(olds[name][1], service, places)


def _renamed_oneofs(old: Message, new: Message) -> dict[str, str]:
    """Oneofs with the same members under another name."""
    return {
        name: other
        for name, members in old.oneofs.items()
        for other, others in new.oneofs.items()
        if members == others and name not in new.oneofs and other not in old.oneofs
    }


def _members(message: Message, oneof: str) -> str:
    return ", ".join(message.fields[number].name for number in sorted(message.oneofs[oneof]))


def _methods(old: ServiceDescriptorProto, new: ServiceDescriptorProto, places: _Places) -> Iterator[Change]:
    olds = {method.name: _one_line(method) for method in old.method}
    news = {method.name: _one_line(method) for method in new.method}
    for name in _in_order(olds, news):
        what = f"method `{name}` of service `{new.name}`"
        if name not in news:
            yield Change(kind=REMOVED, what=what, was=olds[name], **places)
        elif name not in olds:
            yield Change(kind=ADDED, what=what, now=news[name], **places)
        elif olds[name] != news[name]:
            yield _changed(what, places, olds[name], news[name])


def _service_place(side: _Side, name: str, index: int) -> Place:
    return side.types.place(side.types.absolute(name), (_SERVICES, index))


def _in_order(*names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for some in names for name in some))


def _changed(what: str, places: _Places, was: str | None, now: str | None) -> Change:
    return Change(kind=CHANGED, what=what, was=was or None, now=now or None, **places)


def _has_other_default(old: Field, new: Field) -> bool:
    if old.is_repeated or new.is_repeated or _type(old) != _type(new):
        return False
    return repr(old.default) != repr(new.default)  # not a number is no other than not a number


def _type(field: Field) -> object:
    return [(part.kind, part.type_name) for part in field.entry or (field,)]


def _label(field: Field) -> str:
    if field.is_map:
        return "map"
    if field.is_repeated:
        return "repeated"
    return "required" if field.is_required else "optional" if field.has_presence else "implicit"


def _openness(enum: Enum) -> str:
    return "closed" if enum.is_closed else "open"


def _syntax(file: FileDescriptorProto) -> str:
    if file.syntax != "editions":
        return file.syntax or "proto2"
    return Edition.Name(file.edition).replace("EDITION_", "edition ")


def _ranges(ranges: Ranges) -> str:
    return ", ".join(str(start) if end == start + 1 else f"{start} to {end - 1}" for start, end in sorted(ranges))


def _one_line(message: Any) -> str:
    return _short(re.sub(r"\s+", " ", str(message)).strip())


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "…"
