"""The parts that several kinds of steps have: topics, schemas, what becomes of records that do not fit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tallystick.pipeline import findings as rules
from tallystick.pipeline import steps
from tallystick.pipeline.checking import Part
from tallystick.pipeline.clusters import Credentials, FromTopics, ToTopic
from tallystick.pipeline.findings import Findings
from tallystick.pipeline.schema_files import schema_file
from tallystick.pipeline.schemas import Encoding, Reader, SchemaFile
from tallystick.pipeline.texts import LATEST
from tallystick.pipeline.words import FailureAction, LogLevel


class StepParts:
    """`names` are those of the file's clusters, `folder` is where relative paths begin."""

    def __init__(self, found: Findings, names: Sequence[str], folder: Path, on_failure: Part | None) -> None:
        self._findings = found
        self._names = names
        self._folder = folder
        self._on_failure = on_failure

    def from_(self, part: Part) -> FromTopics:
        return FromTopics(
            cluster=self._cluster(part),
            place=part.owner,
            topics=tuple(one.value for one in part.plain("topics", [])),
            pattern=part.plain("pattern"),
            framing=part.plain("framing"),
        )

    def to(self, part: Part) -> ToTopic:
        return ToTopic(
            cluster=self._cluster(part), topic=part.plain("topic"), place=part.owner, framing=part.plain("framing")
        )

    def egress(self, part: Part) -> steps.Egress:
        return steps.Egress(to=self.to(part), when=sql(part.get("when")), place=part.owner)

    def internal(self, name: str, part: Part | None, ingress: FromTopics) -> ToTopic:
        if part is None:
            return ToTopic(cluster=ingress.cluster, topic=f"{name}-mesh", place=ingress.place)
        return ToTopic(cluster=part.plain("cluster", ingress.cluster), topic=part.plain("topic"), place=part.owner)

    def _cluster(self, part: Part) -> str:
        said = part.plain("cluster")
        return self._names[0] if said is None else said

    def on_failure(self, step: Part) -> steps.OnFailure:
        part = step.get("on_failure") or self._on_failure
        if part is None:
            return steps.OnFailure()
        action = part.plain("action", FailureAction.QUARANTINE)
        to = part.get("to")
        if action is FailureAction.REPUBLISH and to is None:
            message = "`to` is missing: `republish` sends the record to a topic"
            self._findings.add(rules.KEY_MISSING, part.owner, message, "write `{action: republish, to: …}`")
        if action in (FailureAction.DROP, FailureAction.STOP) and to is not None:
            message = f"`to` stands beside `action: {action}`, which sends nothing anywhere"
            fix = "leave out `to`, or write `action: republish`"
            self._findings.add(rules.KEYS_EXCLUSIVE, to.owner, message, fix)
        return steps.OnFailure(action, None if to is None else self.to(to), part.plain("log", LogLevel.WARNING))

    def reader(self, step: Part) -> Reader:
        part = step.get("reader")
        if part is None or part.value == LATEST or isinstance(part.value, int):
            return LATEST if part is None else part.value
        return self._schema_file(part) or LATEST

    def encoding(self, part: Part | None) -> Encoding | None:
        if part is None:
            return None
        format_, schema = part.plain("format"), part.get("schema")
        file = None if schema is None else self._schema_file(schema, format_)
        return Encoding(
            place=part.owner,
            subject=part.plain("subject"),
            format=format_ if file is None else file.definition.type,
            schema=file,
            derive=part.plain("derive", False),
        )

    def _schema_file(self, part: Part, format_: Any = None) -> SchemaFile | None:
        return schema_file(self.path(part.value), format_, part.place, self._findings) if part.is_known else None

    def credentials(self, part: Part | None) -> Credentials | None:
        if part is None:
            return None
        files = {name: self.path(part.plain(name)) for name in ("ca", "certificate", "key") if part.get(name)}
        told = {name: part.plain(name) for name in ("username", "password", "token", "key_password")}
        return Credentials(**told, **files)

    def path(self, path: str) -> str:
        """Whole, but for places of file systems that only Spark knows."""
        return path if "://" in path else str(self._folder / path)


def sql(part: Part | None) -> steps.Sql | None:
    return None if part is None else sure_sql(part)


def sure_sql(part: Part) -> steps.Sql:
    return steps.Sql(part.value.rstrip(), part.place)
