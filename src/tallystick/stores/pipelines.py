"""The last status of each pipeline in SQL."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, select, update

from tallystick.model.pipeline import status_of
from tallystick.registry.ports import PipelineRow
from tallystick.stores.rows import aware
from tallystick.stores.statements import insert_or_ignore
from tallystick.stores.tables import pipelines

_ALL = select(pipelines).order_by(pipelines.c.name)
_GET = select(pipelines).where(pipelines.c.name == bindparam("wanted"))
_UPDATE = update(pipelines).where(pipelines.c.name == bindparam("wanted"))
_DELETE = delete(pipelines).where(pipelines.c.name == bindparam("wanted"))


class SqlPipelines:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, row: PipelineRow) -> None:
        values = {"status": row.status.as_dict(), "principal": row.principal, "updated_at": row.updated_at}
        if self._connection.execute(_UPDATE.values(values), {"wanted": row.name}).rowcount == 0:
            # Where another server has made the row since, its report is as new as this one.
            insert_or_ignore(self._connection, pipelines, {"name": row.name, **values})

    def get(self, name: str) -> PipelineRow | None:
        found = self._connection.execute(_GET, {"wanted": name}).first()
        return None if found is None else _pipeline(found)

    def all(self) -> Sequence[PipelineRow]:
        return [_pipeline(row) for row in self._connection.execute(_ALL)]

    def remove(self, name: str) -> bool:
        return self._connection.execute(_DELETE, {"wanted": name}).rowcount > 0


def _pipeline(row: Row[Any]) -> PipelineRow:
    return PipelineRow(row.name, status_of(row.status), row.principal, aware(row.updated_at))
