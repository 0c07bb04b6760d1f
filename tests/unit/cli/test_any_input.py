"""Whatever a file holds, `tally check` answers 0 or 2 and never an internal error."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.cli.main import run

WORDS = [
    '"type"', '"record"', '"name"', '"fields"', '"items"', '"$ref"', '"#"', '"a"', '""', "null", "true", "1e999", "-0",
    "{", "}", "[", "]", ":", ",", "message", "enum", "import", "syntax", "=", ";", '"proto3"', "1", "\\",
    "\x00", "é", "\n",
]  # fmt: skip


def check(name: str, content: bytes) -> int:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(content)
        return run(["check", os.fspath(file), "--output", "github"])


@pytest.mark.parametrize("ending", [".avsc", ".json", ".proto"])
@given(words=st.lists(st.sampled_from(WORDS), max_size=30))
def test_mixed_up_text(ending: str, words: list[str]) -> None:
    assert check(f"a{ending}", " ".join(words).encode()) in (0, 2)


@pytest.mark.parametrize("ending", [".avsc", ".json", ".proto"])
@given(content=st.binary(max_size=60))
def test_bytes(ending: str, content: bytes) -> None:
    assert check(f"a{ending}", content) in (0, 2)


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.sampled_from(["record", "enum", "int", "A", "", "b.C", "type"]) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["type", "name", "fields", "items", "symbols", "default", "namespace", "aliases", "size"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
@pytest.mark.parametrize("ending", [".avsc", ".json"])
def test_json_of_the_wrong_shape(ending: str, value: object) -> None:
    assert check(f"a{ending}", json.dumps(value).encode()) in (0, 2)
