"""May a value of one type of Spark be taken as one of another? By name, and never as another value."""

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
)

from tallystick.errors import IncompatibleSchema
from tallystick.finding import Finding, Place

TYPE_CHANGED = "SPARK_TYPE_CANNOT_BE_TAKEN"
FIELD_MISSING = "SPARK_FIELD_MISSING"

_WIDER: tuple[type[DataType], ...] = (ByteType, ShortType, IntegerType, LongType, FloatType, DoubleType)
"""Each is taken as any later one, as Avro promotes numbers."""


def check(written: DataType, target: DataType, path: str = "") -> None:
    """Raises `IncompatibleSchema` where values of the written type cannot be taken as the target type.

    Fields that the target lacks are dropped, fields that only the target has are null.
    """
    match written, target:
        case StructType(), StructType():
            _check_struct(written, target, path)
        case ArrayType(), ArrayType():
            check(written.elementType, target.elementType, f"{path}/*")
        case MapType(), MapType():
            check(written.keyType, target.keyType, f"{path}/*")
            check(written.valueType, target.valueType, f"{path}/*")
        case _:
            if not _is_taken(written, target):
                raise _refused(path, written, target)


def _check_struct(written: StructType, target: StructType, path: str) -> None:
    has = {field.name: field.dataType for field in written.fields}
    for field in target.fields:
        here = f"{path}/{field.name}"
        if field.name in has:
            check(has[field.name], field.dataType, here)
        elif not field.nullable:
            message = f"the reader needs `{here}`, which the writer's schema does not have"
            fix = "read by a schema in which it may be null or has a default"
            raise IncompatibleSchema(message, [Finding(rule=FIELD_MISSING, message=message, fix=fix, new=Place(here))])


def _is_taken(written: DataType, target: DataType) -> bool:
    if written == target:
        return True
    match written, target:
        case DecimalType(), DecimalType():
            return written.scale == target.scale and written.precision <= target.precision
        case StringType(), StringType():
            return True
        case BinaryType(), BinaryType():
            return True
    steps = [_WIDER.index(type(one)) if type(one) in _WIDER else None for one in (written, target)]
    return steps[0] is not None and steps[1] is not None and steps[0] < steps[1]


def _refused(path: str, written: DataType, target: DataType) -> IncompatibleSchema:
    was, now = written.simpleString(), target.simpleString()
    message = f"`{path or '/'}` was written as {was}, which cannot be read as {now}"
    fix = "read by a schema of the type that was written, or change the type back"
    finding = Finding(rule=TYPE_CHANGED, message=message, fix=fix, new=Place(path), was=was, now=now)
    return IncompatibleSchema(message, [finding])
