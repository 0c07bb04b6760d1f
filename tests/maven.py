"""What the tests download from Maven Central, once for each machine, into a cache outside the tree."""

import fcntl
import os
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import escape

_HELP_PLUGIN = "org.apache.maven.plugins:maven-help-plugin:3.5.1"
_DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
_EMPTY_POM = """<project>
<modelVersion>4.0.0</modelVersion>
<groupId>tallystick</groupId><artifactId>empty</artifactId><version>1</version><packaging>pom</packaging>
</project>"""


def missing() -> str | None:
    """Why nothing that needs Java and Maven can run here; None if it can."""
    if shutil.which("java") is None:
        return "no Java virtual machine: `java` is not on the PATH"
    if shutil.which("mvn") is None:
        return "no Maven: `mvn` is not on the PATH"
    return None


def cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "tallystick")


def built_once(name: str, build: Callable[[Path], None]) -> Path:
    """The folder of this name in the cache. `build` fills it on the first call, in whichever process that is."""
    folder = cache() / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_name(f"{name}.lock")):
        if not folder.is_dir():
            # Under another name first: whoever sees the folder sees all of it.
            partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f"{name}-"))
            try:
                build(partial)
                partial.rename(folder)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    return folder


def jars(name: str, pom: str) -> Path:
    """The folder of this name in the cache, with all that the dependencies of a project need at run time."""
    return built_once(name, lambda into: _download(pom, into))


def maven(project: Path, *arguments: str) -> None:
    """Runs Maven in the project, with every repository that a POM may name replaced by the default one."""
    with tempfile.TemporaryDirectory(prefix="tallystick-maven-") as scratch:
        settings = Path(scratch, "settings.xml")
        settings.write_text(_mirror_of_everything(_default_repository(Path(scratch))))
        _run(project, "--global-settings", str(settings), *arguments)


def _download(pom: str, into: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="tallystick-maven-") as scratch:
        Path(scratch, "pom.xml").write_text(pom)
        goal = f"{_DEPENDENCY_PLUGIN}:copy-dependencies"
        maven(Path(scratch), goal, "-DincludeScope=runtime", f"-DoutputDirectory={into}")


def _default_repository(scratch: Path) -> str:
    """Its address as Maven itself knows it here."""
    empty = scratch / "empty"
    empty.mkdir()
    (empty / "pom.xml").write_text(_EMPTY_POM)
    _run(empty, f"{_HELP_PLUGIN}:effective-pom", f"-Doutput={empty / 'effective.xml'}")
    url = ET.parse(empty / "effective.xml").findtext(".//{*}repositories/{*}repository/{*}url")
    assert url, "Maven's effective POM names no repository"
    return url


def _mirror_of_everything(url: str) -> str:
    mirror = f"<mirror><id>default</id><mirrorOf>*</mirrorOf><url>{escape(url)}</url></mirror>"
    return f"<settings><mirrors>{mirror}</mirrors></settings>"


def _run(project: Path, *arguments: str) -> None:
    done = subprocess.run(["mvn", "-q", "-B", *arguments], cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
