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

_FOLDER, _STATE = "tally", "state"
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
        self._paths = jvm.org.apache.hadoop.fs.Path
        self._checkpoint = checkpoint
        self._system = self._paths(checkpoint).getFileSystem(jsc.hadoopConfiguration())
        found = self.recall(_STATE)
        self.known = Remembered(_query(name)) if found is None else self._remembered(found)
        if found is None:
            self._write()

    def read_by(self, reader: SchemaDefinition) -> None:
        if reader != self.known.reader:
            self.known = replace(self.known, reader=reader)
            self._write()

    def recall(self, name: str) -> Any:
        """What was kept under a name, or None."""
        # A crash may leave the new file alone.
        there = next((path for path in self._places(name) if self._system.exists(path)), None)
        if there is None:
            return None
        stream = self._system.open(there)
        try:
            return json.loads(bytes(stream.readAllBytes()))
        except ValueError as e:
            raise self._damaged(name, e) from e
        finally:
            stream.close()

    def remember(self, name: str, value: Any) -> None:
        """Keeps JSON under a name."""
        path, new = self._places(name)
        stream = self._system.create(new, True)
        stream.write(bytearray(json.dumps(value).encode()))
        stream.close()
        # Some file systems do not rename over a file.
        self._system.delete(path, False)
        self._system.rename(new, path)

    def _places(self, name: str) -> tuple[Any, Any]:
        whole = f"{_FOLDER}/{name}.json"
        return self._paths(self._checkpoint, whole), self._paths(self._checkpoint, f"{whole}.new")

    def _damaged(self, name: str, error: Exception) -> Unavailable:
        path = self._places(name)[0].toString()
        return Unavailable(f"{path} is damaged: {error!r}; begin with a new checkpoint")

    def _remembered(self, told: Any) -> Remembered:
        try:
            return Remembered(told["query"], None if told["reader"] is None else _definition(told["reader"]))
        except (ValueError, KeyError, TypeError) as e:
            raise self._damaged(_STATE, e) from e

    def _write(self) -> None:
        reader = self.known.reader
        self.remember(_STATE, {"query": self.known.query, "reader": None if reader is None else _as_dict(reader)})


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
