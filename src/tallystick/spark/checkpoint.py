"""What a pipeline remembers beside Spark's checkpoint: who it is, and the schema that it reads by."""

import json
import re
import secrets
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import SparkSession

from tallystick.errors import Unavailable
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import SchemaType

_PLACE = "tally/state.json"
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Remembered:
    query: str
    """The name by which tables know the pipeline's batches. A new checkpoint counts batches anew, and has a new one."""
    reader: SchemaDefinition | None = None


class Memory:
    """Kept on whatever file system Spark keeps the checkpoint on."""

    def __init__(self, spark: SparkSession, checkpoint: str, name: str) -> None:
        jvm: Any = spark._jvm
        jsc: Any = spark.sparkContext._jsc
        self._path = jvm.org.apache.hadoop.fs.Path(checkpoint, _PLACE)
        self._new = jvm.org.apache.hadoop.fs.Path(checkpoint, f"{_PLACE}.new")
        self._system = self._path.getFileSystem(jsc.hadoopConfiguration())
        self._jvm = jvm
        found = self._read()
        self.known = found if found is not None else Remembered(_query(name))
        if found is None:
            self._write()

    def read_by(self, reader: SchemaDefinition) -> None:
        if reader != self.known.reader:
            self.known = replace(self.known, reader=reader)
            self._write()

    def _read(self) -> Remembered | None:
        # A crash may leave the new file alone.
        there = next((path for path in (self._path, self._new) if self._system.exists(path)), None)
        if there is None:
            return None
        stream = self._system.open(there)
        try:
            told = json.loads(bytes(stream.readAllBytes()))
            return Remembered(told["query"], None if told["reader"] is None else _definition(told["reader"]))
        except (ValueError, KeyError, TypeError) as e:
            raise Unavailable(f"{self._path.toString()} is damaged: {e!r}; begin with a new checkpoint") from e
        finally:
            stream.close()

    def _write(self) -> None:
        reader = self.known.reader
        told = {"query": self.known.query, "reader": None if reader is None else _as_dict(reader)}
        stream = self._system.create(self._new, True)
        stream.write(bytearray(json.dumps(told).encode()))
        stream.close()
        # Some file systems do not rename over a file.
        self._system.delete(self._path, False)
        self._system.rename(self._new, self._path)


def _query(name: str) -> str:
    words = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:_LONGEST]
    named = words if words[:1].isalpha() else f"q-{words}"
    return f"{named}-{secrets.token_hex(4)}"


def _as_dict(definition: SchemaDefinition) -> dict[str, Any]:
    return {
        "type": str(definition.type),
        "text": definition.text,
        "references": [[r.name, r.subject, r.version] for r in definition.references],
        "properties": dict(definition.properties),
        "metadata": definition.metadata,
        "rule_set": definition.rule_set,
    }


def _definition(told: dict[str, Any]) -> SchemaDefinition:
    return SchemaDefinition(
        SchemaType(told["type"]),
        told["text"],
        tuple(Reference(*reference) for reference in told["references"]),
        told["properties"],
        told["metadata"],
        told["rule_set"],
    )
