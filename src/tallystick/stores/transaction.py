"""One transaction as the registry sees it."""

from sqlalchemy import Connection

from tallystick.stores.journal import SqlJournal
from tallystick.stores.pipelines import SqlPipelines
from tallystick.stores.schemas import SqlSchemas
from tallystick.stores.settings import SqlSettings
from tallystick.stores.subjects import SqlSubjects


class SqlTransaction:
    def __init__(self, connection: Connection, *, is_change: bool) -> None:
        self.subjects = SqlSubjects(connection)
        self.schemas = SqlSchemas(connection)
        self.settings = SqlSettings(connection, is_change=is_change)
        self.journal = SqlJournal(connection)
        self.pipelines = SqlPipelines(connection)
