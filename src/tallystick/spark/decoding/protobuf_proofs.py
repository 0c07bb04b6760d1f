"""What `ptars` gives otherwise than Protobuf's own runtime, looked for in whole arrays.

It keeps numbers that a closed enum does not name, which readers must drop, both values of a key that stands twice in a
map, and all members of a oneof, of which the last one counts. Groups it passes over, and editions it does not know: a
schema that has some is not read by it at all.

One difference stays: an entry of a map with something else in it than key and value is an entry for `ptars`, as for
the runtimes of C++ and Java, and none for Python's, which drops it. No serializer writes such entries.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from tallystick.formats.protobuf.schema import Field
from tallystick.formats.protobuf.types import Types
from tallystick.spark.types.protobuf import is_extension

Proof = Callable[[pa.Array], None]
Columns = Callable[[str], pa.Array]
"""The column of each field of a message, by its name."""


class Unproven(ValueError):
    """Some value of an array may be another one than the runtime would give."""


@dataclass(frozen=True, slots=True)
class Proofs:
    """What has to be looked at in the columns of a message that does not hold itself."""

    fields: Mapping[str, Proof]
    oneofs: Sequence[Sequence[str]]
    """The members of each."""

    def __bool__(self) -> bool:
        return bool(self.fields or self.oneofs)

    def prove(self, columns: Columns) -> None:
        for name, prove in self.fields.items():
            prove(columns(name))
        for members in self.oneofs:
            _prove_oneof([columns(name) for name in members])


def proofs_of(types: Types, message: str) -> Proofs:
    found = types.message(message)
    fields = [f for f in found.fields.values() if not is_extension(f)]
    oneofs = [[found.fields[number].name for number in numbers] for numbers in found.oneofs.values()]
    return Proofs(
        {f.name: proof for f in fields if (proof := _proof(types, f)) is not None},
        [members for members in oneofs if len(members) > 1],
    )


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


def _prove_fields(inner: Proofs, array: pa.Array) -> None:
    inner.prove(array.field)


def _prove_oneof(members: Sequence[pa.Array]) -> None:
    there = members[0].is_valid()
    for member in members[1:]:
        if pc.any(pc.and_(there, member.is_valid())).as_py():
            raise Unproven
        there = pc.or_(there, member.is_valid())


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
