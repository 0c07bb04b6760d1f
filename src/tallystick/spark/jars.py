"""The connectors that Spark does not bring along: downloaded at first use, once for each machine.

Ivy, which comes with Spark, resolves them from Maven Central, as `spark.jars.packages` would. The list is exact and
takes nothing along, because the Kafka connector's own list names a jar of its version that repositories may lack.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pyspark

from tallystick.errors import Unavailable, Unsupported

SCALA = "2.13"
CONNECTORS_FOR = "4.1.1"
"""The version of Spark that the connectors are made for."""


class Connector(StrEnum):
    AVRO = "avro"
    KAFKA = "kafka"
    DELTA = "delta"
    ICEBERG = "iceberg"


_SPARK = "org.apache.spark"
_JARS = {
    Connector.AVRO: [(_SPARK, f"spark-avro_{SCALA}", CONNECTORS_FOR)],
    Connector.KAFKA: [
        (_SPARK, f"spark-sql-kafka-0-10_{SCALA}", CONNECTORS_FOR),
        (_SPARK, f"spark-token-provider-kafka-0-10_{SCALA}", "4.0.0"),
        ("org.apache.kafka", "kafka-clients", "3.9.1"),
        ("org.apache.commons", "commons-pool2", "2.12.1"),
    ],
    Connector.DELTA: [
        ("io.delta", f"delta-spark_4.1_{SCALA}", "4.1.0"),
        ("io.delta", "delta-storage", "4.1.0"),
    ],
    Connector.ICEBERG: [("org.apache.iceberg", f"iceberg-spark-runtime-4.1_{SCALA}", "1.11.0")],
}


def cache_folder() -> Path:
    """Where the jars are kept: copy this folder to a machine without a network, and nothing is downloaded there."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "tallystick", "spark-jars")


def jars_of(connectors: Iterable[Connector], folder: Path | None = None) -> list[Path]:
    """The files of some connectors. Raises `Unavailable` where one has to be downloaded and cannot."""
    kept = folder or cache_folder()
    wanted = [jar for connector in connectors for jar in _JARS[connector]]
    files = [kept / f"{name}-{version}.jar" for _, name, version in wanted]
    if not all(file.is_file() for file in files):
        kept.mkdir(parents=True, exist_ok=True)
        with (kept / "download.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _download([jar for jar, file in zip(wanted, files, strict=True) if not file.is_file()], kept)
    return files


def _download(jars: list[tuple[str, str, str]], into: Path) -> None:
    if not jars:
        return
    with tempfile.TemporaryDirectory(dir=into, prefix="download-") as scratch:
        asked = Path(scratch, "ivy.xml")
        asked.write_text(_ivy_file(jars))
        pattern = str(Path(scratch, "[artifact]-[revision].[ext]"))
        arguments = ["-ivy", str(asked), "-retrieve", pattern, "-types", "jar", "bundle", "-warn"]
        done = subprocess.run(  # noqa: S603
            [java(), "-cp", _ivy(), "org.apache.ivy.Main", *arguments], capture_output=True, text=True
        )
        for _, name, version in jars:
            file = Path(scratch, f"{name}-{version}.jar")
            if not file.is_file():
                said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-5:])
                raise Unavailable(
                    f"the connector {name} {version} could not be downloaded from Maven Central; "
                    f"with no network, copy the jars of another machine to {into}\n{said}"
                )
            # Whoever sees the file sees all of it.
            file.rename(into / file.name)


def _ivy_file(jars: list[tuple[str, str, str]]) -> str:
    asked = "".join(
        f'<dependency org={quoteattr(group)} name={quoteattr(name)} rev={quoteattr(version)} transitive="false"'
        ' conf="default->default"/>'
        for group, name, version in jars
    )
    return (
        '<ivy-module version="2.0"><info organisation="tallystick" module="connectors"/>'
        f'<configurations><conf name="default"/></configurations><dependencies>{asked}</dependencies></ivy-module>'
    )


def _ivy() -> str:
    return str(next(Path(pyspark.__file__).parent.joinpath("jars").glob("ivy-*.jar")))


def java() -> str:
    """The program that Spark runs on. Raises `Unsupported` where there is none."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if found is None:
        raise Unsupported("Spark needs Java 17 or newer: install one, or let JAVA_HOME name its folder")
    return found
