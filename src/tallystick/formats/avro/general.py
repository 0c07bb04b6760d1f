"""The codec for every type and every value that fits, by `fastavro`.

`fastavro` trusts its input: it writes 3.7 as the int 3, and deeply nested bytes overflow the C stack. So values are
checked before they are written, and payloads of types that can nest without end are measured before they are read.
"""

import struct
from collections.abc import Callable
from decimal import InvalidOperation
from functools import lru_cache
from io import BytesIO
from typing import Any, NoReturn

import fastavro
from fastavro.read import SchemaResolutionError

from tallystick.errors import InvalidRecord
from tallystick.finding import Finding, Place
from tallystick.formats.avro import payload_limits
from tallystick.formats.avro.branches import choice_of
from tallystick.formats.avro.names import qualified
from tallystick.formats.avro.prepared import WHOLE, prepared
from tallystick.formats.avro.types import AvroType, Record, every_type
from tallystick.formats.avro.validate import check_of, problems

_UNREADABLE = (
    EOFError,
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    OverflowError,
    InvalidOperation,
    struct.error,
    SchemaResolutionError,
)


@lru_cache(maxsize=4096)
def writer_of(root: AvroType) -> Callable[[Any], bytes]:
    check, choose, prepared_type = check_of(root), choice_of(root), prepared(root)

    def write(value: Any) -> bytes:
        try:
            fits = check(value)
        except RecursionError:
            fits = False
        if not fits:
            findings = problems(root, value)
            raise InvalidRecord(f"the value does not fit its schema: {findings[0].message}", findings) from None
        out = BytesIO()
        fastavro.schemaless_writer(out, prepared_type, {WHOLE: value if choose is None else choose(value)})
        return out.getvalue()

    return write


@lru_cache(maxsize=4096)
def reader_of(root: AvroType, target: AvroType) -> Callable[[bytes], Any]:
    """A reader of what was written as one type, which makes of it a value of the other."""
    written_as, read_as = prepared(root), None if target is root else prepared(target)
    is_measured = payload_limits.needs_measuring(root) or (
        target is not root and payload_limits.can_be_skipped_without_end(root)
    )
    shares_defaults = target is not root and _shares_defaults(target)

    def read(payload: bytes) -> Any:
        problem = payload_limits.problem(root, payload) if is_measured else None
        if problem is not None:
            _refuse(problem, payload)
        stream = BytesIO(payload)
        try:
            whole: Any = fastavro.schemaless_reader(stream, written_as, read_as)
        except _UNREADABLE as e:
            _refuse(f"the payload cannot be read: {_reason(e)}", payload, e)
        if stream.tell() != len(payload):
            _refuse(f"{len(payload) - stream.tell()} bytes are left over after the value", payload)
        return unshared(whole[WHOLE]) if shares_defaults else whole[WHOLE]

    return read


def _reason(error: Exception) -> str:
    text = str(error).replace(qualified(""), "").partition(" from <")[0] or type(error).__name__
    return text if len(text) <= 200 else text[:197] + "…"


def _refuse(reason: str, payload: bytes, cause: Exception | None = None) -> NoReturn:
    shown = payload[:24].hex(" ") + (" …" if len(payload) > 24 else "")
    finding = Finding(
        rule="AVRO_PAYLOAD_UNREADABLE",
        message=reason,
        fix="write the payload with the schema that it is read with, and nothing around it",
        new=Place(""),
        now=f"{len(payload)} bytes: {shown}",
    )
    raise InvalidRecord(reason, [finding]) from cause


def unshared(value: Any) -> Any:
    """A copy in which no list or mapping is one of the schema. A loop, as values nest deeper than Python calls."""
    top = [value]
    waiting: list[list[Any] | dict[Any, Any]] = [top]
    while waiting:
        holder = waiting.pop()
        for key, item in list(enumerate(holder) if isinstance(holder, list) else holder.items()):
            if isinstance(item, list | dict):
                holder[key] = item.copy()
                waiting.append(holder[key])
    return top[0]


def _shares_defaults(root: AvroType) -> bool:
    """Whether values read from it may hold a list or mapping of the schema itself, which readers must not share."""
    records = (type_ for type_ in every_type(root) if isinstance(type_, Record))
    return any(field.default is not None and field.default[0] in "[{" for r in records for field in r.fields)
