"""Avro on the JVM, by Spark's own `to_avro`, which ends the job at the first value that does not fit: so each is looked
at before.
"""

from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from tallystick.errors import IncompatibleSchema, Unsupported
from tallystick.finding import Finding, Place
from tallystick.formats.avro.types import Array, AvroSchema, AvroType, Enum, Fixed, Map, Record, Union, every_type
from tallystick.formats.json_source import pointer
from tallystick.spark.decoding import avro, avro_checks, avro_texts, taking
from tallystick.spark.decoding.conforming import conformed
from tallystick.spark.encoding.encoder import ColumnEncoder

FIELD_UNKNOWN = "SPARK_FIELD_UNKNOWN"


def encoder(any_frame: DataFrame, schema: AvroSchema, source: DataType) -> ColumnEncoder | None:
    """None where the values leave out fields that have a default: see `by_codec`.

    Raises `IncompatibleSchema` for values of a type that is not the schema's, `Unsupported` for a schema that Spark has
    no type for.
    """
    if any(isinstance(type_, Union) and avro_checks.is_one_number(type_) for type_ in every_type(schema.root)):
        raise Unsupported("Spark makes one number of an int and a long in a union, so neither can be written")
    if not _has_all_fields(schema.root, source, ""):
        return None
    target = avro.type_of(any_frame, schema)
    taking.check(source, target)
    text = avro_texts.own_text(schema)

    def payload(value: Column) -> Column:
        whole = conformed(value, source, target)
        return F.when(fits(whole, schema.root), to_avro(whole, text))

    return ColumnEncoder(payload, lambda value: misfit(conformed(value, source, target), schema.root, F.lit("")))


def fits(value: Column, type_: AvroType) -> Column:
    """Whether a value of Spark's type can be written, never null."""
    wrong = avro_checks.wrong(value, type_)
    is_whole = _is_whole(value, type_)
    return is_whole if wrong is None else is_whole & ~wrong


def misfit(value: Column, type_: AvroType, path: Column) -> Column:
    """The path to the first thing that does not fit, null where there is none."""
    match type_:
        case Union(branches=branches):
            real = [branch for branch in branches if branch.kind != "null"]
            if len(real) == 1 and len(branches) > 1:
                return F.when(value.isNotNull(), misfit(value, real[0], path))
        case Record(fields=fields):
            steps = [pointer((f.name,)) for f in fields]
            parts = [
                misfit(value.getField(f.name), f.type, F.concat(path, F.lit(s)))
                for f, s in zip(fields, steps, strict=True)
            ]
            return F.when(value.isNull(), path).otherwise(F.coalesce(*parts, F.lit(None)))
        case Array(items=items):
            inner = F.transform(
                value, lambda item, i: misfit(item, items, F.concat(path, F.lit("/"), i.cast("string")))
            )
            return F.when(value.isNull(), path).otherwise(_first(inner))
        case Map(values=values):
            entries = F.map_entries(value)
            inner = F.transform(
                entries, lambda entry: misfit(entry["value"], values, F.concat(path, F.lit("/"), entry["key"]))
            )
            return F.when(value.isNull(), path).otherwise(_first(inner))
    return F.when(~fits(value, type_), path)


def _first(paths: Column) -> Column:
    return F.get(F.filter(paths, lambda path: path.isNotNull()), F.lit(0))


def _is_whole(value: Column, type_: AvroType) -> Column:
    """Whether nothing is null that must not be, and symbols, sizes and branches are the schema's."""
    match type_:
        case Union(branches=branches):
            own = _branch(avro_checks.members(value, type_), value)
            return value.isNull() | own if any(branch.kind == "null" for branch in branches) else own
        case Record(fields=fields):
            parts = [_is_whole(value.getField(f.name), f.type) for f in fields]
            return reduce(and_, parts, value.isNotNull())
        case Array(items=items):
            return _all_whole(value, items)
        case Map(values=values):
            return _all_whole(F.map_values(value), values)
        case Enum(symbols=symbols):
            return F.coalesce(value.isin(list(symbols)), F.lit(False))
        case Fixed(size=size, logical=logical) if logical is None or logical.name != "decimal":
            return F.coalesce(F.octet_length(value) == size, F.lit(False))
    return F.lit(True) if type_.kind == "null" else value.isNotNull()


def _branch(members: list[tuple[Column, AvroType]], value: Column) -> Column:
    if not members:
        return value.isNotNull()
    if len(members) == 1:
        return _is_whole(*members[0])
    filled = reduce(lambda a, b: a + b, (part.isNotNull().cast("int") for part, _ in members))
    parts = [part.isNull() | _is_whole(part, branch) for part, branch in members]
    return reduce(and_, parts, F.coalesce(filled == 1, F.lit(False)))


def _all_whole(values: Column, type_: AvroType) -> Column:
    return F.coalesce(F.forall(values, lambda value: _is_whole(value, type_)), F.lit(False))


def _has_all_fields(type_: AvroType, source: DataType, path: str) -> bool:
    """Whether every field of the schema is there, and no other. Raises `IncompatibleSchema` for what cannot be."""
    match type_, source:
        case Record(fields=fields), StructType():
            given = {field.name: field.dataType for field in source.fields}
            for name in given:
                if name not in type_.by_name:
                    raise _refused(
                        f"the schema has no field `{path}/{name}`", "leave it out, or add it to the schema", path
                    )
            for f in fields:
                if f.name not in given and f.default is None:
                    raise _refused(f"the values have no field `{path}/{f.name}`, which has no default", "add it", path)
            parts = [_has_all_fields(f.type, given[f.name], f"{path}/{f.name}") for f in fields if f.name in given]
            return all(parts) and len(given) == len(fields)
        case Array(items=items), ArrayType(elementType=element):
            return _has_all_fields(items, element, f"{path}/*")
        case Map(values=values), MapType(valueType=inner):
            return _has_all_fields(values, inner, f"{path}/*")
        case Union(branches=branches), _:
            real = [branch for branch in branches if branch.kind != "null"]
            return len(real) != 1 or _has_all_fields(real[0], source, path)
    return True


def _refused(message: str, fix: str, path: str) -> IncompatibleSchema:
    return IncompatibleSchema(message, [Finding(rule=FIELD_UNKNOWN, message=message, fix=fix, new=Place(path))])
