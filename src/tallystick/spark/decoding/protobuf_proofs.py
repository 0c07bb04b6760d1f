"""What `ptars` gives otherwise than Protobuf's own runtime, looked for in whole arrays.

It keeps numbers that a closed enum does not name, which readers must drop, and both values of a key that stands twice
in a map, of which the last one counts. Groups it passes over: a schema that has some is not read by it at all.

One difference stays: an entry of a map with something else in it than key and value is an entry for `ptars`, as for
the runtimes of C++ and Java, and none for Python's, which drops it. No serializer writes such entries.
"""

from collections.abc import Callable, Mapping
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from tallystick.formats.protobuf.schema import Field
from tallystick.formats.protobuf.types import Types
from tallystick.spark.types.protobuf import is_extension

Proof = Callable[[pa.Array], None]


class Unproven(ValueError):
    """Some value of an array may be another one than the runtime would give."""


def proofs_of(types: Types, message: str) -> Mapping[str, Proof]:
    """What has to be looked at in the columns of a message that does not hold itself."""
    fields = [f for f in types.message(message).fields.values() if not is_extension(f)]
    return {f.name: proof for f in fields if (proof := _proof(types, f)) is not None}


def has_groups(types: Types, message: str) -> bool:
    fields = [f for f in types.message(message).fields.values() if not is_extension(f)]
    return any(_has_group(types, f) for f in fields)


def _has_group(types: Types, field: Field) -> bool:
    inner = field.entry[1] if field.entry is not None else field
    if inner.kind == "group":
        return True
    return inner.type_full_name is not None and inner.is_message and has_groups(types, inner.type_full_name)


def _proof(types: Types, field: Field) -> Proof | None:
    if field.entry is not None:
        return partial(_prove_map, _single(types, field.entry[1]))
    single = _single(types, field)
    if field.is_repeated and single is not None:
        return partial(_prove_items, single)
    return single


def _single(types: Types, field: Field) -> Proof | None:
    if field.type_full_name is None:
        return None
    if field.is_message:
        inner = proofs_of(types, field.type_full_name)
        return partial(_prove_fields, inner) if inner else None
    enum = types.enum(field.type_full_name)
    return partial(_prove_names, pa.array(list(enum.numbers))) if enum.is_closed else None


def _prove_fields(inner: Mapping[str, Proof], array: pa.Array) -> None:
    for name, prove in inner.items():
        prove(array.field(name))


def _prove_items(prove: Proof, array: pa.Array) -> None:
    prove(array.values)


def _prove_map(prove: Proof | None, array: pa.Array) -> None:
    if len(array.keys) > 1:
        codes = array.keys.dictionary_encode()
        places = pc.list_parent_indices(pa.ListArray.from_arrays(array.offsets, codes.indices)).cast(pa.int64())
        pairs = pc.add(pc.multiply(places, len(codes.dictionary)), codes.indices.cast(pa.int64()))
        if pc.count_distinct(pairs).as_py() < len(pairs):
            raise Unproven
    if prove is not None:
        prove(array.items)


def _prove_names(names: pa.Array, array: pa.Array) -> None:
    if not pc.all(pc.is_in(array.drop_null(), names)).as_py():
        raise Unproven
