"""What pipelines say of themselves to our own servers."""

from dataclasses import dataclass
from typing import Any

from tallystick.errors import NotFound, Unsupported
from tallystick.model.pipeline import PipelineStatus, pipeline_name, status_of
from tallystick.rest import bodies
from tallystick.rest.connection import Connection, escaped


@dataclass(frozen=True, slots=True)
class ReportedPipeline:
    """What a pipeline last said, who said it, and when (ISO 8601, in UTC)."""

    name: str
    status: PipelineStatus
    principal: str
    updated_at: str


def report(connection: Connection, name: str, status: PipelineStatus) -> None:
    try:
        connection.server().put(_path(name), status.as_dict())
    except NotFound as e:
        raise _unsupported() from e


def status(connection: Connection, name: str) -> ReportedPipeline:
    return _pipeline(connection.server().get(_path(name)))


def every(connection: Connection) -> list[ReportedPipeline]:
    try:
        answer = bodies.an_object(connection.server().get("/pipelines"))
    except NotFound as e:
        raise _unsupported() from e
    return [_pipeline(entry) for entry in bodies.a_list(answer.get("pipelines"), "pipelines")]


def forget(connection: Connection, name: str) -> None:
    connection.server().delete(_path(name))


def _path(name: str) -> str:
    return f"/pipelines/{escaped(pipeline_name(name))}/status"


def _unsupported() -> Unsupported:
    return Unsupported("this registry keeps no status of pipelines; those of Tallystick do")


def _pipeline(body: Any) -> ReportedPipeline:
    told = bodies.an_object(body)
    return ReportedPipeline(
        bodies.text(told, "name"),
        status_of(bodies.an_object(told.get("status"))),
        bodies.text(told, "principal"),
        bodies.text(told, "updated_at"),
    )
