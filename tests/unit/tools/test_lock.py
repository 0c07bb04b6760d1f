"""The lock file holds names, versions and hashes: where packages come from is the machine's own affair."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_line_is_a_pinned_name_or_its_hash() -> None:
    line = re.compile(r"[a-z0-9][a-z0-9.-]*==\S+( ; [^\\]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?")
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert [found for found in lines if not line.fullmatch(found)] == []
