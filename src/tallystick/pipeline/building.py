"""Sound parts → values, and what only several keys together tell to be wrong."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tallystick.model.naming import KafkaNaming
from tallystick.pipeline import findings as rules
from tallystick.pipeline import steps
from tallystick.pipeline.checking import Part
from tallystick.pipeline.clusters import Cluster, FromTopics
from tallystick.pipeline.findings import Findings
from tallystick.pipeline.step_parts import StepParts, sql, sure_sql
from tallystick.pipeline.texts import EARLIEST
from tallystick.pipeline.words import (
    Delivery,
    Evolve,
    FailureAction,
    Framing,
    MultiSchema,
    Per,
    ReplicationDirection,
    RouteMode,
    TableFormat,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What the file says for every step that does not say it itself."""

    on_failure: Part | None
    starting: str
    delivery: Delivery
    multi_schema: MultiSchema

    @classmethod
    def of(cls, root: Part) -> "Defaults":
        on_failure = root.get("on_failure")
        return cls(
            on_failure=on_failure if on_failure is not None and on_failure.is_sound else None,
            starting=root.plain("starting") or EARLIEST,
            delivery=root.plain("delivery") or Delivery.AT_LEAST_ONCE,
            multi_schema=root.plain("multi_schema") or MultiSchema.AUTO,
        )


class Builder:
    """Makes the values of one file. `names` are those of its clusters, `folder` is where relative paths begin."""

    def __init__(self, found: Findings, names: Sequence[str], folder: Path, defaults: Defaults) -> None:
        self._findings = found
        self._defaults = defaults
        self._parts = StepParts(found, names, folder, defaults.on_failure)

    def cluster(self, name: str, part: Part) -> Cluster:
        return Cluster(
            name=name,
            url=part.plain("url"),
            place=part.owner,
            registry=part.plain("registry"),
            credentials=self._parts.credentials(part.get("credentials")),
            registry_credentials=self._parts.credentials(part.get("registry_credentials")),
            framing=part.plain("framing", Framing.TRANSPORT),
            naming=part.plain("naming", KafkaNaming.TOPIC_NAME),
            options=_by_key(part.get("options")),
        )

    def path(self, path: str) -> str:
        return self._parts.path(path)

    def step(self, section: str, name: str, part: Part) -> steps.Step:
        make: dict[str, Callable[[str, Part], steps.Step]] = {
            "routes": self._route,
            "transforms": self._transform,
            "functions": self._function,
            "sources": self._source,
            "replications": self._replication,
            "landings": self._landing,
        }
        return make[section](name, part)

    # Steps

    def _route(self, name: str, part: Part) -> steps.Route:
        ingress = self._parts.from_(part.value["ingress"])
        return steps.Route(
            **self._about(name, part),
            ingress=ingress,
            internal=self._parts.internal(name, part.get("internal"), ingress),
            egress=tuple(self._parts.egress(one) for one in part.plain("egress")),
            mode=part.plain("mode", RouteMode.SPLIT),
            on_failure=self._parts.on_failure(part),
            delivery=part.plain("delivery", self._defaults.delivery),
        )

    def _transform(self, name: str, part: Part) -> steps.Transform:
        return steps.Transform(
            **self._about(name, part),
            from_=self._parts.from_(part.value["from"]),
            reader=self._parts.reader(part),
            where=sql(part.get("where")),
            select=tuple(steps.Column(sure_sql(one), named) for named, one in part.plain("select", [])),
            key=sql(part.get("key")),
            encode=self._parts.encoding(part.get("encode")),
            allow=frozenset(one.value for one in part.plain("allow", [])),
            to=self._parts.to(part.value["to"]),
            on_failure=self._parts.on_failure(part),
            delivery=part.plain("delivery", self._defaults.delivery),
            tests=tuple(_test(number, one) for number, one in enumerate(part.plain("tests", []), 1)),
        )

    def _function(self, name: str, part: Part) -> steps.Function:
        multi_schema = part.plain("multi_schema", self._defaults.multi_schema)
        encode = part.plain("encode", [])
        if len(encode) > 1 and multi_schema is MultiSchema.OFF:
            fix = "keep one of the schemas, or write `multi_schema: on`"
            message = f"{len(encode)} schemas are named, and `multi_schema` is off"
            self._findings.add(rules.KEYS_EXCLUSIVE, part.value["encode"].owner, message, fix)
        return steps.Function(
            **self._about(name, part),
            from_=self._parts.from_(part.value["from"]),
            call=part.plain("call"),
            per=part.plain("per", Per.RECORD),
            reader=self._parts.reader(part),
            encode=tuple(made for one in encode if (made := self._parts.encoding(one)) is not None),
            multi_schema=multi_schema,
            to=self._parts.to(part.value["to"]),
            on_failure=self._parts.on_failure(part),
            delivery=part.plain("delivery", self._defaults.delivery),
        )

    def _source(self, name: str, part: Part) -> steps.Source:
        files = part.value["files"]
        return steps.Source(
            **self._about(name, part),
            files=steps.Files(
                path=self._parts.path(files.plain("path")),
                format=files.plain("format"),
                place=files.owner,
                options=_by_key(files.get("options")),
            ),
            key=sql(part.get("key")),
            encode=self._parts.encoding(part.get("encode")),
            multi_schema=part.plain("multi_schema", self._defaults.multi_schema),
            to=self._parts.to(part.value["to"]),
            on_failure=self._parts.on_failure(part),
            delivery=part.plain("delivery", self._defaults.delivery),
        )

    def _replication(self, name: str, part: Part) -> steps.Replication:
        cluster = part.plain("from")
        targets = tuple(one.value for one in part.plain("to"))
        if cluster in targets:
            at = part.value["to"].owner
            self._findings.add(
                rules.VALUE_INVALID, at, f"`to` and `from` are the same cluster: {cluster}", "name another one"
            )
        return steps.Replication(
            **self._about(name, part),
            from_=FromTopics(
                cluster=cluster,
                place=part.value["from"].owner,
                topics=tuple(one.value for one in part.plain("topics", [])),
                pattern=part.plain("pattern"),
            ),
            to=targets,
            rename=part.plain("rename", "{topic}"),
            direction=part.plain("direction", ReplicationDirection.ONE_WAY),
            delivery=part.plain("delivery", self._defaults.delivery),
        )

    def _landing(self, name: str, part: Part) -> steps.Landing:
        table = part.value["table"]
        format_, place = table.plain("format"), table.plain("place")
        is_folder = format_ is TableFormat.PARQUET or (format_ is TableFormat.DELTA and "/" in place)
        on_failure = self._parts.on_failure(part)
        if part.get("on_failure") is None:
            on_failure = replace(on_failure, to=on_failure.to if on_failure.action is FailureAction.REPUBLISH else None)
        elif on_failure.action is FailureAction.QUARANTINE and on_failure.to is not None:
            message = "the quarantine of a landing is the table beside it, and no topic"
            fix = "leave out `to`, or write `action: republish`"
            self._findings.add(rules.KEYS_EXCLUSIVE, on_failure.to.place, message, fix)
        return steps.Landing(
            **self._about(name, part),
            from_=self._parts.from_(part.value["from"]),
            reader=self._parts.reader(part),
            evolve=part.plain("evolve", Evolve.NEVER),
            table=steps.Table(
                format=format_,
                place=self._parts.path(place) if is_folder else place,
                partition_by=tuple(one.value for one in table.plain("partition_by", [])),
            ),
            on_failure=on_failure,
        )

    def _about(self, name: str, part: Part) -> dict[str, Any]:
        return {
            "name": name,
            "place": part.owner,
            "description": part.plain("description"),
            "starting": part.plain("starting", self._defaults.starting),
            "max_records": part.plain("max_records"),
            "every_s": part.plain("every_s"),
        }


def _by_key(part: Part | None) -> dict[str, Any]:
    return {} if part is None else {key: one.value for key, one in part.items()}


def _test(number: int, part: Part) -> steps.TransformTest:
    return steps.TransformTest(
        name=part.plain("name", f"test {number}"),
        place=part.owner,
        input=part.plain("input"),
        key=part.plain("key"),
        topic=part.plain("topic"),
        properties=_by_key(part.get("properties")),
        output=part.plain("output"),
        outcome=part.plain("outcome"),
    )
