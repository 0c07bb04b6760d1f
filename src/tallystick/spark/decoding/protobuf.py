"""Protobuf in Python workers: whole batches through `ptars`, a native reader that gives Arrow.

It refuses a whole batch for one corrupt payload, without saying which. Protobuf's own runtime says so, for less than
the reading costs; so from the first corrupt batch on each payload is tried by it first, and the corrupt ones are
replaced by empty ones and come out null. What is still refused after that, and what `ptars` may give otherwise than the
runtime, is found by halving and read by our codec.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ptars
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType

from tallystick.errors import IncompatibleSchema, InvalidRecord, Unsupported
from tallystick.finding import Finding, Place
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.formats.protobuf.codec import decode
from tallystick.formats.protobuf.types import Types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import PROTOBUF
from tallystick.spark.decoding import taking
from tallystick.spark.decoding.arrays import array_of
from tallystick.spark.decoding.decoder import ArrowDecoder
from tallystick.spark.decoding.protobuf_arrays import struct_of, taken_as
from tallystick.spark.decoding.protobuf_proofs import Unproven, has_groups, proofs_of
from tallystick.spark.decoding.protobuf_values import for_arrow
from tallystick.spark.types.protobuf import type_of
from tallystick.wire import confluent_frame

_FEW = 8192
"""Rows that are read at a time, so that a corrupt one costs no more than these."""
_WARY = 16
"""How many such parts without a corrupt row it takes to trust the next ones again."""
_ROOM = 64 << 20
"""Bytes."""
_ALONE = 16
"""So few rows are read by the codec for less than it takes to halve them again."""
_FIRST = b"\x00"
"""The path to the first message of a file, which nearly all payloads have."""


def decoder(
    writer: ProtobufSchema, target: DataType, *, reader: ProtobufSchema | None = None, is_framed: bool = False
) -> ArrowDecoder:
    """`reader` is the schema whose type the target is, where that is Protobuf: fields are then read by their numbers.

    In a framed payload the path to its message stands before it; one that leads to another message than the reader's
    does not fit. Raises `IncompatibleSchema` where what was written cannot be taken as the target.
    """
    chosen = writer if reader is None else reader
    if chosen.root is None or writer.root is None:
        raise Unsupported("the schema has no message that a record could be")
    if not is_framed and not chosen.is_native and chosen.root not in _names(writer.root, writer, chosen):
        raise _another_message(writer.root, chosen.root)
    taking.check(type_of(chosen), target)
    files, main = chosen.types.files, chosen.types.main.name
    paths = frozenset(_paths(writer, chosen)) if is_framed and not writer.is_native else None
    return ArrowDecoder(_Values(files.SerializeToString(), main, chosen.root, target, paths))


def _paths(writer: ProtobufSchema, chosen: ProtobufSchema) -> list[confluent_frame.MessagePath]:
    """Where the writer's file has the message that is read."""
    assert chosen.root is not None
    return [writer.index_of(own) for own in _names(chosen.root, chosen, writer) if own in writer.types.own]


def _names(message: str, schema: ProtobufSchema, other: ProtobufSchema) -> set[str]:
    """What a message of one schema may be called in another: with the one's package or the other's."""
    return {message, other.types.absolute(schema.types.relative(message))}


def _another_message(written: str, read: str) -> IncompatibleSchema:
    message = f"the records are messages {written}, and the reader's schema is for {read}"
    fix = f"read them by a schema whose message is {written}"
    finding = Finding(rule="PROTOBUF_PAYLOAD_UNKNOWN_MESSAGE", message=message, fix=fix, new=Place(""))
    return IncompatibleSchema(message, [finding])


@dataclass(frozen=True, slots=True)
class _Values:
    files: bytes
    main: str
    message: str
    target: DataType
    paths: frozenset[confluent_frame.MessagePath] | None

    def __call__(self, payloads: pa.Array, keys: pa.Array) -> pa.Array:
        reading, type_ = _reading(self.files, self.main, self.message), to_arrow_type(self.target)
        parts = [pa.array([], type_)]
        for start in range(0, len(payloads), _FEW):
            bodies, is_good = _unframed(payloads.slice(start, _FEW), self.paths)
            parts.append(reading.read(bodies, is_good, type_))
        return pa.concat_arrays(parts)


def _unframed(
    payloads: pa.Array, paths: frozenset[confluent_frame.MessagePath] | None
) -> tuple[pa.Array, list[bool] | None]:
    """The messages alone, and which of them are of the right kind where not all are."""
    if paths is None:
        return payloads, None
    if confluent_frame.FIRST_MESSAGE in paths and pc.all(pc.starts_with(payloads, pattern=_FIRST)).as_py():
        return _without_first_byte(payloads), None
    bodies, is_good = [], []
    for payload in payloads.to_pylist():
        try:
            path, start = confluent_frame.read_path(payload, 0)
        except InvalidRecord:
            path, start = (), 0
        is_good.append(path in paths)
        bodies.append(payload[start:] if path in paths else b"")
    return pa.array(bodies, pa.binary()), is_good


def _without_first_byte(payloads: pa.Array) -> pa.Array:
    longest = pc.max(pc.binary_length(payloads)).as_py() or 0
    # A slice is nine times as fast, but takes room for as many payloads of the longest one's length.
    if longest * len(payloads) <= _ROOM:
        return pc.binary_slice(payloads, 1, longest)
    return pc.binary_replace_slice(payloads, 0, 1, b"")


class _Reading:
    """One message of one set of files, in one worker."""

    def __init__(self, files: FileDescriptorSet, main: str, message: str) -> None:
        self._types = Types(files, main, "")
        self._schema = ProtobufSchema(SchemaDefinition(PROTOBUF), self._types, message)
        self._record = self._types.record_class(message)()
        self._proofs = proofs_of(self._types, message)
        self._only_exactly = has_groups(self._types, message) or any(f.syntax == "editions" for f in files.file)
        # Only the runtime sees that a required field is missing.
        self._tries_all = any(_has_required(inner) for file in files.file for inner in file.message_type)
        self._wary_for = 0
        if not self._only_exactly:
            self._handler = _handler(files, message)

    def read(self, payloads: pa.Array, is_good: list[bool] | None, type_: pa.DataType) -> pa.Array:
        if self._only_exactly:
            return self._by_codec(payloads, is_good, type_)
        if not self._tries_all and not self._wary_for:
            try:
                return self._converted(payloads, is_good, type_)
            except (ValueError, OverflowError):
                self._wary_for = _WARY
        return self._warily(payloads, is_good, type_)

    def _warily(self, payloads: pa.Array, is_good: list[bool] | None, type_: pa.DataType) -> pa.Array:
        rows = payloads.to_pylist()
        good = self._tried(rows) if is_good is None else list(map(all, zip(self._tried(rows), is_good, strict=True)))
        if all(good):
            self._wary_for = max(self._wary_for - 1, 0)
            return self._halved(payloads, None, type_)
        whole = pa.array([row if fits else b"" for row, fits in zip(rows, good, strict=True)], pa.binary())
        return self._halved(whole, good, type_)

    def _tried(self, rows: list[bytes]) -> list[bool]:
        parse, is_whole, good = self._record.ParseFromString, self._record.IsInitialized, [True] * len(rows)
        for i, row in enumerate(rows):
            try:
                parse(row)
                good[i] = is_whole()
            except DecodeError:
                good[i] = False
        return good

    def _halved(self, payloads: pa.Array, is_good: list[bool] | None, type_: pa.DataType) -> pa.Array:
        try:
            return self._converted(payloads, is_good, type_)
        except (ValueError, OverflowError):
            if len(payloads) <= _ALONE:
                return self._by_codec(payloads, is_good, type_)
            middle = len(payloads) // 2
            flags = (None, None) if is_good is None else (is_good[:middle], is_good[middle:])
            parts = (payloads.slice(0, middle), payloads.slice(middle))
            return pa.concat_arrays([self._halved(part, flag, type_) for part, flag in zip(parts, flags, strict=True)])

    def _converted(self, payloads: pa.Array, is_good: list[bool] | None, type_: pa.StructType) -> pa.Array:
        read = self._by_ptars(payloads)
        self._proofs.prove(read.column)
        own = set(read.schema.names)
        children = [
            taken_as(read.column(field.name), field.type) if field.name in own else pa.nulls(len(payloads), field.type)
            for field in type_
        ]
        return struct_of(children, type_, payloads if is_good is None else pa.array([fits or None for fits in is_good]))

    def _by_ptars(self, payloads: pa.Array) -> pa.RecordBatch:
        try:
            return self._handler.array_to_record_batch(payloads)
        except BaseException as e:
            # What stops its Rust code is no Exception, and has a class without a name to import: an entry of a map
            # without the message that is its value.
            if type(e).__module__ == "pyo3_runtime":
                raise Unproven from e
            raise

    def _by_codec(self, payloads: pa.Array, is_good: list[bool] | None, type_: pa.DataType) -> pa.Array:
        rows = zip(payloads.to_pylist(), is_good or [True] * len(payloads), strict=True)
        return array_of([self._exactly(row) if fits else None for row, fits in rows], type_)

    def _exactly(self, payload: bytes) -> dict[str, Any] | None:
        try:
            value = decode(self._schema, payload)
        except InvalidRecord:
            return None
        assert self._schema.root is not None
        return for_arrow(self._types, self._schema.root, value)


@lru_cache(maxsize=256)
def _reading(files: bytes, main: str, message: str) -> _Reading:
    return _Reading(FileDescriptorSet.FromString(files), main, message)


def _handler(files: FileDescriptorSet, message: str) -> Any:
    pool = DescriptorPool()
    for file in files.file:
        pool.AddSerializedFile(_renamed(file).SerializeToString())
    descriptor = pool.FindMessageTypeByName(_own_name(message))
    config = ptars.PtarsConfig(enum_repr="string")
    return ptars.HandlerPool([descriptor.file], config).get_for_message(descriptor)


def _has_required(message: DescriptorProto) -> bool:
    own = any(field.label == field.LABEL_REQUIRED for field in message.field)
    return own or any(_has_required(inner) for inner in message.nested_type)


# --- names -----------------------------------------------------------------------------------------------------
# ptars knows some types by their names: it gives a Timestamp in nanoseconds, and the latest that those can tell for
# any later one. Under other names they are messages like all others.

_KNOWN, _OWN = "google.", "tally.google."


def _own_name(full_name: str) -> str:
    return _OWN + full_name.removeprefix(_KNOWN) if full_name.startswith(_KNOWN) else full_name


def _renamed(file: FileDescriptorProto) -> FileDescriptorProto:
    copy = FileDescriptorProto()
    copy.CopyFrom(file)
    copy.ClearField("source_code_info")
    copy.package = _own_name(f"{file.package}.").removesuffix(".")
    for message in copy.message_type:
        _rename_fields(message)
    for extension in copy.extension:
        _rename_field(extension)
    return copy


def _rename_fields(message: DescriptorProto) -> None:
    for field in (*message.field, *message.extension):
        _rename_field(field)
    for inner in message.nested_type:
        _rename_fields(inner)


def _rename_field(field: FieldDescriptorProto) -> None:
    if field.type_name:
        field.type_name = "." + _own_name(field.type_name.removeprefix("."))
    if field.extendee:
        field.extendee = "." + _own_name(field.extendee.removeprefix("."))
