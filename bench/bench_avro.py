"""Avro: a record of 200 fields whose versions each add one optional field, against `avro.compatibility`."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import avro.schema
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType

from bench.benchmark import Benchmark, Contest, peak_mib
from bench.history import FIELDS, VERSIONS, full_transitive, history, parsed
from tallystick.compat.evolution import check
from tallystick.model.schema_type import AVRO
from tallystick.model.strategy import Strategy

_checker: Any = ReaderWriterCompatibilityChecker
_KINDS: tuple[Any, ...] = (
    "string",
    "long",
    "double",
    "boolean",
    "bytes",
    {"type": "array", "items": "string"},
    {"type": "map", "values": "long"},
    ["null", "string"],
)


def growing(fields: int, versions: int) -> list[str]:
    """The versions and, last, the candidate: version n has n - 1 optional fields more than the first."""
    first = [_field(f"f{i}", _KINDS[i % len(_KINDS)]) for i in range(fields)]
    return [
        _record(first + [_field(f"x{i}", ["null", "string"]) for i in range(added)]) for added in range(versions + 1)
    ]


def reshaped(fields: int, versions: int) -> list[str]:
    """The same number of versions, in which every field of every version differs from all the others.

    Each change keeps both readings: other defaults, another order of symbols and branches, other inner fields.
    """
    return [_record([_reshaped_field(i, version) for i in range(fields)]) for version in range(versions + 1)]


def _record(fields: list[dict[str, Any]]) -> str:
    return json.dumps({"type": "record", "name": "Big", "namespace": "bench", "fields": fields})


def _field(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **({"default": None} if isinstance(kind, list) else {})}


def _reshaped_field(i: int, version: int) -> dict[str, Any]:
    inner = {
        "type": "record",
        "name": f"Inner{i}",
        "fields": [
            {"name": "code", "type": "int", "default": version},
            {"name": f"extra{version}", "type": "string", "default": ""},
        ],
    }
    value = {"code": version, f"extra{version}": ""}
    symbols = [f"S{(version + k) % 8}" for k in range(8)]
    kinds: tuple[tuple[Any, Any], ...] = (
        (inner, value),
        ({"type": "enum", "name": f"Kind{i}", "symbols": symbols, "default": "S0"}, symbols[0]),
        ({"type": "array", "items": inner}, []),
        ({"type": "map", "values": inner}, {}),
        (["null", inner] if version % 2 else [inner, "null"], None if version % 2 else value),
        ("string", f"version {version}"),
        ({"type": "fixed", "name": f"Fixed{i}", "size": 4, "doc": f"version {version}"}, "0000"),
        ({"type": "array", "items": {"type": "map", "values": ["null", inner]}}, []),
    )
    kind, default = kinds[i % len(kinds)]
    return {"name": f"f{i}", "type": kind, "default": default}


def _peer(texts: list[str]) -> Callable[[], None]:
    schemas = [avro.schema.parse(text) for text in texts]
    return lambda: _peer_check(schemas[:-1], schemas[-1])


def _peer_check(versions: list[Any], candidate: Any) -> None:
    for version in versions:
        for reader, writer in ((candidate, version), (version, candidate)):
            result = _checker().get_compatibility(reader, writer)
            assert result.compatibility is SchemaCompatibilityType.compatible


def _unseen(text: str) -> str:
    """The same schema in a text that was never parsed before, so that nothing kept from the last round helps."""
    return f'{text[:-1]}, "doc": "{next(_rounds)}"}}'


_rounds = itertools.count()


def _parsed_versions() -> Contest:
    texts = growing(FIELDS, VERSIONS)
    return Contest(lambda: history(AVRO, map(_unseen, texts)), lambda: [avro.schema.parse(_unseen(t)) for t in texts])


def _contest(texts: list[str]) -> Contest:
    return Contest(full_transitive(AVRO, texts), _peer(texts))


def _from_text() -> Contest:
    """The candidate arrives as a text, as in a registration."""
    *texts, candidate = growing(FIELDS, VERSIONS)
    registered = history(AVRO, texts)
    versions = [avro.schema.parse(text) for text in texts]

    def ours() -> None:
        assert check(registered, parsed(AVRO, _unseen(candidate)), Strategy.FULL_TRANSITIVE) == []

    return Contest(ours, lambda: _peer_check(versions, avro.schema.parse(_unseen(candidate))))


def _growth(small: list[str], large: list[str]) -> Contest:
    return Contest(full_transitive(AVRO, small), tenfold=full_transitive(AVRO, large))


BENCHMARKS = [
    Benchmark(
        row="avro_full_transitive",
        prepare=lambda: _contest(growing(FIELDS, VERSIONS)),
        peer_name="avro.compatibility",
        goal=20,
        note="200 fields, 50 versions, parsed; to stay under 20 ms",
    ),
    Benchmark(
        row="avro_full_transitive_from_text",
        prepare=_from_text,
        peer_name="avro.compatibility",
        goal=20,
        note="the same, and the candidate is parsed from a new text",
    ),
    Benchmark(
        row="avro_full_transitive_reshaped",
        prepare=lambda: _contest(reshaped(FIELDS, VERSIONS)),
        peer_name="avro.compatibility",
        note="every field differs in every version",
    ),
    Benchmark(
        row="avro_growth_in_versions",
        prepare=lambda: _growth(growing(FIELDS, 5), growing(FIELDS, 50)),
        note="200 fields, 5 and 50 versions",
    ),
    Benchmark(
        row="avro_growth_in_fields",
        prepare=lambda: _growth(growing(200, 10), growing(2000, 10)),
        note="10 versions, 200 and 2,000 fields",
    ),
    Benchmark(
        row="avro_growth_in_versions_reshaped",
        prepare=lambda: _growth(reshaped(FIELDS, 5), reshaped(FIELDS, 50)),
        note="200 fields, 5 and 50 versions",
    ),
    Benchmark(
        row="avro_growth_in_fields_reshaped",
        prepare=lambda: _growth(reshaped(40, 10), reshaped(400, 10)),
        note="10 versions, 40 and 400 fields",
    ),
    Benchmark(
        row="avro_parse_versions",
        prepare=_parsed_versions,
        peer_name="avro.schema",
        note="51 texts to parsed schemas",
    ),
    Benchmark(
        row="avro_memory_of_versions",
        prepare=_parsed_versions,
        peer_name="avro.schema",
        unit="MiB",
        measure=peak_mib,
        note="peak while 51 texts become parsed schemas",
    ),
]
