"""Files to check: `good/` and `examples/` load, each file of `bad/` says in its first lines what is found in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
GOOD = [*sorted((HERE / "good").glob("*.yaml")), *sorted((ROOT / "examples").glob("*.yaml"))]
SECRET = "s3cr3t-value"
ENVIRON: Mapping[str, str] = {"TOKEN": SECRET, "WRONG_URL": SECRET}

_EXPECTED = re.compile(r"# ([A-Z_]+) (\d+):(\d+)( structural)?")


@dataclass(frozen=True, slots=True)
class Bad:
    path: Path
    expected: list[tuple[str, int, int]]
    """Rule, line, column."""
    is_structural: bool
    """Whether the JSON Schema refuses it too."""


def bad_files() -> list[Bad]:
    return [_bad(path) for path in sorted((HERE / "bad").glob("*.yaml"))]


def _bad(path: Path) -> Bad:
    found = [match for line in path.read_text().splitlines() if (match := _EXPECTED.fullmatch(line))]
    return Bad(path, [(one[1], int(one[2]), int(one[3])) for one in found], any(one[4] for one in found))


class _Yaml12(yaml.SafeLoader):
    """As editors read YAML: `on` and `12:30` are texts."""


_Yaml12.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(("bool", "int", "float", "timestamp"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+0123456789."),
):
    _Yaml12.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first))


def as_editors_read(path: Path) -> Any:
    return yaml.load(path.read_text(), _Yaml12)
