"""Statements of every request, compiled once.

SQLite answers in microseconds, less than SQLAlchemy takes to run a statement. There its SQL and its types are used,
but the statement runs on the driver.
"""

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Dialect, Executable

_Convert = Callable[[Any], Any] | None


class Compiled:
    """A statement whose parameters are single values. `keys` are the columns that an INSERT sets."""

    def __init__(self, statement: Any, *keys: str) -> None:
        self._statement: Executable = statement
        self._keys = keys
        self._on_sqlite: _OnDriver | None = None

    def run(self, connection: Connection, values: Mapping[str, Any]) -> Sequence[Any]:
        """The rows that it returns; their fields have the names of the columns."""
        if connection.dialect.name != "sqlite":
            result = connection.execute(self._statement, values)
            return result.all() if result.returns_rows else ()
        if self._on_sqlite is None:
            self._on_sqlite = _OnDriver(self._statement, self._keys, connection.dialect)
        return self._on_sqlite.run(connection.connection.driver_connection, values)

    def one(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """The first row; None where there is none."""
        return next(iter(self.run(connection, values)), None)


class _OnDriver:
    def __init__(self, statement: Any, keys: Sequence[str], dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=list(keys) or None)
        self._text = compiled.string
        self._parameters = [
            (name, compiled.params[name], _to_driver(compiled.binds[name].type, dialect))
            for name in compiled.positiontup
        ]
        columns = statement.exported_columns
        row: Any = namedtuple("Row", columns.keys())  # type: ignore[misc]  # known when it runs
        self._row = row._make
        self._converts = [_from_driver(column.type, dialect) for column in columns]

    def run(self, driver: Any, values: Mapping[str, Any]) -> Sequence[Any]:
        get = values.get
        bound = [
            get(name, default) if convert is None else convert(get(name, default))
            for name, default, convert in self._parameters
        ]
        return [
            self._row(
                value if convert is None else convert(value)
                for value, convert in zip(found, self._converts, strict=True)
            )
            for found in driver.execute(self._text, bound).fetchall()
        ]


def _to_driver(kind: Any, dialect: Dialect) -> _Convert:
    convert: _Convert = kind.dialect_impl(dialect).bind_processor(dialect)
    return convert


def _from_driver(kind: Any, dialect: Dialect) -> _Convert:
    convert: _Convert = kind.dialect_impl(dialect).result_processor(dialect, None)
    return convert
