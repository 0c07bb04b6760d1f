"""Writers: expressions that check a value and yield its bytes.

Records are dicts and arrays are lists here. Unions are null and one other type: where there is more to choose, and
where a record holds itself, the general writer takes over for that part.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Any

from fastavro.write import LOGICAL_WRITERS

from tallystick.formats.avro import general
from tallystick.formats.avro.compiled.source import Source, is_large, misfit
from tallystick.formats.avro.compiled.varints import VARINTS, varint_of
from tallystick.formats.avro.defaults import Defaults
from tallystick.formats.avro.payload_limits import holds_itself
from tallystick.formats.avro.prepared import as_json
from tallystick.formats.avro.types import Array, AvroType, Enum, Fixed, Map, Primitive, Record, Union
from tallystick.formats.avro.validate import check_of

_OBJECTS = {
    "varints": VARINTS,
    "varint_of": varint_of,
    "utf8": str.encode,
    "join": b"".join,
    "is_float": check_of(Primitive("float")),
    "is_double": check_of(Primitive("double")),
    "float_of": struct.Struct("<f").pack,
    "double_of": struct.Struct("<d").pack,
}
_PLAIN = {
    "null": "b'' if {} is None else misfit()",
    "boolean": r"b'\1' if (v := {}) is True else b'\0' if v is False else misfit()",
    "int": "varints[v] if type(v := {}) is int and -0x80000000 <= v < 0x80000000 else misfit()",
    "long": ("varint_of(v) if type(v := {}) is int and -0x8000000000000000 <= v < 0x8000000000000000 else misfit()"),
    "float": "float_of(v) if is_float(v := {}) else misfit()",
    "double": "double_of(v) if type(v := {}) is float or is_double(v) else misfit()",
    "bytes": "varints[len(v)] + v if type(v := {}) is bytes else misfit()",
    "string": "varints[len(v := utf8({}))] + v",
}


def writer_of(root: AvroType) -> Callable[[Any], bytes]:
    if is_large(root):
        return general.writer_of(root)
    source = Source(_OBJECTS)
    whole = _Writers(source).expression(root, "value")
    return source.compiled(source.function("root", "value", [f"return {whole}"]))


class _Writers:
    def __init__(self, source: Source) -> None:
        self._source = source

    def expression(self, type_: AvroType, value: str) -> str:
        """The bytes of a value, which is an expression itself. It is evaluated first, and once."""
        match type_:
            case Primitive(kind=kind):
                return _PLAIN[kind].format(self._plain(type_, value))
            case Enum(symbols=symbols):
                indexes = self._source.name_of({symbol: varint_of(i) for i, symbol in enumerate(symbols)})
                return f"{indexes}[v] if isinstance(v := {value}, str) else misfit()"
            case Fixed(size=size) if type_.logical is None or type_.logical.name != "uuid":
                plain = self._plain(type_, value)
                return f"v if type(v := {plain}) is bytes and len(v) == {size} else misfit()"
            case Union(branches=(Primitive(kind="null"), other)):
                return rf"b'\0' if (v := {value}) is None else b'\2' + ({self.expression(other, 'v')})"
            case Union(branches=(other, Primitive(kind="null"))):
                return rf"b'\2' if (v := {value}) is None else b'\0' + ({self.expression(other, 'v')})"
            case Array() | Map():
                return f"{self._source.function(id(type_), 'value', self._block(type_))}({value})"
            case Record() if not holds_itself(type_):
                return f"{self._source.function(id(type_), 'value', self._record(type_))}({value})"
        return f"{self._source.name_of(general.writer_of(type_))}({value})"

    def _plain(self, type_: Primitive | Fixed, value: str) -> str:
        """The value underneath a logical type, as an expression."""
        prepare = None if type_.logical is None else LOGICAL_WRITERS.get(f"{type_.kind}-{type_.logical.name}")
        if prepare is None:
            return value
        check, prepared = check_of(type_), as_json(type_, {})
        return f"{self._source.name_of(lambda v: prepare(v, prepared) if check(v) else misfit())}({value})"

    def _record(self, record: Record) -> Iterator[str]:
        defaults = {field.name: Defaults().value_of(field) for field in record.fields if field.default is not None}
        yield "if type(value) is not dict: misfit()"
        yield f"if len(value) != {len(record.fields)}:"
        yield f"    value = {{**{self._source.name_of(defaults)}, **value}}"
        yield f"    if len(value) != {len(record.fields)}: misfit()"
        # That many entries, and one for each field: there is none that the schema does not know.
        yield "return join(("
        for field in record.fields:
            yield f"    {self.expression(field.type, f'value[{field.name!r}]')},"
        yield "))"

    def _block(self, type_: Array | Map) -> Iterator[str]:
        yield f"if type(value) is not {'list' if isinstance(type_, Array) else 'dict'}: misfit()"
        yield r"if not value: return b'\0'"
        yield "out = [varints[len(value)]]"
        if isinstance(type_, Array):
            yield f"for item in value: out.append({self.expression(type_.items, 'item')})"
        else:
            item = self.expression(type_.values, "item")
            yield f"for key, item in value.items(): out += varints[len(key := utf8(key))], key, ({item})"
        yield r"out.append(b'\0')"
        yield "return join(out)"
