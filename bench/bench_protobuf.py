"""Protobuf: a message of 200 fields whose versions each add one.

`buf breaking` compares two versions in a process of its own, so it is measured against our check of two texts;
for a whole history there is no peer to call.
"""

import itertools
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.benchmark import Benchmark, Contest
from bench.history import FIELDS, VERSIONS, full_transitive, history
from tallystick.model.schema_type import PROTOBUF

_KINDS = (
    "string",
    "int64",
    "double",
    "bool",
    "bytes",
    "repeated string",
    "map<string, int64>",
    "optional string",
)
_BUF = Path(sysconfig.get_path("scripts"), "buf")
_RULES = "version: v2\nbreaking:\n  use: [WIRE]\n"


def growing(fields: int, versions: int) -> list[str]:
    first = [_KINDS[i % len(_KINDS)] for i in range(fields)]
    return [_message(first + ["optional string"] * added) for added in range(versions + 1)]


def _message(kinds: list[str]) -> str:
    fields = "".join(f"  {kind} f{i} = {i};\n" for i, kind in enumerate(kinds, start=1))
    return f'syntax = "proto3";\npackage bench;\nmessage Big {{\n{fields}}}\n'


def _buf(old: str, new: str) -> Callable[[], None]:
    folder = tempfile.TemporaryDirectory()
    for name, text in (("old", old), ("new", new)):
        module = Path(folder.name, name)
        module.mkdir()
        (module / "big.proto").write_text(text)
        (module / "buf.yaml").write_text(_RULES)

    def work() -> None:
        # The folder goes when nothing refers to it any more, so this function does.
        command = [str(_BUF), "breaking", f"{folder.name}/new", "--against", f"{folder.name}/old"]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)

    return work


def _unseen(text: str) -> str:
    """The same schema in a text that was never parsed before, so that nothing kept from the last round helps."""
    return f"{text}// {next(_rounds)}\n"


_rounds = itertools.count()


def _two_texts() -> Contest:
    old, new = growing(FIELDS, VERSIONS)[-2:]
    return Contest(lambda: full_transitive(PROTOBUF, [_unseen(old), _unseen(new)])(), _buf(old, new))


def _parsed_versions() -> Contest:
    texts = growing(FIELDS, VERSIONS)
    return Contest(lambda: history(PROTOBUF, map(_unseen, texts)))


def _growth(small: list[str], large: list[str]) -> Contest:
    return Contest(full_transitive(PROTOBUF, small), tenfold=full_transitive(PROTOBUF, large))


BENCHMARKS = [
    Benchmark(
        row="protobuf_full_transitive",
        prepare=lambda: Contest(full_transitive(PROTOBUF, growing(FIELDS, VERSIONS))),
        note="200 fields, 50 versions, parsed; no peer checks a history",
    ),
    Benchmark(
        row="protobuf_full_from_text",
        prepare=_two_texts,
        peer_name="buf breaking",
        note="two versions from text; buf's time has the start of its process in it",
    ),
    Benchmark(
        row="protobuf_growth_in_versions",
        prepare=lambda: _growth(growing(FIELDS, 5), growing(FIELDS, 50)),
        note="200 fields, 5 and 50 versions",
    ),
    Benchmark(
        row="protobuf_growth_in_fields",
        prepare=lambda: _growth(growing(200, 10), growing(2000, 10)),
        note="10 versions, 200 and 2,000 fields",
    ),
    Benchmark(
        row="protobuf_parse_versions",
        prepare=_parsed_versions,
        note="51 texts to parsed schemas",
    ),
]
