"""The second oracle: `avro.compatibility`, and the causes for which it may disagree.

Each cause is decided by the specification and has a case in `conformance/compat/avro` with a note `oracle`.
"""

import warnings
from collections.abc import Iterable
from typing import Any

import avro.schema
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.errors import AvroException

from tallystick.finding import Finding
from tallystick.formats.avro.types import AvroSchema, Named, Record, Union, every_type, unqualified

_checker: Any = ReaderWriterCompatibilityChecker


def can_read(reader: AvroSchema, writer: AvroSchema) -> bool | None:
    """What the oracle says; None where it does not take one of the texts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            schemas = [avro.schema.parse(schema.definition.text) for schema in (reader, writer)]
            result = _checker().get_compatibility(*schemas)
        except AvroException:
            return None
    return bool(result.compatibility is SchemaCompatibilityType.compatible)


def cause(reader: AvroSchema, writer: AvroSchema, findings: Iterable[Finding]) -> str | None:
    """Why the oracle may disagree with these findings, or with there being none."""
    rules = {finding.rule for finding in findings}
    if _has_alias_in_a_namespace(reader) and rules <= _ABOUT_NAMES:
        return "aliases are not qualified"
    if _has_way_out_of_a_namespace(reader) and rules <= _ABOUT_NAMES:
        return "an empty namespace is overlooked"
    if rules and rules <= _ABOUT_LOGICAL_TYPES:
        return "logical types are not compared"
    if rules and rules <= _ABOUT_ALIASES and _has_contested_alias(reader, writer):
        return "one written field is read for several"
    return "branches are tried until one fits" if rules and _has_namesakes_in_a_union(reader) else None


_ABOUT_NAMES = {"AVRO_NAME_CHANGED", "AVRO_UNION_BRANCH_ADDED", "AVRO_UNION_BRANCH_REMOVED", "AVRO_UNION_REPLACED"}
_ABOUT_LOGICAL_TYPES = {"AVRO_DECIMAL_CHANGED", "AVRO_LOGICAL_TYPE_CHANGED"}
_ABOUT_ALIASES = {
    "AVRO_FIELD_ALIAS_AMBIGUOUS",
    "AVRO_FIELD_ADDED_NEEDS_DEFAULT",
    "AVRO_FIELD_REMOVED_NEEDS_DEFAULT",
    "AVRO_FIELD_RENAMED",
}


def _names(schema: AvroSchema) -> list[str]:
    return [type_.name for type_ in every_type(schema.root) if isinstance(type_, Named)]


def _has_alias_in_a_namespace(schema: AvroSchema) -> bool:
    return any(isinstance(t, Named) and any("." in alias for alias in t.aliases) for t in every_type(schema.root))


def _has_way_out_of_a_namespace(schema: AvroSchema) -> bool:
    return len({"." in name for name in _names(schema)}) == 2


def _has_contested_alias(reader: AvroSchema, writer: AvroSchema) -> bool:
    """Whether a field that was written may be meant by several fields, or several fields by one."""
    written = {name for t in every_type(writer.root) if isinstance(t, Record) for name in t.by_name}
    for type_ in every_type(reader.root):
        if isinstance(type_, Record):
            wanted = [name for f in type_.fields for name in {f.name, *f.aliases} & written]
            several = any(len({field.name, *field.aliases} & written) > 1 for field in type_.fields)
            if several or len(wanted) > len(set(wanted)):
                return True
    return False


def _has_namesakes_in_a_union(schema: AvroSchema) -> bool:
    for type_ in every_type(schema.root):
        if isinstance(type_, Union):
            names = [unqualified(branch.name) for branch in type_.branches if isinstance(branch, Named)]
            if len(names) > len(set(names)):
                return True
    return False
